// What every part of the double shares: settings, the lock, violations, faults, counters, handles.
#pragma once
#include <cstdio>
#include <mutex>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "abi.h"

namespace cann_double {

struct Settings {
    uint64_t seed = 0;
    int devices = 2;
    size_t memory = size_t{64} << 30;  // bytes of each device
    std::string soc = "Ascend910B3";
    std::string version = "8.5.0";
    bool stub = false;  // behave as the libraries that only serve for linking
};
Settings& settings();

// One lock for everything: the double is about order, not speed.
std::recursive_mutex& big_lock();
std::mt19937_64& dice();
inline bool chance(double p) { return std::uniform_real_distribution<>()(dice()) < p; }

// Stands at the head of every function of the interface: takes the lock, looks for an injected
// fault and for calls before aclInit.
class Call {
  public:
    enum Need { kAnything, kInitialized };
    explicit Call(const std::string& function, Need need = kInitialized);
    ~Call();
    Call(const Call&) = delete;
    int failure = kOk;

  private:
    std::lock_guard<std::recursive_mutex> guard_;
};
#define CANN_DOUBLE_ENTER(name) \
    Call call(name);            \
    if (call.failure != kOk) {  \
        return call.failure;    \
    }

// An error that a correct program can meet; returns the code.
[[gnu::format(printf, 2, 3)]] int fail(int code, const char* format, ...);
// An error that only a wrong program makes: counted under the name of the rule; returns the code.
[[gnu::format(printf, 3, 4)]] int violate(int code, const char* rule, const char* format, ...);

// The code that is to be injected at this call of `function`, or 0.
int injected_fault(const std::string& function);

void count(const std::string& counter, uint64_t amount = 1);
void gauge(const std::string& counter, int64_t change);  // also keeps <counter>_peak

void set_initialized(bool initialized);

// Objects behind handles. A handle is a number that is no address: following it faults, and it is
// never given out again, so that each use after destruction is found.
class Handles {
  public:
    virtual ~Handles() = default;
    virtual size_t live() const = 0;
    // Of these, what repeatable executors hold for later.
    size_t kept = 0;
    static std::vector<std::pair<std::string, Handles*>>& all();

    const void* handle(uint64_t id) const {
        return reinterpret_cast<const void*>(uint64_t{0xACE0} << 48 | uint64_t{code_} << 40 |
                                             id << 4);
    }
    // 0 where it is no handle of this kind.
    uint64_t number(const void* handle) const {
        const auto bits = reinterpret_cast<uint64_t>(handle);
        const bool ours = bits >> 40 == (uint64_t{0xACE0} << 8 | code_) && (bits & 15) == 0;
        return ours ? (bits & ((uint64_t{1} << 40) - 1)) >> 4 : 0;
    }

  protected:
    Handles(const char* kind, unsigned code) : kind_(kind), code_(code) {
        all().emplace_back(kind, this);
    }
    const char* kind_;
    unsigned code_;
    uint64_t next_ = 1;
};

template <class T>
class Table : public Handles {
  public:
    Table(const char* kind, unsigned code) : Handles(kind, code) {}

    // The handle of the new object.
    void* add(T object) {
        objects_.emplace(next_, std::move(object));
        return const_cast<void*>(handle(next_++));
    }
    T* at(uint64_t number) {
        const auto at = objects_.find(number);
        return at == objects_.end() ? nullptr : &at->second;
    }
    // Null after recording a violation.
    T* find(const void* handle, const char* what) {
        const uint64_t id = number(handle);
        if (T* object = at(id)) {
            return object;
        }
        if (id != 0 && id < next_) {
            violate(0, "use-after-destroy", "%s is a destroyed %s", what, kind_);
        } else {
            violate(0, "foreign-handle", "%s is no %s: %p", what, kind_, handle);
        }
        return nullptr;
    }
    bool contains(const void* handle) const { return objects_.contains(number(handle)); }
    bool erase(const void* handle) {
        const uint64_t id = number(handle);
        if (objects_.erase(id) != 0) {
            return true;
        }
        if (id != 0 && id < next_) {
            violate(0, "double-destroy", "a %s is destroyed twice", kind_);
        } else {
            violate(0, "foreign-handle", "what is destroyed is no %s: %p", kind_, handle);
        }
        return false;
    }
    size_t live() const override { return objects_.size(); }
    std::unordered_map<uint64_t, T>& objects() { return objects_; }

  private:
    std::unordered_map<uint64_t, T> objects_;
};

}  // namespace cann_double
