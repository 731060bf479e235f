#include "backend/cpu/machine.h"

#include <cstdlib>
#include <memory>
#include <utility>

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
// Rows at least this long are tiled one by one; shorter ones are gathered into common tiles.
constexpr int64_t kLongRow = 128;
// Borders between threads fall on whole cache lines of a packed bool result.
constexpr int64_t kBorder = 512;
// The least work (in additions) that is worth a second thread.
constexpr int64_t kThreadWork = 1 << 15;

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

// Registers of one thread, kept from call to call.
class Registers {
  public:
    // count registers of kRegisterBytes each, aligned to a cache line.
    static std::byte* get(int count) {
        thread_local Registers mine;
        if (count > mine.count_) {
            std::free(mine.memory_);
            void* p = nullptr;
            if (posix_memalign(&p, 64, static_cast<size_t>(count) * kRegisterBytes) != 0)
                std::abort();
            mine.memory_ = static_cast<std::byte*>(p);
            mine.count_ = count;
        }
        return mine.memory_;
    }
    ~Registers() { std::free(memory_); }

  private:
    std::byte* memory_ = nullptr;
    int count_ = 0;
};

}  // namespace

class Machine {
  public:
    explicit Machine(const ProgramCall& call)
        : call_(call),
          program_(*call.program),
          loop_(list_arrays(call, arrays_)),
          whole_rows_(loop_.ndim == 1 || loop_.inner() >= kLongRow) {}

    void run() {
        int64_t size = call_.outputs[0].size();
        int64_t parts = std::min<int64_t>(workers::count() * 4, size * program_.cost / kThreadWork);
        if (parts < 2 || workers::count() < 2 || !splits()) return run_range(0, size);
        // The first border of a bool result makes up for its offset in the cache line.
        int64_t phase = (kBorder - bool_offset_ % kBorder) % kBorder;
        int64_t step = (size / parts + kBorder - 1) / kBorder * kBorder;
        parts = (size - phase + step - 1) / step;
        workers::for_each(parts, [&](int64_t i) {
            int64_t first = i == 0 ? 0 : phase + i * step;
            run_range(first, std::min(size, phase + (i + 1) * step));
        });
    }

    void run_part(int64_t first, int64_t step, int64_t rows, int64_t n, std::byte* const* buffers,
                  int64_t pitch) const;

  private:
    static std::span<const Array* const> list_arrays(const ProgramCall& call,
                                                     const Array** arrays) {
        size_t count = 0;
        for (const Array& out : call.outputs) arrays[count++] = &out;
        for (const Array& in : call.inputs) arrays[count++] = &in;
        return {arrays, count};
    }

    // Threads never share a word of a packed bool output.
    bool splits() {
        bool found = false;
        for (size_t k = 0; k < call_.outputs.size(); ++k) {
            const Array& out = call_.outputs[k];
            if (!is_bool(out.dtype)) continue;
            if (!loop_.contiguous(static_cast<int>(k))) return false;
            if (found && out.offset % kBorder != bool_offset_ % kBorder) return false;
            found = true;
            bool_offset_ = out.offset;
        }
        return true;
    }

    struct Lane;  // the state of one thread
    void run_range(int64_t first, int64_t last) const;
    void run_lane(Lane& lane, int64_t first, int64_t last) const;

    const ProgramCall& call_;
    const Program& program_;
    const Array* arrays_[kMaxOperands];
    Loop loop_;
    bool whole_rows_;
    int64_t bool_offset_ = 0;
};

struct Machine::Lane {
    const Machine& m;
    std::optional<Reader> readers[kMaxOperands];
    std::optional<Writer> writers[kMaxOperands];
    std::byte* registers;
    const void* inputs[kMaxOperands];
    const void* results[kMaxInstructions];
    int8_t output_of[kMaxInstructions];  // the output that an instruction writes at once, or -1
    bool loaded[kMaxOperands];
    int64_t tile;

    // Outputs without a storage go to `buffers`, whose elements lie as `rows` says.
    explicit Lane(const Machine& machine, std::byte* const* buffers = nullptr,
                  const Loop* rows = nullptr)
        : m(machine) {
        const Program& p = m.program_;
        size_t outputs = m.call_.outputs.size(), count = m.call_.inputs.size();
        bool direct = p.code.size() <= 1;
        int scratch = 0;
        int widest = p.widest_bits;
        for (size_t k = 0; k < outputs; ++k) {
            const Array& out = m.call_.outputs[k];
            if (out.storage) {
                writers[k].emplace(m.loop_, static_cast<int>(k), out, p.outputs[k].dtype,
                                   m.whole_rows_);
            } else {
                writers[k].emplace(*rows, buffers[k], out.dtype);
            }
            direct &= writers[k]->direct();
            widest = std::max(widest, static_cast<int>(bits(out.dtype)));
        }
        for (size_t k = 0; k < count; ++k) {
            const Array& in = m.call_.inputs[k];
            readers[k].emplace(m.loop_, static_cast<int>(outputs + k), in, p.inputs[k],
                               m.whole_rows_);
            direct &= readers[k]->direct();
            scratch += !readers[k]->direct();
            widest = std::max(widest, static_cast<int>(bits(in.dtype)));
        }
        std::fill_n(output_of, p.code.size(), int8_t{-1});
        for (size_t k = outputs; k-- > 0;) {
            const Value& v = p.outputs[k].value;
            if (v.from == Value::From::Result && !read_after(k, v.index))
                output_of[v.index] = static_cast<int8_t>(k);
        }
        // A result that waits for the end of its tile waits in a register.
        direct &= p.code.empty() || output_of[0] >= 0;
        int64_t most = kRegisterBytes * 8 / widest;
        int live = std::max(1, p.register_count + scratch);
        tile = direct ? kDirectTile
                      : std::clamp<int64_t>(kLiveBytes * 8 / widest / live / 64 * 64,
                                            std::min(kLeastTile, most), most);
        // Behind the values' registers: two for each input (raw, converted) and one for outputs.
        registers = Registers::get(p.register_count + 2 * static_cast<int>(count) + 2);
    }

