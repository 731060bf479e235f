#include "backend/cpu/machine.h"

#include <atomic>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "backend/cpu/cache.h"
#include "backend/cpu/scratch.h"
#include "backend/cpu/tiles.h"
#include "runtime/workers.h"

namespace asc::cpu {
namespace {

// One register holds at most this many bytes, and all live ones at most half of L1.
constexpr int64_t kRegisterBytes = 4096;
constexpr int64_t kLiveBytes = 24 << 10;
constexpr int64_t kLeastTile = 128;
// Elements of a tile that needs no register: all operands are used in place.
constexpr int64_t kDirectTile = 1 << 14;
// Bytes of a register where operands lie beyond the caches: a short tile, as the processor has few
// requests on their way at a time.
constexpr int64_t kFarTileBytes = 2048;
// Rows of at least so many bytes are tiled one by one; shorter ones are gathered into common tiles.
constexpr int64_t kLongRow = 1280;
// What is hinted as accessed in order goes past the caches from this size on.
constexpr int64_t kLeastStreamed = 64 << 10;
// Rows of blocks that are written past the caches are at least this long.
constexpr int64_t kStreamedRow = 256;
// A block of a transposed operand: so many bytes, in rows of about as many elements as there are
// rows. Shorter pieces of either keep the memory waiting.
constexpr int64_t kBlockBytes = 32 << 10;
constexpr int64_t kBlockRows = 128, kWideBlockRows = 64;  // of up to four bytes, of more
// Borders between threads fall on whole cache lines of a packed bool result.
constexpr int64_t kBorder = 512;
// The most work between two looks at signals: a few milliseconds.
constexpr int64_t kPartWork = 1 << 24;
// Steps of all strands of a program: at most four an instruction, and one behind each strand.
constexpr int kMaxStrandCode = kMaxInstructions * 4 + kMaxInstructions / 2;

// A value in a register of a narrower kind, copied: outputs that are inputs or constants.
void copy_value(void* dst, const void* src, bool scalar, int64_t n, DType dtype) {
    if (is_bool(dtype)) {
        if (scalar) {
            kernels().fill_bits(static_cast<uint8_t*>(dst), 0, n,
                                *static_cast<const uint8_t*>(src) & 1);
        } else if (dst != src) {
            std::memcpy(dst, src, static_cast<size_t>((n + 63) / 64 * 8));
        }
    } else if (scalar) {
        kernels().fill[width_index(dtype)](dst, src, n, 1);
    } else if (dst != src) {
        std::memcpy(dst, src, static_cast<size_t>(n * itemsize(dtype)));
    }
}

// The index space as blocks over the last two axes, each of which is a few tiles of whole rows.
struct Grid {
    int64_t rows, cols;              // of one block
    int64_t tile_rows;               // of one tile
    int64_t row_blocks, col_blocks;  // along the two axes
    int64_t count;

    Grid() = default;
    Grid(const Loop& loop, int64_t element_bytes, int64_t tile) {
        const int64_t height = loop.shape[loop.ndim - 2], width = loop.inner();
        const int64_t block = kBlockBytes / element_bytes;
        rows = std::min(height, element_bytes > 4 ? kWideBlockRows : kBlockRows);
        cols = std::min({width, tile, block / rows});
        rows = std::min(height, std::max(rows, block / cols));
        tile_rows = tile / cols;
        row_blocks = (height + rows - 1) / rows;
        col_blocks = (width + cols - 1) / cols;
        count = row_blocks * col_blocks;
        for (int i = 0; i < loop.ndim - 2; ++i) count *= loop.shape[i];
    }
    // The indices of a block's first element.
    void locate(int64_t block, const Loop& loop, int64_t* index) const {
        index[loop.ndim - 1] = block % col_blocks * cols;
        block /= col_blocks;
        index[loop.ndim - 2] = block % row_blocks * rows;
        block /= row_blocks;
        for (int i = loop.ndim - 3; i >= 0; --i) {
            index[i] = block % loop.shape[i];
            block /= loop.shape[i];
        }
    }
};

}  // namespace

struct Lane;

// An instruction or a strand, as each tile runs it.
struct Step {
    ElementwiseFn kernel;    // null for conversions and strands
    const Strand* strand;    // or null
    const StrandStep* code;  // of the strand
    uint8_t instruction;     // of others
    uint8_t source[3];       // places in a Lane's list of values
    int8_t output;           // that is written at once, or -1
    unsigned scalars;
};

// One run of a program: what all threads share.
class Machine {
  public:
    // In parts: indices are those of the loop order.
    explicit Machine(const ProgramCall& call, bool in_parts = false)
        : in_parts_(in_parts),
          call_(call),
          program_(*call.program),
          outputs_(static_cast<int>(call.outputs.size())),
          inputs_(static_cast<int>(call.inputs.size())),
          loop_(list_arrays()) {
        choose_tiling();
        for (int k = 0; k < outputs_; ++k) {
            const DType reg = program_.outputs[static_cast<size_t>(k)].dtype;
            ports_[k] = arrays_[k]->storage ? Port(loop_, k, *arrays_[k], reg, tiling_)
                                            : Port(arrays_[k]->dtype);
            ports_[k].scalar = ports_[k].constant = false;  // of inputs alone
            ports_[k].streams = streams(k);
        }
        for (int k = 0; k < inputs_; ++k) {
            ports_[outputs_ + k] = Port(loop_, outputs_ + k, *arrays_[outputs_ + k],
                                        program_.inputs[static_cast<size_t>(k)], tiling_);
        }
        assign_outputs();
        list_steps();
        choose_tile();
        align_tiles();
        plain_ = is_plain();
    }

