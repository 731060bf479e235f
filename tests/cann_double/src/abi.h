// CANN's C interface as the double declares it, apart from the backend's own declarations.
//
// With CANN_DOUBLE_FOREIGN_TYPES only the tables are left, for comparison with vendors' headers.
#pragma once
#include <cstddef>
#include <cstdint>

#define CANN_DOUBLE_ENUMS(X)                                            \
    X(aclDataType, ACL_DT_UNDEFINED, -1)                                \
    X(aclDataType, ACL_FLOAT, 0)                                        \
    X(aclDataType, ACL_FLOAT16, 1)                                      \
    X(aclDataType, ACL_INT8, 2)                                         \
    X(aclDataType, ACL_INT32, 3)                                        \
    X(aclDataType, ACL_UINT8, 4)                                        \
    X(aclDataType, ACL_INT16, 6)                                        \
    X(aclDataType, ACL_UINT16, 7)                                       \
    X(aclDataType, ACL_UINT32, 8)                                       \
    X(aclDataType, ACL_INT64, 9)                                        \
    X(aclDataType, ACL_UINT64, 10)                                      \
    X(aclDataType, ACL_DOUBLE, 11)                                      \
    X(aclDataType, ACL_BOOL, 12)                                        \
    X(aclDataType, ACL_COMPLEX64, 16)                                   \
    X(aclDataType, ACL_COMPLEX128, 17)                                  \
    X(aclDataType, ACL_BF16, 27)                                        \
    X(aclFormat, ACL_FORMAT_UNDEFINED, -1)                              \
    X(aclFormat, ACL_FORMAT_NCHW, 0)                                    \
    X(aclFormat, ACL_FORMAT_ND, 2)                                      \
    X(aclrtMemMallocPolicy, ACL_MEM_MALLOC_HUGE_FIRST, 0)               \
    X(aclrtMemMallocPolicy, ACL_MEM_MALLOC_HUGE_ONLY, 1)                \
    X(aclrtMemMallocPolicy, ACL_MEM_MALLOC_NORMAL_ONLY, 2)              \
    X(aclrtMemcpyKind, ACL_MEMCPY_HOST_TO_HOST, 0)                      \
    X(aclrtMemcpyKind, ACL_MEMCPY_HOST_TO_DEVICE, 1)                    \
    X(aclrtMemcpyKind, ACL_MEMCPY_DEVICE_TO_HOST, 2)                    \
    X(aclrtMemcpyKind, ACL_MEMCPY_DEVICE_TO_DEVICE, 3)                  \
    X(aclrtMemcpyKind, ACL_MEMCPY_DEFAULT, 4)                           \
    X(aclrtMemAttr, ACL_DDR_MEM, 0)                                     \
    X(aclrtMemAttr, ACL_HBM_MEM, 1)                                     \
    X(aclrtEventStatus, ACL_EVENT_STATUS_COMPLETE, 0)                   \
    X(aclrtEventStatus, ACL_EVENT_STATUS_NOT_READY, 1)                  \
    X(aclrtEventRecordedStatus, ACL_EVENT_RECORDED_STATUS_NOT_READY, 0) \
    X(aclrtEventRecordedStatus, ACL_EVENT_RECORDED_STATUS_COMPLETE, 1)  \
    X(aclrtEventWaitStatus, ACL_EVENT_WAIT_STATUS_COMPLETE, 0)          \
    X(aclrtEventWaitStatus, ACL_EVENT_WAIT_STATUS_NOT_READY, 1)         \
    X(aclrtStreamStatus, ACL_STREAM_STATUS_COMPLETE, 0)                 \
    X(aclrtStreamStatus, ACL_STREAM_STATUS_NOT_READY, 1)                \
    X(aclrtRunMode, ACL_HOST, 1)                                        \
    X(aclrtHostRegisterType, ACL_HOST_REGISTER_MAPPED, 0)               \
    X(aclrtLastErrLevel, ACL_RT_THREAD_LEVEL, 0)

