// Descriptors, and the two phases of an operation.
#pragma once
#include <complex>
#include <functional>
#include <variant>

#include "streams.h"

namespace cann_double {

using Shape = std::vector<int64_t>;

struct Tensor {
    Shape shape, strides, storage;
    aclDataType dtype;
    int64_t offset;
    aclFormat format;
    void* data;

    int64_t elements() const;
    size_t rank() const { return shape.size(); }
    bool contiguous() const;
    // Bytes from `data` that the elements span: [first, last).
    std::pair<size_t, size_t> span() const;
    // Where the double reads and writes; set when the operation runs.
    uint8_t* bytes = nullptr;
};

struct Scalar {
    aclDataType dtype;
    unsigned char value[16];
};

Table<Tensor>& tensors();
Table<Scalar>& scalars();

// One argument of phase 1, as the operation sees it.
struct TensorArgument {
    const void* handle;
    Tensor tensor;  // a copy: of a repeatable executor, with the newest address
    bool output;
};
struct Argument {
    std::variant<std::monostate, TensorArgument, std::vector<TensorArgument>, Scalar,
                 std::vector<int64_t>, int64_t>
        value;

    bool given() const { return value.index() != 0; }
    Tensor& tensor() { return std::get<TensorArgument>(value).tensor; }
    std::vector<TensorArgument>& list() { return std::get<std::vector<TensorArgument>>(value); }
    const Scalar& scalar() const { return std::get<Scalar>(value); }
    const std::vector<int64_t>& ints() const { return std::get<std::vector<int64_t>>(value); }
    int64_t integer() const { return std::get<int64_t>(value); }
    bool flag() const { return integer() != 0; }
    aclDataType dtype() const { return static_cast<aclDataType>(integer()); }
};
using Arguments = std::vector<Argument>;

// A parameter as a caller hands it over; which kind is told by its type.
class Parameter {
  public:
    Parameter(const aclTensor* t) : kind(kInput), handle(t) {}
    Parameter(aclTensor* t) : kind(kOutput), handle(t) {}
    Parameter(const aclTensorList* t) : kind(kList), handle(t) {}
    Parameter(const aclScalar* s) : kind(kScalar), handle(s) {}
    Parameter(const aclIntArray* a) : kind(kInts), handle(a) {}
    Parameter(int64_t i) : kind(kInteger), integer(i) {}
    Parameter(int8_t i) : kind(kInteger), integer(i) {}
    Parameter(bool b) : kind(kInteger), integer(b) {}
    Parameter(aclDataType t) : kind(kInteger), integer(t) {}

    enum Kind { kInput, kOutput, kList, kScalar, kInts, kInteger } kind;
    const void* handle = nullptr;
    int64_t integer = 0;
};

// An operation: what phase 1 refuses, and what the device does.
struct Operation {
    std::string name;
    std::string dtypes;    // that its tensors may have
    std::string optional;  // positions of parameters that may be null, "12"
    std::function<int(const Operation&, Arguments&)> check;
    std::function<void(Arguments&)> run;
};

void add_operation(Operation operation);

int plan(const char* name, std::initializer_list<Parameter> parameters, uint64_t* workspace,
         aclOpExecutor** executor);
int launch(const char* name, void* workspace, uint64_t size, aclOpExecutor* executor,
           aclrtStream stream);

// Refuses operands: 161002 and a message; no violation, as a program may try.
[[gnu::format(printf, 2, 3)]] int refuse(const Operation& operation, const char* format, ...);

// Results of a size that only the device knows: the handle's shape afterwards.
void set_result_shape(Argument& argument, Shape shape);

}  // namespace cann_double
