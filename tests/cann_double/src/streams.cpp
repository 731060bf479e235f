#include "streams.h"

#include <algorithm>
#include <chrono>

namespace cann_double {
namespace {

struct World {
    Table<Context> contexts{"context", 1};
    Table<Stream> streams{"stream", 2};
    Table<Event> events{"event", 3};
    Clock host;                 // what host threads know to be over
    std::map<int, int> lost;    // device → code
    uint64_t time = 1'000'000;  // of all devices, in nanoseconds
};

World& world() {
    static auto* all = new World;
    return *all;
}

thread_local const void* current = nullptr;

void merge(Clock& into, const Clock& other) {
    for (const auto& [stream, sequence] : other) {
        uint64_t& known = into[stream];
        known = std::max(known, sequence);
    }
}

bool is_over(const Access& access, const Clock& clock) {
    const auto at = clock.find(access.stream);
    return at != clock.end() && at->second >= access.sequence;
}

// How eager the devices are, by seed: 0 is as late as legal, others now and then run ahead.
double eagerness() {
    constexpr double kLevels[] = {0, 0.1, 0.5, 0.9};
    return kLevels[settings().seed % 4];
}

bool blocked(const Stream& stream) {
    const auto& after = stream.queue.front().after;
    return after != nullptr && !after->done;
}

void run_front(Stream& stream) {
    Task task = std::move(stream.queue.front());
    stream.queue.pop_front();
    ++stream.done;
    // No earlier than it is: a device's clock does not stand still while nothing runs.
    const auto real = std::chrono::steady_clock::now().time_since_epoch();
    world().time = std::max<uint64_t>(
        world().time, std::chrono::duration_cast<std::chrono::nanoseconds>(real).count());
    world().time += 1000;
    for (const Touch& touch : task.touches) {
        world().time += (touch.end - touch.begin) / 100;
    }
    if (stream.error != kOk && stream.stop_on_failure) {
        return;
    }
    int code = injected_fault(task.name + "!");
    if (code == kOk) {
        code = task.run ? task.run() : kOk;
    } else {
        for (const Touch& touch : task.touches) {
            Area* area = area_at(reinterpret_cast<const void*>(touch.begin));
            if (touch.write && area != nullptr && area->live) {
                poison(area->bytes + (touch.begin - area->begin), touch.end - touch.begin);
            }
        }
        if (code == kDeviceLost || code == kEccError) {
            lose_device(stream.device, code);
        }
    }
    if (stream.error == kOk) {
        stream.error = code;
    }
}

// One task of some stream that could run now.
void run_any() {
    std::vector<Stream*> ready;
    for (auto& [id, stream] : world().streams.objects()) {
        if (!stream.queue.empty() && !blocked(stream)) {
            ready.push_back(&stream);
        }
    }
    if (!ready.empty()) {
        std::sort(ready.begin(), ready.end(), [](auto* a, auto* b) { return a->id < b->id; });
        run_front(*ready[dice()() % ready.size()]);
    }
}

void check_order(const Task& task, const Clock& clock, uint64_t own) {
    for (const Touch& touch : task.touches) {
        Area* area = area_at(reinterpret_cast<const void*>(touch.begin));
        if (area == nullptr) {
            continue;
        }
        for (const Access& earlier : area->accesses) {
            if (earlier.stream != own && (earlier.write || touch.write) &&
                earlier.begin < touch.end && touch.begin < earlier.end &&
                !is_over(earlier, clock)) {
                violate(0, "race", "%s %s memory that work on another stream %s, in no order",
                        task.name.c_str(), touch.write ? "writes" : "reads",
                        earlier.write ? "writes" : "reads");
                return;
            }
        }
    }
}

void remember(const Task& task, uint64_t stream, uint64_t sequence) {
    for (const Touch& touch : task.touches) {
        Area* area = area_at(reinterpret_cast<const void*>(touch.begin));
        if (area == nullptr) {
            continue;
        }
        // What the host knows to be over, and what this access stands for, is forgotten.
        std::erase_if(area->accesses, [&](const Access& earlier) {
            return is_over(earlier, world().host) ||
                   (earlier.stream == stream && earlier.begin >= touch.begin &&
                    earlier.end <= touch.end && earlier.write <= touch.write);
        });
        area->accesses.push_back({touch, stream, sequence});
    }
}

}  // namespace

Table<Context>& contexts() { return world().contexts; }
Table<Stream>& streams() { return world().streams; }
Table<Event>& events() { return world().events; }

const void* current_context_handle() { return current; }
void set_current_context(const void* handle) { current = handle; }

Context* current_context() {
    if (current != nullptr && world().contexts.contains(current)) {
        return world().contexts.find(current, "the current context");
    }
    fail(kNoContext, "this thread has no current context: call aclrtSetDevice");
    return nullptr;
}

uint64_t current_context_id() { return world().contexts.number(current); }

void* create_stream(const void* context) {
    Stream stream;
    stream.context = world().contexts.number(context);
    stream.device = world().contexts.at(stream.context)->device;
    void* handle = world().streams.add(std::move(stream));
    const uint64_t id = world().streams.number(handle);
    world().streams.at(id)->id = id;
    return handle;
}

Stream* stream_of(aclrtStream handle, int& code) {
    code = kOk;
    Context* context = current_context();
    if (context == nullptr) {
        code = violate(kNoContext, "no-context", "this thread has no current context");
        return nullptr;
    }
    if (int lost = device_error(context->device)) {
        code = fail(lost, "device %d is lost", context->device);
        return nullptr;
    }
    if (handle == nullptr) {
        if (context->default_stream == 0) {
            context->default_stream = world().streams.number(create_stream(current));
        }
        return world().streams.at(context->default_stream);
    }
    Stream* stream = world().streams.find(handle, "stream");
    if (stream == nullptr) {
        code = kBadParameter;
    } else if (stream->context != current_context_id()) {
        code = violate(kStreamContext, "wrong-context", "the stream belongs to another context");
        stream = nullptr;
    }
    return stream;
}

int enqueue(Stream& stream, Task task) {
    merge(stream.clock, world().host);
    if (task.after != nullptr) {
        merge(stream.clock, task.after->clock);
    }
    const uint64_t sequence = ++stream.issued;
    check_order(task, stream.clock, stream.id);
    remember(task, stream.id, sequence);
    stream.clock[stream.id] = sequence;
    stream.queue.push_back(std::move(task));
    while (chance(eagerness())) {
        run_any();
    }
    return kOk;
}

void run_until(Stream& stream, uint64_t sequence) {
    while (stream.done < sequence && !stream.queue.empty()) {
        if (chance(eagerness())) {
            run_any();
        } else if (blocked(stream)) {
            const std::shared_ptr<Record> record = stream.queue.front().after;
            Stream* other = world().streams.at(record->stream);
            if (other == nullptr) {
                record->done = true;  // its stream was destroyed
            } else {
                run_until(*other, record->sequence);
            }
        } else {
            run_front(stream);
        }
    }
}

int synchronize(Stream& stream) {
    run_until(stream, stream.issued);
    merge(world().host, stream.clock);
    if (const int lost = device_error(stream.device)) {
        return fail(lost, "device %d is lost", stream.device);
    }
    return stream.error == kOk ? kOk : fail(stream.error, "work on the stream failed");
}

void learn(const Record& record) { merge(world().host, record.clock); }

void make_progress() { run_any(); }

int host_access(const std::vector<Touch>& touches) {
    for (const Touch& touch : touches) {
        Area* area = area_at(reinterpret_cast<const void*>(touch.begin));
        if (area == nullptr) {
            continue;
        }
        std::erase_if(area->accesses, [](const Access& a) { return is_over(a, world().host); });
        for (const Access& earlier : area->accesses) {
            if ((earlier.write || touch.write) && earlier.begin < touch.end &&
                touch.begin < earlier.end) {
                return violate(kOk, "race", "touches memory that work on a stream %s, unfinished",
                               earlier.write ? "writes" : "reads");
            }
        }
    }
    return kOk;
}

void destroy_context(const void* handle) {
    Context* context = world().contexts.find(handle, "context");
    if (context == nullptr) {
        return;
    }
    std::vector<uint64_t> own;
    for (auto& [id, stream] : world().streams.objects()) {
        if (world().contexts.handle(stream.context) == handle) {
            own.push_back(id);
        }
    }
    for (const uint64_t id : own) {
        synchronize(*world().streams.at(id));
        world().streams.erase(world().streams.handle(id));
    }
    world().contexts.erase(handle);
}

int device_error(int device) {
    const auto at = world().lost.find(device);
    return at == world().lost.end() ? kOk : at->second;
}
void lose_device(int device, int code) { world().lost[device] = code; }
void revive_device(int device) { world().lost.erase(device); }
uint64_t now() { return world().time; }

}  // namespace cann_double