// Codes that the double returns; X(name here, CANN's name, value)
#define CANN_DOUBLE_CODES(X)                                   \
    X(kInvalidParameter, ACL_ERROR_INVALID_PARAM, 100000)      \
    X(kUninitialized, ACL_ERROR_UNINITIALIZE, 100001)          \
    X(kRepeatedInit, ACL_ERROR_REPEAT_INITIALIZE, 100002)      \
    X(kRepeatedFinalize, ACL_ERROR_REPEAT_FINALIZE, 100037)    \
    X(kStub, ACL_ERROR_COMPILING_STUB_MODE, 100039)            \
    X(kBadParameter, ACL_ERROR_RT_PARAM_INVALID, 107000)       \
    X(kBadDevice, ACL_ERROR_RT_INVALID_DEVICEID, 107001)       \
    X(kNoContext, ACL_ERROR_RT_CONTEXT_NULL, 107002)           \
    X(kStreamContext, ACL_ERROR_RT_STREAM_CONTEXT, 107003)     \
    X(kDeviceLost, ACL_ERROR_RT_DEVICE_TASK_ABORT, 107022)     \
    X(kFeature, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, 207000)      \
    X(kOutOfMemory, ACL_ERROR_RT_MEMORY_ALLOCATION, 207001)    \
    X(kNoDevice, ACL_ERROR_RT_NO_DEVICE, 207004)               \
    X(kResources, ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, 207005)    \
    X(kEccError, ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR, 507054) \
    X(kNullParameter, ACLNN_ERR_PARAM_NULLPTR, 161001)         \
    X(kBadOperand, ACLNN_ERR_PARAM_INVALID, 161002)            \
    X(kRuntimeError, ACLNN_ERR_RUNTIME_ERROR, 361001)

