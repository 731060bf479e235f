#include "backend/device_span.h"

#include <cmath>
#include <mutex>
#include <utility>

namespace asc {

struct DeviceAnchor {
    std::unique_ptr<DeviceEvent> event;
    int64_t time = 0;
};

namespace {

using Events = std::vector<profiler::Event>;

// Queued; its times are not known yet.
struct Queued {
    profiler::Event event;
    Events flows;
    std::shared_ptr<const DeviceAnchor> anchor;
    std::shared_ptr<DeviceEvent> begin, end;
};

// Each holds events of the device, of which it has a limited number.
constexpr size_t kMostQueued = 2048;

struct Everything {
    std::mutex mutex;
    std::vector<Queued> queued;
    std::shared_ptr<const DeviceAnchor> anchors[kMostDevices];
};
Everything& everything = *new Everything;

thread_local DeviceSpan* innermost = nullptr;

std::shared_ptr<const DeviceAnchor> anchor_of(DeviceId id) {
    std::shared_ptr<const DeviceAnchor>& anchor = everything.anchors[index(id)];
    {
        const std::lock_guard lock(everything.mutex);
        if (anchor) return anchor;
    }
    // Without the mutex: the device has one of its own, which whoever comes here may hold.
    auto made = std::make_shared<DeviceAnchor>();
    made->event = device(id).record(0);
    made->event->wait();
    made->time = profiler::now();
    const std::lock_guard lock(everything.mutex);
    if (!anchor) anchor = std::move(made);
    return anchor;
}

int64_t time_of(DeviceEvent& event, const DeviceAnchor& anchor) {
    return anchor.time + std::llround(event.milliseconds_since(*anchor.event) * 1e6);
}

void write(Queued& work) {
    try {
        work.end->wait();
        const int64_t begin = time_of(*work.begin, *work.anchor);
        work.event.end = time_of(*work.end, *work.anchor);
        work.event.begin = begin;
    } catch (const Error&) {
        // The device is lost: the host's times have to do.
    }
    profiler::write_of_device(work.event);
    for (profiler::Event& flow : work.flows) {
        flow.begin = flow.end = work.event.begin;
        profiler::write_of_device(flow);
    }
}

}  // namespace

DeviceSpan::DeviceSpan(profiler::Category category, const char* name, DeviceId device)
    : Span(profiler::Kind::Work, category, name), device_(device) {
    if (!*this) return;
    (*this)->device = static_cast<uint8_t>(index(device));
    (*this)->stream = profiler::running_stream;
    outer_ = std::exchange(innermost, this);
    if (!on_host(device)) begin();
}

void DeviceSpan::begin() {
    try {
        anchor_ = anchor_of(device_);
        begin_ = device(device_).record(0);
    } catch (const Error&) {
        // Whoever works on the device meets it, too.
    }
}

DeviceSpan::~DeviceSpan() {
    if (!*this) return;
    innermost = outer_;
    if (begin_ && queue()) return;
    for (const profiler::Event& flow : flows_) profiler::write(flow);
}

// Leaves the rest to write_device_work; this span becomes what the thread did.
bool DeviceSpan::queue() {
    Queued work{**this, std::move(flows_), std::move(anchor_), std::move(begin_), nullptr};
    work.event.end = profiler::now();
    try {
        work.end = device(device_).record(0);
    } catch (const Error&) {
        flows_ = std::move(work.flows);
        return false;
    }
    profiler::Event& own = **this;
    own.kind = profiler::Kind::Queue;
    own.category = profiler::Category::Host;
    own.elements = own.read = own.written = own.operations = 0;
    size_t waiting;
    {
        const std::lock_guard lock(everything.mutex);
        everything.queued.push_back(std::move(work));
        waiting = everything.queued.size();
    }
    if (waiting >= kMostQueued) write_device_work();
    return true;
}

void DeviceSpan::by_host() {
    for (DeviceSpan* span = innermost; span; span = span->outer_) span->begin_ = nullptr;
}

void write_device_work() {
    std::vector<Queued> queued;
    {
        const std::lock_guard lock(everything.mutex);
        queued.swap(everything.queued);
        // Clocks drift apart: the next work has an anchor of its own.
        for (auto& anchor : everything.anchors) anchor = nullptr;
    }
    for (Queued& work : queued) write(work);
}

}  // namespace asc
