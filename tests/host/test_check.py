"""`make check` names the mistake: each faulty kernel declares what has to be found in it (corpus.py).

Every one is built with gcc and with clang, at -O1 and at -O2, and read as text, too; in `make test` one of
each kind of finding that no other test finds by day, with gcc at -O1, and one at -O2. Every right kernel, of
which nothing may be found, is built with both at -O1, as users do, and with one of the two at -O2; in `make
test` two of the solutions, without the last ones, which take as long as ten, and three of the others, a tenth
of which test_solutions.py runs. A failure here means that a student is sent to the wrong line, or reads that
right code is wrong.
"""

import json
import re
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from checked import TILED, Builder, Checked, run_check
from conftest import REPOSITORY, UNSPACED, Tree, finished, in_terminal, need_nvcc, sample, screen
from corpus import FAULTS, KINDS, SOLUTIONS, Fault, faulty
from corpus import RIGHT as OTHER_STYLES

RIGHT = [*SOLUTIONS, *OTHER_STYLES]
# Blocks and lanes that are ordered by flags, fences and counters.
ORDERED = [path for path in OTHER_STYLES if path.stem in ("last_block_volatile", "turns_by_flag", "warp_counts_itself")]
GOOD = [path for path in RIGHT if path.parent.name in ("solutions", "styles")
        and path.stem not in ("1_naive", "naive")]  # those have no tiles


@pytest.fixture
def build(request: pytest.FixtureRequest, checker: Builder, whole_checker: Builder) -> Builder:
    """At night as users have it."""
    return whole_checker if request.node.get_closest_marker("slow") else checker


@pytest.fixture(scope="module")
def tiled(checker: Builder) -> Path:
    return checker("gcc -O1", TILED)


# ---- faulty kernels ------------------------------------------------------------------------------


def index(words: str) -> list[int]:
    """x y [z], as JSON has it."""
    numbers = [int(word) for word in words.split()]
    return numbers + [0] * (3 - len(numbers))


def differences(fault: Fault, finding: Any) -> list[str]:
    """Where a finding is not what was declared; for all of it at once, because one wrong line alone
    says little."""
    other = finding["other"] or {}
    text = " ".join([finding["what"], *finding["detail"]])
    hint = (finding["cause"] or finding)["hint"] or ""  # which is printed: assert_text_agrees()
    wrong = []

    def expect(what: str, expected: object, got: object) -> None:
        if expected != got:
            wrong.append(f"{what}: {expected} expected, got {got}")

    expect("kind", fault.finds, finding["kind"])
    expect("file", str(fault.path), finding["file"])
    if finding["line"] not in (fault.here or [0]):
        wrong.append(f"line: {fault.here} expected, got {finding['line']}")
    for key in ("variable", "element"):
        if getattr(fault, key):
            expect(key, getattr(fault, key), finding[key])
    if fault.other:
        expect("other file", str(fault.path), other.get("file"))
        if other.get("line") not in fault.other:
            wrong.append(f"other line: {fault.other} expected, got {other.get('line')}")
    for name in ("thread", "block", "other_thread", "other_block"):
        party = other if name.startswith("other") else finding
        if getattr(fault, name):
            expect(name, index(getattr(fault, name)), party.get(name.removeprefix("other_")))
    if fault.phase:
        expect("phase", fault.phase, f"{finding['phase']} of {finding['phases']}")
    if fault.shape:
        expect("shape", fault.shape, f"{finding['m']} {finding['k']} {finding['n']}")
    if finding["kind"].endswith("race") and (finding["access"], other.get("access")) == ("write", "read"):
        wrong.append("the read of a race comes first")
    wrong += [f"does not say {words!r}" for words in fault.says if words not in text]
    wrong += [f"does not hint at {words!r}" for words in fault.hint if words not in hint]
    wrong += [f"says {words!r}" for words in fault.not_ if words in text + hint]
    return wrong


