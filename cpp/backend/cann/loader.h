// Finds CANN when the process starts to use it; nothing of it is needed to build.
#pragma once
#include <string>

#include "backend/cann/symbols.h"

namespace asc::cann {

// An operation of two phases; both null where the installed version does not have it.
template <class Arguments>
struct Operation;
template <class... Arguments>
struct Operation<void(Arguments...)> {
    const char* name = nullptr;
    aclnnStatus (*prepare)(Arguments..., uint64_t*, aclOpExecutor**) = nullptr;
    aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream) = nullptr;

    explicit operator bool() const { return prepare && run; }
};

// Every function of symbols.h, under its own name.
struct Functions {
#define ASC_CANN_MEMBER(need, result, name, arguments) result(*name) arguments = nullptr;
    ASC_CANN_RUNTIME(ASC_CANN_MEMBER)
    ASC_CANN_META(ASC_CANN_MEMBER)
#undef ASC_CANN_MEMBER
#define ASC_CANN_MEMBER(name, arguments) Operation<void arguments> name;
    ASC_CANN_OPERATIONS(ASC_CANN_MEMBER)
#undef ASC_CANN_MEMBER
};

struct Installation {
    Functions functions;
    int device_count = 0;  // 0: `status` says why
    std::string status;    // one sentence, for people
    std::string version;   // of CANN, empty where it does not tell
    std::string soc;       // name of the chip
};

// Looks for CANN and initialises it, the first time; never throws for lack of it.
const Installation& installation();

// Only where there are devices.
inline const Functions& acl() { return installation().functions; }

}  // namespace asc::cann
