// Graphs for Python: pending ones for graph.py, and the hooks of fusion rules and dumps.
#include <nanobind/nanobind.h>

#include <string>

#include "graph/fusion.h"
#include "graph/rules.h"
#include "graph/tape.h"
#include "python/bind.h"
#include "python/state.h"

namespace nb = nanobind;

namespace asc::python {
namespace {

// ---- graphs as dicts

Object text_of(const std::string& text) {
    return Object::steal(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// A new dict; the values are taken over.
template <size_t n>
Object make_dict(std::pair<const char*, Object> (&&items)[n]) {
    Object dict = Object::steal(PyDict_New());
    for (auto& [key, value] : items) {
        if (PyDict_SetItemString(dict.get(), key, value.get()) < 0) throw PythonError{};
    }
    return dict;
}

template <class Items, class F>
Object make_list(const Items& items, F&& f) {
    Object list = Object::steal(PyList_New(0));
    for (const auto& item : items) {
        Object made = f(item);
        if (PyList_Append(list.get(), made.get()) < 0) throw PythonError{};
    }
    return list;
}

Object number(int64_t n) { return Object::steal(PyLong_FromLongLong(n)); }
Object truth(bool b) { return Object::borrow(b ? Py_True : Py_False); }
Object dtype_name(DType d) { return text_of(name(d)); }
Object shape_of(const Dims& shape) { return Object::steal(dims_tuple(shape)); }
Object numbers(const std::vector<int>& items) {
    return make_list(items, [](int n) { return number(n); });
}

Object operand_dict(const Snapshot::Operand& x) {
    return make_dict({{"node", number(x.node)},
                      {"array", number(x.array)},
                      {"number", text_of(x.number)},
                      {"dtype", dtype_name(x.dtype)},
                      {"shape", shape_of(x.shape)}});
}

Object node_dict(const Snapshot::Node& x) {
    return make_dict({{"op", text_of(x.op)},
                      {"dtype", dtype_name(x.dtype)},
                      {"shape", shape_of(x.shape)},
                      {"parameters", text_of(x.parameters)},
                      {"inputs", make_list(x.operands, operand_dict)},
                      {"line", x.line ? text_of(*x.line) : Object::borrow(Py_None)},
                      {"in_place", truth(x.in_place)},
                      {"held", truth(x.held)},
                      {"dropped", truth(x.dropped)},
                      {"merged", truth(x.merged)}});
}

Object group_dict(const Snapshot::Group& x) {
    const auto memory = [](const Snapshot::Memory& m) {
        return make_dict({{"node", number(m.node)},
                          {"bytes", number(m.bytes)},
                          {"in_place", truth(m.in_place)},
                          {"block", number(static_cast<int64_t>(m.block))}});
    };
    return make_dict({{"name", text_of(x.name)},
                      {"nodes", numbers(x.nodes)},
                      {"written", make_list(x.written, memory)},
                      {"instructions", number(x.instructions)},
                      {"by_rows", truth(x.by_rows)},
                      {"begin", number(x.begin)},
                      {"end", number(x.end)}});
}

// `target`: the storage whose writers are listed.
Object graph_dict(const Snapshot& x, const Storage* target) {
    const auto array = [](const Snapshot::Outside& a) {
        return make_dict({{"dtype", dtype_name(a.dtype)}, {"bytes", number(a.bytes)}});
    };
    std::vector<int> writers;
    for (size_t i = 0; i < x.nodes.size(); ++i) {
        if (target && x.nodes[i].target == target) writers.push_back(static_cast<int>(i));
    }
    return make_dict({{"stream", number(x.stream)},
                      {"nodes", make_list(x.nodes, node_dict)},
                      {"arrays", make_list(x.arrays, array)},
                      {"groups", make_list(x.groups, group_dict)},
                      {"targets", numbers(writers)}});
}

// What is recorded on the tape of an array, or on all tapes for None.
PyObject* pending_graphs(PyObject* const* args) {
    const Storage* target =
        args[0] == Py_None ? nullptr : to_view(args[0], "explain", "x").storage.get();
    if (target) target->require_present("explain");
    std::vector<Snapshot> snapshots;
    const auto add = [&](std::span<Entry> entries) {
        if (!entries.empty()) snapshots.push_back(inspect_entries(entries));
    };
    if (!target) {
        for (Tape* tape : Tape::all()) tape->inspect(add);
    } else if (Pending* writer = target->writer()) {
        static_cast<Tape*>(writer)->inspect(add);
    }
    return make_list(snapshots, [&](const Snapshot& s) { return graph_dict(s, target); }).release();
}

// ---- hooks

// Python's callables: decide(graph), refuse(rule, name, graph, node), dump(graph).
struct Callables {
    PyObject* decide = nullptr;
    PyObject* refuse = nullptr;
    PyObject* dump = nullptr;
} callables;

// Runs f with the interpreter's lock, on whatever thread, and lets no exception out. Ctrl-C is
// asked for again, for who waits.
template <class F>
void in_interpreter(F&& f) {
    const auto guarded_body = [&] {
        nb::error_scope kept;  // an exception may be on its way already
        try {
            f();
        } catch (...) {
            set_python_error();
            if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
                PyErr_Clear();
                PyErr_SetInterrupt();
            } else {
                PyErr_WriteUnraisable(nullptr);
            }
        }
    };
    if (PyThreadState* state = PyGILState_GetThisThreadState()) {
        if (PyGILState_Check()) return guarded_body();
        take_interpreter(state);
        guarded_body();
        PyEval_SaveThread();
        return;
    }
    const PyGILState_STATE state = PyGILState_Ensure();
    guarded_body();
    PyGILState_Release(state);
}

std::vector<int> to_numbers(PyObject* o) {
    std::vector<int> numbers;
    Object items = Object::steal(PySequence_Fast(o, "a sequence is needed"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
        numbers.push_back(static_cast<int>(
            to_int(PySequence_Fast_GET_ITEM(items.get(), i), "fusion_rule", "node")));
    }
    return numbers;
}

// (fusions as (nodes, name, rule), kept nodes, nodes whose shapes were read)
rules::Hooks::Answer to_answer(PyObject* o) {
    rules::Hooks::Answer answer;
    PyObject *fusions = nullptr, *kept = nullptr, *read = nullptr;
    if (!PyArg_ParseTuple(o, "OOO", &fusions, &kept, &read)) throw PythonError{};
    Object items = Object::steal(PySequence_Fast(fusions, "a sequence is needed"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
        PyObject* nodes = nullptr;
        const char *name = nullptr, *rule = nullptr;
        if (!PyArg_ParseTuple(PySequence_Fast_GET_ITEM(items.get(), i), "Oss", &nodes, &name,
                              &rule))
            throw PythonError{};
        answer.decisions.fusions.push_back({to_numbers(nodes), name, rule});
    }
    answer.decisions.kept = to_numbers(kept);
    answer.shapes_read = to_numbers(read);
    return answer;
}

rules::Hooks::Answer decide(const Snapshot& snapshot) {
    rules::Hooks::Answer answer;
    answer.final = false;
    in_interpreter([&] {
        Object graph = graph_dict(snapshot, nullptr);
        Object given = Object::steal(PyObject_CallOneArg(callables.decide, graph.get()));
        answer = to_answer(given.get());
    });
    return answer;
}

void refuse(const rules::Fusion& fusion, const Snapshot& snapshot, int node) {
    in_interpreter([&] {
        Object graph = graph_dict(snapshot, nullptr);
        Object nodes = numbers(fusion.nodes);
        Object::steal(PyObject_CallFunction(callables.refuse, "ssOOi", fusion.rule.c_str(),
                                            fusion.name.c_str(), nodes.get(), graph.get(), node));
    });
}

void dump(const Snapshot& snapshot) {
    in_interpreter([&] {
        Object graph = graph_dict(snapshot, nullptr);
        Object::steal(PyObject_CallOneArg(callables.dump, graph.get()));
    });
}

constexpr rules::Hooks kHooks = {decide, refuse, dump};

PyObject* register_graph_hooks(PyObject* const* args) {
    callables = {Py_NewRef(args[0]), Py_NewRef(args[1]), Py_NewRef(args[2])};
    rules::set_hooks(&kHooks);
    return Py_NewRef(Py_None);
}
PyObject* activate_graph_hooks(PyObject* const* args) {
    rules::activate(PyObject_IsTrue(args[0]) == 1, PyObject_IsTrue(args[1]) == 1);
    return Py_NewRef(Py_None);
}
PyObject* shut_down_graph_hooks(PyObject* const*) {
    nb::gil_scoped_release released;
    rules::shut_down();
    return Py_NewRef(Py_None);
}

// The names that a fusion rule can look for.
PyObject* operation_names(PyObject* const*) {
    std::vector<std::string> names;
    for (const OpInfo& op : kOpInfo) names.emplace_back(op.name);
    for (const FunctionInfo& function : kFunctionInfo) names.emplace_back(function.name());
    return make_list(names, text_of).release();
}

}  // namespace

PyMethodDef graph_methods[] = {
    method<pending_graphs, 1>("pending_graphs"),
    method<register_graph_hooks, 3>("register_graph_hooks"),
    method<activate_graph_hooks, 2>("activate_graph_hooks"),
    method<shut_down_graph_hooks, 0>("shut_down_graph_hooks"),
    method<operation_names, 0>("operation_names"),
    kEnd,
};

}  // namespace asc::python