    void run() {
        Parallel par = workers::parallel();
        if (!splits()) par.threads = 1;
        const int64_t size = call_.outputs[0].size();
        const int64_t work = size * program_.cost;
        int64_t most =
            par.threads > 1 ? std::min<int64_t>(par.threads * 4, work / workers::kThreadWork) : 1;
        most = std::max(most, work / kPartWork);
        if (tiling_ == Tiling::Blocks) {
            // Threads share no row of blocks, so that packed bools are split like flat ones.
            const int64_t step = has_bool_ ? grid_.col_blocks : 1;
            return spread(par, most, 0, step, grid_.count);
        }
        // The first border of a bool result makes up for its offset in the cache line.
        spread(par, most, (kBorder - bool_offset_ % kBorder) % kBorder, kBorder, size);
    }

    bool multiplies() const {
        if (outputs_ != 1 || ports_[0].base || program_.code.size() != 1) return false;
        const Instruction& code = program_.code[0];
        return code.op == Op::Multiply && !code.converts && read_at_once(code.source[0]) &&
               read_at_once(code.source[1]) &&
               program_.outputs[0].value.from == Value::From::Result;
    }
    const std::byte* factor(int k, int64_t first) const {
        const int slot = slot_of(program_.code[0].source[k]);
        return ports_[slot].at(loop_.offset[slot] + first);
    }

    // Indices [first, last) in loop order.
    void run_elements(Lane& lane, int64_t first, int64_t last) const;
    // Stores past the caches are seen by other threads only behind this.
    void publish() const;
    // Bytes of scratch that a thread needs: registers, and the blocks of transposed inputs.
    int64_t scratch_bytes() const {
        int64_t bytes = registers() * register_bytes_;
        for (int k = outputs_; k < loop_.operands; ++k) bytes += block_bytes(ports_[k]);
        return bytes;
    }

  private:
    friend struct Lane;
    std::span<const Array* const> list_arrays() {
        const Array** next = arrays_;
        for (const Array& out : call_.outputs) *next++ = &out;
        for (const Array& in : call_.inputs) *next++ = &in;
        return {arrays_, next};
    }

    // The axis that a strided operand is better read along than along the last one, or -1.
    int close_axis() const {
        const int last = loop_.ndim - 1;
        for (int k = 0; k < loop_.operands; ++k) {
            const int64_t* strides = loop_.strides[k];
            const int64_t size = itemsize(arrays_[k]->dtype);
            auto reach = [&](int i) { return std::abs(strides[i]) * size; };
            if (size == 0 || std::abs(strides[last]) <= 1) continue;
            int best = last;
            for (int i = 0; i < last; ++i) {
                if (strides[i] != 0 && reach(i) < reach(best)) best = i;
            }
            if (best != last && reach(best) < kLineBytes) return best;
        }
        return -1;
    }

    void choose_tiling() {
        for (const Array& out : call_.outputs) has_bool_ |= is_bool(out.dtype);
        const int last = loop_.ndim - 1, axis = in_parts_ ? -1 : close_axis();
        if (axis >= 0 && loop_.shape[axis] * loop_.inner() >= kLeastTile) {
            // A packed bool result keeps its order, or it could not be split between threads.
            if (!has_bool_ || axis == last - 1) {
                loop_.move_before_last(axis);
                tiling_ = Tiling::Blocks;
                return;
            }
        }
        const int64_t row = loop_.inner() * std::max(program_.widest_bits, 32) / 8;
        tiling_ = last == 0 || row >= kLongRow ? Tiling::Rows : Tiling::Flat;
    }

