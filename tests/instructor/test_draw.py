"""`make hidden` draws suites of the kinds of instructor/hidden, the same ones for the same seed, and
replaces the hidden cases only by sound ones; what was graded before is not graded again."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import grader_fake as fake
import pytest
from conftest import REPOSITORY, Tree, clean_environment, finished
from forks import python

from grader.build.parts import described
from grader.cases.model import Suite
from grader.cases.read import load_suites, read_toml
from grader.errors import BadInput
from grader.lab import Lab
from grader.record.model import Record
from instructor.faulty.mistakes import seeded
from instructor.release import draw, prove_cases
from instructor.release.graded import Graded, Missing
from instructor.release.proof import Proof, Proved

LAB = fake.LAB
LABS = ["lab", *(f"labs/{path.name}" for path in sorted((REPOSITORY / "labs").iterdir()))]
SEED = "271828182845904523"


def hidden(folder: Path, seed: str = SEED, lab: Lab = LAB) -> list[Suite]:
    draw.suites(lab, seed, folder)
    return [suite for suite in load_suites(lab, "all", folder) if suite.hidden]


# ---- what is drawn -------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", LABS)
def test_what_is_drawn_is_like_the_example(tmp_path: Path, folder: str) -> None:
    """In everything but sizes and names; and where a kind has several fills. The example's sizes, too, could
    have been drawn."""
    lab = described(folder)
    kinds = {path.stem: read_toml(path)["case"] for path in (lab.home / "instructor/hidden").glob("*.toml")}
    example = [suite for suite in load_suites(lab, "all") if suite.hidden]
    for made in (example, *(hidden(tmp_path / str(number), str(10**15 + number), lab) for number in range(3))):
        for drawn, known in zip(made, example, strict=True):
            assert (drawn.name, drawn.gate, drawn.points, drawn.limits, drawn.repaired, drawn.worth) == (
                known.name, known.gate, known.points, known.limits, known.repaired, known.worth)
            for kind, one, other in zip(kinds[drawn.path.stem], drawn.cases, known.cases, strict=True):
                assert (one.points, one.criteria) == (other.points, other.criteria)
                assert one.fill in (kind["fill"] if isinstance(kind["fill"], list) else [kind["fill"]])
                for name, size in one.params.items():
                    if isinstance(kind[name], list):
                        least, most = kind[name]
                        assert least <= size <= most and (not kind.get("avoid") or size % kind["avoid"]), one.name
                    else:
                        assert size == (kind[name] if isinstance(kind[name], int) else one.params[kind[name]])


def test_a_lab_without_kinds_or_hidden_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What to write; and its public cases are proved alone."""
    home = tmp_path / "lab"
    shutil.copytree(LAB.testcases / "public", home / "testcases" / "public",
                    ignore=shutil.ignore_patterns("speed.toml"))
    lab = replace(LAB, folder=str(home))
    with pytest.raises(BadInput, match="lab/instructor/hidden: no kinds of cases here: write NAME.toml"):
        draw.suites(lab, SEED, tmp_path / "made")
    assert [suite.name for suite in prove_cases.cases_of(lab, None)] == ["public/basics"]
    assert "hidden: no cases here; these are the public ones alone" in capsys.readouterr().err


def test_a_seed_draws_the_same_and_another_one_others(tmp_path: Path) -> None:
    first, again, other = ([case.params for suite in hidden(tmp_path / name, seed) for case in suite.cases]
                           for name, seed in (("a", SEED), ("b", SEED), ("c", SEED[::-1])))
    assert first == again
    assert sum(one == another for one, another in zip(first, other, strict=True)) <= 3


def test_no_shape_is_drawn_twice_or_public(tmp_path: Path) -> None:
    public = {case.shape for suite in load_suites(LAB, "public") for case in suite.cases}
    for number in range(8):
        shapes = [case.shape for suite in hidden(tmp_path / str(number), str(10**14 + number))
                  for case in suite.cases]
        assert len(set(shapes)) == len(shapes)
        assert set(shapes) & public == {"34 34 34"}  # on purpose: with numbers that cannot be guessed


