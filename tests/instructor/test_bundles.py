"""The bundles for Gradescope, Autolab and Classroom 50: what is in them, and how they grade in
directories laid out as those systems do it."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from grader.build.parts import trusted_parts

import classroom50
from conftest import REPOSITORY, Tree, clean_environment, finished, locked, need, sample, script, strict_json
from forks import python

SOLUTION = REPOSITORY / "instructor/solutions/2_tiled.cu"
STARTER = REPOSITORY / "kernel.cu"
HIDDEN = "testcases/hidden"
UNFINISHED = shutil.ignore_patterns("new-*")  # what another worker is building beside the parts


def run(
    *command: str | Path, cwd: Path, status: int | None = 0, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = finished(command, cwd, {"PYTHONDONTWRITEBYTECODE": "1"} | (env or {}), stderr=subprocess.STDOUT)
    if status is not None:
        assert done.returncode == status, done.stdout
    return done


def pack(tree: Path, platform: str, out: Path, status: int = 0, lab: str = "lab") -> str:
    """What is printed."""
    module = "instructor.release.pack"
    done = python(tree, module).run(["-m", module, "--lab", lab, platform, str(out)], clean_environment())
    assert done.returncode == status, done
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def bundles(tree: Tree) -> Path:
    """With all of them, made once for all workers."""
    made = tree.programs / "bundles"
    with locked(tree.programs / "bundles.lock"):
        if not made.exists():
            for platform in ("gradescope", "autolab", "classroom50"):
                pack(tree.path, platform, tree.programs / "bundles.new")
            (tree.programs / "bundles.new").rename(made)
    return made


def programs_in(folder: Path, **bodies: str) -> dict[str, str]:
    """A PATH on which these come first. Nothing changes the machine."""
    for name, body in ({"sudo": "exit 1", "apt-get": "exit 1", "sysctl": "exit 1"} | bodies).items():
        script(folder / name, body)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


NO_BWRAP = "echo 'No permissions to create' >&2; exit 1"


@pytest.fixture(scope="module")
def built_parts(grader_cache: Path) -> Path:
    """The grader's own parts. A bundle's grader takes them only where it would make the very same
    of the sources that are in the bundle."""
    trusted_parts()
    return grader_cache


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A directory that every user may enter, as a sandbox with another uid has to."""
    path = Path(tempfile.mkdtemp(prefix="sgemm bundle ", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


# ---- what is in them -----------------------------------------------------------------------------


def test_the_zip_has_scripts_in_its_root_and_the_hidden_cases_private(bundles: Path) -> None:
    with zipfile.ZipFile(bundles / "gradescope.zip") as archive:
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
        scripts = {name for name in modes if "/" not in name}
        first = {archive.read(name).split(b"\n")[0] for name in scripts}
    assert scripts == {"setup.sh", "run_autograder"} and modes["run_autograder"] == 0o755
    assert first == {b"#!/usr/bin/env bash"}
    hidden = [mode for name, mode in modes.items() if name.startswith(f"project/{HIDDEN}/")]
    assert hidden and all(mode & 0o077 == 0 for mode in hidden)
    assert not any("__pycache__" in name for name in modes)


@pytest.mark.parametrize(("folder", "files", "archive", "hidden"), [
    (".", {"gradescope.zip", "autolab", "classroom50"}, "gradescope.zip", True),
    ("autolab", {"autograde.tar", "autograde-Makefile"}, "autolab/autograde.tar", True),
    ("classroom50", {"autograder.py", "project.tar"}, "classroom50/project.tar", False),  # it becomes a web page
])
def test_each_bundle_has_what_grades_and_nothing_else(bundles: Path, tmp_path: Path, folder: str, files: set[str],
                                                      archive: str, hidden: bool) -> None:
    assert {path.name for path in (bundles / folder).iterdir()} == files
    shutil.unpack_archive(bundles / archive, tmp_path)
    (project,) = tmp_path.glob("**/project")
    names = {path.name for path in project.iterdir()}
    assert {"Makefile", "engine", "grader", "kernel.cu", "lab"} <= names
    assert not names & {"instructor", "labs", "tests", "docs", ".git", ".github", "build", "results", ".venv"}
    assert {path.name for path in (project / "testcases").iterdir()} == {"public", *(["hidden"] if hidden else [])}
    assert (tmp_path / "sandbox.sh").exists() == (folder == "classroom50")


def test_the_same_files_give_the_same_bytes(fresh_tree: Tree, tmp_path: Path) -> None:
    """Without git, then with it, and with other dates and rights."""
    made = []
    for turn in ("plain", "git"):
        for path in fresh_tree.path.rglob("*.c"):
            os.utime(path, (1, 1) if turn == "git" else None)
        if turn == "git":
            run(need("git"), "init", "-q", cwd=fresh_tree.path)
            run("git", "add", "-A", cwd=fresh_tree.path)
            (fresh_tree.path / "kernel.cu").chmod(0o600)
        out = tmp_path / turn
        for platform in ("gradescope", "classroom50"):
            pack(fresh_tree.path, platform, out)
        made.append([path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()])
    assert made[0] == made[1]


def test_what_cannot_be_packed_is_refused(fresh_tree: Tree, tmp_path: Path) -> None:
    """A link; with git, a case that git does not track; and a lab without hidden cases, which all but public
    bundles grade."""
    link = fresh_tree.path / "grader" / "link.py"
    link.symlink_to("/etc/passwd")
    assert "link.py" in pack(fresh_tree.path, "autolab", tmp_path / "o", 2)
    link.unlink()
    run(need("git"), "init", "-q", cwd=fresh_tree.path)
    run("git", "add", "-A", cwd=fresh_tree.path)
    fresh_tree.write(f"{HIDDEN}/forgotten.toml", "title = 'x'\n")
    said = pack(fresh_tree.path, "gradescope", tmp_path / "o", 2)
    assert f"{HIDDEN}/forgotten.toml" in said and "git add" in said
    shutil.rmtree(fresh_tree.path / HIDDEN)
    run("git", "add", "-A", cwd=fresh_tree.path)
    said = pack(fresh_tree.path, "gradescope", tmp_path / "o", 2)
    assert "lab has no hidden cases" in said and "make hidden" in said
    assert not (tmp_path / "o").exists()


SCAN = "labs/scan"


@pytest.mark.slow  # each platform of the usual lab by day
def test_another_lab_is_packed_without_sgemm_and_graded_by_what_is_in_the_bundle(tree: Tree, tmp_path: Path) -> None:
    """And without its solutions."""
    for platform, archive in (("gradescope", "gradescope.zip"), ("classroom50", "classroom50/project.tar")):
        pack(tree.path, platform, tmp_path / "b", lab=SCAN)
        shutil.unpack_archive(tmp_path / "b/scan" / archive, tmp_path / platform)
        project = tmp_path / platform / "project"
        assert {"call.cu", "scan.h", "criteria"} <= {p.name for p in (project / "lab").iterdir()}
        assert "scanBlock" in (project / "kernel.cu").read_text() and not (project / "lab/sgemm.h").exists()
        assert (project / "testcases/hidden").exists() == (platform == "gradescope")
        assert not [name for name in ("instructor", "labs", "lab/instructor") if (project / name).exists()]
    solution = REPOSITORY / SCAN / "instructor/solutions/3_work_efficient.cu"
    run(sys.executable, "-B", "-m", "grader.exporters.hand_in", "gradescope", "--submission", str(solution),
        "--suite", "public", "--protection", "none", "--results", str(tmp_path / "r"), "-o", str(tmp_path / "o"),
        cwd=tmp_path / "classroom50/project")
    results = json.loads((tmp_path / "o").read_text())
    assert sum(test["score"] for test in results["tests"]) == sum(
        test["max_score"] for test in results["tests"]) == 40


# ---- Gradescope ----------------------------------------------------------------------------------


class Gradescope:
    """/autograder, elsewhere."""

    def __init__(self, root: Path, bundles: Path, grader_cache: Path):
        self.root = root
        shutil.copytree(grader_cache, root / "cache", ignore=UNFINISHED)
        self.env = {"AUTOGRADER_ROOT": str(root), "AUTOGRADER_PYTHON": sys.executable}
        run(sys.executable, "-m", "zipfile", "-e", bundles / "gradescope.zip", root / "source", cwd=root)
        shutil.copy(root / "source/run_autograder", root / "run_autograder")
        (root / "run_autograder").chmod(0o755)  # zipfile -e keeps no modes, nor need others

    def set_up(self, status: int = 0) -> str:
        script = self.root / "source/setup.sh"
        return run("bash", script, cwd=self.root, env=self.env, status=status).stdout

    def submit(self, kernel: Path = SOLUTION, env: dict[str, str] | None = None,
               names: Sequence[str] = ("kernel.cu",)) -> tuple[int, str, Any]:
        """As harness.py: the status, what was printed, and results.json if there is one. `names`: under which
        the kernel is submitted."""
        for name in ("submission", "results"):
            shutil.rmtree(self.root / name, ignore_errors=True)
            (self.root / name).mkdir()
        for name in names:
            (self.root / "submission" / name).parent.mkdir(exist_ok=True)
            shutil.copy(kernel, self.root / "submission" / name)
        metadata = self.root / "submission_metadata.json"
        metadata.write_text('{"previous_submissions": []}')
        metadata.chmod(0o644)
        done = run("./run_autograder", cwd=self.root, env=self.env | (env or {}), status=None)
        assert metadata.stat().st_mode & 0o077 == 0
        results = self.root / "results/results.json"
        return done.returncode, done.stdout, strict_json(results.read_text()) if results.exists() else None


@pytest.fixture(scope="module")
def gradescope(bundles: Path, built_parts: Path) -> Iterator[Gradescope]:
    need("g++")
    root = Path(tempfile.mkdtemp(prefix="autograder ", dir="/tmp"))
    root.chmod(0o755)
    autograder = Gradescope(root, bundles, built_parts)
    assert "the image is ready" in autograder.set_up()
    yield autograder
    shutil.rmtree(root, ignore_errors=True)


def total(results: Any) -> float:
    return results.get("score", sum(test.get("score", 0) for test in results["tests"]))


def test_gradescope_gives_a_solution_all_points(gradescope: Gradescope) -> None:
    """Under a name that `make grade` takes, too."""
    status, said, results = gradescope.submit(names=("src/Kernel.cu",))
    assert status == 0, said
    assert total(results) == sum(t["max_score"] for t in results["tests"]) == pytest.approx(100)
    assert {t["visibility"] for t in results["tests"]} == {"visible", "hidden"}
    assert "note: src/Kernel.cu was taken for kernel.cu" in results["output"]


def readable_for_others(path: Path) -> bool:
    tool = need("ls" if path.is_dir() else "cat")
    return finished([tool, path], Path("/"), user=65534, group=65534, extra_groups=[]).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as Gradescope's harness has")
def test_gradescope_keeps_from_other_users_what_a_submission_must_not_see(gradescope: Gradescope) -> None:
    assert gradescope.submit(names=())[0] == 0
    project = gradescope.root / "source/project"
    for secret in (project / HIDDEN, next((project / HIDDEN).iterdir()),
                   *(gradescope.root / name for name in
                     ("results", "results/results.json", "submission_metadata.json"))):
        assert not readable_for_others(secret)
    for needed in ("engine/cuda/include/cuda_runtime.h", "Makefile"):
        assert readable_for_others(project / needed)


@pytest.mark.parametrize(("names", "says"), [((), "kernel.cu"), (("a.cu", "b.cu"), "a.cu and b.cu")])
def test_gradescope_gives_0_and_a_reason_for_what_cannot_be_read(
    gradescope: Gradescope, names: tuple[str, ...], says: str
) -> None:
    status, _, results = gradescope.submit(names=names)
    assert status == 0 and total(results) == 0
    [test] = results["tests"]
    assert says in test["output"] and str(gradescope.root) not in test["output"]
    assert test["max_score"] == 100 and test["visibility"] == "visible"


def test_gradescope_gets_no_file_for_a_fault_of_the_machine(gradescope: Gradescope, tmp_path: Path) -> None:
    """A missing compiler, a missing Python, a case that cannot be read."""
    for name in "bash sh mktemp rm mkdir cp mv chmod find make env bwrap".split():
        if found := shutil.which(name):
            (tmp_path / name).symlink_to(found)
    for env in ({"PATH": str(tmp_path), "CC": "cc", "CXX": "c++"}, {"AUTOGRADER_PYTHON": "/no/such/python"}):
        status, said, results = gradescope.submit(env=env)
        assert (status, results) == (1, None), said
        assert "Nothing is wrong with the submission" in said
    earlier = gradescope.root / "results/results.json"
    earlier.write_text('{"score": 100}')
    run("./run_autograder", cwd=gradescope.root, status=1,
        env=gradescope.env | {"AUTOGRADER_PYTHON": "/no/such/python"})
    assert not earlier.exists(), "not even one of an earlier submission"
    case = gradescope.root / "source/project" / HIDDEN / "broken.toml"
    case.write_text("title = 3\n")
    try:
        status, said, results = gradescope.submit()
    finally:
        case.unlink()
    assert (status, results) == (1, None) and "broken.toml" in said


@pytest.mark.slow  # grader/jail/test_sandbox.py: the sandbox of another uid
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as Gradescope's harness has")
@pytest.mark.parametrize(("kernel", "points"), [(STARTER, 0), (SOLUTION, 100)], ids=["starter", "solution"])
def test_gradescope_grades_where_namespaces_are_not_allowed(
    gradescope: Gradescope, tmp_path: Path, kernel: Path, points: int
) -> None:
    status, said, results = gradescope.submit(kernel, programs_in(tmp_path, bwrap=NO_BWRAP))
    assert status == 0, said
    assert total(results) == pytest.approx(points) and "sandbox: uid" in results["output"]


@pytest.mark.slow  # test_gradescope_gets_no_file_for_a_fault_of_the_machine
def test_an_image_that_cannot_grade_is_noticed_when_it_is_made(
    bundles: Path, built_parts: Path, short_path: Path
) -> None:
    autograder = Gradescope(short_path, bundles, built_parts)
    (short_path / "source/project" / HIDDEN / "broken.toml").write_text("title = 3\n")
    assert "this image cannot grade" in autograder.set_up(status=1)


# ---- Autolab -------------------------------------------------------------------------------------


def run_autolab(bundles: Path, job: Path, kernel: Path | None, *settings: str,
                interpreter: str = sys.executable) -> str:
    """As Tango's autodriver: both files and the submission in an empty directory, `make`, and
    whatever it prints on either stream."""
    need("g++")
    for old in job.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copy(bundles / "autolab/autograde-Makefile", job / "Makefile")
    shutil.copy(bundles / "autolab/autograde.tar", job)
    if kernel:
        shutil.copy(kernel, job / "kernel.cu")
    return run(need("make"), *settings, cwd=job, status=None, env={"SGEMM_PYTHON": interpreter}).stdout


def autoresult(printed: str) -> Any:
    """parseAutoresult() of assessment_autograde_core.rb; None where it raises."""
    last = printed.rstrip().split("\n")[-1]
    try:
        return json.loads(re.sub(r"([a-zA-Z0-9]+):", r'"\1":', last))["scores"]
    except (ValueError, KeyError, TypeError):
        return None


@pytest.mark.slow  # by day the public cases, below
def test_autolab_gives_a_solution_all_points(bundles: Path, short_path: Path) -> None:
    printed = run_autolab(bundles, short_path, SOLUTION)
    scores = autoresult(printed)
    assert scores and set(scores) == {"Public", "Hidden"}, printed
    assert sum(scores.values()) == pytest.approx(100)


def test_autolab_takes_a_zip_and_may_have_one_problem_and_the_public_cases_only(
    bundles: Path, short_path: Path, tmp_path: Path
) -> None:
    """It gives every submission the name kernel.cu."""
    with zipfile.ZipFile(tmp_path / "lab.zip", "w") as archive:
        archive.write(SOLUTION, "lab/kernel.cu")
    printed = run_autolab(bundles, short_path, tmp_path / "lab.zip", "SUITE=public", "PROBLEM=Lab 2")
    assert autoresult(printed) == {"Lab 2": 40}, printed
    assert "note: lab/kernel.cu was taken out of kernel.cu" in printed


def test_autolab_gives_0_for_no_submission_and_no_scores_for_a_fault_of_the_machine(
    bundles: Path, short_path: Path
) -> None:
    printed = run_autolab(bundles, short_path, None)
    assert autoresult(printed) == {"Public": 0, "Hidden": 0}
    assert "kernel.cu" in printed.split("\n")[1]
    printed = run_autolab(bundles, short_path, SOLUTION, interpreter="/bin/false")
    assert autoresult(printed) is None
    assert "Nothing is wrong with the submission" in printed and '"scores"' not in printed


# ---- Classroom 50 --------------------------------------------------------------------------------


class Classroom50:
    """A student's repository, checked out, and the directory into which the runner unpacks what
    the organization's page serves as ASSIGNMENT.tar.gz."""

    def __init__(self, root: Path, files: Path, grader_cache: Path):
        self.checkout, self.output = root / "work/repo", root / "github output"
        self.runtime = root / "temp/classroom50-runtime"
        for directory in (self.checkout / ".github/workflows", self.runtime, root / "page"):
            directory.mkdir(parents=True)
        (self.checkout / ".classroom50.yaml").write_text("classroom: cs101\nassignment: sgemm\n")
        (self.checkout / ".github/workflows/autograde.yaml").write_text("on: push\n")
        shutil.copytree(files, root / "page/sgemm")
        run("tar", "-czf", root / "sgemm.tar.gz", "-C", root / "page", "sgemm", cwd=root)
        run("tar", "-xzf", root / "sgemm.tar.gz", cwd=self.runtime)
        shutil.copytree(grader_cache, self.runtime / "sgemm/cache", ignore=UNFINISHED)
        self.env = classroom50.ENVIRONMENT | {
            "GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": str(self.output), "SGEMM_PYTHON":
            sys.executable, "RUNNER_ENVIRONMENT": "self-hosted"}

    def submit(self, kernel: Path | str | None, env: dict[str, str] | None = None) -> tuple[int, str, Any]:
        """As runner.py: the status, what was printed, and result.json if there is one."""
        if kernel is not None:
            text = kernel if isinstance(kernel, str) else kernel.read_text()
            (self.checkout / "kernel.cu").write_text(text)
        done = run(sys.executable, self.runtime / "sgemm/autograder.py", cwd=self.checkout,
                   env=self.env | (env or {}), status=None)
        path = self.checkout / "result.json"
        result = strict_json(path.read_text()) if path.exists() else None
        if result is not None:
            classroom50.check(result)
        return done.returncode, done.stdout, result

    def page(self) -> str:
        return (self.checkout / "release-body.md").read_text()


@pytest.fixture
def classroom(short_path: Path, bundles: Path, built_parts: Path) -> Classroom50:
    need("g++")
    return Classroom50(short_path, bundles / "classroom50", built_parts)


@pytest.mark.slow  # test_classroom50_shows_a_mistake_and_hears_no_command_from_it: the same steps
@pytest.mark.parametrize("sandboxed", [True, False], ids=["sandboxed", "no sandbox"])
@pytest.mark.parametrize(("kernel", "right"), [(STARTER, False), (SOLUTION, True)], ids=["starter", "solution"])
def test_classroom50_gives_a_solution_all_points(
    classroom: Classroom50, tmp_path: Path, kernel: Path, right: bool, sandboxed: bool
) -> None:
    """On a machine of GitHub's, where the sandbox is made to work; or where it cannot be had, as in a container."""
    shell = f'case "$1" in *sandbox.sh) exit 1;; esac\nexec {need("sh")} "$@"'
    without = {} if sandboxed else {"sh": shell, "bwrap": NO_BWRAP}
    status, said, result = classroom.submit(
        kernel, {"RUNNER_ENVIRONMENT": "github-hosted"} | programs_in(tmp_path, **without))
    assert status == 0 and result["score"] == right * result["max-score"], said
    assert ("sandbox: bubblewrap" in classroom.page()) == sandboxed
    if right:
        assert result["max-score"] > 0 and classroom50.status(result) == "success"
        assert "points" in classroom.page() and "::error" not in said
    assert not classroom.output.exists(), "the runner makes status and summary from the result"


LOUD = """#include <stdio.h>
#include <cuda_runtime.h>
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) { }
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    printf("::error::forged\\n##[error]forged\\n::set-output name=status::success\\n");
    mysgemm<<<1, 1>>>(m, n, k, A, B, C);
}
"""


def after_guards(log: str) -> list[str]:
    """The lines of a log that the runner looks at for commands."""
    seen, token = [], None
    for line in log.split("\n"):
        if token:
            token = None if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        else:
            seen.append(line)
    return seen


def test_classroom50_shows_a_mistake_and_hears_no_command_from_it(classroom: Classroom50) -> None:
    """And takes nothing but the kernel from the student's repository."""
    for name in ("grader/__init__.py", "json.py", "tarfile.py", "venv.py", "pip.py"):
        (classroom.checkout / name).parent.mkdir(exist_ok=True)
        (classroom.checkout / name).write_text("raise SystemExit('the student decides')\n")
    (classroom.checkout / "Makefile").write_text("$(error the student decides)\n")
    (classroom.checkout / "precious").write_text("")
    (classroom.checkout / "result.json").symlink_to("precious")
    status, said, result = classroom.submit(LOUD)
    assert (status, result["score"], classroom50.status(result)) == (0, 0, "failure"), said
    heard = [line for line in after_guards(said) if re.search(r"^\s*::|##\[", line)]
    assert heard and all(re.match(r"::error file=kernel\.cu,", line) for line in heard), heard
    assert "written" in classroom.page() and "written" in result["tests"][0]["message"]
    assert (classroom.checkout / "precious").read_text() == "" and "the student decides" not in said


@pytest.mark.parametrize("kernel, says", sample([
    (None, "kernel.cu"), ("int x = y;\n", "kernel.cu:1: ")], every=2))  # fmt: skip
def test_classroom50_gives_0_and_a_reason_for_what_cannot_be_run(
    classroom: Classroom50, kernel: str | None, says: str
) -> None:
    status, _, result = classroom.submit(kernel)
    [test] = result["tests"]
    assert (status, test["score"], test["passed"]) == (0, 0, False) and test["max-score"] == 40
    assert says in test["message"] and str(classroom.checkout) not in test["message"]


@pytest.mark.parametrize("env", sample([
    {"SGEMM_PYTHON": "/bin/false"}, {"SGEMM_PYTHON": "/no/such/python"}, {"CLASSROOM": ""},
], every=3))
def test_classroom50_gets_no_result_for_a_fault_of_the_machine(classroom: Classroom50, env: dict[str, str]) -> None:
    status, said, result = classroom.submit(SOLUTION, env)
    assert (status, result) == (1, None) and "Traceback" not in said
    assert "Nothing is wrong with the submission" in said


# ---- the scripts themselves ----------------------------------------------------------------------


def test_the_scripts_are_clean() -> None:
    scripts = [*REPOSITORY.glob("instructor/release/*/*.sh"), REPOSITORY / ".github/sandbox.sh",
               REPOSITORY / "instructor/release/gradescope/run_autograder"]
    run(need("shellcheck"), *scripts, cwd=REPOSITORY)
