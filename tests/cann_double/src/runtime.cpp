// The functions of libacl_rt.so, formerly libascendcl.so.
#include <cstring>
#include <utility>

#include "streams.h"

namespace cann_double {
namespace {

constexpr size_t kMaxStreams = 1984;
constexpr size_t kMaxEvents = 65536;

struct Process {
    uint64_t initialized = 0;            // how often
    std::map<int, const void*> primary;  // device → its context
    std::map<int, int> set_count;
    std::map<std::pair<int, int>, bool> peers;
    bool shared_with_others = false;
};

Process& process() {
    static auto* all = new Process;
    return *all;
}

#define RETURN_IF(expression)                    \
    if (const int code_ = (expression); code_) { \
        return code_;                            \
    }
#define FIND(table, variable, handle, what, code) \
    auto* variable = (table).find(handle, what);  \
    if (variable == nullptr) {                    \
        return code;                              \
    }

int check_device(int device) {
    if (settings().devices == 0) {
        return fail(kNoDevice, "there is no device");
    }
    if (device < 0 || device >= settings().devices) {
        return fail(kBadDevice, "device %d of %d", device, settings().devices);
    }
    return device_error(device);
}

// Gives the device of this thread's context.
int need_context(int& device) {
    Context* context = current_context();
    if (context == nullptr) {
        return violate(kNoContext, "no-context", "this thread has no current context");
    }
    device = context->device;
    return device_error(device);
}

int need_stream(aclrtStream handle, Stream*& stream) {
    int code = kOk;
    stream = stream_of(handle, code);
    return code;
}

int need_event(aclrtEvent handle, Event*& event) {
    int device = 0;
    RETURN_IF(need_context(device));
    event = events().find(handle, "event");
    if (event == nullptr) {
        return kBadParameter;
    }
    if (contexts().at(event->context) == nullptr ||
        contexts().at(event->context)->device != device) {
        return violate(kStreamContext, "wrong-context", "the event belongs to another device");
    }
    return kOk;
}

Touch touch(const void* address, size_t size, bool write) {
    const auto begin = reinterpret_cast<uintptr_t>(address);
    return {begin, begin + size, write};
}

// One side of a copy: where its bytes are.
struct Side {
    uint8_t* bytes = nullptr;
    bool pinned = false;
};

int host_side(const void* address, size_t size, const char* what, Side& side) {
    if (address == nullptr) {
        return violate(kBadParameter, "null", "%s is null", what);
    }
    if (is_device_address(address)) {
        return violate(kBadParameter, "not-host-memory", "%s: %p is device memory", what, address);
    }
    Area* area = area_at(address);
    side.bytes = static_cast<uint8_t*>(const_cast<void*>(address));
    side.pinned = area != nullptr;
    if (area != nullptr && side.bytes + size > area->bytes + area->size) {
        return violate(kBadParameter, "out-of-bounds", "%s: beyond a pinned block", what);
    }
    return kOk;
}

int device_side(const void* address, size_t size, const char* what, Side& side, int device) {
    Area* area = area_at(address);
    if (area != nullptr && area->live && area->device != kHost && area->device != device) {
        if (!process().peers[{device, area->device}]) {
            return violate(kBadParameter, "no-peer-access", "%s is on device %d, not enabled", what,
                           area->device);
        }
        device = area->device;
    }
    side.bytes = device_bytes(device, address, size, what);
    return side.bytes == nullptr ? kBadParameter : kOk;
}

struct Copy {
    Side to, from;
    aclrtMemcpyKind kind;
};

int plan_copy(void* to, size_t room, const void* from, size_t size, aclrtMemcpyKind kind,
              int device, Copy& copy) {
    if (size == 0) {
        return violate(kBadParameter, "empty-copy", "a copy of 0 bytes");
    }
    if (room < size) {
        return violate(kBadParameter, "out-of-bounds", "%zu bytes into %zu", size, room);
    }
    if (kind == ACL_MEMCPY_DEFAULT) {
        const bool device_from = is_device_address(from), device_to = is_device_address(to);
        kind = device_to     ? device_from ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE
               : device_from ? ACL_MEMCPY_DEVICE_TO_HOST
                             : ACL_MEMCPY_HOST_TO_HOST;
    }
    copy.kind = kind;
    const bool from_device =
        kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    const bool to_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    if (!from_device && !to_device && kind != ACL_MEMCPY_HOST_TO_HOST) {
        return violate(kBadParameter, "bad-kind", "kind %d", kind);
    }
    RETURN_IF(from_device ? device_side(from, size, "source", copy.from, device)
                          : host_side(from, size, "source", copy.from));
    RETURN_IF(to_device ? device_side(to, size, "destination", copy.to, device)
                        : host_side(to, size, "destination", copy.to));
    if (from_device && to_device &&
        (reinterpret_cast<uintptr_t>(from) % 64 != 0 || reinterpret_cast<uintptr_t>(to) % 64)) {
        return violate(kBadParameter, "unaligned", "a copy on the device not aligned to 64 bytes");
    }
    static const std::map<int, const char*> kCounters = {{ACL_MEMCPY_HOST_TO_HOST, "h2h"},
                                                         {ACL_MEMCPY_HOST_TO_DEVICE, "h2d"},
                                                         {ACL_MEMCPY_DEVICE_TO_HOST, "d2h"},
                                                         {ACL_MEMCPY_DEVICE_TO_DEVICE, "d2d"}};
    count(std::string("bytes_") + kCounters.at(kind), size);
    count(std::string("copies_") + kCounters.at(kind));
    return kOk;
}

int set_primary(int device) {
    RETURN_IF(check_device(device));
    const void*& primary = process().primary[device];
    if (primary == nullptr) {
        primary = contexts().add({device, true});
    }
    ++process().set_count[device];
    set_current_context(primary);
    return kOk;
}

int reset_device(int device, bool force) {
    RETURN_IF(force ? kOk : check_device(device));
    int& uses = process().set_count[device];
    if (uses == 0) {
        return violate(kBadDevice, "unbalanced", "device %d was not set", device);
    }
    uses = force ? 0 : uses - 1;
    if (uses != 0) {
        return kOk;
    }
    const void* primary = std::exchange(process().primary[device], nullptr);
    if (current_context_handle() == primary) {
        set_current_context(nullptr);
    }
    destroy_context(primary);
    for (Area* area : live_areas(device)) {
        violate(kOk, "leak", "%zu bytes are held while device %d is reset", area->size, device);
        release(*area);
    }
    revive_device(device);
    return kOk;
}

int finalize() {
    if (process().initialized == 0) {
        return violate(kRepeatedFinalize, "repeated-finalize", "finalized already");
    }
    if (process().shared_with_others) {
        violate(kOk, "shared", "finalized under another user of CANN in this process");
    }
    process().initialized = 0;
    for (const auto& [kind, table] : Handles::all()) {
        const size_t primary = kind == "context" ? process().primary.size() : 0;
        if (table->live() > primary) {
            violate(kOk, "leak", "%zu of %s at the end", table->live() - primary, kind.c_str());
        }
    }
    for (int device = kHost; device < settings().devices; ++device) {
        size_t bytes = 0;
        for (const Area* area : live_areas(device)) {
            bytes += area->size;
        }
        if (bytes != 0) {
            violate(kOk, "leak", "%zu bytes of %s memory at the end", bytes,
                    device == kHost ? "pinned" : "device");
        }
    }
    set_initialized(false);
    return kOk;
}

}  // namespace

extern "C" {

aclError aclInit(const char*) {
    Call call("aclInit", Call::kAnything);
    if (call.failure != kOk) {
        return call.failure;
    }
    if (settings().stub) {
        return fail(kStub, "this library is a stub for linking");
    }
    set_initialized(true);
    return process().initialized++ == 0 ? kOk : fail(kRepeatedInit, "initialized already");
}

aclError aclFinalize() {
    CANN_DOUBLE_ENTER("aclFinalize");
    return finalize();
}

aclError aclFinalizeReference(uint64_t* left) {
    CANN_DOUBLE_ENTER("aclFinalizeReference");
    if (process().initialized > 1) {
        --process().initialized;
    } else {
        RETURN_IF(finalize());
    }
    if (left != nullptr) {
        *left = process().initialized;
    }
    return kOk;
}

aclError aclrtSetDevice(int32_t device) {
    CANN_DOUBLE_ENTER("aclrtSetDevice");
    return set_primary(device);
}

aclError aclrtGetDevice(int32_t* device) {
    CANN_DOUBLE_ENTER("aclrtGetDevice");
    Context* context = current_context();
    if (context == nullptr) {
        return kNoContext;
    }
    *device = context->device;
    return kOk;
}

aclError aclrtGetDeviceCount(uint32_t* number) {
    CANN_DOUBLE_ENTER("aclrtGetDeviceCount");
    if (settings().devices == 0) {
        return fail(kNoDevice, "there is no device");
    }
    *number = static_cast<uint32_t>(settings().devices);
    return kOk;
}

aclError aclrtResetDevice(int32_t device) {
    CANN_DOUBLE_ENTER("aclrtResetDevice");
    return reset_device(device, false);
}

aclError aclrtResetDeviceForce(int32_t device) {
    CANN_DOUBLE_ENTER("aclrtResetDeviceForce");
    return reset_device(device, true);
}

aclError aclrtCreateContext(aclrtContext* context, int32_t device) {
    CANN_DOUBLE_ENTER("aclrtCreateContext");
    RETURN_IF(check_device(device));
    *context = contexts().add({device, false});
    set_current_context(*context);
    return kOk;
}

aclError aclrtDestroyContext(aclrtContext context) {
    CANN_DOUBLE_ENTER("aclrtDestroyContext");
    FIND(contexts(), found, context, "context", kBadParameter);
    if (found->primary) {
        return violate(kBadParameter, "primary-context", "the device's own context is destroyed");
    }
    destroy_context(context);
    return kOk;
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    CANN_DOUBLE_ENTER("aclrtSetCurrentContext");
    FIND(contexts(), found, context, "context", kBadParameter);
    set_current_context(context);
    return kOk;
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
    CANN_DOUBLE_ENTER("aclrtGetCurrentContext");
    if (current_context() == nullptr) {
        return kNoContext;
    }
    *context = const_cast<void*>(current_context_handle());
    return kOk;
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
    CANN_DOUBLE_ENTER("aclrtCtxGetCurrentDefaultStream");
    Stream* found = nullptr;
    RETURN_IF(need_stream(nullptr, found));
    *stream = const_cast<void*>(streams().handle(found->id));
    return kOk;
}

aclError aclrtCreateStream(aclrtStream* stream) {
    CANN_DOUBLE_ENTER("aclrtCreateStream");
    int device = 0;
    RETURN_IF(need_context(device));
    if (streams().live() >= kMaxStreams) {
        return fail(kResources, "%zu streams already", streams().live());
    }
    *stream = create_stream(current_context_handle());
    return kOk;
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
    return aclrtCreateStream(stream);
}

aclError aclrtDestroyStream(aclrtStream stream) {
    CANN_DOUBLE_ENTER("aclrtDestroyStream");
    FIND(streams(), found, stream, "stream", kBadParameter);
    const bool is_default = contexts().at(found->context)->default_stream == found->id;
    if (is_default) {
        return violate(kBadParameter, "default-stream", "the default stream is destroyed");
    }
    if (!found->queue.empty()) {
        violate(kOk, "unfinished", "a stream is destroyed with %zu tasks", found->queue.size());
        run_until(*found, found->issued);
    }
    Record over{found->id, UINT64_MAX, {{found->id, UINT64_MAX}}};
    learn(over);
    streams().erase(stream);
    return kOk;
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
    CANN_DOUBLE_ENTER("aclrtDestroyStreamForce");
    FIND(streams(), found, stream, "stream", kBadParameter);
    found->queue.clear();
    Record over{found->id, UINT64_MAX, {{found->id, UINT64_MAX}}};
    learn(over);
    streams().erase(stream);
    return kOk;
}

aclError aclrtStreamAbort(aclrtStream stream) {
    CANN_DOUBLE_ENTER("aclrtStreamAbort");
    Stream* found = nullptr;
    RETURN_IF(need_stream(stream, found));
    for (Task& task : found->queue) {
        if (!task.touches.empty()) {
            task.run = nullptr;
        }
    }
    run_until(*found, found->issued);
    return kOk;
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
    CANN_DOUBLE_ENTER("aclrtSynchronizeStream");
    Stream* found = nullptr;
    RETURN_IF(need_stream(stream, found));
    count("synchronizations");
    return synchronize(*found);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t) {
    return aclrtSynchronizeStream(stream);
}

aclError aclrtSynchronizeDevice() {
    CANN_DOUBLE_ENTER("aclrtSynchronizeDevice");
    int device = 0;
    RETURN_IF(need_context(device));
    count("synchronizations");
    int code = kOk;
    for (auto& [id, stream] : streams().objects()) {
        if (stream.device == device) {
            const int failed = synchronize(stream);
            code = code == kOk ? failed : code;
        }
    }
    return code;
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t) { return aclrtSynchronizeDevice(); }

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
    CANN_DOUBLE_ENTER("aclrtStreamQuery");
    Stream* found = nullptr;
    RETURN_IF(need_stream(stream, found));
    *status = found->queue.empty() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    if (found->queue.empty()) {
        learn({found->id, found->issued, found->clock});
    } else {
        make_progress();
    }
    return found->error;
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
    CANN_DOUBLE_ENTER("aclrtSetStreamFailureMode");
    Stream* found = nullptr;
    RETURN_IF(need_stream(stream, found));
    found->stop_on_failure = mode == 1;
    return kOk;
}

aclError aclrtGetStreamAvailableNum(uint32_t* number) {
    CANN_DOUBLE_ENTER("aclrtGetStreamAvailableNum");
    *number = static_cast<uint32_t>(kMaxStreams - streams().live());
    return kOk;
}

aclError aclrtMalloc(void** address, size_t size, aclrtMemMallocPolicy policy) {
    CANN_DOUBLE_ENTER("aclrtMalloc");
    int device = 0;
    RETURN_IF(need_context(device));
    if (address == nullptr || size == 0) {
        return violate(kInvalidParameter, "empty-malloc", "%zu bytes at %p", size,
                       static_cast<void*>(address));
    }
    if (policy < 0) {
        return violate(kInvalidParameter, "bad-policy", "policy %d", policy);
    }
    Area* area = allocate_device(device, size);
    if (area == nullptr) {
        return fail(kOutOfMemory, "%zu bytes of %zu, %zu are used", size, settings().memory,
                    used_memory(device));
    }
    count("mallocs");
    *address = reinterpret_cast<void*>(area->begin);
    return kOk;
}

aclError aclrtMallocAlign32(void** address, size_t size, aclrtMemMallocPolicy policy) {
    return aclrtMalloc(address, size, policy);
}

aclError aclrtFree(void* address) {
    CANN_DOUBLE_ENTER("aclrtFree");
    Area* area = area_at(address);
    if (area == nullptr || area->device == kHost ||
        area->begin != reinterpret_cast<uintptr_t>(address)) {
        return violate(kBadParameter, "foreign-memory", "%p is no block of a device", address);
    }
    if (!area->live) {
        return violate(kBadParameter, "double-free", "%p was freed before", address);
    }
    host_access({touch(address, area->size, true)});
    count("frees");
    release(*area);
    return kOk;
}

aclError aclrtMallocHost(void** address, size_t size) {
    CANN_DOUBLE_ENTER("aclrtMallocHost");
    int device = 0;
    RETURN_IF(need_context(device));
    if (size == 0) {
        return violate(kInvalidParameter, "empty-malloc", "0 bytes");
    }
    Area* area = allocate_host(size);
    if (area == nullptr) {
        return fail(kOutOfMemory, "%zu bytes of pinned memory", size);
    }
    gauge("pinned_bytes", static_cast<int64_t>(size));
    *address = area->bytes;
    return kOk;
}

aclError aclrtFreeHost(void* address) {
    CANN_DOUBLE_ENTER("aclrtFreeHost");
    Area* area = area_at(address);
    if (area == nullptr || area->device != kHost || area->registered || area->bytes != address) {
        return violate(kBadParameter, "foreign-memory", "%p is no pinned block", address);
    }
    if (host_access({touch(address, area->size, true)}); !area->accesses.empty()) {
        for (auto& [id, stream] : streams().objects()) {
            synchronize(stream);  // reported above; the process must live on
        }
    }
    gauge("pinned_bytes", -static_cast<int64_t>(area->size));
    release(*area);
    return kOk;
}

aclError aclrtHostRegister(void* address, uint64_t size, aclrtHostRegisterType type,
                           void** on_device) {
    CANN_DOUBLE_ENTER("aclrtHostRegister");
    if (address == nullptr || size == 0 || on_device == nullptr) {
        return violate(kBadParameter, "null", "%lu bytes at %p", size, address);
    }
    if (type != ACL_HOST_REGISTER_MAPPED) {
        return fail(kFeature, "type %d", type);
    }
    Area* last = area_at(static_cast<uint8_t*>(address) + size - 1);
    if (area_at(address) != nullptr || last != nullptr) {
        return violate(kBadParameter, "registered-twice", "%p is known already", address);
    }
    register_host(address, size);
    count("registrations");
    gauge("registered_bytes", static_cast<int64_t>(size));
    *on_device = address;
    return kOk;
}

aclError aclrtHostUnregister(void* address) {
    CANN_DOUBLE_ENTER("aclrtHostUnregister");
    Area* area = area_at(address);
    if (area == nullptr || !area->registered || area->bytes != address) {
        return violate(kBadParameter, "foreign-memory", "%p is not registered", address);
    }
    host_access({touch(address, area->size, true)});
    gauge("registered_bytes", -static_cast<int64_t>(area->size));
    release(*area);
    return kOk;
}

aclError aclrtMemcpy(void* to, size_t room, const void* from, size_t size, aclrtMemcpyKind kind) {
    CANN_DOUBLE_ENTER("aclrtMemcpy");
    int device = 0;
    RETURN_IF(need_context(device));
    Copy copy;
    RETURN_IF(plan_copy(to, room, from, size, kind, device, copy));
    host_access({touch(from, size, false), touch(to, size, true)});
    std::memmove(copy.to.bytes, copy.from.bytes, size);
    return kOk;
}

aclError aclrtMemcpyAsync(void* to, size_t room, const void* from, size_t size,
                          aclrtMemcpyKind kind, aclrtStream stream) {
    CANN_DOUBLE_ENTER("aclrtMemcpyAsync");
    Stream* found = nullptr;
    RETURN_IF(need_stream(stream, found));
    Copy copy;
    RETURN_IF(plan_copy(to, room, from, size, kind, found->device, copy));
    if (copy.kind == ACL_MEMCPY_HOST_TO_HOST) {
        return violate(kFeature, "host-to-host", "asynchronous copies between host memory");
    }
    const bool pageable = (copy.kind == ACL_MEMCPY_HOST_TO_DEVICE && !copy.from.pinned) ||
                          (copy.kind == ACL_MEMCPY_DEVICE_TO_HOST && !copy.to.pinned);
    enqueue(*found,
            {"aclrtMemcpyAsync", {touch(from, size, false), touch(to, size, true)}, [copy, size] {
                 std::memmove(copy.to.bytes, copy.from.bytes, size);
                 return kOk;
             }});
    if (pageable) {
        // With pageable memory the call may wait, and may not.
        count("pageable_copies");
        if (chance(0.5)) {
            run_until(*found, found->issued);
        }
    }
    return kOk;
}

aclError aclrtMemset(void* address, size_t room, int32_t value, size_t size) {
    CANN_DOUBLE_ENTER("aclrtMemset");
    int device = 0;
    RETURN_IF(need_context(device));
    uint8_t* bytes = device_bytes(device, address, size, "memset");
    if (bytes == nullptr || size == 0 || room < size) {
        return violate(kBadParameter, "out-of-bounds", "%zu bytes of %zu", size, room);
    }
    host_access({touch(address, size, true)});
    std::memset(bytes, value, size);
    return kOk;
}

aclError aclrtMemsetAsync(void* address, size_t room, int32_t value, size_t size,
                          aclrtStream stream) {
    CANN_DOUBLE_ENTER("aclrtMemsetAsync");
    Stream* found = nullptr;
    RETURN_IF(need_stream(stream, found));
    uint8_t* bytes = device_bytes(found->device, address, size, "memset");
    if (bytes == nullptr || size == 0 || room < size) {
        return violate(kBadParameter, "out-of-bounds", "%zu bytes of %zu", size, room);
    }
    return enqueue(*found, {"aclrtMemsetAsync", {touch(address, size, true)}, [=] {
                                std::memset(bytes, value, size);
                                return kOk;
                            }});
}

aclError aclrtGetMemInfo(aclrtMemAttr attribute, size_t* free, size_t* total) {
    CANN_DOUBLE_ENTER("aclrtGetMemInfo");
    int device = 0;
    RETURN_IF(need_context(device));
    const bool own = attribute == ACL_HBM_MEM;
    *total = own ? settings().memory : 0;
    *free = own ? settings().memory - used_memory(device) : 0;
    return kOk;
}

aclError aclrtDeviceCanAccessPeer(int32_t* can, int32_t device, int32_t peer) {
    CANN_DOUBLE_ENTER("aclrtDeviceCanAccessPeer");
    RETURN_IF(check_device(device));
    RETURN_IF(check_device(peer));
    *can = device != peer;
    return kOk;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t) {
    CANN_DOUBLE_ENTER("aclrtDeviceEnablePeerAccess");
    int device = 0;
    RETURN_IF(need_context(device));
    RETURN_IF(check_device(peer));
    process().peers[{device, peer}] = true;
    return kOk;
}

aclError aclrtPointerGetAttributes(const void* address, aclrtPtrAttributes* attributes) {
    CANN_DOUBLE_ENTER("aclrtPointerGetAttributes");
    const Area* area = area_at(address);
    *attributes = {};
    attributes->location = area == nullptr || !area->live ? 2 : area->device == kHost ? 0 : 1;
    attributes->device = attributes->location == 1 ? static_cast<uint32_t>(area->device) : 0;
    attributes->page_size = 4096;
    return kOk;
}

}  // extern "C"