# Findings that name the mistake themselves, with its line.
SAYS_AS_MUCH = {
    "barrier-missing": ["shared-race"],
    "barrier-in-if": ["divergent-barrier", "early-return"],
    "sum-start": ["uninitialized-global"],
    "store-in-loop": ["uninitialized-global"],
    "tile-size": ["shared-out-of-bounds"],
    "loop-count": ["shared-out-of-bounds"],
    "grid-too-small": ["bad-launch"],
}


def is_explained(fault: Fault, finding: Any) -> bool:
    """By the cause that its head declares, the line of which need not be the finding's."""
    if finding["cause"]:
        return finding["cause"]["name"] == fault.cause
    return finding["kind"] in SAYS_AS_MUCH.get(fault.cause, [])


def lines_of_text(run: Checked) -> list[str]:
    """But for the last one, if it names the command to try next: the walkthrough, where something
    of the kernel has run."""
    lines = [line for line in run.stdout.splitlines() if line]
    if not lines[-1].startswith("next: "):
        return lines
    assert re.fullmatch(r"next: make (grade|walk)( KERNEL=.*)?", lines[-1]), run.stdout
    return lines[:-1]


def assert_text_agrees(run: Checked, finding: Any) -> None:
    """The text says what the JSON says: one headline, and lines below it that are indented. Where
    the mistake behind the finding is known, that is the headline, and the finding below it."""
    assert run.status == 1, run
    headline, *rest = lines_of_text(run)
    said = finding["cause"] or finding
    place = f"{said['file']}:{said['line']}: " if said["line"] else f"{said['file']}: "
    assert headline == place + said["what"], run.stdout
    assert " ".join(finding["what"].split()) in " ".join(run.stdout.split())
    assert rest and all(line.startswith("    ") for line in rest), run.stdout
    shape = f"m={finding['m']} k={finding['k']} n={finding['n']}"
    assert any(line.endswith(shape) for line in rest), run.stdout
    hint = "\n".join(rest).partition("    hint: ")[2]
    assert hint.split() == (said["hint"] or "").split()
    assert all(len(line) <= 80 or line.count(" ") == 4 for line in rest), run.stdout
    assert "\33" not in run.stdout


MANY_BLOCKS = "18_grid_hard_coded"  # a million threads on every shape, and not all that C needs: half a minute
LIGHT = [fault for fault in FAULTS if fault.path.stem != MANY_BLOCKS]
OTHERS = {  # by day, found by other tests
    "global-race",  # watch/test_launches.py
    "foreign-local", "tampering",  # watch/test_first_finding.py
    "local-out-of-bounds",  # watch/test_local_arrays.py
    "uninitialized-global", "misaligned", "kernel-fault", "shared-out-of-bounds",  # cuda/test_async_copies.py
    "device-pointer-on-host", "bad-launch", "failed-call", "unwritten",  # watch/test_launches.py
    "host-pointer-on-device", "freed-memory", "leak", "host-fault",  # engine/test_program.py
    "shared-race", "divergent-barrier",  # explain/test_words.py
    "endless",  # engine/test_faults.py
}
BY_DAY = [fault for fault in {fault.finds: fault for fault in reversed(LIGHT)}.values() if fault.finds not in OTHERS]
UNSTEADY = {"endless"}  # what is stopped anywhere in its loop


def stem(value: Fault | Path) -> str:
    return (value.path if isinstance(value, Fault) else value).stem


def by_day(values: list, chosen: list, setup: str) -> list:
    """Those that are not among the chosen are marked slow."""
    return [pytest.param(value, setup, marks=[] if value in chosen else [pytest.mark.slow]) for value in values]