// X(result, name, arguments)
#define CANN_DOUBLE_RUNTIME(X)                                                       \
    X(aclError, aclInit, (const char*))                                              \
    X(aclError, aclFinalize, ())                                                     \
    X(aclError, aclFinalizeReference, (uint64_t*))                                   \
    X(aclError, aclrtSetDevice, (int32_t))                                           \
    X(aclError, aclrtGetDevice, (int32_t*))                                          \
    X(aclError, aclrtGetDeviceCount, (uint32_t*))                                    \
    X(aclError, aclrtResetDevice, (int32_t))                                         \
    X(aclError, aclrtResetDeviceForce, (int32_t))                                    \
    X(aclError, aclrtCreateContext, (aclrtContext*, int32_t))                        \
    X(aclError, aclrtDestroyContext, (aclrtContext))                                 \
    X(aclError, aclrtSetCurrentContext, (aclrtContext))                              \
    X(aclError, aclrtGetCurrentContext, (aclrtContext*))                             \
    X(aclError, aclrtCtxGetCurrentDefaultStream, (aclrtStream*))                     \
    X(aclError, aclrtCreateStream, (aclrtStream*))                                   \
    X(aclError, aclrtCreateStreamWithConfig, (aclrtStream*, uint32_t, uint32_t))     \
    X(aclError, aclrtDestroyStream, (aclrtStream))                                   \
    X(aclError, aclrtDestroyStreamForce, (aclrtStream))                              \
    X(aclError, aclrtSynchronizeStream, (aclrtStream))                               \
    X(aclError, aclrtSynchronizeStreamWithTimeout, (aclrtStream, int32_t))           \
    X(aclError, aclrtSynchronizeDevice, ())                                          \
    X(aclError, aclrtSynchronizeDeviceWithTimeout, (int32_t))                        \
    X(aclError, aclrtStreamQuery, (aclrtStream, aclrtStreamStatus*))                 \
    X(aclError, aclrtStreamAbort, (aclrtStream))                                     \
    X(aclError, aclrtSetStreamFailureMode, (aclrtStream, uint64_t))                  \
    X(aclError, aclrtGetStreamAvailableNum, (uint32_t*))                             \
    X(aclError, aclrtMalloc, (void**, size_t, aclrtMemMallocPolicy))                 \
    X(aclError, aclrtMallocAlign32, (void**, size_t, aclrtMemMallocPolicy))          \
    X(aclError, aclrtFree, (void*))                                                  \
    X(aclError, aclrtMallocHost, (void**, size_t))                                   \
    X(aclError, aclrtFreeHost, (void*))                                              \
    X(aclError, aclrtHostRegister, (void*, uint64_t, aclrtHostRegisterType, void**)) \
    X(aclError, aclrtHostUnregister, (void*))                                        \
    X(aclError, aclrtMemcpy, (void*, size_t, const void*, size_t, aclrtMemcpyKind))  \
    X(aclError, aclrtMemcpyAsync,                                                    \
      (void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream))            \
    X(aclError, aclrtMemset, (void*, size_t, int32_t, size_t))                       \
    X(aclError, aclrtMemsetAsync, (void*, size_t, int32_t, size_t, aclrtStream))     \
    X(aclError, aclrtGetMemInfo, (aclrtMemAttr, size_t*, size_t*))                   \
    X(aclError, aclrtDeviceCanAccessPeer, (int32_t*, int32_t, int32_t))              \
    X(aclError, aclrtDeviceEnablePeerAccess, (int32_t, uint32_t))                    \
    X(aclError, aclrtPointerGetAttributes, (const void*, aclrtPtrAttributes*))       \
    X(aclError, aclrtCreateEvent, (aclrtEvent*))                                     \
    X(aclError, aclrtCreateEventWithFlag, (aclrtEvent*, uint32_t))                   \
    X(aclError, aclrtCreateEventExWithFlag, (aclrtEvent*, uint32_t))                 \
    X(aclError, aclrtDestroyEvent, (aclrtEvent))                                     \
    X(aclError, aclrtRecordEvent, (aclrtEvent, aclrtStream))                         \
    X(aclError, aclrtResetEvent, (aclrtEvent, aclrtStream))                          \
    X(aclError, aclrtQueryEvent, (aclrtEvent, aclrtEventStatus*))                    \
    X(aclError, aclrtQueryEventStatus, (aclrtEvent, aclrtEventRecordedStatus*))      \
    X(aclError, aclrtQueryEventWaitStatus, (aclrtEvent, aclrtEventWaitStatus*))      \
    X(aclError, aclrtStreamWaitEvent, (aclrtStream, aclrtEvent))                     \
    X(aclError, aclrtSynchronizeEvent, (aclrtEvent))                                 \
    X(aclError, aclrtSynchronizeEventWithTimeout, (aclrtEvent, int32_t))             \
    X(aclError, aclrtEventElapsedTime, (float*, aclrtEvent, aclrtEvent))             \
    X(aclError, aclrtEventGetTimestamp, (aclrtEvent, uint64_t*))                     \
    X(aclError, aclrtLaunchHostFunc, (aclrtStream, aclrtHostFunc, void*))            \
    X(const char*, aclGetRecentErrMsg, ())                                           \
    X(const char*, aclrtGetSocName, ())                                              \
    X(aclError, aclrtGetVersion, (int32_t*, int32_t*, int32_t*))                     \
    X(aclError, aclsysGetVersionStr, (char*, char*))                                 \
    X(aclError, aclsysGetVersionNum, (char*, int32_t*))                              \
    X(size_t, aclDataTypeSize, (aclDataType))                                        \
    X(aclError, aclrtPeekAtLastError, (aclrtLastErrLevel))                           \
    X(aclError, aclrtGetLastError, (aclrtLastErrLevel))                              \
    X(aclError, aclrtGetRunMode, (aclrtRunMode*))

