"""What a grade depends on is hashed: a file that is left out could be changed without a class being
graded again. And how long a compiler may take, and what is said where it takes longer."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import REPOSITORY, repository_files, script

from grader.build import parts
from grader.build.parts import SHOWN, cache_directory, graded_files, lab_files, of_grader
from grader.build.submission import COMPILE_LIMITS, NVCC_LIMITS, Unplaced, compile_in_sandbox, compiled
from grader.errors import NotBuilt
from grader.jail.sandbox import prefixes_of


def test_every_file_decides_but_those_that_are_said_to_show() -> None:
    """Of a lab, all decide; and another lab is another grader."""
    names = {path for path in repository_files() if path.parts[0] in ("grader", "engine")}
    shown = {path for path in names if any(path.is_relative_to(each) for each in SHOWN)}
    assert len(names) > 100 and names - set(graded_files("lab")) == shown
    assert [entry for entry in SHOWN if not (REPOSITORY / entry).exists()] == []
    of_lab = {path for path in repository_files() if path.parts[0] == "lab"}
    assert len(of_lab) > 10 and set(lab_files("lab")) == of_lab
    assert of_grader("lab") != of_grader("labs/none")


TOO_LONG = "compiling kernel.cu takes more time or memory than it may"


class Box:
    """Of which a run ends in this way."""

    def __init__(self, output: str, seconds: float, status: int = 1):
        self.limits: list[Any] = []
        self.ran = SimpleNamespace(status=status, output=output.encode(), seconds=seconds,
                                   time_limit_hit=False, memory_limit_hit=False)

    def run(self, command: Any) -> Any:
        self.limits.append(command.limits)
        return self.ran


@pytest.mark.parametrize(("output", "seconds", "said"), [
    ("Killed\n", 31, TOO_LONG),
    ("g++: fatal error: CPU time limit exceeded signal terminated program cc1plus\n", 31, TOO_LONG),
    ("Killed\n", 3, "Killed"),  # not by its limit
    ("worker.o: undefined reference to `f'\n", 31, "worker.o: undefined reference to `f'"),
    ("kernel.cu:7:1: error: 'Killed' was not declared\n", 31, "'Killed' was not declared"),
])
def test_what_is_said_of_a_compiler_that_was_killed(tmp_path: Path, output: str, seconds: float, said: str) -> None:
    with pytest.raises(NotBuilt) as error:
        compile_in_sandbox(tmp_path, "objects", tmp_path, Box(output, seconds))  # type: ignore[arg-type]
    assert error.value.message == said
    assert isinstance(error.value, Unplaced) == (said in ("Killed", output.strip()))


@pytest.mark.parametrize(("backend", "limits"), [("cpu", COMPILE_LIMITS), ("cuda", NVCC_LIMITS)])
def test_nvcc_may_take_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str, limits: Any) -> None:
    monkeypatch.setattr("grader.build.submission.examine", lambda jail, *words: None)
    box = Box("", 0)
    prelude = tmp_path / "prelude"
    prelude.touch()
    parts = SimpleNamespace(jail=None, backend=backend, prelude=prelude, lab=SimpleNamespace(kernel="mysgemm"))
    monkeypatch.setattr("grader.build.submission.take_file", lambda path: b"")
    monkeypatch.setattr("grader.build.submission.let_others_read", lambda path: None)
    box.ran.status = 0
    compiled(parts, tmp_path, b"", box, tmp_path / "programs")  # type: ignore[arg-type]
    assert box.limits == [limits, limits]
    assert NVCC_LIMITS.cpu_seconds > COMPILE_LIMITS.cpu_seconds


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a container that was started with a number for a user, who is in no /etc/passwd."""
    def nobody(_: int) -> Any:
        raise KeyError
    monkeypatch.setattr("pwd.getpwuid", nobody)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(parts, "ROOT", script(tmp_path / "gcc/bin/cc", ""))  # which has no build/
    for name in ("HOME", "XDG_CACHE_HOME", "GRADER_CACHE"):
        monkeypatch.delenv(name, raising=False)
    assert cache_directory() == tmp_path / "cuda-grader"
    assert prefixes_of("cc", str(tmp_path / "gcc/bin")) == [tmp_path / "gcc"]
