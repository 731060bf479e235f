// What is known of a chip, by the name that CANN gives it.
#pragma once
#include <string>

namespace asc::cann {

struct Chip {
    bool listed = false;       // the tables of operations and dtypes are its own
    bool has_bfloat16 = true;  // as far as is known
};

Chip chip(const std::string& soc);
// What to tell people about it, empty where there is nothing.
std::string remark(const Chip& chip);

}  // namespace asc::cann
