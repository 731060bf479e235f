// DeviceId: which device holds memory. The devices themselves are in backend/backend.h.
#pragma once
#include <cstdint>

namespace asc {

// The place in the list of devices.
enum class DeviceId : uint8_t {};
// Always there. Its memory is the host's.
inline constexpr DeviceId kCpu{0};
inline constexpr int kMostDevices = 32;

constexpr int index(DeviceId d) { return static_cast<int>(d); }

}  // namespace asc
