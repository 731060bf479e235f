// The functions of libnnopbase.so.
#include "executor.h"

#include <algorithm>
#include <cstdarg>
#include <cstring>

namespace cann_double {
namespace {

constexpr size_t kMaxRank = 8;

struct Executor {
    const Operation* operation;
    Arguments arguments;
    size_t workspace;
    int device;
    bool repeatable = false;
    uint64_t launches = 0;
    std::vector<Handles*> holds{};  // a table for each descriptor that it was made of
    std::shared_ptr<int> queued = std::make_shared<int>();  // shared with work that has not run
};
struct TensorList {
    std::vector<const void*> members;
};

struct Meta {
    Table<Tensor> tensors{"tensor", 16};
    Table<Scalar> scalars{"scalar", 17};
    Table<std::vector<int64_t>> int_arrays{"int array", 18};
    Table<std::vector<bool>> bool_arrays{"bool array", 19};
    Table<std::vector<float>> float_arrays{"float array", 20};
    Table<TensorList> tensor_lists{"tensor list", 21};
    Table<TensorList> scalar_lists{"scalar list", 22};
    Table<Executor> executors{"executor", 23};
    std::map<std::string, Operation> operations;
};

Meta& meta() {
    static auto* all = new Meta;
    return *all;
}

// Visits every tensor among the arguments.
template <class F>
void each_tensor(Arguments& arguments, F visit) {
    for (Argument& argument : arguments) {
        if (auto* one = std::get_if<TensorArgument>(&argument.value)) {
            visit(*one);
        } else if (auto* list = std::get_if<std::vector<TensorArgument>>(&argument.value)) {
            for (TensorArgument& member : *list) {
                visit(member);
            }
        }
    }
}

int check_descriptor(const Tensor& tensor) {
    if (tensor.rank() > kMaxRank) {
        return violate(kBadOperand, "rank", "a tensor of rank %zu", tensor.rank());
    }
    for (size_t axis = 0; axis < tensor.rank(); ++axis) {
        if (tensor.shape[axis] < 0) {
            return violate(kBadOperand, "negative", "a negative extent");
        }
        if (tensor.strides[axis] < 0) {
            return violate(kBadOperand, "negative-stride", "a negative stride");
        }
    }
    if (tensor.offset < 0) {
        return violate(kBadOperand, "negative", "a negative offset");
    }
    int64_t room = 1;
    for (const int64_t extent : tensor.storage) {
        room *= extent;
    }
    const size_t width = aclDataTypeSize(tensor.dtype);
    if (tensor.span().second > static_cast<size_t>(room) * width) {
        return violate(kBadOperand, "out-of-bounds", "a view that leaves its storage of %lld",
                       static_cast<long long>(room));
    }
    return kOk;
}

bool overlaps_itself(const Tensor& tensor) {
    std::vector<std::pair<int64_t, int64_t>> axes;  // stride, extent
    for (size_t axis = 0; axis < tensor.rank(); ++axis) {
        if (tensor.shape[axis] > 1) {
            axes.emplace_back(tensor.strides[axis], tensor.shape[axis]);
        }
    }
    std::sort(axes.begin(), axes.end());
    int64_t reach = 0;
    for (const auto& [stride, extent] : axes) {
        if (stride <= reach) {
            return tensor.elements() != 0;
        }
        reach += stride * (extent - 1);
    }
    return false;
}

// The first byte of each element, counted from `data`.
std::vector<size_t> element_offsets(const Tensor& tensor) {
    std::vector<size_t> offsets;
    Shape index(tensor.rank(), 0);
    const size_t width = aclDataTypeSize(tensor.dtype);
    for (int64_t left = tensor.elements(); left > 0; --left) {
        int64_t at = tensor.offset;
        for (size_t axis = 0; axis < tensor.rank(); ++axis) {
            at += index[axis] * tensor.strides[axis];
        }
        offsets.push_back(static_cast<size_t>(at) * width);
        for (size_t axis = tensor.rank(); axis-- > 0 && ++index[axis] == tensor.shape[axis];) {
            index[axis] = 0;
        }
    }
    return offsets;
}

bool share_bytes(const Tensor& a, const Tensor& b) {
    const auto begin_a = reinterpret_cast<uintptr_t>(a.data);
    const auto begin_b = reinterpret_cast<uintptr_t>(b.data);
    const auto [first_a, last_a] = a.span();
    const auto [first_b, last_b] = b.span();
    if (begin_a + last_a <= begin_b + first_b || begin_b + last_b <= begin_a + first_a) {
        return false;
    }
    std::vector<bool> taken(last_a - first_a);
    for (const size_t offset : element_offsets(a)) {
        for (size_t byte = 0; byte < aclDataTypeSize(a.dtype); ++byte) {
            taken[offset + byte - first_a] = true;
        }
    }
    for (const size_t offset : element_offsets(b)) {
        for (size_t byte = 0; byte < aclDataTypeSize(b.dtype); ++byte) {
            const size_t at = begin_b + offset + byte - begin_a - first_a;  // wraps where before
            if (at < taken.size() && taken[at]) {
                return true;
            }
        }
    }
    return false;
}

bool same_view(const Tensor& a, const Tensor& b) {
    return a.data == b.data && a.offset == b.offset && a.shape == b.shape &&
           a.strides == b.strides && a.dtype == b.dtype;
}

// Copies within a tensor tie an executor to its addresses.
bool replaces_what_it_reads(Arguments& arguments) {
    std::vector<const void*> read, written;
    each_tensor(arguments, [&](TensorArgument& argument) {
        (argument.output ? written : read).push_back(argument.tensor.data);
    });
    return std::find_first_of(read.begin(), read.end(), written.begin(), written.end()) !=
           read.end();
}

// Some operations copy between the host and the device when they are prepared, and the caller
// cannot know which: the seed says.
bool copies_while_prepared(const std::string& name) {
    const uint64_t seed = settings().seed;
    return seed != 0 && (std::hash<std::string>()(name) ^ seed) % 5 == 0;
}

// What depends on addresses: memory, alignment, overlap. Finds the bytes.
int check_addresses(Executor& executor, std::vector<Touch>& touches) {
    int code = kOk;
    std::vector<TensorArgument*> all;
    each_tensor(executor.arguments, [&](TensorArgument& argument) {
        Tensor& tensor = argument.tensor;
        if (code != kOk || tensor.elements() == 0) {
            return;
        }
        const auto address = reinterpret_cast<uintptr_t>(tensor.data);
        if (address % 32 != 0) {
            code = violate(kBadOperand, "unaligned", "a tensor at %p, not aligned to 32 bytes",
                           tensor.data);
            return;
        }
        const auto [first, last] = tensor.span();
        tensor.bytes = device_bytes(executor.device, tensor.data, last, "tensor");
        if (tensor.bytes == nullptr) {
            code = kRuntimeError;
            return;
        }
        touches.push_back({address + first, address + last, argument.output});
        if (argument.output && overlaps_itself(tensor)) {
            code = violate(kBadOperand, "overlap", "an output of which elements share memory");
        }
        all.push_back(&argument);
    });
    for (size_t i = 0; i < all.size() && code == kOk; ++i) {
        for (size_t j = 0; j < all.size() && code == kOk; ++j) {
            const Tensor &out = all[i]->tensor, &other = all[j]->tensor;
            if (i == j || !all[i]->output || (all[j]->output && j < i)) {
                continue;
            }
            if (!same_view(out, other) && share_bytes(out, other)) {
                code = violate(kBadOperand, "overlap", "an output shares memory with %s",
                               all[j]->output ? "another output" : "an input");
            }
        }
    }
    return code;
}

// Blocks in use together must keep the padding between them.
void check_padding(Executor& executor) {
    std::map<uintptr_t, size_t> blocks;
    each_tensor(executor.arguments, [&](TensorArgument& argument) {
        size_t bytes = aclDataTypeSize(argument.tensor.dtype);
        for (const int64_t extent : argument.tensor.storage) {
            bytes *= static_cast<size_t>(extent);
        }
        if (bytes != 0) {
            size_t& known = blocks[reinterpret_cast<uintptr_t>(argument.tensor.data)];
            known = std::max(known, bytes);
        }
    });
    for (auto block = blocks.begin(); block != blocks.end(); ++block) {
        const auto next = std::next(block);
        if (next != blocks.end() && block->first + padded(block->second) > next->first &&
            block->first + block->second <= next->first) {
            violate(kOk, "padding", "a block of %zu bytes is followed by another after %zu",
                    block->second, static_cast<size_t>(next->first - block->first));
        }
    }
}

int take_tensor(const void* handle, bool output, TensorArgument& argument) {
    const Tensor* tensor = meta().tensors.find(handle, "a tensor argument");
    if (tensor == nullptr) {
        return kBadOperand;
    }
    argument = {handle, *tensor, output};
    return check_descriptor(*tensor);
}

Handles* table_of(Parameter::Kind kind) {
    switch (kind) {
        case Parameter::kInput:
        case Parameter::kOutput:
            return &meta().tensors;
        case Parameter::kScalar:
            return &meta().scalars;
        case Parameter::kInts:
            return &meta().int_arrays;
        default:
            return &meta().tensor_lists;
    }
}

// What a repeatable executor was made of stays for later, or no more.
void keep(Executor& executor, bool kept) {
    for (Handles* table : executor.holds) {
        table->kept += kept ? 1 : -1;
    }
    meta().executors.kept += kept ? 1 : -1;
}

int take(const Parameter& parameter, Argument& argument) {
    switch (parameter.kind) {
        case Parameter::kInput:
        case Parameter::kOutput: {
            TensorArgument one;
            const int code =
                take_tensor(parameter.handle, parameter.kind == Parameter::kOutput, one);
            argument.value = std::move(one);
            return code;
        }
        case Parameter::kList: {
            const TensorList* list = meta().tensor_lists.find(parameter.handle, "a tensor list");
            if (list == nullptr) {
                return kBadOperand;
            }
            std::vector<TensorArgument> members(list->members.size());
            for (size_t i = 0; i < members.size(); ++i) {
                if (const int code = take_tensor(list->members[i], false, members[i])) {
                    return code;
                }
            }
            argument.value = std::move(members);
            return kOk;
        }
        case Parameter::kScalar: {
            const Scalar* scalar = meta().scalars.find(parameter.handle, "a scalar argument");
            if (scalar != nullptr) {
                argument.value = *scalar;
            }
            return scalar == nullptr ? kBadOperand : kOk;
        }
        case Parameter::kInts: {
            const auto* ints = meta().int_arrays.find(parameter.handle, "an array argument");
            if (ints != nullptr) {
                argument.value = *ints;
            }
            return ints == nullptr ? kBadOperand : kOk;
        }
        default:
            argument.value = parameter.integer;
            return kOk;
    }
}

}  // namespace

Table<Tensor>& tensors() { return meta().tensors; }
Table<Scalar>& scalars() { return meta().scalars; }

int64_t Tensor::elements() const {
    int64_t product = 1;
    for (const int64_t extent : shape) {
        product *= extent;
    }
    return product;
}

bool Tensor::contiguous() const {
    int64_t expected = 1;
    for (size_t axis = rank(); axis-- > 0;) {
        if (shape[axis] != 1 && strides[axis] != expected) {
            return elements() == 0;
        }
        expected *= shape[axis];
    }
    return true;
}

std::pair<size_t, size_t> Tensor::span() const {
    if (elements() == 0) {
        return {0, 0};
    }
    int64_t last = offset;
    for (size_t axis = 0; axis < rank(); ++axis) {
        last += (shape[axis] - 1) * strides[axis];
    }
    const auto width = static_cast<int64_t>(aclDataTypeSize(dtype));
    return {static_cast<size_t>(offset * width), static_cast<size_t>((last + 1) * width)};
}

int refuse(const Operation& operation, const char* format, ...) {
    char buffer[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return fail(kBadOperand, "%s: %s", operation.name.c_str(), buffer);
}

void add_operation(Operation operation) {
    const std::string name = operation.name;
    meta().operations.insert_or_assign(name, std::move(operation));
}

void set_result_shape(Argument& argument, Shape shape) {
    auto& one = std::get<TensorArgument>(argument.value);
    if (meta().tensors.contains(one.handle)) {
        meta().tensors.find(one.handle, "result")->shape = std::move(shape);
    }
}

int plan(const char* name, std::initializer_list<Parameter> parameters, uint64_t* workspace,
         aclOpExecutor** executor) {
    CANN_DOUBLE_ENTER(std::string(name) + "GetWorkspaceSize");
    const Operation& operation = meta().operations.at(name);
    Context* context = current_context();
    if (context == nullptr) {
        return violate(kRuntimeError, "no-context", "this thread has no current context");
    }
    if (workspace == nullptr || executor == nullptr) {
        return violate(kNullParameter, "null", "where the results of phase 1 go is null");
    }
    Executor made{&operation, Arguments(parameters.size()), 0, context->device};
    size_t position = 0;
    for (const Parameter& parameter : parameters) {
        const bool missing = parameter.kind != Parameter::kInteger && parameter.handle == nullptr;
        if (parameter.kind != Parameter::kInteger && !missing) {
            made.holds.push_back(table_of(parameter.kind));
        }
        if (!missing) {
            if (const int code = take(parameter, made.arguments[position])) {
                return code;
            }
        } else if (operation.optional.find(static_cast<char>('0' + position)) ==
                   std::string::npos) {
            return violate(kNullParameter, "null", "parameter %zu is null", position);
        }
        ++position;
    }
    if (const int code = operation.check(operation, made.arguments)) {
        return code;
    }
    // Some operations want room, and the caller cannot know which.
    made.workspace = dice()() % 3 == 0 ? 512 * (1 + dice()() % 8) : 0;
    *workspace = made.workspace;
    *executor = static_cast<aclOpExecutor*>(meta().executors.add(std::move(made)));
    return kOk;
}

int launch(const char* name, void* workspace, uint64_t size, aclOpExecutor* handle,
           aclrtStream stream) {
    Call call(name);
    Executor* executor = meta().executors.find(handle, "the executor");
    if (executor == nullptr) {
        return kNullParameter;
    }
    if (call.failure != kOk) {
        if (!executor->repeatable) {
            meta().executors.erase(handle);
        }
        return call.failure;
    }
    if (executor->operation->name != name) {
        return violate(kBadOperand, "wrong-executor", "an executor of %s",
                       executor->operation->name.c_str());
    }
    int code = kOk;
    Stream* target = stream_of(stream, code);
    if (target == nullptr) {
        return kRuntimeError;
    }
    if (target->device != executor->device) {
        return violate(kRuntimeError, "wrong-device",
                       "phase 1 was on device %d, the stream is on %d", executor->device,
                       target->device);
    }
    each_tensor(executor->arguments, [&](TensorArgument& argument) {
        if (!meta().tensors.contains(argument.handle)) {
            code = violate(kBadOperand, "use-after-destroy",
                           "a tensor was destroyed between the phases");
        }
    });
    if (code != kOk) {
        return code;
    }
    if (size != executor->workspace) {
        return violate(kBadOperand, "workspace", "%lu bytes, phase 1 asked for %zu", size,
                       executor->workspace);
    }
    std::vector<Touch> touches;
    uint8_t* scratch = nullptr;
    if (size != 0) {
        scratch = device_bytes(executor->device, workspace, size, "workspace");
        const auto address = reinterpret_cast<uintptr_t>(workspace);
        if (scratch == nullptr || address % 32 != 0) {
            return violate(kBadOperand, "workspace", "%p is no workspace of %lu bytes", workspace,
                           size);
        }
        touches.push_back({address, address + size, true});
    }
    if (const int bad = check_addresses(*executor, touches)) {
        return bad;
    }
    for (size_t i = 1; scratch != nullptr && i < touches.size(); ++i) {
        if (touches[0].begin < touches[i].end && touches[i].begin < touches[0].end) {
            return violate(kBadOperand, "workspace", "the workspace lies over a tensor");
        }
    }
    check_padding(*executor);
    if (executor->repeatable && replaces_what_it_reads(executor->arguments)) {
        violate(kOk, "not-repeatable", "a repeatable executor writes what it reads");
    }
    auto arguments = std::make_shared<Arguments>(executor->arguments);
    const Operation* operation = executor->operation;
    count("launches");
    count("launches." + operation->name);
    ++executor->launches;
    enqueue(*target, {name, std::move(touches), [=, queued = executor->queued] {
                          if (scratch != nullptr) {
                              poison(scratch, size);
                          }
                          operation->run(*arguments);
                          return kOk;
                      }});
    if (!executor->repeatable) {
        meta().executors.erase(handle);
    }
    return kOk;
}

namespace {

// Sets the address of the tensor at the index, counted among inputs, outputs, or all.
int set_address(const char* function, aclOpExecutor* handle, size_t index, aclTensor* tensor,
                void* address, bool inputs, bool outputs) {
    CANN_DOUBLE_ENTER(function);
    Executor* executor = meta().executors.find(handle, "the executor");
    Tensor* descriptor = meta().tensors.find(tensor, "the tensor");
    if (executor == nullptr || descriptor == nullptr) {
        return kNullParameter;
    }
    if (!executor->repeatable) {
        return violate(kBadOperand, "not-repeatable", "the executor was not made repeatable");
    }
    size_t position = 0;
    TensorArgument* found = nullptr;
    each_tensor(executor->arguments, [&](TensorArgument& argument) {
        if (argument.output ? outputs : inputs) {
            if (position == index) {
                found = &argument;
            }
            ++position;
        }
    });
    if (found == nullptr) {
        return violate(kBadOperand, "bad-index", "no tensor %zu of %zu", index, position);
    }
    if (found->handle != tensor) {
        return violate(kBadOperand, "wrong-tensor", "tensor %zu of phase 1 is another", index);
    }
    descriptor->data = found->tensor.data = address;
    return kOk;
}

}  // namespace

extern "C" {

aclTensor* aclCreateTensor(const int64_t* shape, uint64_t rank, aclDataType dtype,
                           const int64_t* strides, int64_t offset, aclFormat format,
                           const int64_t* storage, uint64_t storage_rank, void* data) {
    Call call("aclCreateTensor");
    if (call.failure != kOk) {
        return nullptr;
    }
    if ((shape == nullptr && rank != 0) || (storage == nullptr && storage_rank != 0)) {
        violate(kNullParameter, "null", "dimensions are null");
        return nullptr;
    }
    if (aclDataTypeSize(dtype) == 0) {
        violate(kBadOperand, "bad-dtype", "dtype %d", dtype);
        return nullptr;
    }
    if (format != ACL_FORMAT_ND) {
        violate(kBadOperand, "bad-format", "format %d; arrays are ND", format);
        return nullptr;
    }
    Tensor tensor;
    tensor.shape.assign(shape, shape + rank);
    tensor.storage.assign(storage, storage + storage_rank);
    tensor.dtype = dtype;
    tensor.offset = offset;
    tensor.format = format;
    tensor.data = data;
    if (strides != nullptr) {
        tensor.strides.assign(strides, strides + rank);
    } else {
        tensor.strides.resize(rank);
        int64_t stride = 1;
        for (size_t axis = rank; axis-- > 0; stride *= shape[axis]) {
            tensor.strides[axis] = stride;
        }
    }
    return static_cast<aclTensor*>(meta().tensors.add(std::move(tensor)));
}

aclScalar* aclCreateScalar(void* value, aclDataType dtype) {
    Call call("aclCreateScalar");
    const size_t width = aclDataTypeSize(dtype);
    if (call.failure != kOk) {
        return nullptr;
    }
    if (value == nullptr || width == 0) {
        violate(kNullParameter, "null", "no value, or dtype %d", dtype);
        return nullptr;
    }
    Scalar scalar{dtype, {}};
    std::memcpy(scalar.value, value, width);
    return static_cast<aclScalar*>(meta().scalars.add(scalar));
}

// Arrays that are copied when they are made.
#define CREATE(name, public, element, table)                                \
  public                                                                    \
    *name(const element* values, uint64_t size) {                           \
        Call call(#name);                                                   \
        if (call.failure != kOk) {                                          \
            return nullptr;                                                 \
        }                                                                   \
        if (values == nullptr && size != 0) {                               \
            violate(kNullParameter, "null", "values are null");             \
            return nullptr;                                                 \
        }                                                                   \
        return static_cast<public*>(                                        \
            meta().table.add(std::vector<element>(values, values + size))); \
    }
CREATE(aclCreateIntArray, aclIntArray, int64_t, int_arrays)
CREATE(aclCreateBoolArray, aclBoolArray, bool, bool_arrays)
CREATE(aclCreateFloatArray, aclFloatArray, float, float_arrays)
#undef CREATE

aclTensorList* aclCreateTensorList(const aclTensor* const* values, uint64_t size) {
    Call call("aclCreateTensorList");
    if (call.failure != kOk) {
        return nullptr;
    }
    for (uint64_t i = 0; i < size; ++i) {
        if (values[i] != nullptr && meta().tensors.find(values[i], "a member") == nullptr) {
            return nullptr;
        }
    }
    return static_cast<aclTensorList*>(
        meta().tensor_lists.add(TensorList{std::vector<const void*>(values, values + size)}));
}

aclScalarList* aclCreateScalarList(const aclScalar* const* values, uint64_t size) {
    Call call("aclCreateScalarList");
    if (call.failure != kOk) {
        return nullptr;
    }
    for (uint64_t i = 0; i < size; ++i) {
        if (meta().scalars.find(values[i], "a member") == nullptr) {
            return nullptr;
        }
    }
    return static_cast<aclScalarList*>(
        meta().scalar_lists.add(TensorList{std::vector<const void*>(values, values + size)}));
}

#define DESTROY(name, public, table)                              \
    aclnnStatus name(const public* handle) {                      \
        CANN_DOUBLE_ENTER(#name);                                 \
        return meta().table.erase(handle) ? kOk : kNullParameter; \
    }
DESTROY(aclDestroyTensor, aclTensor, tensors)
DESTROY(aclDestroyScalar, aclScalar, scalars)
DESTROY(aclDestroyIntArray, aclIntArray, int_arrays)
DESTROY(aclDestroyBoolArray, aclBoolArray, bool_arrays)
DESTROY(aclDestroyFloatArray, aclFloatArray, float_arrays)
#undef DESTROY

// A list owns its members.
aclnnStatus aclDestroyTensorList(const aclTensorList* handle) {
    CANN_DOUBLE_ENTER("aclDestroyTensorList");
    const TensorList* list = meta().tensor_lists.find(handle, "the list");
    if (list != nullptr) {
        for (const void* member : list->members) {
            if (member != nullptr) {
                meta().tensors.erase(member);
            }
        }
    }
    return meta().tensor_lists.erase(handle) ? kOk : kNullParameter;
}

aclnnStatus aclDestroyScalarList(const aclScalarList* handle) {
    CANN_DOUBLE_ENTER("aclDestroyScalarList");
    const TensorList* list = meta().scalar_lists.find(handle, "the list");
    if (list != nullptr) {
        for (const void* member : list->members) {
            meta().scalars.erase(member);
        }
    }
    return meta().scalar_lists.erase(handle) ? kOk : kNullParameter;
}

// Getters; arrays that they give belong to the caller, who deletes them.
#define TENSOR(name)                                                 \
    CANN_DOUBLE_ENTER(name);                                         \
    const Tensor* found = meta().tensors.find(tensor, "the tensor"); \
    if (found == nullptr) {                                          \
        return kNullParameter;                                       \
    }

static int give(const Shape& values, int64_t** array, uint64_t* size) {
    *array = new int64_t[values.size()];
    std::copy(values.begin(), values.end(), *array);
    *size = values.size();
    return kOk;
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** shape, uint64_t* rank) {
    TENSOR("aclGetViewShape");
    return give(found->shape, shape, rank);
}
aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** shape, uint64_t* rank) {
    TENSOR("aclGetStorageShape");
    return give(found->storage, shape, rank);
}
aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** strides, uint64_t* rank) {
    TENSOR("aclGetViewStrides");
    return give(found->strides, strides, rank);
}
aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
    TENSOR("aclGetViewOffset");
    *offset = found->offset;
    return kOk;
}
aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
    TENSOR("aclGetFormat");
    *format = found->format;
    return kOk;
}
aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dtype) {
    TENSOR("aclGetDataType");
    *dtype = found->dtype;
    return kOk;
}
aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** address) {
    TENSOR("aclGetRawTensorAddr");
    *address = found->data;
    return kOk;
}
#undef TENSOR

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* address) {
    CANN_DOUBLE_ENTER("aclSetRawTensorAddr");
    Tensor* found = meta().tensors.find(tensor, "the tensor");
    if (found == nullptr) {
        return kNullParameter;
    }
    found->data = address;
    return kOk;
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
    CANN_DOUBLE_ENTER("aclGetIntArraySize");
    const auto* found = meta().int_arrays.find(array, "the array");
    *size = found == nullptr ? 0 : found->size();
    return found == nullptr ? kNullParameter : kOk;
}

