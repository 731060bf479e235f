// Weak stand-ins for binding files that are not there yet, so that the module links meanwhile.
#include "python/bind.h"
#include "python/linalg.h"
namespace asc::python {
static PyObject* missing(PyObject*, PyObject* const*, Py_ssize_t) { PyErr_SetString(PyExc_RuntimeError, "not built yet"); return nullptr; }
#define M(n) {n, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(missing)), METH_FASTCALL, nullptr}
[[gnu::weak]] PyMethodDef statistics_methods[] = {M("sum"), M("prod"), M("max"), M("min"), M("mean"), M("var"), M("std"), M("any"), M("all"), M("count_nonzero"), M("cumulative_sum"), M("cumulative_prod"), kEnd};
[[gnu::weak]] PyMethodDef sorting_methods[] = {M("sort"), M("argsort"), M("searchsorted"), M("unique"), M("isin"), M("argmax"), M("argmin"), M("nonzero"), kEnd};
[[gnu::weak]] PyMethodDef linalg_methods[] = {M("matmul"), M("vecdot"), M("cholesky"), M("det"), M("eig"), M("eigh"), M("eigvals"), M("eigvalsh"), M("inv"), M("qr"), M("slogdet"), M("solve"), M("svd"), M("svdvals"), kEnd};
[[gnu::weak]] Array matmul(const Array& x1, const Array&) { return x1; }
}  // namespace asc::python
