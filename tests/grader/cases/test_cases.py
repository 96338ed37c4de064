"""Test cases are data: what is shipped keeps the promises of docs/grading.md, what is wrong with a
file is reported in one line that names file, case, key and what is allowed, whatever its bytes."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from grader_fake import LAB
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import ROOT
from grader.cases.model import Case, Suite
from grader.cases.read import LARGEST_FILE, load_suites, of_cases
from grader.criteria import unknown_limits
from grader.errors import BadInput

TESTCASES = LAB.testcases
ROOT_CASE = "public/basics/16x16x16"
GOOD = {"name": "a", "m": 3, "k": 4, "n": 5, "fill": "random", "points": 2}


FAST = {"name": "f", "m": 512, "k": 512, "n": 512, "points": 2, "none": 0.3, "full": 0.9}


def toml(*cases: dict[str, Any], title: str = 'title = "T"', **more: Any) -> str:
    """JSON's strings, numbers, lists and booleans are TOML's, too, except inf and nan. What has
    limits for speed is a [[performance]]; `more` is of the suite."""
    text = title + "\n" + lines_of(more)
    for case in cases:
        text += "[[performance]]\n" if "none" in case or "full" in case else "[[case]]\n"
        text += lines_of(case)
    return text


def lines_of(table: dict[str, Any]) -> str:
    text = ""
    for key, value in table.items():
        if isinstance(value, dict):
            inside = ", ".join(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in value.items())
            text += f"{json.dumps(key)} = {{ {inside} }}\n"
        else:
            shown = repr(value) if isinstance(value, float) else json.dumps(value)
            text += f"{json.dumps(key)} = {shown}\n"
    return text


@pytest.fixture
def testcases(tmp_path: Path) -> Path:
    """An empty testcases/."""
    for half in ("public", "hidden"):
        (tmp_path / half).mkdir()
    return tmp_path


def write(testcases: Path, name: str, *cases: dict[str, Any], **more: Any) -> Path:
    path = testcases / f"{name}.toml"
    path.write_text(toml(*cases, **more), encoding="utf-8")
    return path


def refused(testcases: Path, which: str = "public") -> str:
    with pytest.raises(BadInput) as caught:
        load_suites(LAB, which, testcases)
    return str(caught.value)


def complaint(testcases: Path, *cases: dict[str, Any], **more: Any) -> str:
    write(testcases, "public/p", *cases, **more)
    return refused(testcases)


# ---- what is shipped -----------------------------------------------------------------------------


def all_cases() -> list[Case]:
    return [case for suite in load_suites(LAB, "all") for case in suite.cases]


def test_shipped_cases_are_worth_100_points() -> None:
    """As the handout's table has them, in whole numbers, so that nothing is rounded where a platform has no others."""
    assert 20 <= len(all_cases()) <= 25
    assert all(case.points == int(case.points) > 0 for case in all_cases())
    worth = {suite.name: (sum(case.points for case in suite.cases), suite.points)
             for suite in load_suites(LAB, "all") if suite.cases}
    assert worth == {"public/basics": (20, {"memory": 11, "tiled": 9}),
                     "hidden/shapes": (33, {"memory": 15, "tiled": 12})}
    rows = [line.split("|")[2:4] for line in (ROOT / "handout.md").read_text().splitlines()
            if re.match(r"\| .*\|( \**\d+\** \|){2}$", line)]
    found = [[int(cell.strip(" *")) for cell in row] for row in rows]
    assert found == [[20, 33], [11, 15], [9, 12], [40, 60]]
    assert {suite.repaired for suite in load_suites(LAB, "all") if suite.cases} == {0.6}
    assert "60 %" in (ROOT / "handout.md").read_text()


def test_everything_rests_on_one_product_that_cannot_be_guessed() -> None:
    """So that constants, copies and half results earn nothing."""
    root = next(case for case in all_cases() if case.key == ROOT_CASE)
    assert (root.shape, root.fill) == ("16 16 16", "random")
    assert {suite.gate for suite in load_suites(LAB, "all")} == {ROOT_CASE}
    assert all("memory" in case.asked for case in all_cases())


def test_hidden_cases_have_shapes_of_each_kind() -> None:
    hidden = [case for case in all_cases() if case.hidden]
    shapes = [tuple(case.params.values()) for case in hidden]
    assert any(m > k > n for m, k, n in shapes) and any(m < k < n for m, k, n in shapes)
    assert any(k == 1 for _, k, _ in shapes) and any(1 < k < 16 for _, k, _ in shapes)
    assert any(m > 1024 for m, _, _ in shapes) and any(n > 1024 for _, _, n in shapes)
    assert {"exact", "extremes"} <= {case.fill for case in hidden}
    assert max(case.sizes.operations for case in all_cases()) <= 30e6
    for case in all_cases():
        assert "tiled" not in case.asked or min(case.params.values()) >= 48, case.name
    seen = "".join(path.read_text() for path in (TESTCASES / "public").glob("*.toml"))
    assert not any(case.name in seen for case in hidden)