    // The size from which memory is taken to lie beyond the caches.
    static int64_t far_bytes(const Storage& storage) {
        return storage.has(Hint::SequentialAccess) ? kLeastStreamed : stream_bytes();
    }

    // A large result that is not read in this run goes past the caches.
    bool streams(int k) const {
        const Array& out = call_.outputs[static_cast<size_t>(k)];
        if (!out.storage || is_bool(out.dtype) ||
            out.size() * itemsize(out.dtype) < far_bytes(*out.storage))
            return false;
        const bool rows = tiling_ == Tiling::Blocks && loop_.strides[k][loop_.ndim - 1] == 1 &&
                          loop_.inner() * itemsize(out.dtype) >= kStreamedRow;
        if (!ports_[k].adjacent && !rows) return false;
        return std::none_of(call_.inputs.begin(), call_.inputs.end(),
                            [&](const Array& in) { return in.storage == out.storage; });
    }

    // Finds the output that each instruction writes at once.
    void assign_outputs() {
        std::fill_n(output_of_, program_.code.size(), int8_t{-1});
        for (int k = outputs_; k-- > 0;) {
            const Value& v = program_.outputs[static_cast<size_t>(k)].value;
            if (v.from == Value::From::Result && !read_after(k, v.index))
                output_of_[v.index] = static_cast<int8_t>(k);
        }
    }

    bool is_scalar(const Value& v) const {
        return v.from == Value::From::Constant ||
               (v.from == Value::From::Input && ports_[outputs_ + v.index].scalar);
    }
    int slot_of(const Value& input) const { return outputs_ + input.index; }
    // An instruction writes the output; the others are copies.
    bool written_at_once(int k) const {
        const Value& v = program_.outputs[static_cast<size_t>(k)].value;
        return v.from == Value::From::Result && output_of_[v.index] == k;
    }
    // An input that is used where it lies, in the order of the loop.
    bool read_at_once(const Value& v) const {
        return v.from == Value::From::Input && ports_[slot_of(v)].direct() &&
               loop_.contiguous(slot_of(v));
    }

    void list_steps() {
        auto strand = program_.strands.begin();
        StrandStep* code = strand_code_;
        for (size_t i = 0; i < program_.code.size();) {
            Step& step = steps_[step_count_++];
            if (strand != program_.strands.end() && static_cast<size_t>(strand->first) == i) {
                i += static_cast<size_t>(strand->count);
                step.strand = &*strand;
                step.code = code;
                code = list_strand(*strand++, code);
            } else {
                step.strand = nullptr;
                list_instruction(step, i++);
            }
        }
    }
    void list_instruction(Step& step, size_t i) const {
        const Instruction& code = program_.code[i];
        step.instruction = static_cast<uint8_t>(i);
        step.kernel =
            code.converts ? nullptr : kernels().elementwise[index(code.op)][index(code.dtype)];
        step.output = output_of_[i];
        step.scalars = 0;
        std::fill_n(step.source, 3, uint8_t{0});
        for (int k = 0; k < code.arity; ++k) {
            step.source[k] = program_.place(code.source[k]);
            step.scalars |= static_cast<unsigned>(is_scalar(code.source[k])) << k;
        }
    }
    // The steps of a strand, which know now what is a scalar.
    StrandStep* list_strand(const Strand& strand, StrandStep* code) const {
        const size_t first_input = program_.code.size();
        const size_t first_constant = first_input + static_cast<size_t>(inputs_);
        for (StrandStep step : strand.steps) {
            const bool scalar =
                step.place >= first_constant ||
                (step.place >= first_input &&
                 ports_[outputs_ + step.place - static_cast<int>(first_input)].scalar);
            if (scalar && reads_elements(step.code)) step.code += kStrandToScalar;
            *code++ = step;
        }
        return code;
    }
    // All that there is to do is one step, whose results go where they belong.
    bool needs_no_register() const {
        if (program_.code.empty()) return true;
        if (step_count_ > 1) return false;
        if (!steps_[0].strand) return steps_[0].output >= 0;
        return std::all_of(steps_[0].strand->stored.begin(), steps_[0].strand->stored.end(),
                           [&](uint8_t i) { return output_of_[i] >= 0; });
    }

