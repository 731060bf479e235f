#include "backend/cpu/mixed.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstring>
#include <optional>

#include "backend/cpu/isa.h"
#include "backend/cpu/kernels/mixed.h"
#include "backend/cpu/scratch.h"

namespace asc::cpu {

#define X(name)                                        \
    namespace name {                                   \
    const MixedKernels* mixed_kernels(MixedUnit unit); \
    }
ASC_KERNEL_ISAS
#undef X

namespace {

// Extents from which rounding the factors costs less than it saves, and multiply-adds.
constexpr int64_t kLeastExtent = 16, kLeastWork = int64_t{1} << 17;
// Rows and columns of one task: its block of the result stays in cache for what follows.
constexpr int64_t kTaskRows = 64, kTaskColumns = 1024;

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

// Bytes of one packed block of rows or columns.
int64_t strip_bytes(int64_t k) { return round_up(k, kMixedDepth) * kMixedTile * 2; }

struct Choice {
    const char* name = nullptr;
    const MixedKernels* kernels = nullptr;
};

#if defined(__x86_64__)
// The system lets this process use tiles.
bool permitted_tiles() {
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // of arch_prctl
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

std::optional<MixedUnit> find_unit() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a >> 5 & 1)) return std::nullopt;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    const bool tiles = (d >> 22 & 1) && (d >> 24 & 1);
    return tiles && permitted_tiles() ? MixedUnit::Tiles : MixedUnit::Vectors;
}
#else
std::optional<MixedUnit> find_unit() { return std::nullopt; }
#endif

