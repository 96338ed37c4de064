"""A lab in a folder of its own is graded as SGEMM is: vector addition, with cases and a criterion of its
own, from the blocks of docs/lab.md."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, Tree, clean_environment, slow_but
from forks import python
from grader import options
from grader.build.parts import described
from other_lab import LAB, LINE, OF_SGEMM, PAGE, kernel, tree_with_lab


def block(language: str, file: str = "") -> str:
    """The page's only one, of this file."""
    (found,) = re.findall(rf"{re.escape(file)}.{{0,4}}\n^```{language}\n(.*?)^```", PAGE.read_text(),
                          re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    made = tree_with_lab(tmp_path_factory.mktemp("lab"), programs)
    text = (made.path / LAB / "lab.c").read_text()
    assert '.version = "1",' in text
    made.write(f"{LAB}/lab.c", text.replace('.version = "1",', '.version = "1",\n    .criteria = {"frugal"},'))
    cases = block("toml", "basics.toml").replace("memory = 4\n", "memory = 4\nfrugal = 3\n")
    made.write(f"{LAB}/testcases/public/basics.toml", cases + 'criteria = ["memory", "frugal"]\n')
    made.write(f"{LAB}/criteria/frugal.py", block("python"))
    return made


def grade(tree: Tree, text: str, *words: str) -> tuple[int, str]:
    """The exit status, and all that is printed: nothing of it is SGEMM's."""
    (tree.path / "my.cu").write_text(text)
    ran = python(tree.path, "grader.__main__").run(
        ["-m", "grader", "--lab", LAB, "--submission", "my.cu", "--jobs", "1", "--protection", "none", *words],
        clean_environment())
    printed = ran.stdout + ran.stderr
    assert not OF_SGEMM.search(printed), printed
    return ran.returncode, printed


NO_LAUNCH = "void vectorAdd(int n, const float *a, const float *b, float *c) {}\n"


def record(tree: Tree) -> dict[str, Any]:
    return json.loads((tree.path / "results/my/result.json").read_text())


@pytest.mark.parametrize(("line", "score", "kind", "said"), slow_but([
    (LINE, 10, None, "accesses  public/basics  kept"),
    (LINE.replace("+", "-"), 0, "wrong-result", "the one element of c is wrong"),
    (LINE.replace("if (i < n) ", ""), 0, "out-of-bounds", "load from a beyond its end"),
    (LINE.replace("c[i] = ", "c[i + 1 - 1 + (i == n - 1)] = "), 0, "out-of-bounds", "store to c beyond its end"),
    ("if (i < n) { c[i] = a[i]; c[i] += b[i]; }", 7, None, "4000 accesses; 3000 are enough; in odd"),
    (NO_LAUNCH, 0, "no-launch", "vectorAdd launches no kernel"),
], lambda number, _: number in (0, 3, 5)))
def test_a_kernel(tree: Tree, line: str, score: float, kind: str | None, said: str) -> None:
    text = kernel(line) if line != NO_LAUNCH else kernel()[:kernel().index("void vectorAdd")] + NO_LAUNCH
    status, printed = grade(tree, text)
    assert said in " ".join(printed.split()) or said in printed, printed
    assert f"score: {score} of 10" in printed and status == (score < 10)
    found = record(tree)
    assert (found["lab"], found["version"]) == ({"name": "vector_add", "title": "c = a + b"}, "1")
    first = found["tests"][0]
    assert first["params"] == {"n": 1} and (first["finding"] or {}).get("kind") == kind


def test_what_a_case_may_say(tree: Tree) -> None:
    lines = {"n = 0": "n = 0: it must be a whole number from 1 to 268435456", "rows = 3\nn = 3": "unknown key 'rows'",
             'tolerance = "exact"\nn = 3': "tolerance = 'exact': it must be",
             'criteria = ["tiled"]\nn = 3': "it must be a list of some of memory, frugal"}
    cases = (f'[[case]]\nname = "x{number}"\nfill = "random"\npoints = 1\n{line}\n'
             for number, line in enumerate(lines))
    (tree.path / "bad.toml").write_text('title = "T"\n' + "".join(cases))
    status, printed = grade(tree, kernel(), "--suite", "bad.toml")
    assert status == 2 and [said for said in lines.values() if said not in printed] == [], printed


def test_what_cannot_be_graded(tree: Tree) -> None:
    """A criterion without a file; a folder that is no lab."""
    own = tree.path / LAB / "criteria/frugal.py"
    text = own.read_text()
    own.unlink()
    status, printed = grade(tree, kernel())
    own.write_text(text)
    assert status == 2 and "the criterion frugal has no file" in printed
    for folder, why in (("labs/none", "labs/none/lab.c is missing"), ("..", "it is outside of the project"),
                        ("/", "it is outside of the project")):
        status, printed = grade(tree, kernel(), "--lab", folder)
        assert status == 2 and f"there is no lab here: {why}" in printed


def test_the_secrets_of_all_labs_are_kept_from_a_submission() -> None:
    found = {path.relative_to(REPOSITORY).as_posix() for path in options.secret_folders(described())}
    assert found >= {"instructor", "testcases/hidden", "labs/scan/instructor", "labs/scan/testcases/hidden",
                     "labs/stencil/instructor"}
    assert found == {path.relative_to(REPOSITORY).as_posix() for path in options.secret_folders(described("labs/scan"))}
