// The stream of a device: all of its work is queued there, in order. One stream is enough to keep a
// device busy, and makes the order of memory's uses the order of the calls.
//
// Lock rule: a Turn holds the stream's mutex; whoever queues work, waits for it, or changes what
// belongs to the device has one.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/cann/symbols.h"

namespace asc::cann {

// The calling thread works in a device's context while it lives.
class InContext {
  public:
    explicit InContext(aclrtContext context);
    ~InContext();
    InContext(const InContext&) = delete;
    InContext& operator=(const InContext&) = delete;

  private:
    aclrtContext before_ = nullptr;  // to be restored
};

// A point of the stream.
class Mark {
  public:
    Mark(aclrtContext context, aclrtStream stream);
    ~Mark();
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    bool reached();
    void wait();
    // Both have been reached.
    double milliseconds_since(const Mark& earlier) const;

  private:
    aclrtContext context_;
    aclrtEvent event_ = nullptr;
};

class Stream {
  public:
    explicit Stream(int32_t ordinal) : ordinal_(ordinal) {}

    // The rest by the holder of a Turn.
    aclrtStream handle() const { return stream_; }
    aclrtContext context() const { return context_; }
    std::shared_ptr<Mark> mark() { return std::make_shared<Mark>(context_, stream_); }
    // For what needs no turn. Throws in a child of fork, where the mutex may never be free.
    std::unique_lock<std::recursive_mutex> lock();
    // Everything that was queued has run. Where it has failed the error is thrown, and the stream
    // is replaced, or the device is lost.
    void wait();
    // An error may have stopped it: the next Turn looks.
    void suspect() { suspect_ = true; }

  private:
    friend class Turn;
    void open();
    void refuse_if_lost() const;
    void recover();

    int32_t ordinal_;
    aclrtContext context_ = nullptr;
    aclrtStream stream_ = nullptr;
    bool suspect_ = false;
    std::string lost_;  // why no new stream could be made
    std::recursive_mutex mutex_;
};

// While it lives, the thread queues work on the stream, alone. The first opens the device.
class Turn {
  public:
    // The stream of the innermost one of this thread, or null.
    static inline thread_local Stream* stream = nullptr;

    // Messages name the function.
    Turn(Stream& own, const char* function);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    std::unique_lock<std::recursive_mutex> lock_;
    const char* outer_function_;
    Stream* outer_stream_;
    std::optional<InContext> context_;
};

// Once: in a child of fork devices are errors.
void install_fork_handlers();

}  // namespace asc::cann
