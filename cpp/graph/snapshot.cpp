#include "graph/snapshot.h"

#include <cmath>
#include <cstdio>
#include <unordered_map>

#include "backend/cpu/elementwise.h"

namespace asc {
namespace {

std::string number_text(double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value);
    return text;
}

// A number in the dtype of its register, as people write it.
std::string constant_text(const Constant& c, DType dtype) {
    if (is_bool(dtype)) return c.bytes[0] == std::byte{0} ? "False" : "True";
    if (is_integer(dtype)) {
        int64_t value = 0;
        cpu::convert_scalar(&value, DType::Int64, c.bytes, dtype);
        return std::to_string(value);
    }
    if (!is_complex(dtype)) {
        double value = 0;
        cpu::convert_scalar(&value, DType::Float64, c.bytes, dtype);
        return number_text(value);
    }
    Complex<double> z;
    cpu::convert_scalar(&z, DType::Complex128, c.bytes, dtype);
    return number_text(z.re) + (std::signbit(z.im) ? "" : "+") + number_text(z.im) + "j";
}

std::string parameters_of(const Entry& e) {
    switch (e.kind) {
        case Entry::Kind::Copy:
            return e.inputs[0].dtype == e.output.dtype ? ""
                                                       : std::string("to ") + name(e.output.dtype);
        case Entry::Kind::Reduction: {
            std::string text = "axis=" + to_string(e.axes);
            if (e.reduction.correction != 0)
                text += ", correction=" + number_text(e.reduction.correction);
            return text;
        }
        case Entry::Kind::Scan:
            return "axis=" + std::to_string(e.axes[0]);
        default:
            return "";
    }
}

}  // namespace

Snapshot snapshot_of(std::span<const Entry> entries) {
    Snapshot snapshot;
    std::unordered_map<const Storage*, int> writers, outside;
    for (const Entry& e : entries) {
        Snapshot::Node node{e.function, e.output.dtype, e.output.shape,        parameters_of(e),
                            {},         e.line,         e.output.storage.get()};
        for (int k = 0; k < e.arity; ++k) {
            Snapshot::Operand operand;
            if (e.constant[k]) {
                operand.dtype = cpu::register_dtype(e.op, k, e.compute);
                operand.number = constant_text(e.constants[k], operand.dtype);
            } else {
                const Array& x = e.inputs[k];
                operand.dtype = x.dtype;
                operand.shape = x.shape;
                if (auto writer = writers.find(x.storage.get()); writer != writers.end()) {
                    operand.node = writer->second;
                } else {
                    auto [place, fresh] =
                        outside.emplace(x.storage.get(), static_cast<int>(outside.size()));
                    operand.array = place->second;
                    if (fresh)
                        snapshot.arrays.push_back({x.dtype, x.storage->nbytes(), x.storage.get()});
                }
            }
            node.operands.push_back(std::move(operand));
        }
        node.in_place = !e.output.storage->promised() || writers.contains(node.target);
        writers[node.target] = static_cast<int>(snapshot.nodes.size());
        snapshot.nodes.push_back(std::move(node));
    }
    return snapshot;
}

}  // namespace asc