def test_time_limits_grow_with_the_product(testcases: Path) -> None:
    """The largest product has the largest limit that a case may have."""
    for shape, least, most in (((16, 16, 16), 2, 2.1), ((120, 201, 250), 2.1, 5), ((2077, 2077, 2077), 590, 600)):
        write(testcases, "public/p", GOOD | dict(zip("mkn", shape, strict=True)))
        (suite,) = load_suites(LAB, "public", testcases)
        assert least < suite.cases[0].launch_seconds <= most


# ---- what is wrong -------------------------------------------------------------------------------

WRONG = [
    ({"m": 0}, "m = 0: it must be a whole number from 1 to 2147483647"),
    ({"m": 1 << 31}, "m = 2147483648: it must be a whole number from 1 to 2147483647"),
    ({"m": 3.0}, "m = 3.0: it must be a whole number"),
    ({"m": True}, "m = True: it must be a whole number"),
    ({"m": None}, "m: is missing; it must be a whole number"),
    ({"name": None}, "case 1: name: is missing"),
    ({"name": "a b"}, "name = 'a b': it must be 1 to 40 letters"),
    ({"name": "../a"}, "name = '../a': it must be"),
    ({"fill": "rnd"}, "fill = 'rnd': it must be one of random, ones-twos, identity, index,"),
    ({"points": -1}, "points = -1: it must be a number from 0 to 1000"),
    ({"points": float("nan")}, "points = nan: it must be a number"),
    ({"tolerance": "loose"}, "tolerance = 'loose': it must be one of float32, bound, exact"),
    ({"tolerance": "float32", "fill": "exact"}, "tolerance = 'float32': with the fill exact it must be one of bound"),
    ({"tolerance": "exact"}, "tolerance = 'exact': with the fill random it must be one of float32, bound"),
    ({"time_limit": 601}, "time_limit = 601: it must be CPU seconds, from 0.1 to 600"),
    ({"m": 40000, "k": 1, "n": 40000}, "m k n = 40000 1 40000: its arrays would have 6.0 GiB"),
    ({"m": 70000, "k": 1, "n": 70000}, "C would be 70000 x 70000 = 4,900,000,000 elements"),
    ({"m": 2078, "k": 2078, "n": 2078, "time_limit": 1}, "m k n = 2078 2078 2078: the time limit "
     "would be 601 s; at most 600 s are allowed"),
    ({"hint": "two\nlines"}, "hint = 'two\\nlines': it must be one line"),
    ({"title": 3}, "title = 3: it must be one line"),
    ({"criteria": ["memry"]}, "criteria = ['memry']: it must be a list of some of memory, tiled"),
    ({"criteria": ["tiled"]}, "criteria: the file has no points for tiled, below [points]"),
    ({"poins": 3}, "unknown key 'poins'; did you mean 'points'?"),
    ({"qqq": 3}, "unknown key 'qqq'; allowed: name, title"),
]


WRONG_SPEED = [
    ({"none": -0.1}, "none = -0.1: it must be a ratio from 0 to 10"),
    ({"none": 0.9}, "none = 0.9, full = 0.9: none, where points begin, must be less than full"),
    ({"full": None}, "full: is missing; it must be a ratio"),
    ({"m": 511}, "m k n = 511 512 512: 2.68e+08 operations are too few "
                 "for a meaningful time; it takes 2.68e+08"),
    ({"fill": "random"}, "unknown key 'fill'; "),
    ({"criteria": ["memory"]}, "unknown key 'criteria'; allowed: name, title, m, k, n, points"),
    ({"nome": 0.3}, "unknown key 'nome'; did you mean 'none'?"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), WRONG + WRONG_SPEED)
def test_a_mistake_is_reported_in_one_line(testcases: Path, change: dict[str, Any], words: str) -> None:
    of_speed = (change, words) in WRONG_SPEED
    table = {key: value for key, value in ((FAST if of_speed else GOOD) | change).items() if value is not None}
    text = complaint(testcases, *([GOOD] if of_speed else []), table)
    assert words in text and "\n" not in text
    assert text.startswith(f"{testcases}/public/p.toml: {'performance' if of_speed else 'case'} ")
    assert "name" in change or f" {table['name']!r}: " in text


