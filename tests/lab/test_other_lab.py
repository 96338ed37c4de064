"""LAB=: a lab in a folder of its own, made from the blocks of docs/lab.md; what a lab need not say."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY, UNSPACED, Tree, finished, need, repository_files, sample
from other_lab import LAB, PAGE, check, files, kernel, run, tree_with_lab

from instructor.faulty.mistakes import seeded


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    return tree_with_lab(tmp_path_factory.mktemp("another lab"), programs)


def test_the_program(tree: Tree) -> None:
    assert "./vector_add is built from labs/vector_add/kernel.cu" in \
        tree.make(f"LAB={LAB}", "BACKEND=cpu").stdout
    done = run(tree, "vector_add", "1000")
    assert done.returncode == 0 and "TEST PASSED 1000\n" in done.stdout
    assert done.stdout.endswith(f"next: make check LAB={LAB}\n")
    assert "./vector_add [options] N " in run(tree, "vector_add", "--help").stdout
    assert run(tree, "vector_add", "0").returncode == 2
    record = json.loads(run(tree, "vector_add", "33", "--json").stdout)
    assert record["n"] == 33 and record["status"] == "passed" and record["compared"] == 33


def test_a_correct_kernel_under_watch(tree: Tree) -> None:
    done = check(tree, kernel())
    assert done.returncode == 0 and "no mistakes found" in done.stdout and "c is correct" in done.stdout
    assert "make grade" not in done.stdout  # which knows SGEMM alone
    assert [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("n=")][:3] == \
        ["n=100", "n=1", "n=33"]


FAULTY = {
    "guard": ("c[i] = a[i] + b[i];", 3, "load from a beyond its end", "reads a[100]"),
    "wrong": ("if (i < n) c[i] = a[i] - b[i];", 0, "all 100 elements of c are wrong", "c[0] is"),
    "unwritten": ("if (i < n - 5) c[i] = a[i] + b[i];", 0, "5 of the 100 elements of c are never written",
                  "elements 95 to 99"),
    "input": ("if (i < n) { ((float *)a)[i] += b[i]; c[i] = a[i]; }", 3, "a is written, although it is an input",
              "writes a["),
    "race": ("if (i < n) c[i] = a[i] + b[i], c[i / 2] = c[i];", 3, "", "c["),
}


@pytest.mark.parametrize("name", sample([*FAULTY], every=5, start=3))
def test_a_mistake_is_named_at_its_line(tree: Tree, name: str) -> None:
    code, line, what, detail = FAULTY[name]
    done = check(tree, kernel(code))
    first = done.stdout.splitlines()[0]
    assert done.returncode == 1 and what in first and detail in done.stdout
    assert first.startswith(f"other.cu:{line}: " if line else "other.cu: ")
    assert done.stdout.endswith(f"next: make walk LAB={LAB} KERNEL=other.cu\n")


def test_what_the_plain_program_says_of_a_wrong_result(tree: Tree) -> None:
    text = kernel("if (i < n - 3) c[i] = i == 7 || i == 12 ? 0 : a[i] + b[i];")
    (tree.path / "other.cu").write_text(text)
    tree.make(f"LAB={LAB}", "KERNEL=other.cu", "vector_add", "BACKEND=cpu", *UNSPACED)
    done = run(tree, "vector_add", "100")
    assert done.returncode == 1 and "TEST FAILED" in done.stdout
    assert "3 of the 100 elements of c were never written.\nThey are all of elements 97 to 99.\n" in done.stdout
    assert "2 of the 100 elements of c are wrong.\nThey lie within elements 7 to 12.\n" in done.stdout
    assert "\nc, one character for 2 elements:\n" in done.stdout
    assert "1 of the 13 elements of c is wrong.\nIt is element 7.\n" in run(tree, "vector_add", "13").stdout


# Arrays that are no matrices of floats: doubles and bytes in one dimension, ints in three. Element (i, j, l) of cube is
# x[i] where flags[i]; the last thread stores `far` elements too far.
TYPED = {
    "lab.c": """#include "engine/lab.h"