@pytest.mark.parametrize(("fault", "setup"), [
    *by_day(FAULTS, BY_DAY, "gcc -O1"),
    *by_day(FAULTS, [], "clang -O1"),
    *by_day(FAULTS, FAULTS[103:104], "gcc -O2"),
    *by_day(FAULTS, [], "clang -O2"),
], ids=lambda value: value.path.stem if isinstance(value, Fault) else value)  # fmt: skip
def test_fault(build: Builder, fault: Fault, setup: str) -> None:
    program = build(setup, fault.path, with_locals=bool(fault.cause))
    run = run_check(program, "--json", "--seed", 1, *fault.arguments)
    assert run.status == 1, f"{fault.path} is faulty, but\n{run}"
    assert not differences(fault, run.finding), run.json
    if setup == "gcc -O1" and fault.cause:
        assert is_explained(fault, run.finding), run.json
    if setup == "gcc -O1" and fault.finds not in UNSTEADY:
        assert_text_agrees(run_check(program, "--seed", 1, *fault.arguments), run.finding)


def test_every_kind_of_finding_has_a_faulty_kernel() -> None:
    assert {fault.finds for fault in FAULTS} == KINDS.keys() - {
        "time-limit", "host-function", "unseen"}  # slow_blocks.cu, test_host_calls.py, test_audit.py


@pytest.mark.parametrize("kernel", sample([*FAULTS, *RIGHT], every=80, start=40), ids=stem)
def test_compiles_with_nvcc(kernel: Fault | Path, tmp_path: Path) -> None:
    """The mistakes are CUDA that a student can write."""
    path = kernel if isinstance(kernel, Path) else tmp_path / "kernel.cu"
    if isinstance(kernel, Fault):
        path.write_text(kernel.text)
    command = [need_nvcc(), "-arch=sm_90", "-x", "cu", "-cubin", path, "-o", tmp_path / "kernel"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


# ---- correct kernels -------------------------------------------------------------------------------


@pytest.mark.parametrize(("kernel", "setup"), [
    *by_day(RIGHT, [SOLUTIONS[1], SOLUTIONS[3], *ORDERED], "gcc -O1"),
    *by_day(RIGHT, [], "clang -O1"),
    *by_day(RIGHT[::2], RIGHT[2:3], "gcc -O2"),
    *by_day(RIGHT[1::2], [], "clang -O2"),
], ids=lambda value: value.stem if isinstance(value, Path) else value)  # fmt: skip
def test_nothing_is_found_in_a_right_kernel(build: Builder, kernel: Path, setup: str) -> None:
    program = build(setup, kernel.relative_to(REPOSITORY))
    run = run_check(program, "--json", "--seed", 1)
    assert run.status == 0, f"{kernel.name} is right, but\n{run_check(program, '--seed', 1).stdout}"
    shapes = [(shape["m"], shape["k"], shape["n"]) for shape in run.json["checked"]]
    assert shapes[0] == (34, 34, 34) and len(shapes) >= 5
    if kernel in GOOD and setup == "gcc -O1":
        assert run.json["remark"] is None


@pytest.mark.parametrize("shape", ["1 1 1", "120 201 250", "100 3 70"])
@pytest.mark.parametrize("kernel", sample(["split_k", "2_tiled", "prefetch", "last_block_reduces"], every=2))
def test_nothing_is_found_on_other_shapes(build: Builder, kernel: str, shape: str) -> None:
    """Larger ones run on all cores, where blocks come in another order each time."""
    path = next(path for path in RIGHT if path.stem == kernel)
    run = run_check(build("gcc -O1", path.relative_to(REPOSITORY)), *shape.split())
    assert run.status == 0, run.stdout


SLOW = """#include "support.h"
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    float sum = 0;
    for (int i = 0; i < k; i++) sum += A[threadIdx.y * k + i] * B[i * n + threadIdx.x];
    C[threadIdx.y * n + threadIdx.x] = sum;
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<1, dim3(n, m)>>>(m, n, k, A, B, C);
}
"""


def test_checks_that_take_too_long_are_no_endless_kernel(tree: Tree) -> None:
    tree.write("slow.cu", SLOW)
    tree.make("sgemm-check", "BACKEND=cpu", "KERNEL=slow.cu")
    run = run_check(tree.path / "sgemm-check", "--timeout", "1", "16", "200000", "16")
    assert run.status == 1 and "the checks take too long for this kernel, and were stopped here" in run.stdout, run
    assert "without them it ends, and the result is correct" in run.stdout and "does not end" not in run.stdout


# ---- exit statuses -------------------------------------------------------------------------------


def test_bad_usage(tiled: Path) -> None:
    """As ./sgemm; test_support.c has all kinds of it."""
    run = run_check(tiled, "abc")
    assert (run.status, run.stdout) == (2, "")
    assert run.stderr.startswith("sgemm-check: ") and run.stderr.count("\n") == 1
    run = run_check(tiled, "--json", "abc")
    assert run.status == 2 and run.json["checked"] == [] and run.json["message"] in run.stderr
    run = run_check(tiled, "--help")
    assert run.status == 0 and max(map(len, run.stdout.splitlines())) <= 80, run.stdout


def test_options_take_effect(tiled: Path) -> None:
    run = run_check(tiled, "--json", "35", "70", "20", "--fill", "exact", "--timeout", "5")
    (shape,) = run.json["checked"]
    assert (run.status, shape["m"], shape["k"], shape["n"]) == (0, 35, 70, 20) and 0 < shape["seconds"] < 5


def test_the_seed_is_told(checker: Builder) -> None:
    """A finding can be seen again: what to run is in it."""
    program = checker("gcc -O1", faulty("18_no_rule"))
    first = run_check(program, "--json").finding
    sizes = first["m"], first["k"], first["n"]
    again = run_check(program, "--json", "--seed", first["seed"], *sizes).finding
    assert (again["seed"], again["detail"]) == (first["seed"], first["detail"])
    assert first["fill"] == "random"


def test_out_of_memory_is_the_machines_fault(tiled: Path) -> None:
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))  # noqa: E731
    run = run_check(tiled, 12000, "--json", preexec_fn=limit)
    assert run.status == 3 and "memory" in run.stderr, run
    assert run.stderr.startswith("sgemm-check: ") and run.stderr.count("\n") == 1


