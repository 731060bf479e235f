#include "backend/cann/errors.h"

#include "backend/cann/abi.h"

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

}  // namespace asc::cann
