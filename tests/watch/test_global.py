"""What the shadow cells of global memory know of an access to several words (engine/watch/shadow/global.c)."""

from __future__ import annotations

from pathlib import Path

import pytest
from checked import Builder, run_check
from conftest import REPOSITORY


@pytest.fixture(scope="session")
def checker(lean_checker: Builder) -> Builder:
    return lean_checker


STORE = "        C[row * n + col] = sum;\n"
BLOCKS = [f"        if (threadIdx.x + threadIdx.y == 0 && blockIdx.x == {x} && blockIdx.y == 0)"
          f" spot{to};\n" for x, to in ((0, " = make_float4(1, 2, 3, 4)"), (1, ".WORD = 5"))]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One block stores a float4 into a variable, and another one word of it: which, says m."""
    text = (REPOSITORY / "instructor/solutions/1_naive.cu").read_text()
    words = "".join(BLOCKS[1].replace("if (", f"if (m == {40 + number} && ").replace("WORD", word)
                    for number, word in enumerate("xyzw"))
    assert text.count(STORE) == text.count("__global__") == 1
    path = tmp_path_factory.mktemp("global") / "kernel.cu"
    path.write_text(text.replace(STORE, STORE + BLOCKS[0] + words)
                    .replace("__global__", "__device__ float4 spot;\n\n__global__"))
    return path


@pytest.mark.parametrize(("m", "word"), [(40, "byte 0 of"), (42, "byte 8 of"), (43, "byte 12 of")])
def test_each_word_of_a_variable_is_marked(checker: Builder, kernel: Path, m: int, word: str) -> None:
    finding = run_check(checker("gcc -O1", kernel), "--json", "--seed", 1, m, 7, 34).finding
    assert (finding["kind"], finding["block"]) == ("global-race", [1, 0, 0])
    assert f"writes spot ({word}" in " ".join(finding["detail"])
