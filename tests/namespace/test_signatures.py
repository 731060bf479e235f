"""Every function is there, with the signature of the standard, and documented."""

import doctest
import inspect
import sys
import typing

import pytest

import ascend_array_api as xp

MAIN = """
abs(x, /)
acos(x, /)
acosh(x, /)
add(x1, x2, /)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
argsort(x, /, *, axis=-1, descending=False, stable=True)
asarray(obj, /, *, dtype=None, device=None, copy=None)
asin(x, /)
asinh(x, /)
astype(x, dtype, /, *, copy=True, device=None)
atan(x, /)
atan2(x1, x2, /)
atanh(x, /)
bitwise_and(x1, x2, /)
bitwise_invert(x, /)
bitwise_left_shift(x1, x2, /)
bitwise_or(x1, x2, /)
bitwise_right_shift(x1, x2, /)
bitwise_xor(x1, x2, /)
broadcast_arrays(*arrays)
broadcast_shapes(*shapes)
broadcast_to(x, /, shape)
can_cast(from_, to, /)
ceil(x, /)
clip(x, /, min=None, max=None)
concat(arrays, /, *, axis=0)
conj(x, /)
copysign(x1, x2, /)
cos(x, /)
cosh(x, /)
count_nonzero(x, /, *, axis=None, keepdims=False)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
divide(x1, x2, /)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
equal(x1, x2, /)
exp(x, /)
expand_dims(x, /, axis)
expm1(x, /)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
finfo(type, /)
flip(x, /, *, axis=None)
floor(x, /)
floor_divide(x1, x2, /)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
greater(x1, x2, /)
greater_equal(x1, x2, /)
hypot(x1, x2, /)
iinfo(type, /)
imag(x, /)
isdtype(dtype, kind)
isfinite(x, /)
isin(x1, x2, /, *, invert=False)
isinf(x, /)
isnan(x, /)
less(x1, x2, /)
less_equal(x1, x2, /)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
log(x, /)
log10(x, /)
log1p(x, /)
log2(x, /)
logaddexp(x1, x2, /)
logical_and(x1, x2, /)
logical_not(x, /)
logical_or(x1, x2, /)
logical_xor(x1, x2, /)
matmul(x1, x2, /)
matrix_transpose(x, /)
max(x, /, *, axis=None, keepdims=False)
maximum(x1, x2, /)
mean(x, /, *, axis=None, keepdims=False)
meshgrid(*arrays, indexing='xy')
min(x, /, *, axis=None, keepdims=False)
minimum(x1, x2, /)
moveaxis(x, source, destination, /)
multiply(x1, x2, /)
negative(x, /)
nextafter(x1, x2, /)
nonzero(x, /)
not_equal(x1, x2, /)
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
permute_dims(x, /, axes)
positive(x, /)
pow(x1, x2, /)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
real(x, /)
reciprocal(x, /)
remainder(x1, x2, /)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
result_type(*arrays_and_dtypes)
roll(x, /, shift, *, axis=None)
round(x, /)
searchsorted(x1, x2, /, *, side='left', sorter=None)
sign(x, /)
signbit(x, /)
sin(x, /)
sinh(x, /)
sort(x, /, *, axis=-1, descending=False, stable=True)
sqrt(x, /)
square(x, /)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
subtract(x1, x2, /)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
tan(x, /)
tanh(x, /)
tensordot(x1, x2, /, *, axes=2)
tile(x, repetitions, /)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
trunc(x, /)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
unstack(x, /, *, axis=0)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
vecdot(x1, x2, /, *, axis=-1)
where(condition, x1, x2, /)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
"""

LINALG = """
cholesky(x, /, *, upper=False)
cross(x1, x2, /, *, axis=-1)
det(x, /)
diagonal(x, /, *, offset=0)
eig(x, /)
eigh(x, /)
eigvals(x, /)
eigvalsh(x, /)
inv(x, /)
matmul(x1, x2, /)
matrix_norm(x, /, *, keepdims=False, ord='fro')
matrix_power(x, n, /)
matrix_rank(x, /, *, rtol=None)
matrix_transpose(x, /)
outer(x1, x2, /)
pinv(x, /, *, rtol=None)
qr(x, /, *, mode='reduced')
slogdet(x, /)
solve(x1, x2, /)
svd(x, /, *, full_matrices=True)
svdvals(x, /)
tensordot(x1, x2, /, *, axes=2)
trace(x, /, *, offset=0, dtype=None)
vecdot(x1, x2, /, *, axis=-1)
vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
"""

