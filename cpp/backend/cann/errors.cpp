#include "backend/cann/errors.h"

#include <utility>

#include "backend/cann/loader.h"
#include "backend/cann/stream.h"

namespace asc::cann {

std::string describe(int code) {
    switch (code) {
#define ASC_CANN_CODE(name, value) \
    case value:                    \
        return #name ", " #value;
        ASC_CANN_ERRORS(ASC_CANN_CODE)
#undef ASC_CANN_CODE
    }
    return "error " + std::to_string(code);
}

Error error_of(const char* called, int code) {
    if (Turn::stream && !is_out_of_memory(code)) Turn::stream->suspect();
    const char* words = acl().aclGetRecentErrMsg();
    std::string message = std::string(running_function) + ": " + called +
                          " failed: " + describe(code) +
                          (words && *words ? std::string(": ") + words : "");
    while (message.back() == '\n' || message.back() == ' ') message.pop_back();
    return {is_out_of_memory(code) ? ErrorKind::Memory : ErrorKind::Runtime, std::move(message)};
}

bool is_out_of_memory(int code) {
    return code == ACL_ERROR_RT_MEMORY_ALLOCATION || code == ACL_ERROR_BAD_ALLOC;
}

bool is_timeout(int code) {
    return code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT || code == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT;
}

}  // namespace asc::cann
