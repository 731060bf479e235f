// The functions of CANN that are called: one table of names, signatures and needs.
#pragma once
#include "backend/cann/abi.h"

// X(need, result, name, arguments). `Required`: without it CANN is not used; `Optional`: the loader
// leaves null.

// Of libacl_rt.so, formerly libascendcl.so.
#define ASC_CANN_RUNTIME(X)                                                                    \
    X(Required, aclError, aclInit, (const char*))                                              \
    X(Required, aclError, aclrtGetDeviceCount, (uint32_t*))                                    \
    X(Required, aclError, aclrtSetDevice, (int32_t))                                           \
    X(Required, aclError, aclrtGetCurrentContext, (aclrtContext*))                             \
    X(Required, aclError, aclrtSetCurrentContext, (aclrtContext))                              \
    X(Required, aclError, aclrtCreateStream, (aclrtStream*))                                   \
    X(Required, aclError, aclrtDestroyStream, (aclrtStream))                                   \
    X(Required, aclError, aclrtSynchronizeStream, (aclrtStream))                               \
    X(Required, aclError, aclrtCreateEventExWithFlag, (aclrtEvent*, uint32_t))                 \
    X(Required, aclError, aclrtDestroyEvent, (aclrtEvent))                                     \
    X(Required, aclError, aclrtRecordEvent, (aclrtEvent, aclrtStream))                         \
    X(Required, aclError, aclrtQueryEventStatus, (aclrtEvent, aclrtEventRecordedStatus*))      \
    X(Required, aclError, aclrtSynchronizeEvent, (aclrtEvent))                                 \
    X(Required, aclError, aclrtEventElapsedTime, (float*, aclrtEvent, aclrtEvent))             \
    X(Required, aclError, aclrtMalloc, (void**, size_t, aclrtMemMallocPolicy))                 \
    X(Required, aclError, aclrtFree, (void*))                                                  \
    X(Required, aclError, aclrtMallocHost, (void**, size_t))                                   \
    X(Required, aclError, aclrtFreeHost, (void*))                                              \
    X(Required, aclError, aclrtMemcpyAsync,                                                    \
      (void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream))                      \
    X(Required, aclError, aclrtMemsetAsync, (void*, size_t, int32_t, size_t, aclrtStream))     \
    X(Required, aclError, aclrtGetMemInfo, (aclrtMemAttr, size_t*, size_t*))                   \
    X(Required, const char*, aclrtGetSocName, ())                                              \
    X(Required, const char*, aclGetRecentErrMsg, ())                                           \
    X(Optional, aclError, aclsysGetVersionStr, (char*, char*))                                 \
    X(Optional, aclError, aclrtGetVersion, (int32_t*, int32_t*, int32_t*))                     \
    X(Optional, aclError, aclrtHostRegister, (void*, uint64_t, aclrtHostRegisterType, void**)) \
    X(Optional, aclError, aclrtHostUnregister, (void*))                                        \
    X(Optional, aclError, aclrtStreamAbort, (aclrtStream))

// Of libnnopbase.so.
#define ASC_CANN_META(X)                                                                          \
    X(Required, aclTensor*, aclCreateTensor,                                                      \
      (const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t, aclFormat, const int64_t*, \
       uint64_t, void*))                                                                          \
    X(Required, aclScalar*, aclCreateScalar, (void*, aclDataType))                                \
    X(Required, aclIntArray*, aclCreateIntArray, (const int64_t*, uint64_t))                      \
    X(Required, aclnnStatus, aclDestroyTensor, (const aclTensor*))                                \
    X(Required, aclnnStatus, aclDestroyScalar, (const aclScalar*))                                \
    X(Required, aclnnStatus, aclDestroyIntArray, (const aclIntArray*))                            \
    X(Optional, aclnnStatus, aclSetAclOpExecutorRepeatable, (aclOpExecutor*))                     \
    X(Optional, aclnnStatus, aclDestroyAclOpExecutor, (aclOpExecutor*))                           \
    X(Optional, aclnnStatus, aclSetTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*))       \
    X(Optional, aclnnStatus, AclSetTensorAddr, (aclOpExecutor*, size_t, aclTensor*, void*))

// Operations of libopapi_math.so and libopapi_nn.so, formerly libopapi.so; X(name, arguments).
// Each stands for <name>GetWorkspaceSize(arguments..., uint64_t*, aclOpExecutor**) and
// <name>(void*, uint64_t, aclOpExecutor*, aclrtStream). All are optional: what a version of CANN
// does not have runs on the host.
#define ASC_CANN_UNARY(X, arguments) \
    X(aclnnAbs, arguments)           \
    X(aclnnAcos, arguments)          \
    X(aclnnAcosh, arguments)         \
    X(aclnnAsin, arguments)          \
    X(aclnnAsinh, arguments)         \
    X(aclnnAtan, arguments)          \
    X(aclnnAtanh, arguments)         \
    X(aclnnBitwiseNot, arguments)    \
    X(aclnnCeil, arguments)          \
    X(aclnnCos, arguments)           \
    X(aclnnCosh, arguments)          \
    X(aclnnExp, arguments)           \
    X(aclnnExpm1, arguments)         \
    X(aclnnFloor, arguments)         \
    X(aclnnIsFinite, arguments)      \
    X(aclnnIsInf, arguments)         \
    X(aclnnLog, arguments)           \
    X(aclnnLog1p, arguments)         \
    X(aclnnLog2, arguments)          \
    X(aclnnLog10, arguments)         \
    X(aclnnLogicalNot, arguments)    \
    X(aclnnNeg, arguments)           \
    X(aclnnReciprocal, arguments)    \
    X(aclnnRound, arguments)         \
    X(aclnnSign, arguments)          \
    X(aclnnSignbit, arguments)       \
    X(aclnnSin, arguments)           \
    X(aclnnSinh, arguments)          \
    X(aclnnSqrt, arguments)          \
    X(aclnnTan, arguments)           \
    X(aclnnTanh, arguments)          \
    X(aclnnTrunc, arguments)
