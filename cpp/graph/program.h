// Program: elementwise instructions over one index space, and a call that binds it to arrays.
//
// A program knows operations, dtypes and where values come from, but no sizes: the same
// computation on other shapes is the same program.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/cpu/strands.h"
#include "core/array.h"
#include "graph/ops.h"

namespace asc {

// Limits of one program; a longer chain becomes several.
inline constexpr int kMaxInstructions = 48;
inline constexpr int kMaxOperands = 32;  // inputs and outputs together
inline constexpr int kMaxConstants = 16;

// Where an instruction finds an operand.
struct Value {
    enum class From : uint8_t { Input, Constant, Result } from = From::Input;
    uint8_t index = 0;  // of the input, the constant, or the instruction

    friend bool operator==(const Value&, const Value&) = default;
};

struct Instruction {
    bool converts = false;  // a conversion from dtype to `result`; else the kernel of op
    Op op = Op::Positive;
    DType dtype = DType::Float64;   // of the kernel
    DType result = DType::Float64;  // of the register that it writes
    uint8_t arity = 1;
    Value source[3];
};

struct Program {
    std::vector<Instruction> code;
    std::vector<DType> inputs;  // the dtype of each input's register
    std::vector<DType> constants;
    struct Output {
        Value value;
        DType dtype;
    };
    std::vector<Output> outputs;

    // Made by finish().
    std::vector<cpu::Strand> strands;  // how a CPU runs them; accelerators have no use for it
    std::vector<uint8_t> registers;    // that each stored result has
    int register_count = 0;
    int widest_bits = 1;  // of all registers
    int cost = 1;         // of one element, in additions

    // Finds strands, then assigns registers: one is free again after the last instruction that
    // reads it.
    void finish();
    // The place of a value in a list of all results, then all inputs, then all constants.
    uint8_t place(const Value& v) const {
        size_t place = v.index;
        if (v.from != Value::From::Result) place += code.size();
        if (v.from == Value::From::Constant) place += inputs.size();
        return static_cast<uint8_t>(place);
    }
    // What the program computes, as a key; equal programs have equal keys.
    std::string key() const;
};

// One element in the dtype of its constant.
struct Constant {
    alignas(16) std::byte bytes[16];
};

// An array, or one element (already in the dtype of its register) that serves every index.
struct Operand {
    const Array* array = nullptr;
    alignas(16) std::byte scalar[16];  // not initialised: most operands are arrays
};

// A program and the arrays that it runs on.
struct ProgramCall {
    const Program* program;
    std::span<const Array> inputs;
    std::span<const Constant> constants;
    std::span<const Array> outputs;  // all of one shape, the index space
};

}  // namespace asc