namespace {

int create_event(aclrtEvent* event, uint32_t flags, bool rerecordable) {
    int device = 0;
    RETURN_IF(need_context(device));
    if (events().live() >= kMaxEvents) {
        return fail(kResources, "%zu events already", events().live());
    }
    *event = events().add({current_context_id(), flags, rerecordable, nullptr, nullptr});
    return kOk;
}

bool recorded(const Event& event) { return event.record != nullptr && event.record->done; }

}  // namespace

extern "C" {

aclError aclrtCreateEvent(aclrtEvent* event) {
    CANN_DOUBLE_ENTER("aclrtCreateEvent");
    return create_event(event, kEventSync | kEventTimeLine, false);
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flags) {
    CANN_DOUBLE_ENTER("aclrtCreateEventWithFlag");
    return create_event(event, flags, false);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flags) {
    CANN_DOUBLE_ENTER("aclrtCreateEventExWithFlag");
    return create_event(event, flags, true);
}

aclError aclrtDestroyEvent(aclrtEvent event) {
    CANN_DOUBLE_ENTER("aclrtDestroyEvent");
    FIND(events(), found, event, "event", kBadParameter);
    const bool recording = found->record != nullptr && !found->record->done;
    if (recording || (found->last_wait != nullptr && !found->last_wait->done)) {
        violate(kOk, "unfinished", "an event is destroyed while a %s is pending",
                recording ? "record" : "wait");
    }
    events().erase(event);
    return kOk;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
    CANN_DOUBLE_ENTER("aclrtRecordEvent");
    Stream* found = nullptr;
    Event* target = nullptr;
    RETURN_IF(need_stream(stream, found));
    RETURN_IF(need_event(event, target));
    if (!target->rerecordable && target->record != nullptr) {
        violate(kOk, "re-record", "an event of this kind is recorded again without a reset");
    }
    auto record = std::make_shared<Record>();
    target->record = record;
    const Stream* on = found;
    enqueue(*found, {"aclrtRecordEvent", {}, [record, on] {
                         record->done = true;
                         record->time = now();
                         record->error = on->error;
                         return kOk;
                     }});
    record->stream = found->id;
    record->sequence = found->issued;
    record->clock = found->clock;
    return kOk;
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
    CANN_DOUBLE_ENTER("aclrtResetEvent");
    Stream* found = nullptr;
    Event* target = nullptr;
    RETURN_IF(need_stream(stream, found));
    RETURN_IF(need_event(event, target));
    target->record = nullptr;
    return kOk;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
    CANN_DOUBLE_ENTER("aclrtQueryEventStatus");
    Event* found = nullptr;
    RETURN_IF(need_event(event, found));
    // One that was never recorded counts as complete.
    if (found->record == nullptr || recorded(*found)) {
        *status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
        if (found->record != nullptr) {
            learn(*found->record);
        }
        return kOk;
    }
    *status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    make_progress();
    return kOk;
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
    aclrtEventRecordedStatus recorded_status;
    RETURN_IF(aclrtQueryEventStatus(event, &recorded_status));
    *status = recorded_status == ACL_EVENT_RECORDED_STATUS_COMPLETE ? ACL_EVENT_STATUS_COMPLETE
                                                                    : ACL_EVENT_STATUS_NOT_READY;
    return kOk;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
    CANN_DOUBLE_ENTER("aclrtQueryEventWaitStatus");
    Event* found = nullptr;
    RETURN_IF(need_event(event, found));
    const bool complete = found->last_wait == nullptr || found->last_wait->done;
    *status = complete ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
    if (!complete) {
        make_progress();
    }
    return kOk;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
    CANN_DOUBLE_ENTER("aclrtStreamWaitEvent");
    Stream* found = nullptr;
    Event* target = nullptr;
    RETURN_IF(need_stream(stream, found));
    RETURN_IF(need_event(event, target));
    if ((target->flags & kEventSync) == 0) {
        return violate(kBadParameter, "event-flag", "waiting needs an event made with SYNC");
    }
    if (target->record == nullptr) {
        return violate(kOk, "unrecorded", "a stream waits for an event that was never recorded");
    }
    auto wait = std::make_shared<Record>();
    target->last_wait = wait;
    return enqueue(*found, {"aclrtStreamWaitEvent",
                            {},
                            [wait] {
                                wait->done = true;
                                return kOk;
                            },
                            target->record});
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
    CANN_DOUBLE_ENTER("aclrtSynchronizeEvent");
    Event* found = nullptr;
    RETURN_IF(need_event(event, found));
    if (found->record == nullptr) {
        return violate(kOk, "unrecorded", "waits for an event that was never recorded");
    }
    const std::shared_ptr<Record> record = found->record;
    count("synchronizations");
    if (Stream* stream = streams().at(record->stream)) {
        run_until(*stream, record->sequence);
    }
    learn(*record);
    int device = 0;
    RETURN_IF(need_context(device));
    return record->error == kOk ? kOk : fail(record->error, "work before the event failed");
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t) {
    return aclrtSynchronizeEvent(event);
}

aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
    CANN_DOUBLE_ENTER("aclrtEventElapsedTime");
    Event* first = nullptr;
    Event* last = nullptr;
    RETURN_IF(need_event(start, first));
    RETURN_IF(need_event(end, last));
    if ((first->flags & last->flags & kEventTimeLine) == 0) {
        return violate(kBadParameter, "event-flag", "timing needs events made with TIME_LINE");
    }
    if (!recorded(*first) || !recorded(*last)) {
        return violate(kBadParameter, "unrecorded", "the time of an event that is not over");
    }
    *milliseconds = static_cast<float>(
        static_cast<double>(static_cast<int64_t>(last->record->time - first->record->time)) / 1e6);
    return kOk;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* microseconds) {
    CANN_DOUBLE_ENTER("aclrtEventGetTimestamp");
    Event* found = nullptr;
    RETURN_IF(need_event(event, found));
    if ((found->flags & kEventTimeLine) == 0 || !recorded(*found)) {
        return violate(kBadParameter, "event-flag", "timing needs a TIME_LINE event that is over");
    }
    *microseconds = found->record->time / 1000;
    return kOk;
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc function, void* argument) {
    CANN_DOUBLE_ENTER("aclrtLaunchHostFunc");
    Stream* found = nullptr;
    RETURN_IF(need_stream(stream, found));
    return enqueue(*found, {"aclrtLaunchHostFunc", {}, [=] {
                                function(argument);
                                return kOk;
                            }});
}