    // An input with the memory of output k is still read behind instruction i.
    bool read_after(int k, size_t i) const {
        for (size_t in = 0; in < call_.inputs.size(); ++in) {
            if (!(call_.inputs[in].storage == call_.outputs[static_cast<size_t>(k)].storage))
                continue;
            Value wanted{Value::From::Input, static_cast<uint8_t>(in)};
            for (size_t j = i + 1; j < program_.code.size(); ++j) {
                const Instruction& code = program_.code[j];
                if (std::find(code.source, code.source + code.arity, wanted) !=
                    code.source + code.arity) {
                    return true;
                }
            }
            for (const Program::Output& out : program_.outputs) {
                if (out.value == wanted) return true;
            }
        }
        return false;
    }

    // All operands are used where they lie: tiles need neither readers nor writers.
    bool is_plain() const {
        if (tiling_ == Tiling::Blocks || has_far_) return false;
        return std::all_of(ports_, ports_ + outputs_,
                           [](const Port& port) { return port.direct(); }) &&
               std::all_of(ports_ + outputs_, ports_ + loop_.operands, [](const Port& port) {
                   const bool scalar = port.scalar && port.memory == port.reg && !is_bool(port.reg);
                   return port.direct() || port.constant || scalar;
               });
    }

    // Tiles end where lines of a result end that is written past the caches.
    void align_tiles() {
        for (int k = 0; k < outputs_; ++k) {
            if (!ports_[k].streams || !ports_[k].adjacent) continue;
            const int64_t size = itemsize(ports_[k].memory);
            line_ = kLineBytes / size;
            const auto start = reinterpret_cast<uintptr_t>(ports_[k].at(loop_.offset[k]));
            line_phase_ = static_cast<int64_t>(start) / size % line_;
        }
    }

    void choose_tile() {
        // A result that waits for the end of its tile waits in a register.
        bool direct = needs_no_register();
        int scratch = 0, widest = program_.widest_bits;
        for (int k = 0; k < outputs_ + inputs_; ++k) {
            const bool used_in_place =
                ports_[k].direct() || ports_[k].scalar || (k < outputs_ && ports_[k].packed());
            direct &= used_in_place;
            scratch += k >= outputs_ && !used_in_place;
            widest = std::max(widest, static_cast<int>(bits(ports_[k].memory)));
        }
        const int64_t most = kRegisterBytes * 8 / widest;
        const int64_t live = std::max(1, program_.register_count + scratch);
        tile_ = direct ? kDirectTile
                       : std::clamp<int64_t>(kLiveBytes * 8 / widest / live / 64 * 64,
                                             std::min(kLeastTile, most), most);
        if (!direct) find_far();
        if (has_far_) tile_ = std::min(tile_, kFarTileBytes * 8 / widest);
        tile_ = tile_shift < 0 ? tile_ >> -tile_shift : tile_ << tile_shift;
        tile_ = std::max<int64_t>(tile_ / 64 * 64, 64);
        tile_ = std::min(tile_, (call_.outputs[0].size() + 63) / 64 * 64);
        // Of packed bool that ends within a word.
        if (direct) widest = has_bool_ ? 1 : 0;
        register_bytes_ = (tile_ * widest / 8 + 63) / 64 * 64;
        if (tiling_ == Tiling::Blocks) grid_ = Grid(loop_, transposed_bytes(), tile_);
    }

    // What lies beyond the caches is fetched while the tile before it is computed; from the third
    // cache the processor fetches ahead by itself.
    void find_far() {
        for (int k = 0; k < loop_.operands; ++k) {
            Port& port = ports_[k];
            if (!port.base || !port.adjacent || port.streams || is_bool(port.memory)) continue;
            const Storage& storage = *arrays_[k]->storage;
            port.ahead = storage.nbytes() >= far_bytes(storage);
            has_far_ |= port.ahead;
        }
    }

    // Bytes of the widest transposed element.
    int64_t transposed_bytes() const {
        int64_t size = 1;
        for (int k = 0; k < loop_.operands; ++k) {
            if (ports_[k].transposed) size = std::max(size, itemsize(ports_[k].memory));
        }
        return size;
    }

    // Threads never share a word of a packed bool output.
    bool splits() {
        bool found = false;
        for (int k = 0; k < outputs_; ++k) {
            const Array& out = call_.outputs[static_cast<size_t>(k)];
            if (!is_bool(out.dtype)) continue;
            if (!loop_.contiguous(k)) return false;
            const int64_t offset = loop_.offset[k];  // of the first element in the loop's order
            if (found && offset % kBorder != bool_offset_ % kBorder) return false;
            found = true;
            bool_offset_ = offset;
        }
        if (!found || tiling_ != Tiling::Blocks) return true;
        return bool_offset_ % kBorder == 0 && grid_.rows * loop_.inner() % kBorder == 0;
    }