# ---- make check ----------------------------------------------------------------------------------


def test_make_check_of_an_untouched_kernel(tree: Tree) -> None:
    """What everybody starts from."""
    made = tree.make("check", "BACKEND=cpu", check=False)
    assert made.returncode != 0
    assert any(line.startswith("kernel.cu") and "basicSgemm" in line for line in made.stdout.splitlines()[-4:]), made
    run = run_check(tree.path / "sgemm-check", "--json")
    assert (run.status, run.finding["kind"], run.finding["file"]) == (1, "no-launch", "kernel.cu")


def test_make_check_needs_no_gpu(tree: Tree) -> None:
    """Whatever ./sgemm is built for: an exported BACKEND=cuda, say."""
    made = tree.make("check", f"KERNEL={TILED}", "BACKEND=cuda", "NVCC=")
    assert "no mistakes found" in made.stdout


@pytest.mark.parametrize("folder", sample(["engine", "a place"], every=2))
def test_make_check_of_another_file(tree: Tree, tmp_path: Path, folder: str) -> None:
    """Anywhere, with a space in its path, in a folder named as one of the project's; and the finding
    names it as it was named."""
    kernel = tmp_path / folder / "my kernel.cu"
    kernel.parent.mkdir()
    shutil.copy(REPOSITORY / "instructor/faulty/01_first_barrier.cu", kernel)
    made = tree.make("check", f"KERNEL={kernel}", "BACKEND=cpu", check=False)
    assert made.returncode != 0
    assert re.search(rf"^{re.escape(str(kernel))}:\d+: race", made.stdout, re.MULTILINE), made
    # Where another program has started it in a folder, PWD is that program's.
    run = finished([tree.path / "sgemm-check"], tree.path, {"PWD": str(tmp_path)})
    assert run.stdout.startswith(f"{kernel}:") and "a __syncthreads() is missing after line" in run.stdout, run