    void seek(int64_t flat) {
        for (size_t k = 0; k < m.call_.outputs.size(); ++k) {
            if (m.call_.outputs[k].storage) writers[k]->seek(flat);
        }
        for (size_t k = 0; k < m.call_.inputs.size(); ++k) readers[k]->seek(flat);
    }

    // An input with the memory of output k is still read behind instruction i.
    bool read_after(size_t k, size_t i) const {
        const Program& p = m.program_;
        for (size_t in = 0; in < m.call_.inputs.size(); ++in) {
            if (!(m.call_.inputs[in].storage == m.call_.outputs[k].storage)) continue;
            Value wanted{Value::From::Input, static_cast<uint8_t>(in)};
            for (size_t j = i + 1; j < p.code.size(); ++j) {
                if (std::find(p.code[j].source, p.code[j].source + p.code[j].arity, wanted) !=
                    p.code[j].source + p.code[j].arity) {
                    return true;
                }
            }
            for (const Program::Output& out : p.outputs) {
                if (out.value == wanted) return true;
            }
        }
        return false;
    }

    std::byte* slot(int i) const { return registers + i * kRegisterBytes; }
    std::byte* spare() const {
        return slot(m.program_.register_count + 2 * static_cast<int>(m.call_.inputs.size()));
    }

    // The register of a value, loading an input at its first use in the tile.
    const void* value(const Value& v, int64_t n, bool& scalar) {
        if (v.from == Value::From::Result) return results[v.index];
        if (v.from == Value::From::Constant) {
            scalar = true;
            return m.call_.constants[v.index].bytes;
        }
        Reader& reader = *readers[v.index];
        scalar = reader.scalar();
        if (!loaded[v.index]) {
            int at = m.program_.register_count + 2 * v.index;
            inputs[v.index] = reader.next(n, slot(at), slot(at + 1));
            loaded[v.index] = true;
        }
        return inputs[v.index];
    }

    void execute(size_t i, int64_t n) {
        const Instruction& code = m.program_.code[i];
        const void* sources[3];
        unsigned scalars = 0;
        for (int k = 0; k < code.arity; ++k) {
            bool scalar = false;
            sources[k] = value(code.source[k], n, scalar);
            scalars |= static_cast<unsigned>(scalar) << k;
        }
        std::byte* reg = slot(m.program_.registers[i]);
        int out = output_of[i];
        void* target = out >= 0 ? writers[out]->begin(n, reg) : reg;
        const KernelTable& table = kernels();
        if (code.converts) {
            convert(target, code, sources[0], scalars & 1, n);
        } else {
            table.elementwise[index(code.op)][index(code.dtype)](target, sources, n, scalars);
        }
        results[i] = target;
        if (out >= 0) writers[out]->end(n, target, spare());
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
            const Value& v = p.outputs[k].value;
            if (v.from == Value::From::Result && output_of[v.index] == static_cast<int8_t>(k))
                continue;
            bool scalar = false;
            const void* source = value(v, n, scalar);
            void* target = writers[k]->begin(n, spare());
            copy_value(target, source, scalar, n, p.outputs[k].dtype);
            writers[k]->end(n, target, spare() + kRegisterBytes);
        }
    }
};

void Machine::run_lane(Lane& lane, int64_t first, int64_t last) const {
    lane.seek(first);
    int64_t row = loop_.inner();
    for (int64_t at = first; at < last;) {
        int64_t n = std::min(lane.tile, last - at);
        if (whole_rows_) n = std::min(n, row - at % row);
        std::fill_n(lane.loaded, call_.inputs.size(), false);
        for (size_t i = 0; i < program_.code.size(); ++i) lane.execute(i, n);
        lane.copy_outputs(n);
        at += n;
    }
}

void Machine::run_range(int64_t first, int64_t last) const {
    Lane lane(*this);
    run_lane(lane, first, last);
}

void Machine::run_part(int64_t first, int64_t step, int64_t rows, int64_t n,
                       std::byte* const* buffers, int64_t pitch) const {
    if (step == n && pitch == n) n *= std::exchange(rows, 1);
    const Loop buffer(rows, pitch, n);
    Lane lane(*this, buffers, &buffer);
    for (int64_t r = 0; r < rows; ++r) run_lane(lane, first + r * step, first + r * step + n);
}

void run(const ProgramCall& call) {
    if (call.outputs[0].size() > 0) Machine(call).run();
}

PartialRun::PartialRun(const ProgramCall& call) : machine_(std::make_unique<Machine>(call)) {}
PartialRun::~PartialRun() = default;

void PartialRun::run(int64_t first, int64_t step, int64_t rows, int64_t n,
                     std::byte* const* buffers, int64_t pitch) const {
    machine_->run_part(first, step, rows, n, buffers, pitch);
}

}  // namespace asc::cpu
