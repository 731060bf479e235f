#include "backend/cpu/product.h"

#include <exception>
#include <mutex>
#include <vector>

#include "backend/cpu/elementwise.h"
#include "backend/cpu/factors.h"
#include "backend/cpu/gemm.h"
#include "backend/cpu/machine.h"
#include "backend/cpu/mixed.h"
#include "core/view.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

// Where each matrix or vector of a stack starts.
struct Offsets {
    std::vector<int64_t> list;  // empty where `step` says it all
    int64_t step = 0;
    Starts starts() const { return {list.empty() ? nullptr : list.data(), step}; }
};

// The leading axes of x (all but `core_axes`) broadcast to `batch`.
Offsets offsets(const Array& x, const Dims& batch, int core_axes) {
    const int lead = x.ndim() - core_axes, missing = batch.size() - lead;
    Dims strides(batch.size(), 0);
    for (int i = 0; i < lead; ++i) strides[missing + i] = x.shape[i] == 1 ? 0 : x.strides[i];
    Offsets result;
    bool regular = true;
    int64_t inner = 1;  // matrices of the axes seen so far
    for (int axis = batch.size() - 1; axis >= 0; --axis) {
        if (batch[axis] == 1) continue;
        if (inner == 1) result.step = strides[axis];
        regular &= strides[axis] == result.step * inner;
        inner *= batch[axis];
    }
    if (regular) return result;
    result.list.resize(static_cast<size_t>(asc::product(batch)));
    Dims at(batch.size(), 0);
    int64_t here = 0;
    for (int64_t& start : result.list) {
        start = here;
        for (int axis = batch.size() - 1; axis >= 0; --axis) {
            here += strides[axis];
            if (++at[axis] < batch[axis]) break;
            here -= strides[axis] * batch[axis];
            at[axis] = 0;
        }
    }
    return result;
}

// Strides of axes of one element may be anything: the simplest is adjacent.
GemmOperand matrix_of(const Array& x) {
    const int rows = x.ndim() - 2, cols = x.ndim() - 1;
    GemmOperand m{x.data(), x.strides[rows], x.strides[cols]};
    if (x.shape[cols] == 1) m.col_stride = 1;
    if (x.shape[rows] == 1) m.row_stride = x.shape[cols];
    return m;
}

void multiply(const Array& a, const Array& b, const Dims& shape, void* out,
              const Epilogue* epilogue, Precision precision) {
    const Dims batch(shape.data(), shape.size() - 2);
    const Offsets a_offsets = offsets(a, batch, 2), b_offsets = offsets(b, batch, 2);
    Product p{a.dtype,
              a.shape[a.ndim() - 2],
              b.shape.back(),
              a.shape.back(),
              matrix_of(a),
              matrix_of(b),
              out,
              asc::product(batch),
              a_offsets.starts(),
              b_offsets.starts(),
              epilogue};
    const bool mixed = precision == Precision::Mixed && pays_mixed(p);
    static constexpr Packing kPacking{packed_factor_bytes, pack_factor};
    std::shared_ptr<const void> packed;
    if (p.m > 1 && p.n > 1) packed = packed_factor(b, p.b, mixed ? kMixedPacking : kPacking);
    p.packed_b = packed.get();
    mixed ? multiply_mixed(p, workers::parallel()) : multiply(p, workers::parallel());
}

// A program bound to the blocks of a product as they are finished, on any thread.
class BlockProgram {
  public:
    BlockProgram(const ProgramCall& call, size_t product) : call_(call), product_(product) {
        for (const Array& x : call.outputs) add(x);
        for (const Array& x : call.inputs) add(x);
        merge_rows();
        for (size_t k = 0; k < call.outputs.size(); ++k)
            locked_.push_back(is_bool(call.outputs[k].dtype) && !on_bytes(operands_[k]));
    }

    Epilogue epilogue() {
        return {[](void* self, const ProductBlock& block) {
                    static_cast<BlockProgram*>(self)->finish(block);
                },
                this};
    }
    // Throws what a block failed with.
    void check() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    // An operand with strides for the axes of rows_ and for the columns.
    struct Operand {
        const Array* array;
        Dims rows;
        int64_t column;
    };

    void add(const Array& x) {
        const Dims& shape = call_.outputs[0].shape;
        Dims strides = broadcast_strides(x, shape);
        const int64_t column = strides.back();
        strides.erase(strides.size() - 1);
        operands_.push_back({&x, strides, column});
    }

    // All leading axes, in as few as the strides of all operands allow.
    void merge_rows() {
        const Dims& shape = call_.outputs[0].shape;
        std::vector<Dims> merged(operands_.size());
        for (int axis = 0; axis < shape.size() - 1; ++axis) {
            if (shape[axis] == 1) continue;
            const int last = rows_.size() - 1;
            bool merges = last >= 0;
            for (size_t k = 0; merges && k < operands_.size(); ++k)
                merges = merged[k][last] == operands_[k].rows[axis] * shape[axis];
            if (merges) {
                rows_[last] *= shape[axis];
            } else {
                rows_.push_back(shape[axis]);
            }
            for (size_t k = 0; k < operands_.size(); ++k) {
                if (merges)
                    merged[k][last] = operands_[k].rows[axis];
                else
                    merged[k].push_back(operands_[k].rows[axis]);
            }
        }
        for (size_t k = 0; k < operands_.size(); ++k) operands_[k].rows = merged[k];
    }
    size_t at_product() const { return call_.outputs.size() + product_; }