const struct lab lab = {
    .name = "typed",
    .title = "cube = x where flags", .wrapper = "choose", .version = "1",
    .params = {{"n", "int", 1, 1 << 20, 30, "elements"}},
    .arrays = {{"x", ELEMENT_F64, "double", ROLE_INPUT, 1, {{0, 0}}, -1, {0, -1, -1}},
               {"flags", ELEMENT_U8, "unsigned char", ROLE_INPUT, 1, {{0, 0}}, -1, {0, -1, -1}},
               {"cube", ELEMENT_I32, "int", ROLE_OUTPUT, 3, {{0, 0}, {-1, 3}, {-1, 5}}, -1, {-1, -1, -1}}},
    .arguments = {"n", "x", "flags", "cube"}, .command_line = {"n"}, .usage = {{"N", "of N elements"}},
    .fills = {{"counting", "0.25, 1.25, ..."}},
};
static void fill(const struct lab_case *which, void *const arrays[LAB_ARRAYS]) {
    for (int64_t i = 0; i < which->shape.of[0]; i++) {
        ((double *)arrays[0])[i] = (double)i + 0.25;
        ((unsigned char *)arrays[1])[i] = i % 3 != 0;
    }
}
static void reference(const struct lab_case *which, const void *const inputs[LAB_ARRAYS],
                      void *const right[LAB_ARRAYS]) {
    const double *x = inputs[0];
    const unsigned char *flags = inputs[1];
    for (int64_t i = 0; i < 15 * which->shape.of[0]; i++) ((int *)right[2])[i] = flags[i / 15] ? (int)x[i / 15] : -1;
}
const struct lab_truth lab_truth = {.fill = fill, .reference = reference};
""",
    "call.cu": """#include "engine/lab.h"
void choose(int n, const double *x, const unsigned char *flags, int *cube);
LAB_CALL(choose, max((int)p[0], 1), (const double *)a[0], (const unsigned char *)a[1], (int *)a[2])
""",
    "kernel.cu": """__global__ void choose(int n, const double *x, const unsigned char *flags, int *cube, int far) {
    __shared__ double x_s[15];
    __shared__ int i_s[8];
    __shared__ unsigned char c_s[8];
    int i = blockIdx.x * 15 + threadIdx.x;
    if (threadIdx.x == 2) x_s[2] = x[blockIdx.x];
    if (threadIdx.x == 2) i_s[1] = 7;
    if (threadIdx.x < 4) c_s[threadIdx.x] = 5;
    __syncthreads();
    cube[i + (i == 15 * n - 1 ? far : 0)] = flags[blockIdx.x] ? (int)x_s[2] + i_s[1] - 2 - c_s[3] : -1;
}
void choose(int n, const double *x, const unsigned char *flags, int *cube) {
    choose<<<n, 15>>>(n, x, flags, cube, n == 3 ? 1 : n == 4 ? 7 : 0);
}
""",
}


def test_arrays_of_other_types_and_dimensions(tree: Tree) -> None:
    """They are counted, shown and named by their type and extents. The call needs no #include for CUDA's max()."""
    for name, text in TYPED.items():
        tree.write(f"labs/typed/{name}", text)
    tree.make("LAB=labs/typed", "typed-check", "BACKEND=cpu", *UNSPACED)
    done = run(tree, "typed-check", "2", "--counts", "--json")
    report = json.loads(done.stdout)
    counted = report["counts"][0]["global"]
    assert done.returncode == 0
    assert [(counted[array][way]["elements"], counted[array][way]["bytes"])
            for array, way in (("x", "loads"), ("flags", "loads"), ("cube", "stores"))] == [(2, 16), (30, 2), (30, 120)]
    text = finished(["./typed-check", "2", "--phases"], tree.path).stdout
    words = " ".join(text.split("phase 0 of")[1].split())
    for name, cells in ("i_s", "- 7 - - - - - -"), ("c_s", "5 5 5 5 - - - -"), ("x_s (15 elements)", "- - 0.25 ... -"):
        assert name in words and cells in words, text
    for n, element in ((3, "cube[3][0][0]"), (4, "cube[4][1][1]")):
        assert f"thread (14,0) writes {element}, but cube has {n} x 3 x 5 elements" in \
            run(tree, "typed-check", str(n)).stdout


def test_the_other_lab_again(tree: Tree) -> None:
    """What was built for one is linked again for the other."""
    tree.make(f"LAB={LAB}", "BACKEND=cpu")
    tree.make("sgemm", "BACKEND=cpu", f"KERNEL={REPOSITORY / 'instructor/solutions/1_naive.cu'}", *UNSPACED)
    assert "TEST PASSED 400\n" in finished([tree.path / "sgemm", "20"]).stdout
    tree.make(f"LAB={LAB}", "BACKEND=cpu")
    assert run(tree, "vector_add", "20").returncode == 0