Choice choose() {
    const std::optional<MixedUnit> unit = find_unit();
    const MixedKernels* found = nullptr;
#define X(name) \
    if (unit && !std::strcmp(kernels().isa, #name)) found = name::mixed_kernels(*unit);
    ASC_KERNEL_ISAS
#undef X
    if (!found) return {};
    return {*unit == MixedUnit::Tiles ? "amx" : "avx512-bf16", found};
}

const Choice& choice() {
    static const Choice chosen = choose();
    return chosen;
}

const char* at(const void* p, int64_t bytes) { return static_cast<const char*>(p) + bytes; }
char* at(void* p, int64_t bytes) { return static_cast<char*>(p) + bytes; }

GemmOperand shifted(const GemmOperand& x, int64_t start, int64_t row, int64_t col) {
    const int64_t elements = start + row * x.row_stride + col * x.col_stride;
    return {at(x.data, elements * static_cast<int64_t>(sizeof(float))), x.row_stride, x.col_stride};
}

int64_t packed_bytes(DType, int64_t k, int64_t n) {
    return ceil_div(n, kMixedTile) * strip_bytes(k);
}
void pack(void* dst, DType, const GemmOperand& b, int64_t k, int64_t n, const Parallel& par) {
    run_each(par, ceil_div(n, kMixedTile), [&](int64_t strip) {
        const int64_t j = strip * kMixedTile;
        choice().kernels->pack_columns(at(dst, strip * strip_bytes(k)), shifted(b, 0, 0, j), k,
                                       std::min(kMixedTile, n - j));
    });
}

// One product, task by task: some rows of one matrix of the batch, and some of its columns.
class MixedProduct {
  public:
    MixedProduct(const Product& p, const Parallel& par)
        : kernels_(*choice().kernels),
          p_(p),
          par_(par),
          shared_(!p.b_starts.list && (p.batch == 1 || p.b_starts.step == 0)) {}

    void run() const {
        if (p_.packed_b) return tasks(0, p_.batch, p_.packed_b);
        if (!shared_ && p_.batch >= par_.threads) return whole_matrices();
        Buffer packed(packed_bytes(p_.dtype, p_.k, p_.n));
        for (int64_t i = 0; i < (shared_ ? 1 : p_.batch); ++i) {
            pack(packed.data(), p_.dtype, shifted(p_.b, p_.b_starts[i], 0, 0), p_.k, p_.n, par_);
            tasks(i, shared_ ? p_.batch : 1, packed.data());
        }
    }

  private:
    int64_t rows_bytes() const { return kTaskRows / kMixedTile * strip_bytes(p_.k); }
    static constexpr int64_t kEdgeBytes = kMixedTile * kMixedTile * sizeof(float);
    int64_t block_bytes() const {
        return p_.c ? 0 : kTaskRows * std::min(p_.n, kTaskColumns) * int64_t{sizeof(float)};
    }
    int64_t scratch_bytes() const { return rows_bytes() + kEdgeBytes + block_bytes(); }

    // `count` matrices of the batch from `first` on, which meet one packed b.
    void tasks(int64_t first, int64_t count, const void* packed) const {
        const int64_t rows = ceil_div(p_.m, kTaskRows);
        // Rows are packed once for each group of columns: no more groups than keep threads busy.
        const int64_t wanted = ceil_div(2 * par_.threads, rows * count);
        const int64_t strips = ceil_div(p_.n, kMixedTile);
        const int64_t groups = std::clamp(wanted, ceil_div(p_.n, kTaskColumns), strips);
        const int64_t width = ceil_div(strips, groups) * kMixedTile;
        const int64_t columns = ceil_div(p_.n, width);
        Slots slots(par_, count * rows * columns, scratch_bytes());
        slots.spread([&](int64_t task, void* scratch) {
            const int64_t j = task % columns * width, i = task / columns % rows * kTaskRows;
            compute(first + task / columns / rows, i, j, std::min(width, p_.n - j), packed,
                    scratch);
        });
    }

    // Each matrix by one thread, which packs its b.
    void whole_matrices() const {
        const int64_t packed = packed_bytes(p_.dtype, p_.k, p_.n);
        Slots slots(par_, p_.batch, packed + scratch_bytes());
        const Parallel alone{1, workers::run_alone};
        slots.spread([&](int64_t matrix, void* scratch) {
            pack(scratch, p_.dtype, shifted(p_.b, p_.b_starts[matrix], 0, 0), p_.k, p_.n, alone);
            for (int64_t i = 0; i < p_.m; i += kTaskRows)
                for (int64_t j = 0; j < p_.n; j += kTaskColumns)
                    compute(matrix, i, j, std::min(kTaskColumns, p_.n - j), scratch,
                            at(scratch, packed));
        });
    }

    // At most kTaskRows rows and kTaskColumns columns of one matrix, from (i, j) on.
    void compute(int64_t matrix, int64_t i, int64_t j, int64_t cols, const void* packed,
                 void* scratch) const {
        const int64_t rows = std::min(kTaskRows, p_.m - i), strip = strip_bytes(p_.k);
        for (int64_t r = 0; r < rows; r += kMixedTile)
            kernels_.pack_rows(at(scratch, r / kMixedTile * strip),
                               shifted(p_.a, p_.a_starts[matrix], i + r, 0),
                               std::min(kMixedTile, rows - r), p_.k);
        auto* edge = reinterpret_cast<float*>(at(scratch, rows_bytes()));
        auto* own = reinterpret_cast<float*>(at(scratch, rows_bytes() + kEdgeBytes));
        const int64_t row = matrix * p_.m + i, stride = p_.c ? p_.n : cols;
        float* out = p_.c ? static_cast<float*>(p_.c) + row * p_.n + j : own;
        if (kernels_.begin) kernels_.begin();
        for (int64_t s = 0; s < cols; s += kMixedTile) {
            const void* columns = at(packed, (j + s) / kMixedTile * strip);
            for (int64_t r = 0; r < rows; r += kMixedTile)
                block(out + r * stride + s, stride, std::min(kMixedTile, rows - r),
                      std::min(kMixedTile, cols - s), at(scratch, r / kMixedTile * strip), columns,
                      edge);
        }
        if (kernels_.end) kernels_.end();
        if (p_.epilogue) p_.epilogue->finish(p_.epilogue->ctx, {row, rows, j, cols, out, stride});
    }

    // One block of tiles; where the result ends inside of it, by way of `edge`.
    void block(float* out, int64_t stride, int64_t rows, int64_t cols, const void* a, const void* b,
               float* edge) const {
        const int64_t depth = round_up(p_.k, kMixedDepth);
        if (rows == kMixedTile && cols == kMixedTile)
            return kernels_.multiply(out, stride, a, b, depth);
        kernels_.multiply(edge, kMixedTile, a, b, depth);
        for (int64_t r = 0; r < rows; ++r)
            std::memcpy(out + r * stride, edge + r * kMixedTile,
                        static_cast<size_t>(cols) * sizeof(float));
    }

    const MixedKernels& kernels_;
    const Product& p_;
    const Parallel& par_;
    bool shared_;  // all matrices of the batch meet one b
};

}  // namespace

const Packing kMixedPacking{packed_bytes, pack};

const char* mixed_unit() { return choice().name; }

bool pays_mixed(const Product& p) {
    return p.dtype == DType::Float32 && std::min({p.m, p.n, p.k}) >= kLeastExtent &&
           p.m * p.n * p.k >= kLeastWork && choice().kernels;
}

void multiply_mixed(const Product& p, const Parallel& par) { MixedProduct(p, par).run(); }

}  // namespace asc::cpu
