"""SHAPES of `make bench` and `make bench-counts`: "m k n ..." -> [(m, k, n), ...]."""

import re

Shape = tuple[int, int, int]
"""m, k, n."""

MOST_ELEMENTS = 2**31 - 1  # kernels count the elements of a matrix in int


def parse(text: str) -> list[Shape]:
    """Empty for an empty text. Raises ValueError, with one line for the user."""
    words = text.split()
    if any(not re.fullmatch(r"0*[1-9][0-9]{0,9}", word) for word in words):
        raise ValueError("SHAPES takes whole numbers from 1, three a shape: m k n")
    if len(words) % 3 != 0:
        raise ValueError(f"SHAPES holds {len(words)} numbers; it takes three a shape, m k n")
    numbers = [int(word) for word in words]
    shapes = list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))
    for shape in shapes:
        m, k, n = shape
        if max(m * k, k * n, m * n) > MOST_ELEMENTS:
            raise ValueError(f"SHAPES: {words_of(shape)}: a matrix of more than {MOST_ELEMENTS} "
                             "elements, which kernels cannot count in int")
    return shapes


def words_of(shape: Shape) -> str:
    """1000 x 500 x 700."""
    return " x ".join(map(str, shape))