def test_a_lab_of_the_environment_is_another_thing() -> None:
    done = finished([need("make"), "-n", "sgemm"], env={"LAB": "chemistry", "BACKEND": "cpu"})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("text", "asked"), [
    ('{\n    .name = "two_words",\n    .title = "...",\n}', ["two_words", "cpu"]),
    ('{"two words"}', ["-", "{folder}/lab.c:"]),
], ids=["named", "refused"])  # fmt: skip
def test_its_program_is_called_as_its_description_says(tmp_path: Path, text: str, asked: list[str]) -> None:
    """make reads what engine/asked.sh prints."""
    (tmp_path / "lab.c").write_text(f"const struct lab lab = {text};\n")
    printed = finished(["sh", "engine/asked.sh", "all", ""], env={"LAB": str(tmp_path), "BACKEND": "cpu"}).stdout
    assert printed.split()[:2] == [word.format(folder=tmp_path) for word in asked]


def test_git_ignores_the_programs_of_any_lab_and_no_file(tmp_path: Path) -> None:
    programs = ["sgemm", "scan-check", "two_words", "two_words-check"]
    subprocess.run([need("git"), "init", "-q", tmp_path], check=True)
    shutil.copy(REPOSITORY / ".gitignore", tmp_path)
    names = [*map(str, repository_files()), "other.cu", "notes.md", "new/file", ".mine/file", *programs]
    (tmp_path / ".git/info/exclude").write_text("/.mine/\n")  # one's own: no line of ours takes it back
    ignored = finished(["git", "check-ignore", "--no-index", "--stdin"], tmp_path, input="\n".join(names))
    assert ignored.stdout.split() == [".mine/file", *programs]


PROBE = """
#include "engine/form/description.c"
#include <stdio.h>
const struct lab lab = {.params = {PARAMS}, .arrays = {{"in", .dimensions = DIMENSIONS}}};
static double operations(const struct shape *s) { return (double)s->of[0] * s->of[1] * s->of[2]; }
static bool allows(const struct shape *s, char message[MESSAGE_SIZE]) {
    const int64_t n = s->of[0], width = s->of[1];
    (void)message, (void)n, (void)width;
    return ALLOWS;
}
const struct lab_truth lab_truth = {.allows = allows, .operations = OPERATIONS};
int main(void) {
    struct shape shape;
    for (int i = 0; truth_shape(PURPOSE, i, 16, &shape); i++) printf("%d,%d ", (int)shape.of[0], (int)shape.of[1]);
}
"""


def usual_shapes(folder: Path, params: int = 2, dimensions: int = 1, purpose: str = "SHAPE_CHECK",
                 operations: str = "NULL", allows: str = "true") -> list[tuple[int, int]]:
    """The first two parameters of each shape of this purpose."""
    text = PROBE.replace("PARAMS", ", ".join(['{"p", "int", 1, 99999, 1, ""}'] * params))
    for name, value in {"DIMENSIONS": str(dimensions), "PURPOSE": purpose, "OPERATIONS": operations,
                        "ALLOWS": allows}.items():
        text = text.replace(name, value)
    source, program = folder / "probe.c", folder / "probe"
    source.write_text(text)
    alone = ["-ffunction-sections", "-Wl,--gc-sections"]  # what the other functions call is not here
    subprocess.run([need("cc"), f"-I{REPOSITORY}", *alone, source, "-o", program, "-lm"], check=True)
    return [(int(n), int(m)) for n, m in (pair.split(",") for pair in finished([program]).stdout.split())]


@pytest.mark.parametrize(("params", "dimensions", "operations", "last"), [
    (1, 1, "NULL", 70000), (2, 1, "NULL", 70000), (3, 1, "NULL", 70000), (2, 2, "NULL", 31), (3, 1, "operations", 31),
])  # fmt: skip
def test_the_usual_shapes_have_several_blocks(tmp_path: Path, params: int, dimensions: int, operations: str,
                                              last: int) -> None:
    """More elements than a block has threads, unless there are two dimensions, or it would take too long. One has
    whole blocks in all directions."""
    sizes = [100, 1, 33, 64, 31, 1025, 5000, 70000]
    shapes = usual_shapes(tmp_path, params, dimensions, operations=operations)
    assert [n for n, _ in shapes] == sizes[:sizes.index(last) + 1]
    assert [n for n, width in shapes if n == width] == ([64] if params > 1 else [])


@pytest.mark.parametrize(("allows", "first"), [
    ("width % 2", (100, 103)), ("n % 2", (101, 103)), ("n == width", (103, 103)), ("n >= width", (103, 103)),
    ("n > 1 && (n & (n - 1)) == 0", (128, 103)), ("n % 32 == 0 && width % 32 == 0", (128, 128)),
])  # fmt: skip
def test_usual_shapes_are_those_that_the_lab_allows(tmp_path: Path, allows: str, first: tuple[int, int]) -> None:
    """A size that it refuses becomes a larger one, and none is given up, unless that were by far too large."""
    shapes = usual_shapes(tmp_path, allows=allows)
    assert shapes[0] == first and len(shapes) == (7 if "n - 1" in allows else 8)
    assert all(eval(allows.replace("&&", "and"), {"n": n, "width": width}) for n, width in shapes)  # noqa: S307


