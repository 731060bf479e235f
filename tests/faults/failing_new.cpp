// A library to preload: every n-th `operator new` fails, after fail_new_every(n).
#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> every{0}, requests{0};

void* take(std::size_t size, std::size_t alignment) {
    long n = every.load(std::memory_order_relaxed);
    long count = requests.fetch_add(1, std::memory_order_relaxed) + 1;
    if (n > 0 && count % n == 0) return nullptr;
    void* p = nullptr;
    if (alignment <= 16) return std::malloc(size ? size : 1);
    return posix_memalign(&p, alignment, size ? size : 1) == 0 ? p : nullptr;
}
void* need(std::size_t size, std::size_t alignment) {
    void* p = take(size, alignment);
    if (!p) throw std::bad_alloc();
    return p;
}
}  // namespace

extern "C" {
void fail_new_every(long n) {
    every.store(n);
    requests.store(0);
}
long new_requests() { return requests.load(); }
}

void* operator new(std::size_t size) { return need(size, 1); }
void* operator new[](std::size_t size) { return need(size, 1); }
void* operator new(std::size_t size, std::align_val_t a) { return need(size, std::size_t(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return need(size, std::size_t(a)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size, 1); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size, 1); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