aclnnStatus aclGetTensorListSize(const aclTensorList* list, uint64_t* size) {
    CANN_DOUBLE_ENTER("aclGetTensorListSize");
    const auto* found = meta().tensor_lists.find(list, "the list");
    *size = found == nullptr ? 0 : found->members.size();
    return found == nullptr ? kNullParameter : kOk;
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* handle) {
    CANN_DOUBLE_ENTER("aclSetAclOpExecutorRepeatable");
    Executor* executor = meta().executors.find(handle, "the executor");
    if (executor == nullptr) {
        return kNullParameter;
    }
    if (executor->launches != 0) {
        return violate(kBadOperand, "not-repeatable", "the executor has run");
    }
    const std::string& name = executor->operation->name;
    if (copies_while_prepared(name)) {
        return fail(kBadOperand, "%s: this executor runs once", name.c_str());
    }
    executor->repeatable = true;
    keep(*executor, true);
    count("executors.repeatable");
    return kOk;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* handle) {
    CANN_DOUBLE_ENTER("aclDestroyAclOpExecutor");
    Executor* executor = meta().executors.find(handle, "the executor");
    if (executor != nullptr && executor->repeatable) {
        keep(*executor, false);
    }
    if (executor != nullptr && !executor->repeatable) {
        violate(kOk, "not-repeatable", "phase 2 frees an executor that is not repeatable");
    }
    if (executor != nullptr && executor->queued.use_count() > 1) {
        violate(kOk, "in-use", "launches of the executor have not run");
    }
    return meta().executors.erase(handle) ? kOk : kNullParameter;
}

#define SET_ADDRESS(name, inputs, outputs)                                                      \
    aclnnStatus name(aclOpExecutor* executor, size_t index, aclTensor* tensor, void* address) { \
        return set_address(#name, executor, index, tensor, address, inputs, outputs);           \
    }
SET_ADDRESS(aclSetTensorAddr, true, true)
SET_ADDRESS(aclSetInputTensorAddr, true, false)
SET_ADDRESS(aclSetOutputTensorAddr, false, true)
SET_ADDRESS(AclSetTensorAddr, true, true)
SET_ADDRESS(AclSetInputTensorAddr, true, false)
SET_ADDRESS(AclSetOutputTensorAddr, false, true)
#undef SET_ADDRESS

aclnnStatus aclnnInit(const char*) {
    CANN_DOUBLE_ENTER("aclnnInit");
    return kOk;
}
aclnnStatus aclnnFinalize() {
    CANN_DOUBLE_ENTER("aclnnFinalize");
    return kOk;
}

}  // extern "C"

}  // namespace cann_double
