"""The bundles for Gradescope and Autolab, run in directories laid out as those systems lay theirs
out; and what is and what is not in them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import REPOSITORY, Tree, clean_environment, need, strict_json

GRADE_SECONDS = 300
SOLUTION = REPOSITORY / "instructor/solutions/2_tiled.cu"
STARTER = REPOSITORY / "kernel.cu"
HIDDEN = "testcases/hidden"


def run(
    *command: str | Path, cwd: Path, status: int | None = 0, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, cwd=cwd, env=clean_environment({"PYTHONDONTWRITEBYTECODE": "1"} | (env or {})),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", timeout=GRADE_SECONDS, check=False)
    if status is not None:
        assert done.returncode == status, done.stdout
    return done


def make_bundle(tree: Path, platform: str, out: Path) -> Path:
    """The zip file, or the directory with Autolab's two files."""
    run("sh", f"instructor/release/{platform}/make_bundle.sh", out, cwd=tree,
        env={"PYTHON": sys.executable})
    return out / {"gradescope": "gradescope.zip", "autolab": "autolab"}[platform]


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A directory that every user of the machine may pass: a sandbox of another uid has to."""
    path = Path(tempfile.mkdtemp(prefix="sgemm bundle ", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


# ---- what is in them -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bundle(tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bundle(tree.path, "gradescope", tmp_path_factory.mktemp("bundle"))


def test_the_zip_has_in_its_root_what_gradescope_looks_for(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in archive.infolist()}
        scripts = {name for name in modes if "/" not in name}
        first = {name: archive.read(name).split(b"\n")[0] for name in scripts}
    assert scripts == {"setup.sh", "run_autograder"}
    assert first == dict.fromkeys(first, b"#!/usr/bin/env bash")
    assert modes["run_autograder"] == 0o755


def test_the_bundle_holds_the_hidden_cases_for_nobody_else_and_no_solution(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        entries = archive.infolist()
    hidden = [entry for entry in entries if entry.filename.startswith(f"project/{HIDDEN}/")]
    assert hidden and all(entry.external_attr >> 16 & 0o077 == 0 for entry in hidden)
    top = {entry.filename.split("/")[1] for entry in entries if "/" in entry.filename}
    assert {"grader", "emulator", "Makefile", "kernel.cu"} <= top
    assert not top & {"instructor", "tests", ".git", ".github", "build", "results", ".venv"}
    assert not any("__pycache__" in entry.filename for entry in entries)


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
        made.append([make_bundle(fresh_tree.path, "gradescope", out).read_bytes(),
                     *(path.read_bytes() for path in
                       sorted(make_bundle(fresh_tree.path, "autolab", out).iterdir()))])
    assert made[0] == made[1]


def test_a_case_that_git_does_not_know_is_refused(fresh_tree: Tree, tmp_path: Path) -> None:
    run(need("git"), "init", "-q", cwd=fresh_tree.path)
    run("git", "add", "-A", cwd=fresh_tree.path)
    fresh_tree.write(f"{HIDDEN}/forgotten.toml", "title = 'x'\n")
    done = run("sh", "instructor/release/gradescope/make_bundle.sh", tmp_path / "o",
               cwd=fresh_tree.path, status=2)
    assert f"{HIDDEN}/forgotten.toml" in done.stdout and "git add" in done.stdout
    assert not (tmp_path / "o").exists()


def test_a_link_is_refused(fresh_tree: Tree, tmp_path: Path) -> None:
    (fresh_tree.path / "grader" / "link.py").symlink_to("/etc/passwd")
    done = run("sh", "instructor/release/autolab/make_bundle.sh", tmp_path / "o",
               cwd=fresh_tree.path, status=2)
    assert "link.py" in done.stdout


# ---- Gradescope ----------------------------------------------------------------------------------


class Gradescope:
    """/autograder, elsewhere."""

    def __init__(self, root: Path, bundle: Path):
        self.root = root
        self.env = {"AUTOGRADER_ROOT": str(root), "AUTOGRADER_PYTHON": sys.executable}
        run(sys.executable, "-m", "zipfile", "-e", bundle, root / "source", cwd=root)
        shutil.copy(root / "source/run_autograder", root / "run_autograder")
        (root / "run_autograder").chmod(0o755)  # zipfile -e keeps no modes, nor need others

    def set_up(self, status: int = 0) -> str:
        script = self.root / "source/setup.sh"
        return run("bash", script, cwd=self.root, env=self.env, status=status).stdout

    def submit(
        self, kernel: Path | bytes | None, env: dict[str, str] | None = None
    ) -> tuple[int, str, Any]:
        """As harness.py: the status, what was printed, and results.json if there is one."""
        for name in ("submission", "results"):
            shutil.rmtree(self.root / name, ignore_errors=True)
            (self.root / name).mkdir()
        if kernel is not None:
            content = kernel if isinstance(kernel, bytes) else kernel.read_bytes()
            (self.root / "submission/kernel.cu").write_bytes(content)
        metadata = self.root / "submission_metadata.json"
        metadata.write_text('{"previous_submissions": []}')
        metadata.chmod(0o644)
        done = run("./run_autograder", cwd=self.root, env=self.env | (env or {}), status=None)
        results = self.root / "results/results.json"
        assert metadata.stat().st_mode & 0o077 == 0
        if not results.exists():
            return done.returncode, done.stdout, None
        return done.returncode, done.stdout, strict_json(results.read_text())


@pytest.fixture(scope="module")
def gradescope(bundle: Path) -> Iterator[Gradescope]:
    need("g++")
    root = Path(tempfile.mkdtemp(prefix="autograder ", dir="/tmp"))
    root.chmod(0o755)
    autograder = Gradescope(root, bundle)
    assert "the image is ready" in autograder.set_up()
    yield autograder
    shutil.rmtree(root, ignore_errors=True)


def total(results: Any) -> float:
    return results.get("score", sum(test.get("score", 0) for test in results["tests"]))


def test_gradescope_gives_a_solution_all_points(gradescope: Gradescope) -> None:
    status, said, results = gradescope.submit(SOLUTION)
    assert status == 0, said
    assert total(results) == sum(t["max_score"] for t in results["tests"]) == pytest.approx(100)
    assert {t["visibility"] for t in results["tests"]} == {"visible", "hidden"}


def test_gradescope_gives_the_starter_nothing(gradescope: Gradescope) -> None:
    status, _, results = gradescope.submit(STARTER)
    assert (status, total(results)) == (0, 0)


@pytest.mark.parametrize("content, says", [
    (None, "kernel.cu"), (b"", "empty"), (b"int x; // \0\n", "NUL"), (b"x" * (1 << 21), "larger"),
])  # fmt: skip
def test_gradescope_gives_0_and_a_reason_for_what_cannot_be_read(
    gradescope: Gradescope, content: bytes | None, says: str
) -> None:
    status, _, results = gradescope.submit(content)
    assert status == 0 and total(results) == 0
    [test] = results["tests"]
    assert says in test["output"] and str(gradescope.root) not in test["output"]
    assert test["max_score"] == 100 and test["visibility"] == "visible"


def test_gradescope_gets_no_file_for_a_fault_of_the_machine(
    gradescope: Gradescope, tmp_path: Path
) -> None:
    """A compiler that is not there; and a Python that is not."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in "bash sh mktemp rm mkdir cp mv chmod make env bwrap".split():
        found = shutil.which(name)
        if found:
            (tools / name).symlink_to(found)
    for env in ({"PATH": str(tools)}, {"AUTOGRADER_PYTHON": "/no/such/python"}):
        status, said, results = gradescope.submit(SOLUTION, env)
        assert (status, results) == (1, None), said
        assert "Nothing is wrong with the submission" in said
    earlier = gradescope.root / "results/results.json"
    earlier.write_text('{"score": 100}')
    run("./run_autograder", cwd=gradescope.root, status=1,
        env=gradescope.env | {"AUTOGRADER_PYTHON": "/no/such/python"})
    assert not earlier.exists(), "nor a file of before"