    // Runs [0, count) in about `parts` ranges, with borders at phase + a multiple of step.
    void spread(const Parallel& par, int64_t parts, int64_t phase, int64_t step, int64_t count) {
        const int64_t length = parts < 2 ? count : (count / parts + step) / step * step;
        if (length == count) phase = 0;
        parts = (count - phase + length - 1) / length;
        const Slots slots(par, parts, scratch_bytes());
        slots.spread([&](int64_t i, void* scratch) {
            const int64_t first = i == 0 ? 0 : phase + i * length;
            run_range(first, std::min(count, phase + (i + 1) * length),
                      static_cast<std::byte*>(scratch));
        });
    }

    // Behind the values' registers: two for each input (raw, converted) and two for outputs.
    int registers() const { return program_.register_count + 2 * inputs_ + 2; }
    int64_t block_bytes(const Port& port) const {
        return port.transposed ? grid_.rows * grid_.cols * itemsize(port.memory) : 0;
    }

    void run_range(int64_t first, int64_t last, std::byte* scratch) const;
    // An operand of a plain machine: where its value is told, its row, and the steps in bytes.
    struct Pointer {
        const void** value;
        const std::byte* row;
        int64_t size, row_step;
    };
    // The operands at this index, `done` elements into the part; returns how many there are.
    int list_pointers(Lane& lane, int64_t at, int64_t done, Pointer* pointers) const;
    void run_plain(Lane& lane, int64_t first, int64_t last) const;
    void run_blocks(Lane& lane, int64_t first, int64_t last) const;

    const bool in_parts_;
    const ProgramCall& call_;
    const Program& program_;
    int outputs_, inputs_;
    const Array* arrays_[kMaxOperands];  // outputs, then inputs
    Loop loop_;
    Tiling tiling_;
    Grid grid_;
    Port ports_[kMaxOperands];
    int8_t output_of_[kMaxInstructions];  // the output that an instruction writes at once, or -1
    Step steps_[kMaxInstructions];
    int step_count_ = 0;
    StrandStep strand_code_[kMaxStrandCode];
    int64_t tile_, register_bytes_;
    int64_t line_ = 1, line_phase_ = 0;  // elements of a line, and of one before the first element
    bool has_bool_ = false, has_far_ = false, plain_ = false;
    int64_t bool_offset_ = 0;
};

// An object that is made later; nothing is cleared before, as for an optional.
template <class T>
class Late {
  public:
    Late() {}
    template <class... Args>
    void emplace(Args&&... args) {
        static_assert(std::is_trivially_destructible_v<T>);
        new (&value_) T(std::forward<Args>(args)...);
    }
    T& operator*() { return value_; }
    T* operator->() { return &value_; }

  private:
    union {
        T value_;
    };
};

// The state of one thread.
struct Lane {
    const Machine& m;
    std::byte* registers;
    Loop rows;  // of the memory for outputs without a storage
    Late<Reader> readers[kMaxOperands];
    Late<Writer> writers[kMaxOperands];
    // Where the values of a tile are: results first, then inputs, then constants.
    const void* values[kMaxInstructions + kMaxOperands + kMaxConstants];
    const void* copies[kMaxOperands];  // where outputs go that no instruction writes at once
    // Memory of the next tile that is asked for while this one is computed, a share at each step.
    struct Fetch {
        uintptr_t next, end;
        uint64_t share;
    };
    Fetch fetches[kMaxOperands];
    int fetch_count = 0;
    int64_t starts[kMaxOperands] = {};  // offsets of the last row of inputs

    // Outputs without a storage go to `buffers`, in rows that are set before they are written.
    Lane(const Machine& machine, std::byte* scratch, std::byte* const* buffers = nullptr)
        : m(machine), registers(scratch) {
        for (int k = 0; k < m.outputs_; ++k) {
            m.ports_[k].base ? writers[k].emplace(m.ports_[k], m.loop_, k)
                             : writers[k].emplace(m.ports_[k], rows, buffers[k]);
        }
        for (int k = 0; k < m.inputs_; ++k)
            readers[k].emplace(m.ports_[m.outputs_ + k], m.loop_, m.outputs_ + k);
        const Program& p = m.program_;
        for (size_t i = 0; i < p.code.size(); ++i) values[i] = slot(p.registers[i]);
        const void** constants = values + p.code.size() + static_cast<size_t>(m.inputs_);
        for (const Constant& c : m.call_.constants) *constants++ = c.bytes;
    }

