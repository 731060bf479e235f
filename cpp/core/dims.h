// Dims: a short list of extents, strides or axes, inline up to four entries.
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>

namespace asc {

// The highest rank of an array; reported by capabilities().
inline constexpr int kMaxRank = 64;

class Dims {
  public:
    Dims() = default;
    explicit Dims(int n) : size_(n) {
        if (n > kInline) data_ = new int64_t[n];
    }
    Dims(int n, int64_t value) : Dims(n) {
        for (int i = 0; i < n; ++i) data()[i] = value;
    }
    Dims(std::initializer_list<int64_t> values)
        : Dims(values.begin(), static_cast<int>(values.size())) {}
    Dims(const int64_t* values, int n) : Dims(n) {
        if (n) std::memcpy(data(), values, static_cast<size_t>(n) * sizeof(int64_t));
    }
    Dims(const Dims& other) : Dims(other.size_) {
        // A copy of a size that the compiler knows, for nearly all lists.
        if (size_ <= kInline)
            std::memcpy(inline_, other.inline_, sizeof(inline_));
        else
            std::memcpy(data_, other.data_, static_cast<size_t>(size_) * sizeof(int64_t));
    }
    Dims(Dims&& other) noexcept { take(other); }
    Dims& operator=(const Dims& other) {
        if (this != &other) *this = Dims(other);
        return *this;
    }
    Dims& operator=(Dims&& other) noexcept {
        if (this != &other) {
            release();
            take(other);
        }
        return *this;
    }
    ~Dims() { release(); }

    int size() const { return size_; }
    bool empty() const { return size_ == 0; }
    int64_t* data() { return size_ > kInline ? data_ : inline_; }
    const int64_t* data() const { return size_ > kInline ? data_ : inline_; }
    int64_t& operator[](int i) { return data()[i]; }
    int64_t operator[](int i) const { return data()[i]; }
    int64_t* begin() { return data(); }
    int64_t* end() { return data() + size_; }
    const int64_t* begin() const { return data(); }
    const int64_t* end() const { return data() + size_; }
    int64_t back() const { return data()[size_ - 1]; }

    void push_back(int64_t value) { insert(size_, value); }
    void insert(int at, int64_t value);
    void erase(int at);

    friend bool operator==(const Dims& a, const Dims& b) {
        if (a.size_ != b.size_) return false;
        const int64_t *x = a.data(), *y = b.data();
        for (int i = 0; i < a.size_; ++i)
            if (x[i] != y[i]) return false;
        return true;
    }

  private:
    static constexpr int kInline = 4;
    void release() {
        if (size_ > kInline) delete[] data_;
    }
    void take(Dims& other) noexcept {
        size_ = other.size_;
        std::memcpy(inline_, other.inline_, sizeof(inline_));
        other.size_ = 0;
    }

    int size_ = 0;
    union {
        int64_t inline_[kInline];
        int64_t* data_;
    };
};

// The product of extents, or -1 where it does not fit 63 bits.
int64_t checked_product(const Dims& shape);
// The product of extents of a shape that is known to be valid.
inline int64_t product(const Dims& shape) {
    int64_t n = 1;
    for (int64_t extent : shape) n *= extent;
    return n;
}
// The offset of the element with this row-major number.
int64_t offset_of(int64_t number, const Dims& shape, const Dims& strides);
// Strides of the row-major layout.
Dims row_major_strides(const Dims& shape);
// Strides without gaps for axes in this memory order, slowest first.
Dims ordered_strides(const Dims& shape, const Dims& order);
// As Python prints a tuple: (2, 3), (4,), ().
std::string to_string(const Dims& dims);

}  // namespace asc