def test_gradescope_gets_no_file_when_a_case_is_at_fault(gradescope: Gradescope) -> None:
    case = gradescope.root / "source/project" / HIDDEN / "broken.toml"
    case.write_text("title = 3\n")
    try:
        status, said, results = gradescope.submit(SOLUTION)
    finally:
        case.unlink()
    assert (status, results) == (1, None) and "broken.toml" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as Gradescope's harness has")
def test_gradescope_grades_where_namespaces_are_not_allowed(
    gradescope: Gradescope, tmp_path: Path
) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'No permissions to create' >&2; exit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    status, said, results = gradescope.submit(
        SOLUTION, {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert status == 0, said
    assert total(results) == pytest.approx(100) and "sandbox: uid" in results["output"]


NOBODY = """
import os, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for path in sys.argv[1:]:
    try:
        print(os.listdir(path) if os.path.isdir(path) else open(path).read(1))
    except PermissionError:
        print("denied", path)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as Gradescope's harness has")
def test_gradescope_keeps_from_other_users_what_a_submission_must_not_see(
    gradescope: Gradescope
) -> None:
    gradescope.submit(STARTER)
    project = gradescope.root / "source/project"
    secret = [project / HIDDEN, next((project / HIDDEN).iterdir()),
              *(gradescope.root / name for name in
                ("results", "results/results.json", "submission_metadata.json"))]
    done = run("/usr/bin/env", "python3", "-c", NOBODY, *secret, cwd=Path("/"))
    assert done.stdout.count("denied") == len(secret), done.stdout
    needed = [project / "emulator/include/cuda_runtime.h", project / "Makefile"]
    done = run("/usr/bin/env", "python3", "-c", NOBODY, *needed, cwd=Path("/"))
    assert "denied" not in done.stdout


def test_an_image_that_cannot_grade_is_noticed_when_it_is_made(
    bundle: Path, short_path: Path
) -> None:
    autograder = Gradescope(short_path, bundle)
    (short_path / "source/project" / HIDDEN / "broken.toml").write_text("title = 3\n")
    assert "this image cannot grade" in autograder.set_up(status=1)


# ---- Autolab -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def autolab_files(tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bundle(tree.path, "autolab", tmp_path_factory.mktemp("autolab"))


def run_autolab(
    files: Path, job: Path, kernel: Path | None, *settings: str, env: dict[str, str] | None = None
) -> str:
    """As Tango's autodriver: both files and the submission in an empty directory, `make`, and
    whatever it prints on either stream."""
    need("g++")
    shutil.copy(files / "autograde-Makefile", job / "Makefile")
    shutil.copy(files / "autograde.tar", job)
    if kernel:
        shutil.copy(kernel, job / "kernel.cu")
    return run(need("make"), *settings, cwd=job, status=None,
               env={"SGEMM_PYTHON": sys.executable} | (env or {})).stdout


def autoresult(printed: str) -> Any:
    """parseAutoresult() of assessment_autograde_core.rb; None where it raises."""
    last = printed.rstrip().split("\n")[-1]
    try:
        return json.loads(re.sub(r"([a-zA-Z0-9]+):", r'"\1":', last))["scores"]
    except (ValueError, KeyError, TypeError):
        return None


def test_autolab_files_are_the_two_that_it_looks_for(autolab_files: Path) -> None:
    assert {path.name for path in autolab_files.iterdir()} == {"autograde.tar",
                                                               "autograde-Makefile"}
    with tarfile.open(autolab_files / "autograde.tar") as archive:
        names = archive.getnames()
    assert {name.split("/")[0] for name in names} == {"sgemm-autograder"}
    assert not any("/instructor/" in name or "/tests/" in name for name in names)


def test_autolab_gives_a_solution_all_points(autolab_files: Path, short_path: Path) -> None:
    printed = run_autolab(autolab_files, short_path, SOLUTION)
    scores = autoresult(printed)
    assert scores and set(scores) == {"Public", "Hidden"}, printed
    assert sum(scores.values()) == pytest.approx(100)


def test_autolab_may_have_one_problem_and_the_public_cases_only(
    autolab_files: Path, short_path: Path
) -> None:
    printed = run_autolab(autolab_files, short_path, STARTER, "SUITE=public", "PROBLEM=Lab 2")
    assert autoresult(printed) == {"Lab 2": 0}, printed


def test_autolab_gives_0_and_a_reason_for_no_submission(
    autolab_files: Path, short_path: Path
) -> None:
    printed = run_autolab(autolab_files, short_path, None)
    assert autoresult(printed) == {"Public": 0, "Hidden": 0}
    assert "kernel.cu" in printed.split("\n")[1]


def test_autolab_gets_no_scores_for_a_fault_of_the_machine(
    autolab_files: Path, short_path: Path
) -> None:
    printed = run_autolab(autolab_files, short_path, SOLUTION, env={"SGEMM_PYTHON": "/bin/false"})
    assert autoresult(printed) is None
    assert "Nothing is wrong with the submission" in printed and '"scores"' not in printed


# ---- the scripts themselves ----------------------------------------------------------------------


def test_the_scripts_are_clean() -> None:
    scripts = [*REPOSITORY.glob("instructor/release/*/*.sh"), REPOSITORY / ".github/sandbox.sh",
               REPOSITORY / "instructor/release/gradescope/run_autograder"]
    run(need("shellcheck"), *scripts, cwd=REPOSITORY)