#define CANN_DOUBLE_META(X)                                                                       \
    X(aclTensor*, aclCreateTensor,                                                                \
      (const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t, aclFormat, const int64_t*, \
       uint64_t, void*))                                                                          \
    X(aclScalar*, aclCreateScalar, (void*, aclDataType))                                          \
    X(aclIntArray*, aclCreateIntArray, (const int64_t*, uint64_t))                                \
    X(aclBoolArray*, aclCreateBoolArray, (const bool*, uint64_t))                                 \
    X(aclFloatArray*, aclCreateFloatArray, (const float*, uint64_t))                              \
    X(aclTensorList*, aclCreateTensorList, (const aclTensor* const*, uint64_t))                   \
    X(aclScalarList*, aclCreateScalarList, (const aclScalar* const*, uint64_t))                   \
    X(aclnnStatus, aclDestroyTensor, (const aclTensor*))                                          \
    X(aclnnStatus, aclDestroyScalar, (const aclScalar*))                                          \
    X(aclnnStatus, aclDestroyIntArray, (const aclIntArray*))                                      \
    X(aclnnStatus, aclDestroyBoolArray, (const aclBoolArray*))                                    \
    X(aclnnStatus, aclDestroyFloatArray, (const aclFloatArray*))                                  \
    X(aclnnStatus, aclDestroyTensorList, (const aclTensorList*))                                  \
    X(aclnnStatus, aclDestroyScalarList, (const aclScalarList*))                                  \
    X(aclnnStatus, aclGetViewShape, (const aclTensor*, int64_t**, uint64_t*))                     \
    X(aclnnStatus, aclGetStorageShape, (const aclTensor*, int64_t**, uint64_t*))                  \
    X(aclnnStatus, aclGetViewStrides, (const aclTensor*, int64_t**, uint64_t*))                   \
    X(aclnnStatus, aclGetViewOffset, (const aclTensor*, int64_t*))                                \
    X(aclnnStatus, aclGetFormat, (const aclTensor*, aclFormat*))                                  \
    X(aclnnStatus, aclGetDataType, (const aclTensor*, aclDataType*))                              \
    X(aclnnStatus, aclGetIntArraySize, (const aclIntArray*, uint64_t*))                           \
    X(aclnnStatus, aclGetTensorListSize, (const aclTensorList*, uint64_t*))                       \
    X(aclnnStatus, aclSetRawTensorAddr, (aclTensor*, void*))                                      \
    X(aclnnStatus, aclGetRawTensorAddr, (const aclTensor*, void**))                               \
    X(aclnnStatus, aclSetAclOpExecutorRepeatable, (aclOpExecutor*))                               \
    X(aclnnStatus, aclDestroyAclOpExecutor, (aclOpExecutor*))                                     \
    X(aclnnStatus, aclSetTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*))                 \
    X(aclnnStatus, aclSetInputTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*))            \
    X(aclnnStatus, aclSetOutputTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*))           \
    X(aclnnStatus, AclSetTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*))                 \
    X(aclnnStatus, AclSetInputTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*))            \
    X(aclnnStatus, AclSetOutputTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*))           \
    X(aclnnStatus, aclnnInit, (const char*))                                                      \
    X(aclnnStatus, aclnnFinalize, ())

#ifndef CANN_DOUBLE_FOREIGN_TYPES
namespace cann_double {

enum aclDataType : int;
enum aclFormat : int;
enum aclrtMemMallocPolicy : int;
enum aclrtMemcpyKind : int;
enum aclrtMemAttr : int;
enum aclrtEventStatus : int;
enum aclrtEventRecordedStatus : int;
enum aclrtEventWaitStatus : int;
enum aclrtStreamStatus : int;
enum aclrtRunMode : int;
enum aclrtHostRegisterType : int;
enum aclrtLastErrLevel : int;
#define X(type, name, value) constexpr type name = static_cast<type>(value);
CANN_DOUBLE_ENUMS(X)
#undef X

enum Code : int {
    kOk = 0,
#define X(here, name, value) here = value,
    CANN_DOUBLE_CODES(X)
#undef X
};

constexpr uint32_t kEventSync = 0x1;
constexpr uint32_t kEventTimeLine = 0x8;

using aclError = int;
using aclnnStatus = int32_t;
using aclrtContext = void*;
using aclrtStream = void*;
using aclrtEvent = void*;
using aclrtHostFunc = void (*)(void*);
struct aclrtPtrAttributes {
    uint32_t device;
    int location;  // 0 host, 1 device, 2 not registered
    uint32_t page_size;
    uint32_t reserved[4];
};
struct aclTensor;
struct aclScalar;
struct aclIntArray;
struct aclBoolArray;
struct aclFloatArray;
struct aclTensorList;
struct aclScalarList;
struct aclOpExecutor;

#define X(result, name, arguments) \
    extern "C" __attribute__((visibility("default"))) result name arguments;
CANN_DOUBLE_RUNTIME(X)
CANN_DOUBLE_META(X)
#undef X

}  // namespace cann_double
#endif
