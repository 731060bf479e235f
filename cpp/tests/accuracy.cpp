// Measures the float32 and float64 math kernels against a reference of higher precision.
//
//     accuracy [function ...] [--all] [--dtype f32|f64] [--samples N] [--isa NAME]
//
// Prints the largest error of each function in units in the last place (ulp), and where it is.
// `--all` runs a float32 function of one operand over all 2**32 inputs. The exit status is 1 when
// an error is above the promise or when the bits of an element depend on its neighbours.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <type_traits>
#include <vector>

#include "backend/cpu/isa.h"

// The reference of float64 is IEEE binary128: `long double` on AArch64, libquadmath with GCC on
// x86; elsewhere the 64-bit mantissa of x87 has to do.
#if defined(__x86_64__) && __has_include(<quadmath.h>)
#include <quadmath.h>
using Quad = __float128;
#define ASC_QUAD(name) name##q
#else
using Quad = long double;
#define ASC_QUAD(name) name##l
#endif

namespace {

using asc::DType;
using asc::Op;
using asc::cpu::ElementwiseFn;
using asc::cpu::KernelTable;

Quad log_add_exp128(Quad x, Quad y) {
    if (x != x || y != y) return x + y;
    const Quad big = x > y ? x : y, little = x > y ? y : x;
    if (big - big != 0 || little - little != 0) return big;
    // log(1 + (e^x - 1) + e^y) keeps its digits where the sum is near 1.
    if (big < 0 && big > -1) {
        return ASC_QUAD(log1p)(ASC_QUAD(expm1)(big) + ASC_QUAD(exp)(little));
    }
    return big + ASC_QUAD(log1p)(ASC_QUAD(exp)(little - big));
}
// float32 operands whose logaddexp is near 0 need the digits too.
double log_add_exp64(double x, double y) { return static_cast<double>(log_add_exp128(x, y)); }
double next_after32(double x, double y) {
    return nextafterf(static_cast<float>(x), static_cast<float>(y));
}
Quad next_after64(Quad x, Quad y) {
    return nextafter(static_cast<double>(x), static_cast<double>(y));
}

struct Function {
    const char* name;
    Op op;
    double limit;      // the promise in ulp
    double least_ulp;  // a result so small that its ulp is less counts by this one
    double low, high;  // where most of the samples lie
    double (*f32)(double);
    Quad (*f64)(Quad);
    double (*g32)(double, double);
    Quad (*g64)(Quad, Quad);
};

#define ASC_UNARY(op, name, limit, low, high) \
    {#name, Op::op, limit, 0, low, high, name, ASC_QUAD(name), nullptr, nullptr}
#define ASC_BINARY(op, name, limit, least_ulp, low, high, f32, f64) \
    {#name, Op::op, limit, least_ulp, low, high, nullptr, nullptr, f32, f64}

const Function kFunctions[] = {
    ASC_UNARY(Acos, acos, 1, -1, 1),
    ASC_UNARY(Acosh, acosh, 1, 1, 20),
    ASC_UNARY(Asin, asin, 1, -1, 1),
    ASC_UNARY(Asinh, asinh, 1, -10, 10),
    ASC_UNARY(Atan, atan, 1, -5, 5),
    ASC_UNARY(Atanh, atanh, 1, -1, 1),
    ASC_UNARY(Cos, cos, 1, -100, 100),
    ASC_UNARY(Cosh, cosh, 1, -20, 20),
    ASC_UNARY(Exp, exp, 1, -20, 20),
    ASC_UNARY(Expm1, expm1, 1, -5, 5),
    ASC_UNARY(Log, log, 1, 0, 4),
    ASC_UNARY(Log1p, log1p, 1, -1, 4),
    ASC_UNARY(Log2, log2, 1, 0, 4),
    ASC_UNARY(Log10, log10, 1, 0, 4),
    ASC_UNARY(Sin, sin, 1, -100, 100),
    ASC_UNARY(Sinh, sinh, 1, -20, 20),
    ASC_UNARY(Sqrt, sqrt, 0.5, 0, 4),
    ASC_UNARY(Tan, tan, 1, -100, 100),
    ASC_UNARY(Tanh, tanh, 1, -5, 5),
    ASC_BINARY(Atan2, atan2, 1, 0, -5, 5, atan2, ASC_QUAD(atan2)),
    ASC_BINARY(Hypot, hypot, 1, 0, -5, 5, hypot, ASC_QUAD(hypot)),
    // Where e^x + e^y is near 1 the digits of the result cancel.
    ASC_BINARY(LogAddExp, logaddexp, 1, 0x1p-58, -5, 5, log_add_exp64, log_add_exp128),
    ASC_BINARY(NextAfter, nextafter, 0, 0, -5, 5, next_after32, next_after64),
    ASC_BINARY(Pow, pow, 1, 0, 0, 5, pow, ASC_QUAD(pow)),
};

double power_of_two(int n) {
    const uint64_t word = static_cast<uint64_t>(n + 1023) << 52;
    double x;
    memcpy(&x, &word, sizeof x);
    return x;
}

// The error of y in ulp of the exact value; NaN, infinity and the sign of zero must agree.
template <class T, class Wide>
double ulp_error(T y, Wide exact, double least_ulp) {
    constexpr bool single = sizeof(T) == 4;
    const bool y_nan = y != y, exact_nan = exact != exact;
    if (y_nan || exact_nan) return y_nan == exact_nan ? 0 : HUGE_VAL;
    if (y == 0 && exact == 0 && (signbit(y) != 0) != (signbit(static_cast<T>(exact)) != 0))
        return HUGE_VAL;
    const Wide top = static_cast<Wide>(single ? 0x1p127 : 0x1p1023) * 2;
    // Infinity stands where the next number above the largest would.
    const Wide e = exact > top ? top : exact < -top ? -top : exact;
    const Wide v = y - y != 0 ? (y > 0 ? top : -top) : static_cast<Wide>(y);
    const Wide difference = v > e ? v - e : e - v;
    if (difference == 0) return 0;
    const double rounded = static_cast<double>(e);
    uint64_t word;
    memcpy(&word, &rounded, sizeof word);
    const int exponent = static_cast<int>(word >> 52 & 0x7ff) - 1023;
    const int lowest = single ? -126 : -1022, highest = single ? 127 : 1023;
    const int ulp = (exponent < lowest    ? lowest
                     : exponent > highest ? highest
                                          : exponent) -
                    (single ? 23 : 52);
    if (least_ulp > 0 && ldexp(1.0, ulp) < least_ulp)
        return static_cast<double>(difference) / least_ulp;
    // In two steps: 2^1074 overflows.
    return static_cast<double>(difference * static_cast<Wide>(power_of_two(-ulp / 2)) *
                               static_cast<Wide>(power_of_two(-ulp - -ulp / 2)));
}

struct Random {
    uint64_t state = 0x9e3779b97f4a7c15u;
    uint64_t bits() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state * 0x2545f4914f6cdd1du;
    }
    double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    double between(double a, double b) { return a + unit() * (b - a); }
};

const double kSpecial[] = {0.0,
                           1.0,
                           0.5,
                           2.0,
                           3.0,
                           10.0,
                           0x1p-149,
                           0x1p-126,
                           0x1p-1074,
                           0x1p-1022,
                           0x1.fffffep127,
                           0x1.fffffffffffffp1023,
                           HUGE_VAL,
                           NAN,
                           0x1p53,
                           0x1p24,
                           88.72284,
                           709.782712893384,
                           -0.6931471805599453,
                           1.5707963267948966};

template <class T>
T neighbour(T x, int64_t steps) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    Bits b;
    memcpy(&b, &x, sizeof b);
    b += static_cast<Bits>(steps);
    memcpy(&x, &b, sizeof b);
    return x;
}

// One operand: anything, the usual range, any scale, near 1, near multiples of pi/2, special.
template <class T>
T sample(Random& r, const Function& f) {
    const double sign = r.bits() & 1 ? -1 : 1;
    switch (r.bits() % 8) {
        case 0: {
            T x;
            const uint64_t b = r.bits();
            memcpy(&x, &b, sizeof x);
            return x;
        }
        case 1:
            return static_cast<T>(sign * ldexp(1 + r.unit(), static_cast<int>(r.bits() % 60) - 45));
        case 2:
            return neighbour(static_cast<T>(sign),
                             static_cast<int64_t>(r.bits() >> (r.bits() % 50 + 10)));
        case 3:
            return static_cast<T>(sign * static_cast<double>(r.bits() >> (r.bits() % 48 + 16)) *
                                  M_PI_2);
        case 4:
            return neighbour(
                static_cast<T>(sign * kSpecial[r.bits() % (sizeof kSpecial / sizeof *kSpecial)]),
                static_cast<int64_t>(r.bits() % 5) - 2);
        default:
            return static_cast<T>(r.between(f.low, f.high));
    }
}

// The second operand, often in the relation to the first that is hard for the function.
template <class T>
T partner(Random& r, const Function& f, T x) {
    if (r.bits() % 2) return sample<T>(r, f);
    const double v = static_cast<double>(x);
    switch (f.op) {
        case Op::Pow: {
            if (r.bits() % 4 == 0) return static_cast<T>(static_cast<int64_t>(r.bits() % 41) - 20);
            const double reach = sizeof(T) == 4 ? 150 : 1080;
            return static_cast<T>(r.between(-reach, reach) / log2(fabs(v)));
        }
        case Op::LogAddExp:
            if (v < 0)
                return neighbour(static_cast<T>(log1p(-exp(v))),
                                 static_cast<int64_t>(r.bits() % 9) - 4);
            return static_cast<T>(v + r.between(-40, 40));
        default:
            return neighbour(x, static_cast<int64_t>(r.bits() >> (r.bits() % 50 + 10)));
    }
}

struct Worst {
    double error = 0, x = 0, y = 0, got = 0;
    uint64_t count = 0;
    bool moved = false;  // an element's bits depend on its position
};

constexpr int64_t kBlock = 4096;

template <class T>
void measure(const Function& f, ElementwiseFn kernel, const std::vector<T>& a,
             const std::vector<T>& b, Worst& worst) {
    const int64_t n = static_cast<int64_t>(a.size());
    std::vector<T> out(a.size()), shifted(a.size());
    const void* src[2] = {a.data(), b.data()};
    kernel(out.data(), src, n, 0);
    const int64_t offset = n > 5 ? 5 : 0;
    const void* later[2] = {a.data() + offset, b.data() + offset};
    kernel(shifted.data(), later, n - offset, 0);
    for (int64_t i = offset; i < n; ++i) {
        const bool nan = out[i] != out[i] && shifted[i - offset] != shifted[i - offset];
        worst.moved |= !nan && memcmp(&out[i], &shifted[i - offset], sizeof(T)) != 0;
    }
    for (int64_t i = 0; i < n; ++i) {
        double error;
        if constexpr (sizeof(T) == 4) {
            error =
                ulp_error<T, double>(out[i], f.f32 ? f.f32(a[i]) : f.g32(a[i], b[i]), f.least_ulp);
        } else {
            error =
                ulp_error<T, Quad>(out[i], f.f64 ? f.f64(a[i]) : f.g64(a[i], b[i]), f.least_ulp);
        }
        if (error > worst.error)
            worst = {error, a[i], f.f32 ? 0.0 : b[i], out[i], worst.count, worst.moved};
    }
    worst.count += static_cast<uint64_t>(n);
}

// Every stride-th of the 2^32 bit patterns.
Worst sweep(const Function& f, ElementwiseFn kernel, uint64_t stride) {
    Worst worst;
    std::vector<float> a;
    const std::vector<float> none;
    for (uint64_t b = 0; b < uint64_t{1} << 32;) {
        a.clear();
        for (; b < uint64_t{1} << 32 && a.size() < kBlock; b += stride) {
            const uint32_t word = static_cast<uint32_t>(b);
            float x;
            memcpy(&x, &word, sizeof x);
            a.push_back(x);
        }
        measure<float>(f, kernel, a, a, worst);
    }
    return worst;
}

// All pairs of special values, then samples.
template <class T>
void fill(const Function& f, Random& random, bool first, std::vector<T>& a, std::vector<T>& b) {
    constexpr int64_t n = 2 * static_cast<int64_t>(sizeof kSpecial / sizeof *kSpecial);
    const auto special = [](int64_t i) {
        return static_cast<T>(i % 2 ? -kSpecial[i / 2] : kSpecial[i / 2]);
    };
    for (int64_t i = 0; i < kBlock; ++i) {
        const bool pair = first && i < n * n;
        a[i] = pair ? special(i / n) : sample<T>(random, f);
        b[i] = pair ? special(i % n) : f.f32 ? T{0} : partner(random, f, a[i]);
    }
}

template <class T>
Worst sampled(const Function& f, ElementwiseFn kernel, uint64_t samples) {
    Worst worst;
    Random random;
    std::vector<T> a(kBlock), b(kBlock);
    while (worst.count < samples) {
        fill(f, random, worst.count == 0, a, b);
        measure<T>(f, kernel, a, b, worst);
    }
    return worst;
}

struct Options {
    std::vector<std::string> functions;
    bool all = false, f32 = true, f64 = true;
    uint64_t samples = 1 << 18;
    std::string isa;
};

[[noreturn]] void usage(const char* what) {
    fprintf(stderr,
            "accuracy: %s\nusage: accuracy [function ...] [--all] [--dtype f32|f64] [--samples N] "
            "[--isa NAME]\n",
            what);
    exit(2);
}

Options parse(int argc, char** argv) {
    Options o;
    for (int i = 1; i < argc; ++i) {
        const std::string s = argv[i];
        const bool valued = s == "--dtype" || s == "--samples" || s == "--isa";
        if (valued && i + 1 == argc) usage((s + " needs a value").c_str());
        if (s == "--all") {
            o.all = true;
        } else if (s == "--dtype") {
            const std::string d = argv[++i];
            if (d != "f32" && d != "f64") usage("--dtype is f32 or f64");
            o.f32 = d == "f32";
            o.f64 = d == "f64";
        } else if (s == "--samples") {
            o.samples = strtoull(argv[++i], nullptr, 10);
            if (o.samples == 0) usage("--samples is a positive number");
        } else if (s == "--isa") {
            o.isa = argv[++i];
        } else if (s[0] == '-') {
            usage(("unknown option " + s).c_str());
        } else {
            o.functions.push_back(s);
        }
    }
    return o;
}

// The kernels of the best instruction set of this machine, or of the one asked for.
const KernelTable& choose(const std::string& name) {
    if (!name.empty()) setenv("ASCEND_ARRAY_API_ISA", name.c_str(), 1);
    const KernelTable& table = asc::cpu::kernels();
    if (!name.empty() && name != table.isa) usage(("no usable instruction set " + name).c_str());
    return table;
}

bool report(const Function& f, const char* dtype, const Worst& w) {
    const bool good = w.error <= f.limit && !w.moved;
    printf("%-10s %s  %10.6f ulp  at %.17g", f.name, dtype, w.error, w.x);
    if (!f.f32) printf(", %.17g", w.y);
    printf("  gives %.17g  (%llu inputs)%s%s\n", w.got, static_cast<unsigned long long>(w.count),
           w.error <= f.limit ? "" : "  ABOVE THE PROMISE", w.moved ? "  DEPENDS ON POSITION" : "");
    fflush(stdout);
    return good;
}

bool run(const Function& f, const KernelTable& table, const Options& o) {
    bool good = true;
    const auto& kernels = table.elementwise[asc::index(f.op)];
    if (o.f32) {
        const ElementwiseFn kernel = kernels[asc::index(DType::Float32)];
        const uint64_t stride = o.all ? 1 : (uint64_t{1} << 32) / o.samples | 1;
        good &= report(f, "f32",
                       f.f32 ? sweep(f, kernel, stride) : sampled<float>(f, kernel, o.samples));
    }
    if (o.f64)
        good &=
            report(f, "f64", sampled<double>(f, kernels[asc::index(DType::Float64)], o.samples));
    return good;
}

}  // namespace

int main(int argc, char** argv) {
    const Options o = parse(argc, argv);
    const KernelTable& table = choose(o.isa);
    printf("instruction set %s\n", table.isa);
    for (const std::string& name : o.functions) {
        bool known = false;
        for (const Function& f : kFunctions) known |= name == f.name;
        if (!known) usage(("unknown function " + name).c_str());
    }
    bool good = true;
    for (const Function& f : kFunctions) {
        bool wanted = o.functions.empty();
        for (const std::string& name : o.functions) wanted |= name == f.name;
        if (wanted) good &= run(f, table, o);
    }
    return good ? 0 : 1;
}
