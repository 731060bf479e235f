// NPUs as devices.
#pragma once

namespace asc::cann {

// Adds `npu:0`, ... where CANN and devices are found.
void register_devices();

}  // namespace asc::cann
