// Work in the profiler, with the times of the device that does it: an accelerator may not even have
// begun when the host has queued everything.
#pragma once
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "runtime/profiler.h"

namespace asc {

// A point of a device whose time on the host is known.
struct DeviceAnchor;

// A span of work on a device. What a thread does for an accelerator meanwhile is another event, of
// the kind Queue.
class DeviceSpan : public profiler::Span {
  public:
    DeviceSpan(profiler::Category category, const char* name, DeviceId device);
    ~DeviceSpan();
    // Begins the flow of a recorded operation here.
    void begin_flow(const profiler::Event& flow) { flows_.push_back(flow); }
    // The host computes what this thread has spans for: they keep the host's times.
    static void by_host();

  private:
    void begin();
    bool queue();

    DeviceId device_;
    DeviceSpan* outer_ = nullptr;  // that this thread is in
    std::shared_ptr<const DeviceAnchor> anchor_;
    std::shared_ptr<DeviceEvent> begin_;  // null: the times are the host's
    std::vector<profiler::Event> flows_;
};

// Waits for what accelerators have in the profiler, and writes it there.
void write_device_work();

}  // namespace asc
