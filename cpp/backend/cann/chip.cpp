#include "backend/cann/chip.h"

#include <string_view>

namespace asc::cann {
namespace {

struct Row {
    std::string_view name;
    bool whole;  // not only the beginning of a name
    Chip chip;
};

// The first row that fits decides. "Ascend910B" alone is an older chip than those with a number.
constexpr Row kChips[] = {
    {"Ascend910B", true, {.listed = false, .has_bfloat16 = false}},
    {"Ascend910B", false, {.listed = true, .has_bfloat16 = true}},
    {"Ascend910_93", false, {.listed = true, .has_bfloat16 = true}},
    {"Ascend910A", false, {.listed = false, .has_bfloat16 = false}},
    {"Ascend910Pro", false, {.listed = false, .has_bfloat16 = false}},
    {"Ascend910Premium", false, {.listed = false, .has_bfloat16 = false}},
    {"Ascend310", false, {.listed = false, .has_bfloat16 = false}},
};

}  // namespace

Chip chip(const std::string& soc) {
    for (const Row& row : kChips)
        if (row.whole ? soc == row.name : soc.starts_with(row.name)) return row.chip;
    return {};
}

std::string remark(const Chip& chip) {
    if (chip.listed) return "";
    return "; the tables of operations are those of Ascend910B1 to B4, and what this chip refuses "
           "goes to the host";
}

}  // namespace asc::cann
