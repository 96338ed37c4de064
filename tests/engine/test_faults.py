"""A reduction, a histogram and a transpose: correct, nothing is said of them; with a mistake, it is named at its line.
(Mistakes of the host's code: test_program.py. A scan and a stencil: labs.)"""

from functools import partial
from typing import NamedTuple

import pytest
from alone import text_of, the_engine

AT_NIGHT = partial(pytest.param, marks=pytest.mark.slow)


class Fault(NamedTuple):
    kind: str
    program: str
    old: str
    """Which is there once; and what takes its place."""
    new: str
    at: str = ""
    """Words of the line that is to be named; else it has `new`."""


BARRIER = "__syncthreads();"
BARRIERS = "if (threadIdx.x % 2)\n    __syncthreads(); // here\nelse\n    __syncthreads(); // here\n"
STORE = "if (col < n && row < n) out[row * n + col] = tile[u][v];"
FAULTS = [
    Fault("divergent-barrier", "reduction", BARRIER, BARRIERS, "// here"),
    Fault("divergent-barrier", "transpose", BARRIER, BARRIERS, "// here"),

    Fault("shared-out-of-bounds", "reduction", "part[t + half];", "part[t + half + BLOCK / 2];"),
    Fault("shared-out-of-bounds", "histogram", "if (t < BINS) counts[t] = 0;", "counts[t] = 0;"),

    Fault("shared-race", "reduction", BARRIER, "", "part[t] += part[t + half];"),
    Fault("shared-race", "histogram", "atomicAdd(&counts[in[i]], 1);", "counts[in[i]] += 1;"),
    Fault("shared-race", "transpose", BARRIER, "", "= tile[u][v];"),

    Fault("global-race", "reduction", "out[blockIdx.x] = part[0];", "out[0] = part[0];"),
    Fault("global-race", "histogram", "atomicAdd(&out[t], counts[t]);", "out[t] += counts[t];"),
    Fault("global-race", "transpose", "out[row * n + col] = tile[u][v];", "out[col] = tile[u][v];"),

    Fault("uninitialized-shared", "reduction", "part[t] = i < n ? in[i] : 0;", "if (i < n) part[t] = in[i];",
          "part[t] += part[t + half];"),
    Fault("uninitialized-shared", "histogram", "if (t < BINS) counts[t] = 0;", "", "atomicAdd(&counts[in[i]], 1);"),

    Fault("uninitialized-global", "reduction", "out[blockIdx.x] = part[0];", "out[blockIdx.x] += part[0];"),
    Fault("uninitialized-global", "histogram", "cudaMemset(d_out, 0, out_bytes);", "",
          "atomicAdd(&out[t], counts[t]);"),

    Fault("out-of-bounds", "reduction", "out[blockIdx.x] =", "out[blockIdx.x + n * n] ="),
    Fault("out-of-bounds", "transpose", "out[row * n + col] =", "out[row * n + col + n * n] ="),

    # What has nothing to do with what a program computes.
    Fault("endless", "transpose", BARRIER, f"{BARRIER}\n    for (volatile int j = 0; j < 2;) j = n > 0 ? 0 : 2;",
          "for (volatile int j"),
    Fault("kernel-fault", "transpose", BARRIER, f"{BARRIER}\n    const int none = n - n; volatile int j = n / none;",
          "n / none"),
    Fault("misaligned", "transpose", STORE,
          f"const int2 two = *(const int2 *)(in + 1);\n    if (two.x + two.y == -5) return;\n    {STORE}",
          "const int2 two"),
    Fault("local-out-of-bounds", "transpose", STORE,
          "int own[4] = {0, 1, 2, 3};\n    for (int j = 0; j <= 4; j++) own[j] += 1;\n"
          f"    if (own[n % 4] == -5) return;\n    {STORE}", "own[j] += 1;"),
]  # fmt: skip
BY_DAY = "divergent-barrier", "shared-out-of-bounds", "endless"
"""In the first program. The others are seen by other tests: test_program.py, test_races.py,
watch/test_local_arrays.py and cuda/test_async_copies.py."""


FIRST = {fault.kind: fault for fault in reversed(FAULTS)}


@pytest.mark.parametrize("program", ["histogram", "transpose", AT_NIGHT("reduction")])
def test_the_correct_one_is_silent(program: str) -> None:
    report = the_engine().findings(text_of(program))
    assert (report["status"], report["findings"], report["launches"]) == ("clean", [], 1)
    assert report["program"] | {"seconds": 0} == {"exit_status": 0, "signal": None, "seconds": 0}


@pytest.mark.parametrize(
    "fault", [fault if fault.kind in BY_DAY and fault is FIRST[fault.kind] else AT_NIGHT(fault) for fault in FAULTS],
    ids=lambda fault: f"{fault.program}-{fault.kind}")
def test_each_fault_is_named_at_its_line(fault: Fault) -> None:
    text = text_of(fault.program)
    assert text.count(fault.old) == 1
    text = text.replace(fault.old, fault.new)
    lines = [i for i, line in enumerate(text.splitlines(), 1) if (fault.at or fault.new) in line]
    report = the_engine().findings(text, timeout="1")
    found = [(one["kind"], one["line"]) for one in report["findings"]]
    assert any((fault.kind, line) in found for line in lines), found
    assert report["exit_status"] == 1
