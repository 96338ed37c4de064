"""A mistake in class.toml or an option is told in a line that says what, where and what to do, and
nothing is graded."""

from pathlib import Path

import pytest

from course import __main__ as program
from course.settings import File, Late, read_settings
from course.errors import BadInput

A_DATE = "a date and time: 2026-11-20T23:59:00-08:00, or without -08:00 if timezone is given"


def refused(folder: Path, text: str) -> str:
    (folder / "class.toml").write_text(text)
    with pytest.raises(BadInput) as caught:
        read_settings(folder)
    return str(caught.value)


@pytest.mark.parametrize("key", File.model_fields)
def test_a_value_of_the_wrong_kind(tmp_path: Path, key: str) -> None:
    for value in ("-1", "1.5", "[]", "2026-11-20", *(["true"] if key != "leaderboard" else [])):
        shown = value.capitalize()
        assert refused(tmp_path, f"{key} = {value}") == (
            f"{tmp_path}/class.toml: {key} = {shown}: it must be {File.model_fields[key].description}")


@pytest.mark.parametrize("key", Late.model_fields)
def test_a_value_that_lateness_cannot_have(tmp_path: Path, key: str) -> None:
    for value in ("'x'", "-1", "100000", "nan", "[1]"):
        assert refused(tmp_path, f"[late]\n{key} = {value}") == (
            f"{tmp_path}/class.toml: [late]: {key} = {value}: it must be {Late.model_fields[key].description}")


@pytest.mark.parametrize("text, says", [
    ("asignment = 'x'", "unknown key 'asignment'; did you mean 'assignment'?"),
    ("[late]\nfoo = 1", "[late]: unknown key 'foo'; allowed: deduct, per, most, grace, days"),
    ("[late]\ndays_ = 1", "[late]: unknown key 'days_'; did you mean 'days'?"),
    ("[late]\ndeduct = 'x'", "[late]: deduct = 'x': it must be a percentage of the points, from 0 to 100"),
    ("seed = 99999999999999999999", "seed = 99999999999999999999: it must be a whole number from 0 to 2^63 - 1"),
    ("submissions = ['a', 3]", "submissions = ['a', 3]: it must be a path, or a list of paths"),
    ("deadline = '2026-11-20'", f"deadline = '2026-11-20': it must be {A_DATE}"),
    ("deadline = 23:59:00", f"deadline = 23:59:00: it must be {A_DATE}"),
    ("deadline = 9999-12-31T23:59:00Z",
     "deadline = 9999-12-31 23:59:00+00:00: in the year 9999?"),
    ("deadline = 2026-13-20T00:00:00Z",
     "not TOML: Expected newline"),
    ("deadline = 2026-11-20T23:59:00", "deadline: in which time zone? Write "
     "2026-11-20T23:59:00+00:00, or add timezone = \"Europe/Berlin\""),
    ("timezone = 'Europe/Brlin'", "timezone = 'Europe/Brlin': there is no such time zone; one is "
     "written \"Europe/Berlin\""),
    ("timezone = '../x'", "timezone = '../x': there is no such time zone; one is written "
     "\"Europe/Berlin\""),
    ("canvas = 'a.csv'", "canvas = 'a.csv': there is no such file in this folder"),
    ("roster = '.'", "roster = '.': there is no such file in this folder"),
    ("moodle = \"a\\u0000\"", "moodle = 'a\\x00': there is no such file in this folder"),
    ("[late]\ndeduct = 10", "[late] needs a deadline"), ("late = {}", "[late] needs a deadline"),
    ("[late", "not TOML: Expected ']'"),
])
def test_a_mistake(tmp_path: Path, text: str, says: str) -> None:
    said = refused(tmp_path, text)
    assert said.startswith(f"{tmp_path}/class.toml: {says}") and "\n" not in said


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    said = refused(tmp_path, "roster = 'a'\ncanvas = 'b'\ntimezone = 'c'\n")
    assert [line.split(": ")[1] for line in said.splitlines()] == ["timezone = 'c'", "roster = 'a'", "canvas = 'b'"]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Its lines, of exit status 2."""
    assert program.main(["grade", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return [line.removeprefix("grade-class: ") for line in shown.err.splitlines()]


Said = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "class/submissions").mkdir(parents=True)
    (tmp_path / "class/submissions/ada.cu").write_text("int x;\n")
    return tmp_path / "class"


@pytest.mark.parametrize("words, says", [
    (["--jobs=0"], "--jobs (JOBS with make): '0' is not a whole number from 1 to 1024"),
    (["--jobs=x"], "--jobs (JOBS with make): 'x' is not a whole number from 1 to 1024"),
    (["--queue=foo"], "--queue (QUEUE with make): 'foo' is not one of local, slurm"),
    (["--slurm=--time=9"], "--slurm (SLURM with make): is for --queue=slurm (QUEUE=slurm)"),
    (["--queue=slurm", "--slurm='"], "--slurm (SLURM with make): \"'\": No closing quotation"),
    (["--results="], "--results (RESULTS with make): the path is empty"),
    (["--queue=", "--seed=-1", "--jobs=0"], "--jobs (JOBS with make): '0' is not a whole number from 1 to 1024"),
])
def test_an_option(folder: Path, capsys: Said, words: list[str], says: str) -> None:
    """All mistakes at once."""
    said = run(capsys, f"--class={folder}", *words)
    wrong = [word.split("=")[0] for word in words if word != "--queue=slurm"]
    assert [line.split(" ")[0] for line in said] == wrong and said[-1].endswith(says)
    assert not (folder / "results").exists()


def test_a_folder_that_is_no_class(tmp_path: Path, capsys: Said) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    names_one = "CLASS names the folder with what the class handed in"
    for name, says in {"nowhere": f"no such folder; {names_one}", "file": f"not a folder; {names_one}",
                       "a\nb": f"no such folder; {names_one}", "empty": "holds no hand-ins (folders, .cu files, zips, "
                       "or a download of Canvas, Moodle or Gradescope)"}.items():
        shown = str(tmp_path / name).replace("\n", "\\n")
        assert run(capsys, f"--class={tmp_path / name}") == [f"{shown}: {says}"]
    assert run(capsys, "--class=") == [
        "--class (CLASS with make): the path is empty; it names a folder with what a class has handed in"]


@pytest.mark.parametrize("name", ["a b", "a'b\"c", "$(touch x)`touch x`;&", "a\nb", "100%A", "-n", "ü"])
def test_a_folder_with_an_odd_name(folder: Path, capsys: Said, name: str) -> None:
    """It is read, and what is wrong in it is told in one line."""
    odd = folder.rename(folder.parent / name)
    (odd / "class.toml").write_text("sed = 1\n")
    [said] = run(capsys, f"--class={odd}")
    assert said.endswith("/class.toml: unknown key 'sed'; did you mean 'seed'?")


def test_submissions_that_are_not_there(folder: Path, capsys: Said) -> None:
    (folder / "empty").mkdir()
    for value, says in (("'nowhere'", "no such file or folder; it holds hand-ins"),
                        ('"a\\u0000"', "no such file or folder; it holds hand-ins"), ("'empty'", "holds no hand-ins")):
        (folder / "class.toml").write_text(f"submissions = {value}\n")
        [said] = run(capsys, f"--class={folder}")
        assert says in said and not (folder / "results").exists()