    // Every row of a packed bool output starts on a byte: two threads share none.
    static bool on_bytes(const Operand& out) {
        bool whole = out.array->offset % 8 == 0 && out.column == 1;
        for (int64_t stride : out.rows) whole &= stride % 8 == 0;
        return whole;
    }

    // Pieces of the block that are boxes of the index space: whole inner axes, or part of one.
    void finish(const ProductBlock& block) try {
        const int axes = rows_.size();
        const int64_t inner = axes > 0 ? rows_[axes - 1] : 1;
        const int64_t outer = axes > 1 ? rows_[axes - 2] : 1;
        for (int64_t row = block.row, end = block.row + block.rows; row < end;) {
            const int64_t at = row % inner, left = end - row;
            const bool whole = at == 0 && left >= inner;
            const int64_t count = whole ? std::min(left / inner, outer - row / inner % outer) : 1;
            const int64_t rows = whole ? inner : std::min(inner - at, left);
            run(block, row, count, rows);
            row += count * rows;
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }

    // count x rows x columns elements of the block from a row on.
    void run(const ProductBlock& block, int64_t row, int64_t count, int64_t rows) {
        const Dims shape{count, rows, block.cols};
        std::vector<Array> arrays;
        arrays.reserve(operands_.size());
        for (const Operand& x : operands_) {
            arrays.push_back(arrays.size() == at_product() ? product_view(block, row, shape)
                                                           : piece(x, row, block.col, shape));
        }
        const size_t outputs = call_.outputs.size();
        std::vector<Array> views(arrays.begin(), arrays.begin() + static_cast<int64_t>(outputs));
        for (size_t k = 0; k < outputs; ++k)
            if (locked_[k]) arrays[k] = Array::empty(shape, DType::Bool, kCpu);
        cpu::run({call_.program,
                  {arrays.data() + outputs, call_.inputs.size()},
                  call_.constants,
                  {arrays.data(), outputs}});
        for (size_t k = 0; k < outputs; ++k) {
            if (!locked_[k]) continue;
            const std::lock_guard lock(mutex_);
            transfer(views[k], arrays[k]);
        }
    }

    Array piece(const Operand& x, int64_t row, int64_t col, const Dims& shape) const {
        const int axes = rows_.size();
        int64_t offset = x.array->offset + col * x.column;
        for (int i = axes - 1; i >= 0; --i) {
            offset += row % rows_[i] * x.rows[i];
            row /= rows_[i];
        }
        return x.array->view(
            shape, {axes > 1 ? x.rows[axes - 2] : 0, axes > 0 ? x.rows[axes - 1] : 0, x.column},
            offset);
    }

    // The block's own memory as an array.
    Array product_view(const ProductBlock& block, int64_t row, const Dims& shape) const {
        const DType dtype = call_.inputs[product_].dtype;
        auto* data = static_cast<std::byte*>(const_cast<void*>(block.data)) +
                     (row - block.row) * block.row_stride * itemsize(dtype);
        const int64_t rows = shape[0] * shape[1];
        const int64_t bytes = ((rows - 1) * block.row_stride + block.cols) * itemsize(dtype);
        Ref<Block> memory = Block::borrow(data, bytes, kCpu, [](void*) {}, nullptr);
        return {Storage::wrap(std::move(memory), StorageKind::Constant, true),
                0,
                dtype,
                shape,
                {shape[1] * block.row_stride, block.row_stride, 1}};
    }

    const ProgramCall& call_;
    const size_t product_;
    Dims rows_;                      // the extents of the merged axes of rows
    std::vector<Operand> operands_;  // outputs, then inputs
    std::vector<bool> locked_;       // the output is copied under the lock, for it shares bytes
    std::mutex mutex_;
    std::exception_ptr failure_;
};

}  // namespace

void multiply(const Array& a, const Array& b, const Array& out, Precision precision) {
    if (out.size() > 0) multiply(a, b, out.shape, out.data(), nullptr, precision);
}

void multiply_then(const Array& a, const Array& b, const Array& out, bool kept,
                   const ProgramCall& call, size_t product, Precision precision) {
    if (out.size() == 0) return;
    BlockProgram program(call, product);
    const Epilogue epilogue = program.epilogue();
    multiply(a, b, out.shape, kept ? out.data() : nullptr, &epilogue, precision);
    program.check();
}

void vector_product(const Array& x, const Array& y, const Array& out) {
    if (out.size() == 0) return;
    const Offsets x_offsets = offsets(x, out.shape, 1), y_offsets = offsets(y, out.shape, 1);
    const int64_t k = x.shape.back();
    const DotProduct p{x.dtype,
                       k,
                       x.data(),
                       y.data(),
                       k == 1 ? 1 : x.strides.back(),
                       k == 1 ? 1 : y.strides.back(),
                       out.data(),
                       true,
                       out.size(),
                       x_offsets.starts(),
                       y_offsets.starts()};
    dot(p, workers::parallel());
}

}  // namespace asc::cpu
