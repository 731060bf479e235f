// What every binding file uses: arguments from Python, results to Python, errors across.
//
// A binding is a function `PyObject* f(PyObject* const* args)` with a fixed number of positional
// arguments, listed in a Methods table. It may throw Error (any kind) or PythonError (an
// exception is set already).
#pragma once
#include <Python.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "core/array.h"
#include "core/scalar.h"
#include "graph/dispatch.h"
#include "graph/functions.h"
#include "graph/precision.h"
#include "runtime/profiler.h"

namespace asc::python {

// An exception of Python is set.
struct PythonError {};

// Sets the Python exception for the C++ exception in flight.
void set_python_error();

template <class F>
PyObject* guarded(F&& body) noexcept {
    try {
        return body();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

// Clears an exception of a kind; throws PythonError where another one, or MemoryError, is set.
void forgive(PyObject* kind);

// A counted PyObject, for results under construction.
class Object {
  public:
    Object() = default;
    // Takes over a new reference; throws PythonError on null.
    static Object steal(PyObject* p) {
        if (!p) throw PythonError{};
        Object o;
        o.p_ = p;
        return o;
    }
    static Object borrow(PyObject* p) { return steal(Py_NewRef(p)); }
    Object(Object&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
    Object& operator=(Object other) noexcept {
        std::swap(p_, other.p_);
        return *this;
    }
    ~Object() { Py_XDECREF(p_); }
    PyObject* get() const { return p_; }
    PyObject* release() { return std::exchange(p_, nullptr); }
    explicit operator bool() const { return p_ != nullptr; }

  private:
    PyObject* p_ = nullptr;
};

// ---- arrays
bool is_array(PyObject* o);
// o must be an array.
Array& array_of(PyObject* o);
// Throws Error(Type) naming function and parameter if o is not an array. Its bytes are there:
// recorded work that writes them has run.
Array& to_array(PyObject* o, const char* function, const char* parameter);
// The same for functions that look at shape, dtype and strides only, or record their work.
Array& to_view(PyObject* o, const char* function, const char* parameter);
// A new Python object that owns the array.
PyObject* wrap(Array&& x);
// A tuple of new Python objects.
PyObject* wrap_tuple(std::vector<Array>&& arrays);
// A tuple of two or more finished objects.
PyObject* make_tuple(std::vector<Object>&& items);

// ---- dtypes, devices, scalars
PyObject* dtype_object(DType d);  // borrowed
// An np.dtype (in relaxed mode also strings and Python types); throws Error(Type).
DType to_dtype(PyObject* o, const char* function);
// Nothing for None.
std::optional<DType> to_optional_dtype(PyObject* o, const char* function);
// The dtype of an np.dtype, or nothing; never throws.
std::optional<DType> find_dtype(PyObject* o);
// A device of this process, or its name; None means `otherwise`. Throws Error naming what exists.
DeviceId to_device_id(PyObject* o, DeviceId otherwise, const char* function);
PyObject* device_object(DeviceId device);  // borrowed
// A Python or NumPy number; nothing for anything else.
std::optional<Scalar> find_scalar(PyObject* o);
// An array or a number; throws Error(Type) that says what came. The Scalar lands in `room`.
Argument to_argument(PyObject* o, Scalar& room, const char* function, const char* parameter);
// The first element of an array as a Python bool, int, float or complex.
PyObject* item(const Array& x);

// ---- plain values
int64_t to_int(PyObject* o, const char* function,
               const char* parameter);  // anything with __index__
// The same for offsets of diagonals: what exceeds every matrix is cut to +-2**62.
int64_t to_offset(PyObject* o, const char* function, const char* parameter);
double to_double(PyObject* o, const char* function, const char* parameter);
// An axis counted from the front.
int to_axis(PyObject* o, int ndim, const char* function);
bool to_bool(PyObject* o, const char* function, const char* parameter);
// The argument `copy`: None, True or False themselves.
PyObject* to_copy_mode(PyObject* o, const char* function);
// The name of a function composed in Python, for messages; lives as long as o.
const char* to_name(PyObject* o);
// The items of a sequence, as many as it says it has: some have no end.
Object as_tuple(PyObject* sequence);
// An int or a sequence of ints.
Dims to_dims(PyObject* o, const char* function, const char* parameter);
PyObject* dims_tuple(const Dims& dims);
// axis=None gives nothing; an int or tuple is normalised for the rank.
std::optional<Dims> to_axes(PyObject* o, int ndim, const char* function);
// A list or tuple of arrays.
std::vector<Array> to_arrays(PyObject* o, const char* function, const char* parameter);

// ---- modes
// Strictness in force here and now; looks up a context variable, so only ask when it matters.
bool strict();

// The precision in force here and now, likewise.
Precision precision();
// A RuntimeWarning of precision "high" where it has no effect: in a function, on a device or for
// another reason.
void warn_of_precision(const char* function, const std::string& where);
void warn_of_device(const char* function, DeviceId device);

// Throws unless the function takes the dtype in the mode in force.
void require(Function f, DType dtype);

// Waits for the interpreter's lock. Where the interpreter ends meanwhile, Python unwinds the
// thread, which no frame here could take: it stops here instead.
void take_interpreter(PyThreadState* state) noexcept;

// Before this thread lets go of the interpreter's lock: remembers what can be asked with it only,
// for operations that are recorded without it (streams.cpp).
void note_caller();

// Where this thread holds the interpreter's lock: lets other Python threads run during `work`
// elements' worth of time, if that pays.
class Unlocked {
  public:
    // So many elements, each of which costs so many additions.
    explicit Unlocked(int64_t elements, int64_t cost = 1) {
        if (elements <= kWorth / cost || !PyGILState_Check()) return;
        note_caller();
        region_.emplace();
        if (Region::held_back()) {  // asked from inside: a fork waits for it
            region_.reset();
            return;
        }
        state_ = PyEval_SaveThread();
    }
    ~Unlocked() {
        if (state_) take_interpreter(state_);
    }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

  private:
    static constexpr int64_t kWorth = 1 << 16;
    std::optional<Region> region_;
    PyThreadState* state_ = nullptr;
};

// ---- the profiler, where it is on (profiler.cpp)
// The rows of a table, by whose functions profiled calls find their names.
void register_calls(const PyMethodDef* table, profiler::Category category);

// What a call writes: a new array, its first argument, or a part of that.
enum class Target : uint8_t { New, Whole, Part };

// A call of a function of the library, from its construction to end().
class CallSpan {
  public:
    CallSpan(const char* name, profiler::Category category, PyObject* const* args, int count,
             Target target);
    // The same for a function of a registered table.
    CallSpan(PyCFunction function, PyObject* const* args, int count);
    // Hands the result through, which tells what the call did: computed, recorded, or made a view.
    PyObject* end(PyObject* result);

  private:
    profiler::Span span_;
    profiler::Category category_;
    PyObject* const* args_;
    int count_;
    Target target_;
};

// guarded(body), for a slot of Array.
template <class F>
PyObject* slot_call(const char* name, std::initializer_list<PyObject*> args, Target target,
                    F&& body) {
    if (!profiler::on()) [[likely]]
        return guarded(body);
    return CallSpan(name, profiler::Category::Compute, args.begin(), static_cast<int>(args.size()),
                    target)
        .end(guarded(body));
}

// ---- tables of functions
// One row of a Methods table: checks the number of arguments and carries errors across.
template <auto kFunction, int kArguments>
PyObject* fastcall(PyObject*, PyObject* const* args, Py_ssize_t count) {
    if (count != kArguments) {
        PyErr_Format(PyExc_TypeError, "expected %d positional arguments, got %zd", kArguments,
                     count);
        return nullptr;
    }
    const auto body = [&] { return kFunction(args); };
    if (!profiler::on()) [[likely]]
        return guarded(body);
    const auto self = reinterpret_cast<void (*)()>(fastcall<kFunction, kArguments>);
    return CallSpan(reinterpret_cast<PyCFunction>(self), args, kArguments).end(guarded(body));
}
template <auto kFunction, int kArguments>
constexpr PyMethodDef method(const char* name) {
    return {name,
            reinterpret_cast<PyCFunction>(
                reinterpret_cast<void (*)()>(fastcall<kFunction, kArguments>)),
            METH_FASTCALL, nullptr};
}
inline constexpr PyMethodDef kEnd = {nullptr, nullptr, 0, nullptr};

// The tables, one of each binding file; each ends with kEnd.
extern PyMethodDef elementwise_methods[];
extern PyMethodDef creation_methods[];
extern PyMethodDef arrow_methods[];
extern PyMethodDef interop_methods[];
extern PyMethodDef manipulation_methods[];
extern PyMethodDef indexing_methods[];
extern PyMethodDef statistics_methods[];
extern PyMethodDef sorting_methods[];
extern PyMethodDef linalg_methods[];
extern PyMethodDef random_methods[];
extern PyMethodDef fft_methods[];
extern PyMethodDef profiler_methods[];
extern PyMethodDef graph_methods[];
extern PyMethodDef runtime_methods[];

// ---- slots of Array, defined in the files that their names tell
extern PyType_Slot operator_slots[];                // elementwise.cpp, linalg.cpp's product
PyObject* get_item(PyObject* self, PyObject* key);  // indexing.cpp
int set_item(PyObject* self, PyObject* key, PyObject* value);  // indexing.cpp

}  // namespace asc::python
