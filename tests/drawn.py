"""Inputs drawn at random, for tests of what takes anything: the same ones in each run."""

import random
from collections.abc import Iterator

ODD = [*"\0\t\n ,;\"':#[/\\.-=0aAéßİﬁ٣王🙂\x1b\x85\x9b\xad\u2028\u202e\ufeff\uffff\U0010ffff", "\r\n", "e\u0301"]


def draws(count: int = 100) -> Iterator[random.Random]:
    """One for each example."""
    return map(random.Random, range(count))


def text(draw: random.Random, most: int, *words: str) -> str:
    """Of up to so many characters, many of which programs have tripped over; and these words."""
    return "".join(draw.choice([*ODD, *words, chr(draw.randrange(0xD800))]) for _ in range(draw.randint(0, most)))


def binary(draw: random.Random, most: int, *words: bytes) -> bytes:
    """Likewise of bytes, in half of the examples of these words alone."""
    any_byte = [] if words and draw.random() < 0.5 else [draw.randbytes(1) for _ in range(draw.randint(0, most))]
    return b"".join(draw.choices([*words, *any_byte, b""], k=draw.randint(0, most)))
