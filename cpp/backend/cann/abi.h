// The types and values of CANN's C interface, as this library declares them itself.
//
// Checked against vendors' headers by tests: with ASC_CANN_FOREIGN_TYPES defined this file declares
// nothing, so that symbols.h and the tables below can be compared with somebody else's types.
#pragma once
#include <cstddef>
#include <cstdint>

// X(name, value): of each enum what is used here.
#define ASC_CANN_DATA_TYPES(X) \
    X(ACL_FLOAT, 0)            \
    X(ACL_FLOAT16, 1)          \
    X(ACL_INT8, 2)             \
    X(ACL_INT32, 3)            \
    X(ACL_UINT8, 4)            \
    X(ACL_INT16, 6)            \
    X(ACL_UINT16, 7)           \
    X(ACL_UINT32, 8)           \
    X(ACL_INT64, 9)            \
    X(ACL_UINT64, 10)          \
    X(ACL_DOUBLE, 11)          \
    X(ACL_BOOL, 12)            \
    X(ACL_COMPLEX64, 16)       \
    X(ACL_COMPLEX128, 17)      \
    X(ACL_BF16, 27)
#define ASC_CANN_FORMATS(X) X(ACL_FORMAT_ND, 2)
#define ASC_CANN_MALLOC_POLICIES(X) X(ACL_MEM_MALLOC_HUGE_FIRST, 0)
#define ASC_CANN_MEMCPY_KINDS(X)    \
    X(ACL_MEMCPY_HOST_TO_DEVICE, 1) \
    X(ACL_MEMCPY_DEVICE_TO_HOST, 2) \
    X(ACL_MEMCPY_DEVICE_TO_DEVICE, 3)
#define ASC_CANN_MEMORY_ATTRIBUTES(X) X(ACL_HBM_MEM, 1)
#define ASC_CANN_EVENT_STATES(X)              \
    X(ACL_EVENT_RECORDED_STATUS_NOT_READY, 0) \
    X(ACL_EVENT_RECORDED_STATUS_COMPLETE, 1)
#define ASC_CANN_REGISTER_TYPES(X) X(ACL_HOST_REGISTER_MAPPED, 0)

// X(enum, list of its values)
#define ASC_CANN_ENUMS(X)                              \
    X(aclDataType, ASC_CANN_DATA_TYPES)                \
    X(aclFormat, ASC_CANN_FORMATS)                     \
    X(aclrtMemMallocPolicy, ASC_CANN_MALLOC_POLICIES)  \
    X(aclrtMemcpyKind, ASC_CANN_MEMCPY_KINDS)          \
    X(aclrtMemAttr, ASC_CANN_MEMORY_ATTRIBUTES)        \
    X(aclrtEventRecordedStatus, ASC_CANN_EVENT_STATES) \
    X(aclrtHostRegisterType, ASC_CANN_REGISTER_TYPES)

// Codes by the names under which CANN documents them; X(name, value).
#define ASC_CANN_ERRORS(X)                          \
    X(ACL_ERROR_INVALID_PARAM, 100000)              \
    X(ACL_ERROR_UNINITIALIZE, 100001)               \
    X(ACL_ERROR_REPEAT_INITIALIZE, 100002)          \
    X(ACL_ERROR_REPEAT_FINALIZE, 100037)            \
    X(ACL_ERROR_COMPILING_STUB_MODE, 100039)        \
    X(ACL_ERROR_RT_PARAM_INVALID, 107000)           \
    X(ACL_ERROR_RT_INVALID_DEVICEID, 107001)        \
    X(ACL_ERROR_RT_CONTEXT_NULL, 107002)            \
    X(ACL_ERROR_RT_STREAM_CONTEXT, 107003)          \
    X(ACL_ERROR_RT_DEVICE_TASK_ABORT, 107022)       \
    X(ACL_ERROR_BAD_ALLOC, 200000)                  \
    X(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED, 200003)   \
    X(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, 207000)     \
    X(ACL_ERROR_RT_MEMORY_ALLOCATION, 207001)       \
    X(ACL_ERROR_RT_NO_DEVICE, 207004)               \
    X(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, 207005)     \
    X(ACL_ERROR_RT_AICORE_EXCEPTION, 507015)        \
    X(ACL_ERROR_RT_AICPU_EXCEPTION, 507018)         \
    X(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, 507035)   \
    X(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, 507046)     \
    X(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, 507047)      \
    X(ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR, 507054) \
    X(ACLNN_ERR_PARAM_NULLPTR, 161001)              \
    X(ACLNN_ERR_PARAM_INVALID, 161002)              \
    X(ACLNN_ERR_RUNTIME_ERROR, 361001)              \
    X(ACLNN_ERR_INNER, 561000)                      \
    X(ACLNN_ERR_INNER_FIND_KERNEL_ERROR, 561003)    \
    X(ACLNN_ERR_INNER_NULLPTR, 561103)              \
    X(ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND, 561107)   \
    X(ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND, 561112)

// Flags of events.
#define ASC_CANN_EVENT_FLAGS(X) \
    X(ACL_EVENT_SYNC, 1)        \
    X(ACL_EVENT_TIME_LINE, 8)

#ifndef ASC_CANN_FOREIGN_TYPES
namespace asc::cann {

#define ASC_CANN_VALUE(name, value) name = value,
#define ASC_CANN_ENUM(type, values) enum type : int { values(ASC_CANN_VALUE) };
ASC_CANN_ENUMS(ASC_CANN_ENUM)
enum : int { ASC_CANN_ERRORS(ASC_CANN_VALUE) };
enum : uint32_t { ASC_CANN_EVENT_FLAGS(ASC_CANN_VALUE) };
#undef ASC_CANN_ENUM
#undef ASC_CANN_VALUE

using aclError = int;
using aclnnStatus = int32_t;
using aclrtContext = void*;
using aclrtStream = void*;
using aclrtEvent = void*;
struct aclTensor;
struct aclScalar;
struct aclIntArray;
struct aclTensorList;
struct aclOpExecutor;

}  // namespace asc::cann
#endif
