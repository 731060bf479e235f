// Why the host computes what CANN could have computed, or does not have.
#pragma once
#include <string>

#include "graph/functions.h"
#include "graph/ops.h"

namespace asc::cann {

std::string reason(Op op);
std::string reason(Function function);

}  // namespace asc::cann