def test_few_operations_on_much_memory_take_time_enough(testcases: Path) -> None:
    write(testcases, "public/p", GOOD, FAST | {"m": 4096, "k": 1, "n": 4096})
    assert load_suites(LAB, "public", testcases)[0].performance[0].sizes.operations < 2.68e8
    assert "or arrays of 64 MiB" in complaint(testcases, GOOD, FAST | {"m": 4096, "k": 1, "n": 4000})


def test_a_performance(testcases: Path) -> None:
    """Between cases or in a file of its own, with its gate in a public suite."""
    write(testcases, "public/p", GOOD, FAST)
    write(testcases, "public/q", FAST | {"title": "T", "hint": "H"}, gate="a")
    write(testcases, "hidden/h", FAST | {"name": "g"}, gate="a")
    p, q, h = load_suites(LAB, "all", testcases)
    assert names([p, q, h]) == ["public/p/a 2"]
    assert [each.key for suite in (p, q, h) for each in suite.performance] == [
        "public/p/f", "public/q/f", "hidden/h/g"]
    assert (p.gate, q.gate, h.gate) == ("", "public/p/a", "public/p/a")
    assert h.performance[0].hidden and not q.performance[0].hidden
    assert p.performance[0].shape == "512 512 512"


def test_several_mistakes_are_told_together_and_not_endlessly(testcases: Path) -> None:
    text = complaint(testcases, GOOD | {"m": 0, "k": 0}, GOOD | {"name": "b", "fill": "x"})
    assert len(text.splitlines()) == 3
    many = [GOOD | {"name": f"n{i}", "m": 0} for i in range(50)]
    assert len(complaint(testcases, *many).splitlines()) <= 10
    for twice in ((GOOD, GOOD), (FAST, FAST), (GOOD, FAST | {"name": "a"})):
        assert "name: another case of this file has the same" in complaint(testcases, *twice)


SUITE = toml(GOOD, title="")


@pytest.mark.parametrize(("content", "words"), [
    ("", "title: it must be"), (toml(GOOD, title="title = 3"), "title: it must be one line"),
    ('title = "T"', "each case begins with a line [[case]]"),
    ('title = "T"\ncase = 3', "each case begins with a line [[case]]"),
    ('title = "T"\nperformance = 3\n' + SUITE, "with [[performance]]; there is none"),
    ('titel = "T"\n' + SUITE, "unknown key 'titel'; did you mean 'title'?"),
    (toml(GOOD) + "[[performence]]\n", "unknown key 'performence'; did you mean 'performance'?"),
    ("title = [[[", "not TOML"), ("title = " + "[" * 10_000, ""), ("seed = " + "9" * 10_000, ""),
    (b"title = '\xff'", "not UTF-8"), (b" " * (LARGEST_FILE + 1), f"more than {LARGEST_FILE} bytes"),
    *((toml(GOOD, **more), words) for more, words in (
        ({"gate": "b"}, "gate: there is no case 'b'; allowed: a"),
        ({"gate": "aa"}, "gate: there is no case 'aa'; did you mean 'a'?"),
        ({"gate": 3}, "gate = 3: it must be the name of a case"),
        ({"repaired": 1.5}, "repaired = 1.5: it must be a number from 0 to 1"),
        ({"points": 3}, "points: it must be a table, [points]"),
        ({"points": {"memry": 3}}, "points: unknown criterion 'memry'; did you mean 'memory'?"),
        ({"points": {"memory": -1}}, "points: memory = -1: it must be a number from 0 to 1000"),
        ({"points": {"tiled": 3}}, "points: no case asks for tiled"),
        ({"limits": 8}, "limits: it must be a table, [limits]"),
        ({"limits": {"reuse": 0}}, "limits: reuse = 0: it must be a number above 0"))),
])  # fmt: skip
def test_what_is_wrong_with_a_suite(testcases: Path, content: str | bytes, words: str) -> None:
    (testcases / "public/p.toml").write_bytes(content.encode() if isinstance(content, str) else content)
    said = refused(testcases)
    assert said.startswith(f"{testcases}/public/p.toml: ") and words in said


@pytest.mark.parametrize(("which", "words"), [
    ("none.toml", "No such file"), (".", "Is a directory"), ("a\0b", "cannot read this file"),
    *((which, "no test cases here, where a student's copy has none; SUITE=public is without them")
      for which in ("hidden", "all")),
])  # fmt: skip
def test_suites_that_cannot_be_read(testcases: Path, which: str, words: str) -> None:
    write(testcases, "public/p", GOOD)
    said = refused(testcases, which)
    assert words in said and "\n" not in said