const char* aclrtGetSocName() { return settings().devices == 0 ? nullptr : settings().soc.c_str(); }

aclError aclrtGetVersion(int32_t* major, int32_t* minor, int32_t* patch) {
    CANN_DOUBLE_ENTER("aclrtGetVersion");
    *major = 1;
    *minor = 17;
    *patch = 0;
    return kOk;
}

aclError aclsysGetVersionStr(char* package, char* version) {
    Call call("aclsysGetVersionStr", Call::kAnything);
    if (call.failure != kOk) {
        return call.failure;
    }
    if (package == nullptr || version == nullptr) {
        return violate(kInvalidParameter, "null", "a null argument");
    }
    std::strcpy(version, settings().version.c_str());
    return kOk;
}

aclError aclsysGetVersionNum(char*, int32_t* number) {
    Call call("aclsysGetVersionNum", Call::kAnything);
    if (call.failure != kOk) {
        return call.failure;
    }
    int major = 0, minor = 0, patch = 0;
    std::sscanf(settings().version.c_str(), "%d.%d.%d", &major, &minor, &patch);
    *number = major * 10'000'000 + minor * 100'000 + patch * 1000;
    return kOk;
}

size_t aclDataTypeSize(aclDataType type) {
    static const std::map<int, size_t> kSizes = {
        {ACL_BOOL, 1},   {ACL_INT8, 1},      {ACL_UINT8, 1},      {ACL_INT16, 2},
        {ACL_UINT16, 2}, {ACL_FLOAT16, 2},   {ACL_BF16, 2},       {ACL_INT32, 4},
        {ACL_UINT32, 4}, {ACL_FLOAT, 4},     {ACL_INT64, 8},      {ACL_UINT64, 8},
        {ACL_DOUBLE, 8}, {ACL_COMPLEX64, 8}, {ACL_COMPLEX128, 16}};
    const auto at = kSizes.find(type);
    return at == kSizes.end() ? 0 : at->second;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel) {
    CANN_DOUBLE_ENTER("aclrtPeekAtLastError");
    return kOk;
}

aclError aclrtGetLastError(aclrtLastErrLevel) {
    CANN_DOUBLE_ENTER("aclrtGetLastError");
    return kOk;
}

aclError aclrtGetRunMode(aclrtRunMode* mode) {
    CANN_DOUBLE_ENTER("aclrtGetRunMode");
    *mode = ACL_HOST;
    return kOk;
}

// Control: another library of the process (torch_npu, say) uses CANN too.
__attribute__((visibility("default"))) void cann_double_other_user() {
    std::lock_guard guard(big_lock());
    process().shared_with_others = true;
    ++process().initialized;
    set_initialized(true);
}

}  // extern "C"

}  // namespace cann_double
