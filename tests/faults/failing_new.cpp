// A library to preload: every n-th `operator new` fails, after fail_new_every(n). After
// fail_new_in(name) only requests of libraries with this in their path count.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {
std::atomic<long> every{0}, requests{0};
std::atomic<const char*> library{nullptr};

bool counts(const void* caller) {
    const char* name = library.load(std::memory_order_relaxed);
    Dl_info info;
    return !name || (dladdr(caller, &info) != 0 && std::strstr(info.dli_fname, name) != nullptr);
}
void* take(std::size_t size, std::size_t alignment, const void* caller) {
    long n = every.load(std::memory_order_relaxed);
    if (counts(caller)) {
        long count = requests.fetch_add(1, std::memory_order_relaxed) + 1;
        if (n > 0 && count % n == 0) return nullptr;
    }
    void* p = nullptr;
    if (alignment <= 16) return std::malloc(size ? size : 1);
    return posix_memalign(&p, alignment, size ? size : 1) == 0 ? p : nullptr;
}
void* need(std::size_t size, std::size_t alignment, const void* caller) {
    void* p = take(size, alignment, caller);
    if (!p) throw std::bad_alloc();
    return p;
}
}  // namespace

extern "C" {
void fail_new_every(long n) {
    every.store(n);
    requests.store(0);
}
// `name` must live on.
void fail_new_in(const char* name) { library.store(name); }
long new_requests() { return requests.load(); }
}

#define CALLER __builtin_return_address(0)
void* operator new(std::size_t size) { return need(size, 1, CALLER); }
void* operator new[](std::size_t size) { return need(size, 1, CALLER); }
void* operator new(std::size_t size, std::align_val_t a) {
    return need(size, std::size_t(a), CALLER);
}
void* operator new[](std::size_t size, std::align_val_t a) {
    return need(size, std::size_t(a), CALLER);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return take(size, 1, CALLER);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return take(size, 1, CALLER);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