def test_make_check_through_a_symbolic_link(tree: Tree, tmp_path: Path) -> None:
    """As home directories often are: the file is the one in this folder, whose text is looked at."""
    link = tmp_path / "link"
    link.symlink_to(tree.path)
    tree.write("own.cu", (tree.path / "instructor/faulty/01_first_barrier.cu").read_text())
    made = finished(["make", "sgemm-check", f"KERNEL={link}/own.cu", "BACKEND=cpu", *UNSPACED], link,
                    tree.kept_cxx([]) | {"PWD": str(link)})
    run = finished(["./sgemm-check"], link, {"PWD": str(link)})
    assert run.stdout.startswith("own.cu:"), (made, run)
    assert "a __syncthreads() is missing after line" in run.stdout, run


def test_a_header_of_the_students(tree: Tree, tmp_path: Path) -> None:
    """A mistake in it is named, though the folder is named nearly as one of the project's."""
    folder = tmp_path / "my-engine/host/a"
    folder.mkdir(parents=True)
    shutil.copy(REPOSITORY / "instructor/faulty/01_first_barrier.cu", folder / "b.h")
    (folder / "kernel.cu").write_text('#include "b.h"\n')
    made = tree.make("check", f"KERNEL={folder}/kernel.cu", "BACKEND=cpu", check=False)
    assert re.search(r"stores at\s+\S*/b\.h:\d+", made.stdout), made.stdout + made.stderr


PROTOTYPE = "(int m, int n, int k, const float *A, const float *B, float *C)"


@pytest.mark.parametrize(("text", "message"), [
    (None, "no such file"),
    ("void basicSgemm(int m {\n", "error"),
    (f"void basicSgemm{PROTOTYPE} {{}}\n", "mysgemm"),
], ids=["no such file", "a missing bracket", "no mysgemm"])  # fmt: skip
def test_what_cannot_be_built(tree: Tree, text: str | None, message: str) -> None:
    """Distinguished from a finding by the status, and no program of an earlier kernel stays behind."""
    tree.write("sgemm-check", "of an earlier kernel")
    if text is not None:
        tree.write(f"not built {message}.cu", text)
    made = tree.make("check", f"KERNEL=not built {message}.cu", "BACKEND=cpu", check=False)
    assert made.returncode == 2 and message in made.stderr, made
    assert "hint:" not in made.stdout
    assert not (tree.path / "sgemm-check").exists()


# ---- which file ----------------------------------------------------------------------------------


def test_which_file_it_was_built_from(tree: Tree) -> None:
    """./sgemm-check is not built again by `make`: it must not answer for the file before."""
    kernel, program = tree.write("dated.cu", (REPOSITORY / TILED).read_text()), tree.path / "sgemm-check"
    tree.make("sgemm-check", "KERNEL=dated.cu", *UNSPACED)
    clean = run_check(program, 34).stdout
    assert "    built from dated.cu\n" in clean and clean.endswith("\nnext: make grade KERNEL=dated.cu\n")
    assert run_check(program, 34, "--json").json["source"] == {"file": "dated.cu", "changed": False}
    kernel.write_text(kernel.read_text() + "\n")
    tree.make("KERNEL=dated.cu", *UNSPACED)
    assert run_check(program, 34).stdout.endswith(
        "\nwarning: dated.cu has changed since ./sgemm-check was built\nnext: make check KERNEL=dated.cu\n")
    assert run_check(program, 34, "--json").json["source"]["changed"] is True
    kernel.unlink()
    assert "warning" not in run_check(program, 34).stdout
    assert run_check(program, 34, "--json").json["source"]["changed"] is None


# ---- what a kernel prints ------------------------------------------------------------------------

PRINTED = ["half a line", "two\nlines\n"]
PRINTS = f"""#include <assert.h>
#include <stdio.h>
__global__ void mysgemm{PROTOTYPE} {{
    const char *const texts[] = {json.dumps(PRINTED).replace("[", "{").replace("]", "}")};
    printf("%s", m > 2 ? "" : texts[m - 1]);
    assert(m < 0);
}}
void basicSgemm{PROTOTYPE} {{
    mysgemm<<<1, 1>>>(m, n, k, A, B, C);
}}
"""


