"""The workflows: what linters say of them, what this project demands of them, and their steps run
here, one after the other, as a runner would.

actionlint is not to be had here: Debian has no package of it, and PyPI's is a source package that
downloads the program from elsewhere while it is installed. Where it is installed it is run; zizmor,
which PyPI has, parses and audits the workflows in any case.
"""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import REPOSITORY, Tree, clean_environment, need

WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+(\.\d+){2}")
RUN = re.compile(r'make (?P<target>[a-z-]+)|(?:sudo )?\.ci/run(?: "\$TARGET")?')

every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def load(path: Path) -> dict[str, Any]:
    """YAML 1.1 takes the key `on` for true."""
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {("on" if key is True else key): value for key, value in workflow.items()}


def jobs(path: Path) -> Iterator[dict[str, Any]]:
    yield from load(path)["jobs"].values()


def steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in jobs(path):
        yield from job["steps"]


# ---- linters -------------------------------------------------------------------------------------


def beside_python(program: str) -> str:
    """A tool that comes as a Python package."""
    there = Path(sys.executable).parent / program
    return str(there) if there.exists() else need(program)


def test_zizmor_finds_nothing() -> None:
    """Pedantic: unpinned actions, more rights than needed, expressions in scripts, ..."""
    done = subprocess.run(
        [beside_python("zizmor"), "--offline", "--persona=pedantic", "--no-progress",
         "--config", ".github/zizmor.yml", ".github/workflows"],
        cwd=REPOSITORY, env=clean_environment(), capture_output=True, text=True, timeout=120,
        check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint_finds_nothing() -> None:
    program = shutil.which("actionlint") or pytest.skip("actionlint is not installed (nor in CI)")
    done = subprocess.run([program, *WORKFLOWS], cwd=REPOSITORY, capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stdout


# ---- this project's demands ----------------------------------------------------------------------


def unpinned(workflow: str) -> list[str]:
    """Lines that use an action which is not pinned to a commit, with the version beside it for
    people and for bots that update it."""
    used = [line.strip().removeprefix("- ") for line in workflow.splitlines() if "uses" in line]
    return [line for line in used if not line.startswith("#") and not PINNED.fullmatch(line)]


@every_workflow
def test_actions_are_pinned(path: Path) -> None:
    text = path.read_text()
    assert unpinned(text) == []
    used = sum("uses" in step for step in steps(path))
    assert used == sum("uses:" in line and not line.lstrip().startswith("#") for line in text.splitlines())


@every_workflow
def test_rights_are_few_and_times_limited(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {} and workflow["concurrency"]
    for job in jobs(path):
        assert job["timeout-minutes"] <= 360
        assert job["permissions"] == {"contents": "read"}
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@every_workflow
def test_scripts_are_make_targets_and_hold_no_expressions(path: Path, tree: Tree) -> None:
    scripts = [step["run"] for step in steps(path) if "run" in step]
    assert scripts
    for script in scripts:
        match = RUN.fullmatch(script)
        assert match, script
        target = match["target"]
        if target is None:
            assert os.access(REPOSITORY / ".ci/run", os.X_OK)
            continue
        for name in {target, target.removeprefix("guarded-")}:
            tree.make("-n", name)


# ---- the steps, run ------------------------------------------------------------------------------


class Runner:
    """Runs the `run:` steps of a workflow in a checkout."""

    def __init__(self, checkout: Path, scratch: Path):
        self.checkout, self.files = checkout, scratch / "runner files"
        self.files.mkdir()
        self.log = ""
        tools = scratch / "tools"
        tools.mkdir()
        for name in ("sudo", "apt-get", "sysctl"):  # nothing here changes the machine
            (tools / name).write_text("#!/bin/sh\nexit 1\n")
            (tools / name).chmod(0o755)
        # Instead of a new virtual environment with packages from the network.
        venv = scratch / "venv"
        (venv / "bin").mkdir(parents=True)
        (venv / "bin/python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (venv / "bin/python").chmod(0o755)
        for stamp in ("ready", "grader-ready", "course-ready"):
            (venv / stamp).touch()
        self.env = {"GITHUB_ACTIONS": "true", "VENV": str(venv), "PATH": f"{tools}:{os.environ['PATH']}"}

    def run(self, path: Path, expressions: dict[str, str], fails: set[str] = frozenset()) -> None:
        """Steps whose names are in `fails` have to, all others must not."""
        workflow = load(path)
        [job] = workflow["jobs"].values()
        env = workflow.get("env", {}) | job.get("env", {})
        env = {key: self.evaluated(value, expressions) for key, value in env.items()}
        for step in job["steps"]:
            if "run" in step:
                status = self.step(step["run"], env)
                assert (status != 0) == (step["name"] in fails), (step["name"], self.log)

    @staticmethod
    def evaluated(value: str, expressions: dict[str, str]) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: expressions[match[1]], value)

    def step(self, script: str, env: dict[str, str]) -> int:
        files = {name: str(self.files / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        done = subprocess.run(
            ["bash", "-e", "-c", script], cwd=self.checkout,
            env=clean_environment(self.env | files) | env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            timeout=300, check=False)
        self.log += done.stdout
        return done.returncode

    def file(self, name: str) -> str:
        path = self.files / name
        return path.read_text(encoding="utf-8") if path.exists() else ""


def test_grade_grades_a_class(fresh_tree: Tree, tmp_path: Path) -> None:
    need("g++")
    submissions = fresh_tree.path / "submissions/lab 2"
    for name in ("alice", "bob (late)", "nobody"):
        (submissions / name).mkdir(parents=True)
    for kernel, name in (("instructor/solutions/2_tiled.cu", "alice"), ("kernel.cu", "bob (late)")):
        shutil.copy(fresh_tree.path / kernel, submissions / name / "kernel.cu")
    runner = Runner(fresh_tree.path, tmp_path)
    runner.run(REPOSITORY / ".github/workflows/grade.yml", {
        "inputs.folder": "lab 2", "inputs.suite": "public",
        "inputs.gpu && 'cuda' || 'cpu'": "cpu",
    })  # fmt: skip
    with open(fresh_tree.path / "results/gradebook.csv", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["alice", "bob (late)", "nobody"]
    assert rows["alice"]["points"] == rows["alice"]["possible"] != ""
    assert rows["bob (late)"]["points"] == "0" and rows["nobody"]["state"] == "unusable"
    assert list((fresh_tree.path / "results/records/alice").glob("*/result.json"))
    assert "3 students" in runner.file("GITHUB_STEP_SUMMARY")


# ---- .github/sandbox.sh --------------------------------------------------------------------------


@pytest.mark.parametrize(("bwrap", "said", "installed"), [
    ("exit 0", "^bubblewrap works\n$", False),
    (None, "^bubblewrap works\n$", True),  # it is missing
    ("exit 1", "does not work here", False),  # which stops nothing
])
def test_the_sandbox(tmp_path: Path, bwrap: str | None, said: str, installed: bool) -> None:
    """With programs that only write down that they were called. One that works is left alone."""
    calls = tmp_path / "calls"
    calls.touch()
    for name in ("id", "sh", "env", "cp", "chmod"):
        (tmp_path / name).symlink_to(need(name))
    programs = {"sudo": 'shift; exec "$@"', "sysctl": "exit 0",
                "apt-get": f'case "$*" in *bubblewrap) printf "#!/bin/sh\\nexit 0\\n"'
                           f' >"{tmp_path}/bwrap"; chmod +x "{tmp_path}/bwrap";; esac'}
    if bwrap is not None:
        programs["bwrap"] = bwrap
    for name, body in programs.items():
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*" >>"{calls}"\n{body}\n')
        (tmp_path / name).chmod(0o755)
    done = subprocess.run([need("sh"), REPOSITORY / ".github/sandbox.sh"], env={"PATH": str(tmp_path)},
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done
    assert re.search(said, done.stdout + done.stderr)
    assert installed == bool(re.search("apt-get .*install .*bubblewrap", calls.read_text()))
    assert "sysctl" not in calls.read_text() or bwrap == "exit 1"
