// Matrices of a few rows, each in a lane of its own: what is done to one is done to all of them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "backend/cpu/isa.h"

namespace asc::cpu {

// A group of real n x n matrices and of as many right sides.
template <class T>
class SmallMatrices {
  public:
    static constexpr int64_t kMostRows = 8, kMostColumns = 8;
    static constexpr int64_t kLanes = 64 / sizeof(T);

    // `count` matrices, one behind the other; what other lanes hold is regular.
    SmallMatrices(const T* matrices, int64_t n, int64_t count) : n_(n), count_(count) {
        if (count < kLanes)
            for (int64_t i = 0; i < n * n; ++i) fill(a_[i], i % (n + 1) == 0 ? T(1) : T(0));
        load(a_, matrices, n * n);
    }
    void set_right(const T* matrices, int64_t columns) {
        columns_ = columns;
        if (count_ < kLanes)
            for (int64_t i = 0; i < n_ * columns; ++i) fill(b_[i], T(0));
        load(b_, matrices, n_ * columns);
    }
    void set_right_to_identity() {
        columns_ = n_;
        for (int64_t i = 0; i < n_ * n_; ++i) fill(b_[i], i % (n_ + 1) == 0 ? T(1) : T(0));
    }

    void store(T* matrices) const { store(matrices, a_, n_ * n_); }
    void store_right(T* matrices) const { store(matrices, b_, n_ * columns_); }

    // A = P^T L U by elimination with exchanges of rows, as the right sides B become L^-1 P B.
    void eliminate() {
        fill(sign_, T(1));
        for (int64_t k = 0; k < n_; ++k) {
            choose_pivots(k);
            for (int64_t r = k + 1; r < n_; ++r) exchange(k, r);
            for (int64_t r = k + 1; r < n_; ++r) eliminate(k, r);
        }
    }
    // The right sides become U^-1 B.
    void substitute_back() {
        for (int64_t k = n_; k-- > 0;)
            for (int64_t c = 0; c < columns_; ++c) {
                T* x = b_[k * columns_ + c];
                for (int64_t j = k + 1; j < n_; ++j)
                    subtract(x, a_[k * n_ + j], b_[j * columns_ + c]);
                for (int64_t l = 0; l < kLanes; ++l) x[l] /= a_[k * n_ + k][l];
            }
    }
    // A = L L^T, in the lower triangle or turned in the upper one; what is beyond becomes zero.
    void cholesky(bool upper) {
        const auto at = [&](int64_t r, int64_t c) { return a_[upper ? c * n_ + r : r * n_ + c]; };
        for (int64_t j = 0; j < n_; ++j)
            for (int64_t r = j; r < n_; ++r) {
                T* x = at(r, j);
                for (int64_t k = 0; k < j; ++k) subtract(x, at(r, k), at(j, k));
                if (r > j) {
                    for (int64_t l = 0; l < kLanes; ++l) x[l] /= at(j, j)[l];
                    fill(at(j, r), T(0));
                } else {
                    // Of what is not positive comes NaN, or zero.
                    for (int64_t l = 0; l < kLanes; ++l) x[l] = std::sqrt(x[l]);
                }
            }
    }

    // The first matrix with a number on the diagonal that `bad` accepts, or -1.
    template <class F>
    int64_t find_on_diagonal(F bad) const {
        for (int64_t l = 0; l < count_; ++l)
            for (int64_t k = 0; k < n_; ++k)
                if (bad(a_[k * n_ + k][l])) return l;
        return -1;
    }
    bool odd_exchanges(int64_t lane) const { return sign_[lane] < 0; }

  private:
    using Lanes = T[kLanes];

    static void fill(T* x, T value) {
        for (int64_t l = 0; l < kLanes; ++l) x[l] = value;
    }
    static void subtract(T* __restrict x, const T* a, const T* b) {
        for (int64_t l = 0; l < kLanes; ++l) x[l] -= a[l] * b[l];
    }
    static auto transpose() { return kernels().transpose[sizeof(T) == 8 ? 3 : 2]; }
    void load(Lanes* lanes, const T* matrices, int64_t size) {
        transpose()(lanes, kLanes, matrices, size, count_, size);
    }
    void store(T* matrices, const Lanes* lanes, int64_t size) const {
        transpose()(matrices, size, lanes, kLanes, size, count_);
    }

    // The largest element of each column; NaN counts as none.
    void choose_pivots(int64_t k) {
        Lanes best;
        for (int64_t l = 0; l < kLanes; ++l) best[l] = std::abs(a_[k * n_ + k][l]);
        fill(pivots_, static_cast<T>(k));
        for (int64_t r = k + 1; r < n_; ++r) {
            const T *x = a_[r * n_ + k], row = static_cast<T>(r);
            for (int64_t l = 0; l < kLanes; ++l) {
                const T size = std::abs(x[l]);
                pivots_[l] = size > best[l] ? row : pivots_[l];
                best[l] = size > best[l] ? size : best[l];
            }
        }
        for (int64_t l = 0; l < kLanes; ++l)
            sign_[l] = pivots_[l] != static_cast<T>(k) ? -sign_[l] : sign_[l];
    }
    // Rows k and r, in the lanes whose pivot is in row r.
    void exchange(int64_t k, int64_t r) {
        const T row = static_cast<T>(r);
        const auto swap = [&](T* __restrict x, T* __restrict y) {
            for (int64_t l = 0; l < kLanes; ++l) {
                const T upper = x[l], lower = y[l];
                x[l] = pivots_[l] == row ? lower : upper;
                y[l] = pivots_[l] == row ? upper : lower;
            }
        };
        for (int64_t c = 0; c < n_; ++c) swap(a_[k * n_ + c], a_[r * n_ + c]);
        for (int64_t c = 0; c < columns_; ++c) swap(b_[k * columns_ + c], b_[r * columns_ + c]);
    }
    void eliminate(int64_t k, int64_t r) {
        T* factor = a_[r * n_ + k];
        const T* pivot = a_[k * n_ + k];
        // Below a pivot of zero all is zero.
        for (int64_t l = 0; l < kLanes; ++l)
            factor[l] = pivot[l] == 0 ? factor[l] : factor[l] / pivot[l];
        for (int64_t c = k + 1; c < n_; ++c) subtract(a_[r * n_ + c], factor, a_[k * n_ + c]);
        for (int64_t c = 0; c < columns_; ++c)
            subtract(b_[r * columns_ + c], factor, b_[k * columns_ + c]);
    }

    const int64_t n_, count_;
    int64_t columns_ = 0;
    alignas(64) Lanes a_[kMostRows * kMostRows];
    alignas(64) Lanes b_[kMostRows * kMostColumns];
    alignas(64) Lanes pivots_, sign_;
};

}  // namespace asc::cpu