FFT = """
fft(x, /, *, n=None, axis=-1, norm='backward')
fftfreq(n, /, *, d=1.0, dtype=None, device=None)
fftn(x, /, *, s=None, axes=None, norm='backward')
fftshift(x, /, *, axes=None)
hfft(x, /, *, n=None, axis=-1, norm='backward')
ifft(x, /, *, n=None, axis=-1, norm='backward')
ifftn(x, /, *, s=None, axes=None, norm='backward')
ifftshift(x, /, *, axes=None)
ihfft(x, /, *, n=None, axis=-1, norm='backward')
irfft(x, /, *, n=None, axis=-1, norm='backward')
irfftn(x, /, *, s=None, axes=None, norm='backward')
rfft(x, /, *, n=None, axis=-1, norm='backward')
rfftfreq(n, /, *, d=1.0, dtype=None, device=None)
rfftn(x, /, *, s=None, axes=None, norm='backward')
"""

INFO = """
capabilities()
default_device()
default_dtypes(*, device=None)
devices()
dtypes(*, device=None, kind=None)
"""

METHODS = """
__array__(self, dtype=None, copy=None)
__array_namespace__(self, /, *, api_version=None)
__dlpack__(self, /, *, stream=None, max_version=None, dl_device=None, copy=None)
__dlpack_device__(self, /)
to_device(self, device, /, *, stream=None)
"""

OWNERS = {
    "main": (xp, MAIN),
    "linalg": (xp.linalg, LINALG),
    "fft": (xp.fft, FFT),
    "info": (type(xp.__array_namespace_info__()), INFO),
    "array": (type(xp.asarray(0)), METHODS),
}
CASES = [
    pytest.param(owner, line, id=f"{name}.{line.partition('(')[0]}")
    for name, (owner, table) in OWNERS.items()
    for line in table.split("\n")
    if line
]


def bare(function):
    """Return the signature as text, without annotations."""
    signature = inspect.signature(function)
    parameters = [
        p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


@pytest.mark.parametrize(("owner", "line"), CASES)
def test_signature(owner, line):
    name, paren, rest = line.partition("(")
    expected = paren + rest
    function = getattr(owner, name)
    found = bare(function)
    if owner is OWNERS["info"][0]:
        found = found.replace("(self, /)", "()").replace("(self, ", "(").replace("(self)", "()")
    assert found == expected


PUBLIC = [
    pytest.param(getattr(module, name), id=f"{module.__name__}.{name}")
    for module in (xp, xp.linalg, xp.fft, xp.runtime, xp.testing)
    for name in dir(module)
    if inspect.isfunction(getattr(module, name))
]


@pytest.mark.parametrize("function", PUBLIC)
def test_docstring(function):
    doc = inspect.getdoc(function)
    assert doc is not None
    summary = doc.splitlines()[0]
    assert summary.endswith((".", "?"))
    assert len(summary) < 95
    for name in inspect.signature(function).parameters:
        assert f"{name} : " in doc, name
    signature = inspect.signature(function)
    if signature.return_annotation not in (None, "None"):
        assert "\nReturns\n-------\n" in doc
    if signature.parameters and function.__module__ != "ascend_array_api.testing":
        assert "\nParameters\n----------\n" in doc
        missing = errors_to_expect(signature.parameters) - set(errors_told(doc))
        assert not missing


def errors_told(doc):
    """Return the exceptions of the section Raises."""
    section = doc.partition("\nRaises\n------\n")[2].partition("\n\n")[0]
    lines = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return [name for line in lines for name in line.split(", ")]


def errors_to_expect(parameters):
    """Return the exceptions that follow from the parameters of a function."""
    expected = set()
    if "dtype" in parameters or any("Array" in str(p.annotation) for p in parameters.values()):
        expected.add("TypeError")
    if {"axis", "axes", "device", "shape"} & set(parameters):
        expected.add("ValueError")
    return expected


@pytest.mark.parametrize("function", PUBLIC)
def test_annotations_can_be_evaluated(function):
    hints = typing.get_type_hints(function)
    assert "return" in hints
    assert set(inspect.signature(function).parameters) <= set(hints) | {"self"}


MODULES = [xp, xp.linalg, xp.fft, xp.runtime, xp.testing, xp.dtypes]


def doctests():
    finder = doctest.DocTestFinder(recurse=False)
    members = [p.values[0] for p in PUBLIC] + [xp.runtime.Device, xp.runtime.MemoryPool]
    for member in [*MODULES, *members]:
        for test in finder.find(member, getattr(member, "__qualname__", None), globs={}):
            if test.examples:
                yield pytest.param(test, id=test.name)


@pytest.mark.parametrize("test", list(doctests()))
def test_examples_in_docstrings(test):
    failures, tried = doctest.DocTestRunner().run(test)
    assert tried
    assert not failures


def test_functions_say_where_they_are_public():
    assert xp.sort.__module__ == xp.add.__module__ == "ascend_array_api"
    assert xp.linalg.matmul is xp.matmul
    assert xp.linalg.qr.__module__ == "ascend_array_api.linalg"
    assert sys.modules[xp.sort.__module__].sort is xp.sort