#define ASC_CANN_BINARY(X, arguments)        \
    X(aclnnAtan2, arguments)                 \
    X(aclnnBitwiseAndTensor, arguments)      \
    X(aclnnBitwiseOrTensor, arguments)       \
    X(aclnnBitwiseXorTensor, arguments)      \
    X(aclnnDiv, arguments)                   \
    X(aclnnEqTensor, arguments)              \
    X(aclnnFloorDivide, arguments)           \
    X(aclnnGeTensor, arguments)              \
    X(aclnnGtTensor, arguments)              \
    X(aclnnLeTensor, arguments)              \
    X(aclnnLeftShift, arguments)             \
    X(aclnnLogAddExp, arguments)             \
    X(aclnnLogicalAnd, arguments)            \
    X(aclnnLogicalOr, arguments)             \
    X(aclnnLogicalXor, arguments)            \
    X(aclnnLtTensor, arguments)              \
    X(aclnnMaximum, arguments)               \
    X(aclnnMinimum, arguments)               \
    X(aclnnMul, arguments)                   \
    X(aclnnNeTensor, arguments)              \
    X(aclnnPowTensorTensor, arguments)       \
    X(aclnnRemainderTensorTensor, arguments) \
    X(aclnnRightShift, arguments)
#define ASC_CANN_TENSOR_SCALAR(X, arguments) \
    X(aclnnDivs, arguments)                  \
    X(aclnnEqScalar, arguments)              \
    X(aclnnGeScalar, arguments)              \
    X(aclnnGtScalar, arguments)              \
    X(aclnnLeScalar, arguments)              \
    X(aclnnLtScalar, arguments)              \
    X(aclnnMuls, arguments)                  \
    X(aclnnNeScalar, arguments)              \
    X(aclnnPowTensorScalar, arguments)
#define ASC_CANN_OPERATIONS(X)                                                               \
    ASC_CANN_UNARY(X, (const aclTensor*, aclTensor*))                                        \
    ASC_CANN_BINARY(X, (const aclTensor*, const aclTensor*, aclTensor*))                     \
    ASC_CANN_TENSOR_SCALAR(X, (const aclTensor*, const aclScalar*, aclTensor*))              \
    X(aclnnAdd, (const aclTensor*, const aclTensor*, const aclScalar*, aclTensor*))          \
    X(aclnnSub, (const aclTensor*, const aclTensor*, const aclScalar*, aclTensor*))          \
    X(aclnnAdds, (const aclTensor*, const aclScalar*, const aclScalar*, aclTensor*))         \
    X(aclnnSubs, (const aclTensor*, const aclScalar*, const aclScalar*, aclTensor*))         \
    X(aclnnRsubs, (const aclTensor*, const aclScalar*, const aclScalar*, aclTensor*))        \
    X(aclnnSWhere, (const aclTensor*, const aclTensor*, const aclTensor*, aclTensor*))       \
    X(aclnnClampTensor, (const aclTensor*, const aclTensor*, const aclTensor*, aclTensor*))  \
    X(aclnnCast, (const aclTensor*, aclDataType, aclTensor*))                                \
    X(aclnnInplaceCopy, (aclTensor*, const aclTensor*))                                      \
    X(aclnnInplaceFillScalar, (aclTensor*, const aclScalar*))                                \
    X(aclnnFlip, (const aclTensor*, const aclIntArray*, aclTensor*))                         \
    X(aclnnReduceSum, (const aclTensor*, const aclIntArray*, bool, aclDataType, aclTensor*)) \
    X(aclnnMean, (const aclTensor*, const aclIntArray*, bool, aclDataType, aclTensor*))      \
    X(aclnnAmax, (const aclTensor*, const aclIntArray*, bool, aclTensor*))                   \
    X(aclnnAmin, (const aclTensor*, const aclIntArray*, bool, aclTensor*))                   \
    X(aclnnAll, (const aclTensor*, const aclIntArray*, bool, aclTensor*))                    \
    X(aclnnAny, (const aclTensor*, const aclIntArray*, bool, aclTensor*))                    \
    X(aclnnProdDim, (const aclTensor*, int64_t, bool, aclDataType, aclTensor*))              \
    X(aclnnVarCorrection, (const aclTensor*, const aclIntArray*, int64_t, bool, aclTensor*)) \
    X(aclnnCumsum, (const aclTensor*, int64_t, aclDataType, aclTensor*))                     \
    X(aclnnCumprod, (const aclTensor*, const aclScalar*, aclDataType, aclTensor*))           \
    X(aclnnMatmul, (const aclTensor*, const aclTensor*, aclTensor*, int8_t))                 \
    X(aclnnArange, (const aclScalar*, const aclScalar*, const aclScalar*, aclTensor*))       \
    X(aclnnTril, (const aclTensor*, int64_t, aclTensor*))                                    \
    X(aclnnTriu, (const aclTensor*, int64_t, aclTensor*))                                    \
    X(aclnnSort, (const aclTensor*, bool, int64_t, bool, aclTensor*, aclTensor*))            \
    X(aclnnIndexSelect, (const aclTensor*, int64_t, const aclTensor*, aclTensor*))           \
    X(aclnnGather, (const aclTensor*, int64_t, const aclTensor*, aclTensor*))
