"""Products of matrices: large, small and thin, integers, with a chain behind them, convolutions.

Targets: at most 1.05 times NumPy's time (its BLAS runs on all cores), and far below it where
fusion or packing does what NumPy cannot: chains behind products, integers, convolutions.
"""

import sys

from harness import Case, main

SETUP = """
rng = np.random.default_rng(0)
def make(*shape, dtype="{dtype}"):
    values = rng.integers(-50, 50, shape) if "int" in dtype else rng.standard_normal(shape)
    return xp.asarray(values.astype(dtype))
"""
# A convolution of images with 3 x 3 filters: nine products over shifted views.
CONVOLUTION = """
def convolve(image, weights):
    n, h, w, _ = image.shape
    result = xp.zeros((n, h - 2, w - 2, weights.shape[-1]), dtype=image.dtype)
    for i in range(3):
        for j in range(3):
            result += image[:, i : i + h - 2, j : j + w - 2, :] @ weights[i, j]
    return result
"""


def cases(dtype: str) -> list[Case]:
    """Return the products of one floating-point dtype; integers are int32."""

    def case(name: str, target: float | None, statement: str, **arrays: str) -> Case:
        made = "".join(f"{key} = {value}\n" for key, value in arrays.items())
        return Case(name, SETUP.format(dtype=dtype) + CONVOLUTION + made, statement, target)

    def product(name: str, target: float | None, a: str, b: str) -> Case:
        return case(name, target, "a @ b", a=a, b=b)

    def images(name: str, n: int, side: int, channels: int) -> Case:
        return case(
            f"3x3 convolution {name}",
            1.0,
            "convolve(image, weights)",
            image=f"make({n}, {side + 2}, {side + 2}, {channels})",
            weights=f"make(3, 3, {channels}, {channels})",
        )

    return [
        product("square 1024", 1.05, "make(1024, 1024)", "make(1024, 1024)"),
        product("tall", 1.05, "make(100000, 64)", "make(64, 64)"),
        product("a.T @ b", 1.05, "make(1024, 1024).T", "make(1024, 1024)"),
        product("a @ b.T", 1.05, "make(1024, 1024)", "make(1024, 1024).T"),
        product("batch of 64 x 64", 1.05, "make(500, 64, 64)", "make(500, 64, 64)"),
        product("batch of 4 x 4", 1.05, "make(10000, 4, 4)", "make(10000, 4, 4)"),
        product("batch of 8 x 8", 1.05, "make(5000, 8, 8)", "make(5000, 8, 8)"),
        product("batch of 3 x 3 by vectors", 1.05, "make(10000, 3, 3)", "make(10000, 3, 1)"),
        product("one 8 x 8", 1.05, "make(8, 8)", "make(8, 8)"),
        product("one 64 x 64", 1.05, "make(64, 64)", "make(64, 64)"),
        product("row @ matrix 256", 1.05, "make(256)", "make(256, 256)"),
        product("row @ matrix 512", 1.05, "make(512)", "make(512, 512)"),
        product("row @ matrix 2048", 1.05, "make(2048)", "make(2048, 2048)"),
        product("matrix @ column 256", 1.05, "make(256, 256)", "make(256)"),
        product("matrix @ column 512", 1.05, "make(512, 512)", "make(512)"),
        product("matrix @ column 2048", 1.05, "make(2048, 2048)", "make(2048)"),
        product("matrix.T @ column 512", 1.05, "make(512, 512).T", "make(512)"),
        product("4 rows @ matrix 1024", 1.05, "make(4, 1024)", "make(1024, 1024)"),
        product("matrix 1024 @ 4 columns", 1.05, "make(1024, 1024)", "make(1024, 4)"),
        product("outer", 1.05, "make(1000, 1)", "make(1, 1000)"),
        case("vecdot of 3", 1.05, "xp.vecdot(a, b)", a="make(100000, 3)", b="make(100000, 3)"),
        case("vecdot of 16", 1.05, "xp.vecdot(a, b)", a="make(20000, 16)", b="make(20000, 16)"),
        case("vecdot of 1000", 1.05, "xp.vecdot(a, b)", a="make(1000, 1000)", b="make(1000, 1000)"),
        case("dot", 1.05, "a @ b", a="make(10000)", b="make(10000)"),
        product("int32 256", 0.5, "make(256, 256, dtype='int32')", "make(256, 256, dtype='int32')"),
        product("int64 256", 0.5, "make(256, 256, dtype='int64')", "make(256, 256, dtype='int64')"),
        product("int8 256", 0.5, "make(256, 256, dtype='int8')", "make(256, 256, dtype='int8')"),
        product(
            "float16 256", 0.5, "make(256, 256, dtype='float16')", "make(256, 256, dtype='float16')"
        ),
        case("exp(a @ b), k 8", 0.5, "xp.exp(a @ b)", a="make(4096, 8) / 8", b="make(8, 4096) / 8"),
        case(
            "exp(a @ b), k 64",
            0.8,
            "xp.exp(a @ b)",
            a="make(4096, 64) / 8",
            b="make(64, 4096) / 8",
        ),
        case(
            "dense layer",
            1.0,
            "xp.maximum(a @ b + c, 0)",
            a="make(4096, 256)",
            b="make(256, 256)",
            c="make(256)",
        ),
        images("56 x 56 x 64", 4, 56, 64),
        images("28 x 28 x 128", 4, 28, 128),
        images("14 x 14 x 256", 4, 14, 256),
        images("7 x 7 x 512", 4, 7, 512),
    ]


if __name__ == "__main__":
    sys.exit(main("Products of matrices", {"dtype": "float32"}, cases))