    void set_rows(int64_t count, int64_t pitch, int64_t n) {
        rows.set_rows(count, pitch, n);
        for (int k = 0; k < m.outputs_; ++k) {
            if (writers[k]->buffered()) writers[k]->cursor().seek(0);
        }
    }

    // Of the operands that lie in the index space itself.
    template <class F>
    void for_each_cursor(F&& f) {
        for (int k = 0; k < m.outputs_; ++k) {
            if (!writers[k]->buffered()) f(writers[k]->cursor());
        }
        for (int k = 0; k < m.inputs_; ++k) f(readers[k]->cursor());
    }

    void place(const int64_t* index, int64_t cols) {
        for_each_cursor([&](Cursor& cursor) { cursor.place(index, cols); });
    }
    void read_blocks(int64_t rows, int64_t cols) {
        std::byte* block = slot(m.registers());
        for (int k = 0; k < m.inputs_; ++k) {
            const Port& port = m.ports_[m.outputs_ + k];
            if (port.transposed && !port.constant) readers[k]->read_block(rows, cols, block);
            block += m.block_bytes(port);
        }
    }

    std::byte* slot(int i) const { return registers + i * m.register_bytes_; }
    std::byte* spare(int i) const { return slot(m.program_.register_count + 2 * m.inputs_ + i); }

    // Rows that lie far apart come from memory sooner where they are asked for ahead.
    void fetch_ahead(int64_t row, int64_t n) {
        constexpr int64_t kRowsAhead = 4;
        for (int k = 0; k < m.inputs_; ++k) {
            const Port& port = m.ports_[m.outputs_ + k];
            if (!port.adjacent || port.scalar || is_bool(port.memory)) continue;
            Cursor& cursor = readers[k]->cursor();
            cursor.seek(row);
            const int64_t step = cursor.offset() - starts[k];
            starts[k] = cursor.offset();
            const uintptr_t next = port.address(starts[k] + kRowsAhead * step);
            const auto bytes = static_cast<uint64_t>(n * itemsize(port.memory));
            for (uint64_t i = 0; i < bytes; i += kLineBytes) prefetch(next + i);
        }
    }

    // Brings the inputs of a tile into registers, or finds them in memory.
    void load(int64_t n) {
        for (int k = 0; k < m.inputs_; ++k) {
            const int at = m.program_.register_count + 2 * k;
            Reader& reader = *readers[k];
            values[m.program_.code.size() + static_cast<size_t>(k)] =
                reader.next(n, slot(at), slot(at + 1));
        }
    }

    // What the next tile reads and writes far away is on its way while this one is computed.
    void plan_fetches(int64_t n) {
        fetch_count = 0;
        const auto steps = static_cast<uint64_t>(std::max(m.step_count_, 1));
        for (int k = 0; k < m.loop_.operands; ++k) {
            const Port& port = m.ports_[k];
            if (!port.ahead) continue;
            const bool output = k < m.outputs_;
            const auto bytes = static_cast<uint64_t>(n * itemsize(port.memory));
            // Inputs have moved on to the next tile, outputs are at the start of this one.
            const uintptr_t next = output
                                       ? port.address(writers[k]->cursor().offset() + n)
                                       : port.address(readers[k - m.outputs_]->cursor().offset());
            fetches[fetch_count++] = {next, next + bytes, bytes / steps + kLineBytes};
        }
    }
    void fetch_share() {
        for (Fetch* f = fetches; f < fetches + fetch_count; ++f) {
            const uintptr_t end = std::min(f->end, f->next + f->share);
            for (; f->next < end; f->next += kLineBytes) prefetch(f->next);
        }
    }

