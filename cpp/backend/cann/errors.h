// CANN's error codes as sentences and exceptions.
#pragma once
#include <string>

#include "core/error.h"

namespace asc::cann {

// "ACL_ERROR_RT_NO_DEVICE, 207004", or only the number of a code without a name here.
std::string describe(int code);

// The operation that this thread runs on a device, which messages name.
inline thread_local const char* running_function = "device";

// An Error that names the operation, CANN's function, the code, and what CANN says itself, which it
// says once.
Error error_of(const char* called, int code);
inline void check(const char* called, int code) {
    if (code != 0) throw error_of(called, code);
}
// The device does not have the memory that was asked for.
bool is_out_of_memory(int code);
// Work takes longer than somebody wanted to wait.
bool is_timeout(int code);

}  // namespace asc::cann