# ---- points of a whole suite, and its gate -------------------------------------------------------

def names(suites: list[Suite]) -> list[str]:
    return [f"{case.key} {case.points:g}" for suite in suites for case in suite.cases]


POINTS = {"memory": 3, "tiled": 4}


def test_a_suite_brings_its_gate(testcases: Path) -> None:
    """For no points: it is not what was asked for."""
    write(testcases, "public/p", GOOD, GOOD | {"name": "b"}, FAST, points={"memory": 3}, gate="b")
    write(testcases, "hidden/h", GOOD | {"name": "d"}, gate="b")
    assert names(load_suites(LAB, "hidden", testcases)) == ["public/p/b 0", "hidden/h/d 2"]
    beside = load_suites(LAB, "hidden", testcases)[0]
    assert not (beside.points or beside.performance or beside.gate or beside.cases[0].asked)
    assert names(load_suites(LAB, "all", testcases)) == ["public/p/a 2", "public/p/b 2", "hidden/h/d 2"]
    assert {suite.gate for suite in load_suites(LAB, "all", testcases)} == {"public/p/b"}
    one = load_suites(LAB, str(testcases / "hidden" / "h.toml"), testcases)
    assert names(one)[-1] == "hidden/h/d 2" and one[-1].hidden and one[-1].cases[0].hidden


def test_which_cases_ask_for_what(testcases: Path) -> None:
    write(testcases, "public/p", GOOD, GOOD | {"name": "b", "criteria": ["memory", "tiled"]},
          GOOD | {"name": "c", "criteria": []}, points=POINTS, repaired=0.5)
    [suite] = load_suites(LAB, "public", testcases)
    assert [case.asked for case in suite.cases] == [["memory"], ["memory", "tiled"], []]
    assert (suite.points, suite.repaired, suite.worth) == (POINTS, 0.5, 13)
    assert suite.marks == ["public/p/memory", "public/p/tiled"]
    write(testcases, "public/p", GOOD)
    assert load_suites(LAB, "public", testcases)[0].cases[0].asked == []


def test_limits_of_criteria(testcases: Path) -> None:
    """They are the cases', and make other cases of them; a name that no criterion has is a mistake."""
    write(testcases, "public/p", GOOD, points={"memory": 1})
    usual = load_suites(LAB, "public", testcases)
    write(testcases, "public/p", GOOD, points={"memory": 1}, limits={"reuse": 8})
    changed = load_suites(LAB, "public", testcases)
    assert changed[0].cases[0].limits == {"reuse": 8} and not usual[0].cases[0].limits
    assert of_cases(changed) != of_cases(usual) and unknown_limits(LAB, changed) == []
    write(testcases, "public/p", GOOD, points={"memory": 1}, limits={"re-use": 8})
    (said,) = unknown_limits(LAB, load_suites(LAB, "public", testcases))
    assert said == f"{testcases}/public/p.toml: limits: unknown limit 're-use'; there are exchanged, reuse"


def test_a_gate_in_several_public_suites(testcases: Path) -> None:
    for name in ("p", "q"):
        write(testcases, f"public/{name}", GOOD)
    write(testcases, "hidden/h", GOOD | {"name": "d"}, gate="a")
    assert "'a' is in several public suites" in refused(testcases, "hidden")


def test_a_suite_from_elsewhere(testcases: Path) -> None:
    write(testcases, "my suite é", GOOD)
    suite = load_suites(LAB, f"{testcases}/my suite é.toml", testcases / "none")[0]
    assert suite.name == "my suite é" and not suite.hidden


KEYS = st.sampled_from([*Case.keys(LAB), "none", "full", "suite", "x"])
SIMPLE = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.booleans(), st.text(max_size=50),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["random", "exact", "correct", "a", "public/a"]),
)  # fmt: skip
VALUES = st.one_of(SIMPLE, st.lists(SIMPLE, max_size=3),
                   st.dictionaries(st.sampled_from(["correct", "tiled", "x", ""]), SIMPLE))


@settings(max_examples=100, deadline=None, database=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(changes=st.lists(st.dictionaries(KEYS, VALUES, max_size=3), min_size=1, max_size=3))
def test_any_values_give_suites_or_one_complaint(testcases: Path, changes: list[dict[str, Any]]) -> None:
    cases = [GOOD | {"name": f"n{i}"} | change for i, change in enumerate(changes)]
    (testcases / "public" / "p.toml").write_bytes(toml(*cases).encode("utf-8", "replace"))
    try:
        assert load_suites(LAB, "public", testcases)
    except BadInput as error:
        assert all(line.isprintable() and len(line) < 1000 for line in str(error).splitlines())