    void execute(const Step& step, int64_t n) {
        if (!step.strand) {
            compute(step, begin(step.instruction, n), n);
            return end(step.instruction, n);
        }
        for (const uint8_t i : step.strand->stored) begin(i, n);
        run_strand(step, n);
        for (const uint8_t i : step.strand->stored) end(i, n);
    }
    // Of a plain machine, whose operands have their places.
    void execute_in_place(int64_t n) {
        for (const Step* step = m.steps_; step < m.steps_ + m.step_count_; ++step) {
            step->strand ? run_strand(*step, n)
                         : compute(*step, const_cast<void*>(values[step->instruction]), n);
        }
        for (int k = 0; k < m.outputs_; ++k) {
            if (m.written_at_once(k)) continue;
            const Program::Output& out = m.program_.outputs[static_cast<size_t>(k)];
            copy_value(const_cast<void*>(copies[k]), values[m.program_.place(out.value)],
                       m.is_scalar(out.value), n, out.dtype);
        }
    }
    void compute(const Step& step, void* target, int64_t n) {
        const void* sources[3] = {values[step.source[0]], values[step.source[1]],
                                  values[step.source[2]]};
        if (step.kernel) return step.kernel(target, sources, n, step.scalars);
        convert(target, m.program_.code[step.instruction], sources[0], step.scalars & 1, n);
    }
    void run_strand(const Step& step, int64_t n) {
        const Instruction& first = m.program_.code[static_cast<size_t>(step.strand->first)];
        kernels().strand[index(first.dtype)](step.code, values, n);
    }
    // Finds the place of a result, and takes it to an output that is written at once.
    void* begin(size_t i, int64_t n) {
        const int8_t output = m.output_of_[i];
        std::byte* reg = slot(m.program_.registers[i]);
        void* target = output >= 0 ? writers[output]->begin(n, reg) : reg;
        values[i] = target;
        return target;
    }
    void end(size_t i, int64_t n) {
        const int8_t output = m.output_of_[i];
        if (output >= 0) writers[output]->end(n, values[i], spare(0));
    }

    void convert(void* target, const Instruction& code, const void* source, bool scalar,
                 int64_t n) {
        if (!scalar)
            return kernels().convert[index(code.dtype)][index(code.result)](target, source, n);
        std::byte element[16];
        convert_scalar(element, code.result, source, code.dtype);
        copy_value(target, element, true, n, code.result);
    }

    // Outputs that no instruction writes at once: copies, and second outputs of one value.
    void copy_outputs(int64_t n) {
        const Program& p = m.program_;
        for (size_t k = 0; k < p.outputs.size(); ++k) {
            if (m.written_at_once(static_cast<int>(k))) continue;
            const Value& v = p.outputs[k].value;
            const bool scalar = m.is_scalar(v);
            const void* source = values[m.program_.place(v)];
            void* target = writers[k]->begin(n, spare(0));
            // What does not lie where it goes is written from where it is.
            if (target != spare(0) || scalar) {
                copy_value(target, source, scalar, n, p.outputs[k].dtype);
                source = target;
            }
            writers[k]->end(n, source, spare(1));
        }
    }

