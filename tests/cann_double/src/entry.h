// Makes the two exported functions of an operation.
#pragma once
#include "values.h"

namespace cann_double {

using In = const aclTensor*;
using Out = aclTensor*;
using InList = const aclTensorList*;
using Number = const aclScalar*;
using Ints = const aclIntArray*;

}  // namespace cann_double

#define CANN_DOUBLE_EXPORT extern "C" __attribute__((visibility("default")))
#define CANN_DOUBLE_LAUNCH(name)                                                                 \
    CANN_DOUBLE_EXPORT aclnnStatus name(void* workspace, uint64_t size, aclOpExecutor* executor, \
                                        aclrtStream stream) {                                    \
        return launch(#name, workspace, size, executor, stream);                                 \
    }
#define CANN_DOUBLE_PLAN(name) CANN_DOUBLE_EXPORT aclnnStatus name##GetWorkspaceSize
#define CANN_DOUBLE_RESULTS uint64_t *size, aclOpExecutor **executor

#define ENTRY1(name, A)                                                                           \
    CANN_DOUBLE_PLAN(name)(A a, CANN_DOUBLE_RESULTS) { return plan(#name, {a}, size, executor); } \
    CANN_DOUBLE_LAUNCH(name)
#define ENTRY2(name, A, B)                                  \
    CANN_DOUBLE_PLAN(name)(A a, B b, CANN_DOUBLE_RESULTS) { \
        return plan(#name, {a, b}, size, executor);         \
    }                                                       \
    CANN_DOUBLE_LAUNCH(name)
#define ENTRY3(name, A, B, C)                                    \
    CANN_DOUBLE_PLAN(name)(A a, B b, C c, CANN_DOUBLE_RESULTS) { \
        return plan(#name, {a, b, c}, size, executor);           \
    }                                                            \
    CANN_DOUBLE_LAUNCH(name)
#define ENTRY4(name, A, B, C, D)                                      \
    CANN_DOUBLE_PLAN(name)(A a, B b, C c, D d, CANN_DOUBLE_RESULTS) { \
        return plan(#name, {a, b, c, d}, size, executor);             \
    }                                                                 \
    CANN_DOUBLE_LAUNCH(name)
#define ENTRY5(name, A, B, C, D, E)                                        \
    CANN_DOUBLE_PLAN(name)(A a, B b, C c, D d, E e, CANN_DOUBLE_RESULTS) { \
        return plan(#name, {a, b, c, d, e}, size, executor);               \
    }                                                                      \
    CANN_DOUBLE_LAUNCH(name)
#define ENTRY6(name, A, B, C, D, E, F)                                          \
    CANN_DOUBLE_PLAN(name)(A a, B b, C c, D d, E e, F f, CANN_DOUBLE_RESULTS) { \
        return plan(#name, {a, b, c, d, e, f}, size, executor);                 \
    }                                                                           \
    CANN_DOUBLE_LAUNCH(name)
#define ENTRY7(name, A, B, C, D, E, F, G)                                            \
    CANN_DOUBLE_PLAN(name)(A a, B b, C c, D d, E e, F f, G g, CANN_DOUBLE_RESULTS) { \
        return plan(#name, {a, b, c, d, e, f, g}, size, executor);                   \
    }                                                                                \
    CANN_DOUBLE_LAUNCH(name)

// Behind an entry: adds the operation when the library is loaded.
#define BEHAVES(name, dtypes, optional, check, run)   \
    [[maybe_unused]] static const bool name##_added = \
        (add_operation({#name, dtypes, optional, check, run}), true);
