// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; 2011),
// and numbers made of its words.
#include "backend/cpu/kernels/lane.h"

namespace asc::cpu::ASC_ISA {
namespace {

constexpr int kRounds = 10;
constexpr uint32_t kMultiplier[2] = {0xD2511F53, 0xCD9E8D57};
constexpr uint32_t kWeyl[2] = {0x9E3779B9, 0xBB67AE85};

void philox(uint32_t* words, uint64_t key, uint64_t block, uint64_t high, int64_t tiles) {
    constexpr int kLanes = kRandomTile;
    for (int64_t tile = 0; tile < tiles; ++tile, words += 4 * kLanes) {
        uint32_t c[4][kLanes];
        const uint64_t first = block + static_cast<uint64_t>(tile) * kLanes;
        for (int l = 0; l < kLanes; ++l) {
            const uint64_t counter = first + static_cast<uint64_t>(l);
            c[0][l] = static_cast<uint32_t>(counter);
            c[1][l] = static_cast<uint32_t>(counter >> 32);
            c[2][l] = static_cast<uint32_t>(high);
            c[3][l] = static_cast<uint32_t>(high >> 32);
        }
        uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
        for (int round = 0; round < kRounds; ++round) {
            for (int l = 0; l < kLanes; ++l) {
                const uint64_t a = static_cast<uint64_t>(kMultiplier[0]) * c[0][l];
                const uint64_t b = static_cast<uint64_t>(kMultiplier[1]) * c[2][l];
                c[0][l] = static_cast<uint32_t>(b >> 32) ^ c[1][l] ^ k0;
                c[1][l] = static_cast<uint32_t>(b);
                c[2][l] = static_cast<uint32_t>(a >> 32) ^ c[3][l] ^ k1;
                c[3][l] = static_cast<uint32_t>(a);
            }
            k0 += kWeyl[0];
            k1 += kWeyl[1];
        }
        memcpy(words, c, sizeof(c));
    }
}

void uniform32(void* out, const uint32_t* words, int64_t n) {
    float* dst = static_cast<float*>(out);
    for (int64_t i = 0; i < n; ++i)
        dst[i] = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1p-24f;
}

// The number of element i: one lane of a tile gives its first and its second half.
inline uint64_t long_word(const uint32_t* words, int64_t i) {
    const int64_t at = i / kRandomTile * 2 * kRandomTile + i % kRandomTile;
    return static_cast<uint64_t>(words[at]) << 32 | words[at + kRandomTile];
}

void uniform64(void* out, const uint32_t* words, int64_t n) {
    double* dst = static_cast<double*>(out);
    for (int64_t first = 0; first < n; first += kRandomTile, words += 2 * kRandomTile) {
        for (int64_t l = 0; l < kRandomTile; ++l) {
            const uint64_t word = static_cast<uint64_t>(words[l]) << 32 | words[l + kRandomTile];
            // 52 bits as a fraction in [1, 2), and the 53rd.
            const uint64_t fraction = word >> 12 | 0x3FF0000000000000;
            const uint64_t last = (word >> 11 & 1) ? 0x3CA0000000000000 : 0;
            dst[first + l] =
                (__builtin_bit_cast(double, fraction) - 1.0) + __builtin_bit_cast(double, last);
        }
    }
}

void long_words(uint64_t* dst, const uint32_t* words, int64_t n) {
    for (int64_t i = 0; i < n; ++i) dst[i] = long_word(words, i);
}

}  // namespace

void fill_random(KernelTable& t) {
    t.philox = philox;
    t.uniform32 = uniform32;
    t.uniform64 = uniform64;
    t.long_words = long_words;
}

}  // namespace asc::cpu::ASC_ISA
