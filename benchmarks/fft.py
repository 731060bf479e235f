"""Fourier transforms: long ones, planes, batches of short ones, lengths with large factors.

Targets: at most NumPy's time for each.
"""

import sys

from harness import Case, main

COMPLEX = """
rng = np.random.default_rng(0)
x = xp.asarray((rng.random({shape}) + 1j * rng.random({shape})).astype("{dtype}"))
"""
REAL = """
rng = np.random.default_rng(0)
x = xp.asarray(rng.random({shape}).astype("{dtype}"))
"""


def cases() -> list[Case]:
    """Return the transforms."""

    def case(function: str, shape: tuple[int, ...], dtype: str, axis: int = -1) -> Case:
        setup = REAL if function == "rfft" else COMPLEX
        several = function == "fftn"
        name = f"{function} {'x'.join(map(str, shape))} {dtype}{' axis 0' if axis == 0 else ''}"
        return Case(
            name,
            setup.format(shape=shape, dtype=dtype),
            f"xp.fft.{function}(x)" if several else f"xp.fft.{function}(x, axis={axis})",
            1.0,
        )

    return [
        case("fft", (2**20,), "complex128"),
        case("fft", (2**20,), "complex64"),
        case("fft", (10**6,), "complex128"),
        case("fft", (1_000_003,), "complex128"),
        case("rfft", (2**20,), "float64"),
        case("rfft", (2**20,), "float32"),
        case("fftn", (1024, 1024), "complex128"),
        case("fftn", (1024, 1024), "complex64"),
        case("fftn", (128, 128, 128), "complex64"),
        case("rfft", (1000, 1024), "float32"),
        case("irfft", (1000, 513), "complex64"),
        case("fft", (1024, 1000), "complex64", axis=0),
        case("fft", (100_000, 8), "complex128"),
        case("rfft", (20_000, 63), "float64"),
        case("fft", (10_000, 97), "complex128"),
        case("fft", (4096,), "complex128"),
        case("fft", (64,), "complex128"),
    ]


if __name__ == "__main__":
    sys.exit(main("Fourier transforms", {}, cases))
