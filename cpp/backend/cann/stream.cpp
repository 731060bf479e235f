#include "backend/cann/stream.h"

#include <pthread.h>

#include <atomic>
#include <utility>

#include "backend/cann/errors.h"
#include "backend/cann/loader.h"

namespace asc::cann {
namespace {

std::atomic<bool> forked{false};

void refuse_after_fork() {
    if (!forked.load(std::memory_order_relaxed)) return;
    raise(ErrorKind::Runtime,
          "%s: NPUs cannot be used in a child of fork; start processes with the method 'spawn'",
          running_function);
}

}  // namespace

void install_fork_handlers() {
    pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); });
}

InContext::InContext(aclrtContext context) {
    // An error says that the thread has none.
    if (acl().aclrtGetCurrentContext(&before_) != 0) before_ = nullptr;
    if (before_ == context) {
        before_ = nullptr;
    } else {
        acl().aclrtSetCurrentContext(context);  // if this fails, so does what follows
    }
}
InContext::~InContext() {
    if (before_) acl().aclrtSetCurrentContext(before_);
}

Mark::Mark(aclrtContext context, aclrtStream stream) : context_(context) {
    check("aclrtCreateEventExWithFlag",
          acl().aclrtCreateEventExWithFlag(&event_, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    if (const int code = acl().aclrtRecordEvent(event_, stream)) {
        const Error error = error_of("aclrtRecordEvent", code);
        acl().aclrtDestroyEvent(event_);
        throw error;
    }
}
Mark::~Mark() {
    if (forked.load(std::memory_order_relaxed)) return;
    InContext here(context_);
    // CANN forbids destroying an event whose record has not run.
    if (!reached()) acl().aclrtSynchronizeEvent(event_);
    acl().aclrtDestroyEvent(event_);
}
bool Mark::reached() {
    InContext here(context_);
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    // After an error the stream runs nothing more, which is what the caller wants to know.
    return acl().aclrtQueryEventStatus(event_, &status) != 0 ||
           status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
}
void Mark::wait() {
    InContext here(context_);
    check("aclrtSynchronizeEvent", acl().aclrtSynchronizeEvent(event_));
}

double Mark::milliseconds_since(const Mark& earlier) const {
    InContext here(context_);
    float milliseconds = 0;
    check("aclrtEventElapsedTime",
          acl().aclrtEventElapsedTime(&milliseconds, earlier.event_, event_));
    return milliseconds;
}

std::unique_lock<std::recursive_mutex> Stream::lock() {
    refuse_after_fork();
    return std::unique_lock(mutex_);
}

void Stream::refuse_if_lost() const {
    if (lost_.empty()) return;
    raise(ErrorKind::Runtime, "%s: the device npu:%d is lost: %s", running_function, ordinal_,
          lost_.c_str());
}

void Stream::open() {
    refuse_after_fork();
    refuse_if_lost();
    if (stream_) return;
    // The device's own context, which other users of CANN in this process have, too.
    aclrtContext before = nullptr;
    if (acl().aclrtGetCurrentContext(&before) != 0) before = nullptr;
    check("aclrtSetDevice", acl().aclrtSetDevice(ordinal_));
    check("aclrtGetCurrentContext", acl().aclrtGetCurrentContext(&context_));
    check("aclrtCreateStream", acl().aclrtCreateStream(&stream_));
    if (before) acl().aclrtSetCurrentContext(before);
}

void Stream::wait() {
    refuse_if_lost();
    const int code = acl().aclrtSynchronizeStream(stream_);
    if (code == 0) return;
    const Error error = error_of("aclrtSynchronizeStream", code);
    if (!is_timeout(code)) recover();
    throw error;
}

// What has failed on a stream stays its error, or was the error of a call.
void Stream::recover() {
    suspect_ = false;
    if (acl().aclrtSynchronizeStream(stream_) == 0) return;
    acl().aclGetRecentErrMsg();  // or it would belong to the next error
    if (acl().aclrtStreamAbort) acl().aclrtStreamAbort(stream_);
    acl().aclrtDestroyStream(std::exchange(stream_, nullptr));
    if (const int code = acl().aclrtCreateStream(&stream_)) {
        stream_ = nullptr;
        lost_ = "aclrtCreateStream: " + describe(code);
    }
}

Turn::Turn(Stream& own, const char* function)
    : outer_function_(std::exchange(running_function, function)), outer_stream_(stream) {
    try {
        lock_ = own.lock();
        own.open();
        context_.emplace(own.context());
        if (own.suspect_) own.recover();
        own.refuse_if_lost();
    } catch (...) {
        running_function = outer_function_;
        throw;
    }
    stream = &own;
}
Turn::~Turn() {
    context_.reset();
    running_function = outer_function_;
    stream = outer_stream_;
}

}  // namespace asc::cann