    void run_tile(int64_t n) {
        load(n);
        if (m.has_far_) plan_fetches(n);
        for (const Step* step = m.steps_; step < m.steps_ + m.step_count_; ++step) {
            if (m.has_far_) fetch_share();
            execute(*step, n);
        }
        copy_outputs(n);
    }
};

void Machine::run_elements(Lane& lane, int64_t first, int64_t last) const {
    if (plain_) return run_plain(lane, first, last);
    lane.for_each_cursor([&](Cursor& cursor) { cursor.seek(first); });
    const int64_t row = loop_.inner();
    for (int64_t at = first, n; at < last; at += n) {
        n = std::min(tile_ - (at + line_phase_) % line_, last - at);
        if (tiling_ == Tiling::Rows) n = std::min(n, row - at % row);
        lane.run_tile(n);
    }
}

void Machine::run_blocks(Lane& lane, int64_t first, int64_t last) const {
    int64_t index[kMaxRank];
    const int row = loop_.ndim - 2, col = loop_.ndim - 1;
    for (int64_t block = first; block < last; ++block) {
        grid_.locate(block, loop_, index);
        const int64_t rows = std::min(grid_.rows, loop_.shape[row] - index[row]);
        const int64_t cols = std::min(grid_.cols, loop_.shape[col] - index[col]);
        lane.place(index, cols);
        lane.read_blocks(rows, cols);
        for (const int64_t end = index[row] + rows; index[row] < end;
             index[row] += grid_.tile_rows) {
            lane.place(index, cols);
            lane.run_tile(std::min(grid_.tile_rows, end - index[row]) * cols);
        }
    }
}

int Machine::list_pointers(Lane& lane, int64_t at, int64_t done, Pointer* pointers) const {
    lane.for_each_cursor([&](Cursor& cursor) { cursor.seek(at); });
    const int axis = loop_.ndim - 2;
    int count = 0;
    auto add = [&](int slot, const std::byte* row, const void** value) {
        const Port& port = ports_[slot];
        const int64_t size = itemsize(port.memory);
        // Memory that comes with a part has its elements side by side.
        const int64_t step = !port.base ? loop_.inner() : axis < 0 ? 0 : loop_.strides[slot][axis];
        pointers[count++] = {value, row, port.scalar ? 0 : size, step * size};
    };
    for (int k = 0; k < outputs_; ++k) {
        Writer& writer = *lane.writers[k];
        const uint8_t result = program_.outputs[static_cast<size_t>(k)].value.index;
        add(k, writer.address(writer.cursor().offset() + (writer.buffered() ? done : 0)),
            written_at_once(k) ? lane.values + result : lane.copies + k);
    }
    const void** value = lane.values + program_.code.size();
    for (int k = 0; k < inputs_; ++k, ++value) {
        const Port& port = ports_[outputs_ + k];
        Reader& reader = *lane.readers[k];
        if (port.constant) {
            *value = reader.next(0, nullptr, nullptr);
        } else {
            add(outputs_ + k, port.at(reader.cursor().offset()), value);
        }
    }
    return count;
}

void Machine::run_plain(Lane& lane, int64_t first, int64_t last) const {
    const int axis = loop_.ndim - 2;
    const int64_t width = loop_.inner();
    Pointer pointers[kMaxOperands];
    for (int64_t at = first, n; at < last;) {
        const std::span list(pointers,
                             static_cast<size_t>(list_pointers(lane, at, at - first, pointers)));
        // A part of a row, or whole rows of one axis.
        int64_t rows = 1, cols = std::min(width - at % width, last - at);
        if (axis >= 0 && cols == width) {
            const int64_t left = loop_.shape[axis] - at / width % loop_.shape[axis];
            rows = std::min(left, (last - at) / width);
        }
        for (int64_t r = 0; r < rows; ++r) {
            for (int64_t col = 0; col < cols; col += n) {
                n = std::min(tile_, cols - col);
                for (const Pointer& p : list) *p.value = p.row + col * p.size;
                lane.execute_in_place(n);
            }
            for (Pointer& p : list) p.row += p.row_step;
        }
        at += rows * cols;
    }
    for (int k = 0; k < outputs_; ++k) {
        if (lane.writers[k]->buffered()) lane.writers[k]->cursor().skip(last - first);
    }
}

void Machine::run_range(int64_t first, int64_t last, std::byte* scratch) const {
    Lane lane(*this, scratch);
    tiling_ == Tiling::Blocks ? run_blocks(lane, first, last) : run_elements(lane, first, last);
    publish();
}

void Machine::publish() const {
    if (std::any_of(ports_, ports_ + outputs_, [](const Port& port) { return port.streams; }))
        std::atomic_thread_fence(std::memory_order_seq_cst);
}

void run(const ProgramCall& call) {
    if (call.outputs[0].size() > 0) Machine(call).run();
}

// No elements, no machine: inputs without elements need not have memory.
PartialRun::PartialRun(const ProgramCall& call)
    : machine_(call.outputs[0].size() > 0 ? std::make_unique<Machine>(call, true) : nullptr),
      scratch_(workers::in_task() ? 1 : workers::count(),
               machine_ ? machine_->scratch_bytes() + static_cast<int64_t>(sizeof(Lane)) : 0) {}
PartialRun::~PartialRun() = default;

bool PartialRun::multiplies() const { return machine_ && machine_->multiplies(); }
PartialRun::Factors PartialRun::factors(int64_t first) const {
    return {machine_->factor(0, first), machine_->factor(1, first)};
}

PartialRun::Thread::Thread(const PartialRun& run, std::byte* const* buffers)
    : machine_(*run.machine_), scratch_(run.scratch_) {
    auto* registers = static_cast<std::byte*>(scratch_.data());
    lane_ = new (registers + run.machine_->scratch_bytes()) Lane(*run.machine_, registers, buffers);
}
PartialRun::Thread::~Thread() {
    lane_->~Lane();
    machine_.publish();
}

void PartialRun::Thread::run(int64_t first, int64_t step, int64_t rows, int64_t n, int64_t pitch) {
    if (step == n && pitch == n) n *= std::exchange(rows, 1);
    lane_->set_rows(rows, pitch, n);
    for (int64_t r = 0; r < rows; ++r) {
        if (rows > 1) lane_->fetch_ahead(first + r * step, n);
        lane_->m.run_elements(*lane_, first + r * step, first + r * step + n);
    }
}

}  // namespace asc::cpu