def test_what_students_get_is_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But other sizes, always the same; if there are none, it says what the release would refuse."""
    made = {case.name: case.shape for suite in hidden(tmp_path / "first") for case in suite.cases}
    wide = next(name for name in made if name.startswith("wide-"))
    texts = draw.published_texts()
    tile = next(name for name in texts if name.startswith("TILE=32: handout"))
    assert "labs/scan/handout.md" in texts and texts[tile] != texts["handout.md"]
    for name in ("README.md", "a new page.md", tile):
        text = f"{texts.get(name, '')}\n{made[wide]}\n"
        monkeypatch.setattr(draw, "published_texts", lambda name=name, text=text: {**texts, name: text})
        first, again = ([case.name for suite in hidden(tmp_path / f"{name[:4]} {time}") for case in suite.cases]
                        for time in range(2))
        assert first == again and wide not in first and made.keys() & {*first} == {"square-random-34-34-34"}
    monkeypatch.setattr(draw, "published_texts", lambda: {"a.md": "\nMore rows than a block may have threads"})
    with pytest.raises(BadInput, match='in 20 draws .* refuse, at last a.md:2: says "more rows than'):
        hidden(tmp_path / "none")


def test_ranges_that_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = {"name": "x", "m": [16, 16], "k": 1, "n": "m", "avoid": 16, "fill": "random"}
    with pytest.raises(BadInput, match="f.toml: x: its ranges have no sizes that are left"):
        draw.drawn(kind, draw.random.Random(1), LAB, set(), Path("f.toml"))
    found = draw.drawn(kind | {"m": [17, 31]}, draw.random.Random(1), LAB, set(), Path("f.toml"))
    assert found["m"] == found["n"] and found["name"] == f"x-{found['m']}-1-{found['n']}"


def test_sizes_that_the_lab_refuses_are_drawn_again(tmp_path: Path) -> None:
    """And where all are refused, it says why."""
    asked = []

    class Even(Lab):
        def sizes(self, params: dict[str, int]) -> Any:
            asked.append(params["m"])
            if params["m"] % 2:
                raise ValueError("m has to be even")

    lab = Even(**vars(LAB))
    kind = {"name": "x", "m": [101, 199], "k": 1, "n": 2, "fill": "random"}
    found = [draw.drawn(kind, draw.random.Random(seed), lab, set(), Path("f.toml"))["m"] for seed in range(8)]
    assert len(asked) > 8 and all(m % 2 == 0 for m in found)
    with pytest.raises(BadInput, match="f.toml: x: its ranges have no sizes that are left: m has to be even"):
        draw.drawn(kind | {"m": [101, 101]}, draw.random.Random(1), lab, set(), Path("f.toml"))


@pytest.mark.parametrize(("failures", "helps"), [([], True), (["declares `loses: memory` and loses correct"], False)])
def test_another_seed_is_advised_where_it_may_help(failures: list[str], helps: bool) -> None:
    """Where a faulty kernel goes free, and nothing else is wrong."""
    kernel = prove_cases.Kernel(LAB, Path("x.cu"), "faulty", "correct")
    assert Proof([], [Proved(kernel, [])], failures).only_free == helps
    assert not Proof([], [], failures).only_free


def test_what_was_drawn_wrongly_is_said_of_the_kinds(tmp_path: Path) -> None:
    """Not of a file that is gone."""
    home = tmp_path / "lab"
    (home / "instructor" / "hidden").mkdir(parents=True)
    kind = {"name": "x", "m": 3, "k": 1, "n": 2, "fill": "random", "points": -1}
    (home / "instructor" / "hidden" / "kinds.toml").write_text(draw.toml({"title": "x", "points": {}, "case": [kind]}))
    shutil.copytree(LAB.testcases / "public", home / "testcases" / "public")
    with pytest.raises(BadInput, match="lab/instructor/hidden/kinds.toml: case .*points") as caught:
        draw.suites(replace(LAB, folder=str(home)), SEED, tmp_path / "made")
    assert "made" not in str(caught.value)


def test_what_is_drawn_keeps_all_tables(tmp_path: Path) -> None:
    table = {"title": 'a "b"', "repaired": 0.6, "points": {"memory": 15}, "limits": {"reuse": 3.0},
             "case": [{"name": "x", "m": 3}]}
    path = tmp_path / "made.toml"
    path.write_text(draw.toml(table))
    assert read_toml(path) == table


@pytest.mark.parametrize(("change", "said"), [
    ({"n": "q"}, "KeyError"), ({"m": [31]}, "TypeError"), ({"m": [31, 17]}, "ValueError"), ({"fill": None}, "KeyError"),
])
def test_a_kind_that_cannot_be_drawn(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    kind = {"name": "x", "m": 3, "k": 1, "n": 2, "fill": "random"} | change
    home = tmp_path / "lab"
    (home / "instructor" / "hidden").mkdir(parents=True)
    text = draw.toml({"title": "x", "points": {}, "case": [{k: v for k, v in kind.items() if v is not None}]})
    (home / "instructor" / "hidden" / "kinds.toml").write_text(text)
    shutil.copytree(LAB.testcases / "public", home / "testcases" / "public")

    with pytest.raises(BadInput, match=f"kinds.toml: a case cannot be drawn: {said}"):
        draw.suites(replace(LAB, folder=str(home)), SEED, tmp_path / "made")


# ---- the command ---------------------------------------------------------------------------------


def call(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    module = "instructor.release.prove_cases"
    return python(place, module).run(["-m", module, *words], clean_environment())


@pytest.mark.parametrize("seed", ["", "x", "7", "-271828182845904523", "9" * 30, "2.7", "１２３４５６７８９０１"])
def test_seeds_that_are_none(tmp_path: Path, seed: str) -> None:
    with pytest.raises(BadInput, match=f"^SEED={re.escape(seed)}: it must be a whole number of 10 to 18 digits"):
        draw.suites(LAB, seed, tmp_path)


@pytest.mark.parametrize("words", [[], ["SEED=7"], ["SEED=12345678901234567x"]])
def test_a_seed_is_looked_at_before_packages_are_installed(words: list[str], tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    ended = finished(["make", "hidden", f"VENV={venv}", *words])
    assert ended.returncode == 2 and "10 to 18 digits" in ended.stderr and not venv.exists(), ended.stderr


def test_sound_cases_are_written_and_others_are_not(fresh_tree: Tree) -> None:
    place = fresh_tree.path
    path, kinds = place / "testcases/hidden/shapes.toml", place / "instructor/hidden/shapes.toml"
    example, text = path.read_text(), kinds.read_text()
    asked = (f"--draw={SEED}", "--groups", "starter", "--jobs", "1")
    kinds.write_text(text.replace('gate = "16x16x16"', 'gate = "34x34x34-ones-twos"'))
    ended = call(place, *asked)
    assert ended.returncode == 1 and ended.stdout.endswith("nothing is written\n"), ended.stderr
    assert "which is the same for everybody" in ended.stdout and path.read_text() == example
    kinds.write_text(text)
    ended = call(place, *asked)
    assert ended.returncode == 0 and "testcases/hidden/shapes.toml is written" in ended.stdout, ended.stderr
    drawn = path.read_text()
    assert drawn.startswith("# Drawn by `make hidden`") and drawn != example
    ended = call(place, "--groups", "starter", "--jobs", "1")
    assert "grading 0 submissions" in ended.stderr and "1 are as they were" in ended.stderr
    with open(place / "docs/look.md", "a") as page:
        page.write(" x ".join(re.findall(r"\d+", re.search(r'"wide-.*"', drawn)[0])))  # type: ignore[index]
    ended = call(place, "--files")
    assert ended.returncode == 1
    assert re.search(r"not sound: docs/look.md:\d+: has the sizes of .*/wide-", ended.stdout), ended.stdout


# ---- what is kept --------------------------------------------------------------------------------


class Runs:
    """A grader that notes which cases it grades."""

    def __init__(self) -> None:
        self.graded: list[str] = []

    def __call__(self, kernel: Path, suites: list[Suite]) -> Record:
        self.graded += [case.name for suite in suites for case in suite.cases]
        return fake.grading(kernel.read_text(), suites).run()


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.cu"
    path.write_text("11 34 34: wrong\nright")
    return path


def graded(tmp_path: Path, **changes: Any) -> Graded:
    parts = fake.SimpleNamespace(**vars(fake.PARTS) | changes)
    return Graded(parts, tmp_path / "kept")  # type: ignore[arg-type]


def test_only_what_changed_is_graded_again(tmp_path: Path, kernel: Path) -> None:
    cases = [fake.case("a", 11), fake.case("b", 12), fake.case("c", 13, suite="hidden/h")]
    suites = [fake.suite(*cases[:2]), fake.suite(cases[2], name="hidden/h")]
    with pytest.raises(Missing):
        graded(tmp_path).records(kernel, suites, 1, None)
    runs = Runs()
    first = graded(tmp_path).records(kernel, suites, 1, runs)
    assert runs.graded == ["a", "b", "c"] and [record.score for record in first] == [0, 4, 4]
    assert graded(tmp_path).records(kernel, suites, 1, None) == first
    changed = [fake.suite(cases[0], fake.case("b", 99)), suites[1]]
    assert [record.score for record in graded(tmp_path).records(kernel, changed, 1, runs)] == [0, 4, 4]
    assert runs.graded == ["a", "b", "c", "b"]
    for what in ({"compiler": "another 1.0"}, {}):
        before = len(runs.graded)
        if not what:
            kernel.write_text("right")
        graded(tmp_path, **what).records(kernel, suites, 1, runs)
        assert runs.graded[before:] == ["a", "b", "c"], what
    graded(tmp_path).records(kernel, suites, 2, runs)
    assert runs.graded[-3:] == ["a", "b", "c"]


def test_with_a_gate_all_cases_are_one(tmp_path: Path, kernel: Path) -> None:
    suite = replace(fake.suite(fake.case("a", 11), fake.case("b", 12)), gate="public/basics/a")
    runs = Runs()
    (record,) = graded(tmp_path).records(kernel, [suite], 1, runs)
    assert record.score == 0 and len(record.tests) == 2
    assert graded(tmp_path).records(kernel, [suite], 1, None) == [record]
    assert not [name for name in os.listdir(tmp_path / "kept") if not name.endswith(".json")]


@pytest.mark.parametrize(("old", "new", "said"), [
    ("i < n ? in[i]", "j < n ? in[i]", "last-block-whole in 1_tree: 'j < n ? in[i] : 0.0f' occurs 0 times, not once"),
    ('line = "in[i]"', 'line = "nowhere"', "changes nothing, or no line has 'nowhere'"),
    ('[["1_tree", "t <', '[["2_tree", "t <', "2_tree.cu is neither in faulty/styles nor in solutions"),
    ("did = ", "# ", "no-barrier: lacks did"), ("in = [[", "in [[", "Expected '=' after a key"),
])
def test_an_edit_that_cannot_be_made_is_one_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    shutil.copytree(REPOSITORY / "labs/reduction/instructor", tmp_path / "instructor")
    path = tmp_path / "instructor/faulty/mistakes.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(BadInput) as caught:
        prove_cases.made_of_mistakes(replace(LAB, folder=str(tmp_path)), "*", tmp_path)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_labs_mistakes_are_among_what_is_graded(tmp_path: Path) -> None:
    """One kernel of each; with a glob, all that match."""
    lab = described("labs/scan")
    every = prove_cases.made_of_mistakes(lab, "*", tmp_path)
    known = list(seeded(lab.home / "instructor" / "faulty"))
    assert len(every) == len({each.mistake for each in known}) >= 20
    some = prove_cases.made_of_mistakes(lab, "21_one-buffer*", tmp_path)
    assert [each.path.stem for each in some] == [
        "21_one-buffer_two_buffers", "21_one-buffer-in-global-memory_2_hillis_steele"]
