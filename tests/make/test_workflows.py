"""The workflows: what linters say of them, what this project demands of them, and their steps run
here, one after the other, as a runner would."""

import csv
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import REPOSITORY, Tree, finished, need, script

WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"uses: [\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+(\.\d+){2}")
RUN = re.compile(r'make (?P<target>[a-z-]+)|tar -cf [a-z]+\.tar [a-z]+|(?:sudo )?\.ci/run(?: "\$TARGET")?')

every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def load(path: Path) -> dict[str, Any]:
    """YAML 1.1 takes the key `on` for true."""
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {("on" if key is True else key): value for key, value in workflow.items()}


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in load(path)["jobs"].values() for step in job["steps"]]


# ---- linters -------------------------------------------------------------------------------------


def beside_python(program: str) -> str:
    """A tool that comes as a Python package."""
    there = Path(sys.executable).parent / program
    return str(there) if there.exists() else need(program)


def test_zizmor_finds_nothing() -> None:
    """Pedantic: unpinned actions, more rights than needed, expressions in scripts, ..."""
    done = finished([beside_python("zizmor"), "--offline", "--persona=pedantic", "--no-progress",
                     "--config", ".github/zizmor.yml", ".github/workflows"])
    assert done.returncode == 0, done.stdout + done.stderr


# ---- this project's demands ----------------------------------------------------------------------


@every_workflow
def test_what_zizmor_does_not_ask_for(path: Path) -> None:
    """Limits of time, checkouts without credentials, and beside each pinned commit the version, for people and
    for bots that update it."""
    assert all(job["timeout-minutes"] <= 360 for job in load(path)["jobs"].values())
    used = [step for step in steps(path) if "uses" in step]
    assert len(PINNED.findall(path.read_text())) == len(used)
    assert not any(step["with"]["persist-credentials"] for step in used
                   if step["uses"].startswith("actions/checkout@"))


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


def environment_of_a_runner(folder: Path) -> dict[str, str]:
    for name in ("sudo", "apt-get", "sysctl"):  # nothing here changes the machine
        script(folder / "tools" / name, "exit 1")
    # Instead of a new virtual environment with packages from the network.
    script(folder / "venv/bin/python", f'exec "{sys.executable}" "$@"')
    for stamp in ("ready", "grader-ready", "course-ready"):
        (folder / "venv" / stamp).touch()
    files = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    return files | {"GITHUB_ACTIONS": "true", "VENV": str(folder / "venv"),
                    "PATH": f"{folder}/tools:{os.environ['PATH']}"}


def run_steps(workflow: dict[str, Any], checkout: Path, env: dict[str, str], expressions: dict[str, str]) -> None:
    """Those with a script, in the workflow's only job."""
    [job] = workflow["jobs"].values()
    for name, value in (workflow.get("env", {}) | job.get("env", {})).items():
        env[name] = re.sub(r"\$\{\{ (.*?) \}\}", lambda match: expressions[match[1]], value)
    for step in job["steps"]:
        if "run" in step:
            done = finished(["bash", "-e", "-c", step["run"]], checkout, env)
            assert done.returncode == 0, (step["name"], done.stdout + done.stderr)


def test_grade_grades_a_class(fresh_tree: Tree, tmp_path: Path) -> None:
    need("g++")
    submissions = fresh_tree.path / "submissions/lab 2"
    odd = 'Who? me: <3>\n"*|'
    for name in ("alice", "bob (late)", "nobody", odd):
        (submissions / name).mkdir(parents=True)
    (submissions / odd / f"{odd}.txt").touch()
    for kernel, name in (("instructor/solutions/2_tiled.cu", "alice"), ("kernel.cu", "bob (late)")):
        shutil.copy(fresh_tree.path / kernel, submissions / name / "kernel.cu")
    path = REPOSITORY / ".github/workflows/grade.yml"
    run_steps(load(path), fresh_tree.path, environment_of_a_runner(tmp_path), {
        "inputs.folder": "lab 2", "inputs.suite": "public", "inputs.gpu && 'cuda' || 'cpu'": "cpu"})
    with open(fresh_tree.path / "results/gradebook.csv", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["alice", "bob (late)", "nobody", 'Who? me: <3> "*|']
    assert rows["alice"]["points"] == rows["alice"]["possible"] != ""
    assert rows["bob (late)"]["points"] == "0" and rows["nobody"]["state"] == "unusable"
    assert list((fresh_tree.path / "results/records/alice").glob("*/result.json"))
    assert "4 students" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    [kept] = [step["with"]["path"] for step in steps(path) if "upload-artifact" in step.get("uses", "")]
    assert re.fullmatch(r"[\w.]+", kept), "else a name within may be one that upload-artifact refuses"
    with tarfile.open(fresh_tree.path / kept) as packed:
        assert {f"results/{each.relative_to(fresh_tree.path / 'results')}" for each in
                (fresh_tree.path / "results").rglob("*")} <= {*packed.getnames()}


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
        script(tmp_path / name, f'echo "{name} $*" >>"{calls}"\n{body}')
    done = subprocess.run([need("sh"), REPOSITORY / ".github/sandbox.sh"], env={"PATH": str(tmp_path)},
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done
    assert re.search(said, done.stdout + done.stderr)
    assert installed == bool(re.search("apt-get .*install .*bubblewrap", calls.read_text()))
    assert "sysctl" not in calls.read_text() or bwrap == "exit 1"
