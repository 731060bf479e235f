// CANN's error codes as sentences and exceptions.
#pragma once
#include <string>

namespace asc::cann {

// "ACL_ERROR_RT_NO_DEVICE, 207004", or only the number of a code without a name here.
std::string describe(int code);

}  // namespace asc::cann
