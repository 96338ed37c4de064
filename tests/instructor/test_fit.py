"""The model of the last rung, and fit.py, which moves its constants: both count the same, and the
constants that it prints choose no worse than those that it began with."""

import importlib.util
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, UNSPACED, Tree, finished, missing

BENCH = REPOSITORY / "instructor" / "bench"
TABLE = REPOSITORY / "instructor/solutions/9_every_shape/every_shape.cu"
MOST_SHARE = 256  # FAN * FAN of sharing.cuh: what sums of blocks have counters for
ROWS = re.findall(r"^    (\w+<[^>]*>)\(\{", TABLE.read_text(), re.MULTILINE)
SHAPES = ["34 34 34", "1 1 1", "1025 33 1025", "1 4096 4096", "65536 4096 1", "4096 4096 4096",
          "2 65536 7", "1000 500 700", "33 65536 33", "1025 100 4096"]


@pytest.fixture(autouse=True)
def numpy() -> None:
    if importlib.util.find_spec("numpy") is None:
        missing("numpy", "is not installed for this Python")


def fit(*arguments: Any) -> subprocess.CompletedProcess[str]:
    return finished([sys.executable, "-B", BENCH / "fit.py", *map(str, arguments)])


@pytest.fixture(scope="module")
def modelled(tree: Tree) -> list[str]:
    """Candidates whose times are what the model says."""
    tree.make("program", "BACKEND=cpu", "KERNEL=tests/instructor/ladder/costs.cu", *UNSPACED)
    return finished([tree.path / "build/program"], input="\n".join(SHAPES)).stdout.splitlines()


def test_the_model_and_fit_count_the_same(modelled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """And the choice is the least of all; most kernels get no plan, for what one takes at least is more than
    another takes."""
    monkeypatch.syspath_prepend(str(BENCH))
    module = importlib.import_module("fit")
    shapes = [json.loads(line) for line in modelled]
    assert len(shapes) == len(SHAPES)
    assert max(run[1] for shape in shapes for run in shape["runs"]) == MOST_SHARE
    for shape in shapes:
        number, share, *_ = min(shape["runs"], key=lambda run: run[2])
        assert shape["choice"] == [number, share]
    rim = [float(re.findall(rf"#define {name} +([0-9.]+)", (TABLE.parent / "model.cuh").read_text())
                 [0]) for name in ("RIM_COST", "RIM_COST_OF_K")]
    kernels, _, _, _ = module.read("\n".join(modelled), TABLE.read_text(), tuple(rim))
    assert [kernel.name for kernel in kernels] == ROWS
    for kernel in kernels:
        costs = kernel.costs(kernel.constants)
        assert costs == pytest.approx(kernel.microseconds, rel=1e-6), kernel.name
    assert sum(len(kernel.microseconds) for kernel in kernels) > 10 * len(SHAPES)


def test_a_fit(modelled: list[str], tmp_path: Path) -> None:
    """Times that are off by up to a half from the model's: other kernels are the fastest."""
    source, shapes = random.Random(1), [json.loads(line) for line in modelled]
    for shape in shapes:
        for run in shape["runs"]:
            run[2] *= source.uniform(0.5, 1.5)
    file = tmp_path / "candidates.jsonl"
    file.write_text("".join(json.dumps(shape) + "\n" for shape in shapes))
    done = fit(file, 2)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^    (\w+<[^>]*>)\(\{", done.stdout, re.MULTILINE) == ROWS
    before, after = (float(x) for x in re.findall(r": ([0-9.]+) % slower", done.stderr))
    assert after < before


@pytest.mark.parametrize("text", [None, "{", "{}\n", '{"runs": [[0, 1]]}\n'],
                         ids=["missing", "broken", "empty", "short"])
def test_no_fit(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "candidates.jsonl"
    if text is not None:
        file.write_text(text)
    done = fit(file, 1)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "candidates.jsonl" in done.stderr