def test_a_finding_begins_on_a_line_of_its_own(checker: Builder) -> None:
    """It used to end as a copy that failed: the machine's fault."""
    folder = checker("gcc -O1", TILED).parent
    (folder / "prints.cu").write_text(PRINTS)
    program = checker("gcc -O1", "prints.cu")
    for m, text in enumerate(PRINTED, 1):
        printed, shape = text.removesuffix("\n").split("\n"), [str(m), "1", "1"]
        for lines in (run_check(program, *shape).stdout.splitlines(), screen(in_terminal(program, *shape, cwd=folder))):
            assert lines[: len(printed)] == printed
            assert lines[len(printed)] == "prints.cu:6: the assertion m < 0 failed"
        finding = run_check(program, "--json", *shape).finding
        assert (finding["kind"], finding["line"]) == ("kernel-fault", 6)


# ---- the second call -----------------------------------------------------------------------------

KEPT = f"""__device__ int calls;
__global__ void mysgemm{PROTOTYPE} {{{{
    const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
    {{store}}
}}}}
__global__ void count() {{{{ calls++; }}}}
void basicSgemm{PROTOTYPE} {{{{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
    count<<<1, 1>>>();
}}}}
"""


@pytest.mark.parametrize(("store", "kind", "hint"), [
    ("if (!calls) C[row * n + col] = sum;", "unwritten", "__device__ and static variables"),
    ("C[row * n + col] = sum + calls;", "wrong-result", "__device__ and static variables"),
    ("C[(calls * m + row) * n + col] = sum;", "out-of-bounds", ""),
])  # fmt: skip
def test_a_mistake_that_only_the_second_call_shows(checker: Builder, store: str, kind: str, hint: str) -> None:
    """It is said that the first was correct, and no cause is looked for in runs of one call."""
    folder = checker("gcc -O1", TILED).parent
    (folder / "kept.cu").write_text(KEPT.format(store=store))
    program = checker("gcc -O1", "kept.cu")
    printed = run_check(program).stdout
    assert "\n    this is the second call of basicSgemm in one process; the first was correct\n" in printed
    assert "next: make walk" not in printed
    finding = run_check(program, "--json").finding
    assert (finding["kind"], finding["call"], finding["cause"]) == (kind, 2, None)
    assert hint in finding["hint"]
    assert run_check(program, 34).status == 0


# ---- vectors -------------------------------------------------------------------------------------

LAST_FOUR = f"""__global__ void mysgemm{PROTOTYPE} {{
    const int last = k / 4 * 4, first = blockIdx.x == 40 ? last : last - 4;
    const float4 a = *(const float4 *)&A[first];
    C[blockIdx.x] = a.x + a.y;
}}
void basicSgemm{PROTOTYPE} {{ mysgemm<<<n, 1>>>(m, n, k, A, B, C); }}
"""


def test_a_vector_that_begins_in_an_array_and_ends_beyond_it(checker: Builder) -> None:
    """In a block that is one of many, so that hardly ever all of its accesses are looked at for another reason."""
    (checker("gcc -O1", TILED).parent / "vector.cu").write_text(LAST_FOUR)
    finding = run_check(checker("gcc -O1", "vector.cu"), "--json", 1, 34, 80).finding
    assert (finding["kind"], finding["element"]) == ("out-of-bounds", "A[0][32]")


# ---- on a terminal -------------------------------------------------------------------------------


def test_color(checker: Builder) -> None:
    """For people only, and not for those who asked for none: https://no-color.org"""
    program = checker("gcc -O1", "instructor/faulty/01_first_barrier.cu")
    printed = run_check(program, 34).stdout
    assert "\33[" in in_terminal(program, "34") and "\33" not in printed
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\33[" not in in_terminal(program, "34", **env)
    first, second, *_ = screen(in_terminal(program, "34", columns=50))
    assert second.startswith("    ") and f"{first} {second.strip()}".endswith(printed.splitlines()[0])