def test_sizes_that_tell_parameters_apart_stay_prime(tmp_path: Path) -> None:
    prime = {"purpose": "SHAPE_TELL", "allows": "width % 4 == 1"}
    shapes = usual_shapes(tmp_path, **prime)
    assert [width % 4 for _, width in shapes] == [1, 1, 1]
    assert all(width % divisor for _, width in shapes for divisor in range(2, width))
    assert usual_shapes(tmp_path, purpose="SHAPE_TELL", allows="n % 32 == 0") == []


def test_a_lab_that_allows_no_usual_shape_asks_for_sizes(tree: Tree) -> None:
    """Nothing is run that it refuses."""
    for name, text in files().items():
        text = text.replace('"vector_add"', '"large"').replace(".fill = fill,", ".fill = fill, .allows = allows,")
        tree.write(f"labs/large/{Path(name).name}", text.replace("const struct lab_truth", f"""
static bool allows(const struct shape *s, char *message) {{ return message && s->of[0] > 200000; }}
const struct lab_truth"""))
    tree.make("LAB=labs/large", "large-check", "BACKEND=cpu", *UNSPACED)
    done = run(tree, "large-check")
    assert done.returncode == 2 and "this lab allows none of the usual sizes: give some" in done.stderr
    assert run(tree, "large-check", "200001").returncode == 0


def test_an_input_that_is_an_output_too_is_judged_by_what_it_was(tree: Tree) -> None:
    """The wrapper adds a and b to what is in c, and leaves a. Of two outputs the one is named that is wrong."""
    edits = {'"vector_add"': '"adds_to"', "ROLE_OUTPUT": "ROLE_IN_OUT", "array < 2": "array < 3",
             '"a", ELEMENT_F32, "float", ROLE_INPUT': '"a", ELEMENT_F32, "float", ROLE_IN_OUT',
             "const float *a,": "float *a,", "(const float *)a[0]": "(float *)a[0]",
             "(float *)right[2])[i] = a": "(float *)right[0])[i] = a[i], "
             "((float *)right[2])[i] = ((const float *)inputs[2])[i] + (a",
             "b[i];\n}\n\nconst struct lab_truth": "b[i]);\n}\n\nconst struct lab_truth",
             "c[i] = a[i] + b[i]": "c[i] = c[i] + (a[i] + b[i])"}
    for name, text in files().items():
        for old, new in edits.items():
            text = text.replace(old, new)
        tree.write(f"labs/adds_to/{Path(name).name}", text)
    tree.make("LAB=labs/adds_to", "adds_to", "adds_to-check", "BACKEND=cpu", *UNSPACED)
    for program in ("adds_to", "adds_to-check"):
        done = run(tree, program, "1000")
        assert done.returncode == 0, done.stdout
    correct = (tree.path / "labs/adds_to/kernel.cu").read_text()
    tree.write("labs/adds_to/kernel.cu", correct.replace("= c[i] + ", "= 9 + "))
    tree.make("LAB=labs/adds_to", "adds_to", "adds_to-check", "BACKEND=cpu", *UNSPACED)
    for program, words in (("adds_to", "All 1000 elements of c"), ("adds_to-check", "all 1000 elements of c")):
        done = run(tree, program, "1000")
        assert done.returncode == 1 and words in done.stdout, done.stdout
    assert "the first: c[0] is" in done.stdout


def test_the_mistake_that_the_page_shows(tmp_path: Path) -> None:
    """It is an edit of the page's solution, at the line that it names; its file's name is the page's."""
    block = re.search(r"^`labs/vector_add/(instructor/faulty/mistakes.toml)`.*?```toml\n(.*?)^```", PAGE.read_text(),
                      re.MULTILINE | re.DOTALL)
    assert block
    for name, text in (block.groups(), ("instructor/solutions/1_add.cu", kernel())):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    (made,) = seeded(tmp_path / "instructor/faulty")
    assert made.text == kernel("c[i] = a[i] + b[i];") and made.lines == [3]
    assert (made.found, made.loses) == (["out-of-bounds"], "memory or correct")


def test_no_lab() -> None:
    for given, said in (("labs/none", "there is no lab here: labs/none/lab.c is missing"),
                        ("a b", "must have no blanks")):
        done = finished([need("make"), f"LAB={given}"])
        assert done.returncode == 2 and said in done.stderr
