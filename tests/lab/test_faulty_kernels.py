"""./sgemm fails faulty kernels and explains what it can, as their heads declare (corpus.py).

A failure here means that a student hands in a wrong kernel and believes it right, or is given
points for it.
"""

import re
from collections.abc import Callable

import pytest
from conftest import first_of_each, run_sgemm, sample
from corpus import FAULTS, Fault, faulty

KERNELS = [fault for fault in FAULTS if fault.fails]
THIRD = 3  # of these families by day; test_explain.c has each explanation


def cases(key: str, family: Callable[[tuple[Fault, str]], str] = lambda each: number(each[0]),
          ) -> pytest.MarkDecorator:
    """In `make test` one of each third number, or other family."""
    values = [(wrong, case) for wrong in KERNELS for case in getattr(wrong, key)]
    return pytest.mark.parametrize(("wrong", "case"), first_of_each(values, family, THIRD),
                                   ids=[f"{wrong.path.stem}: {case}" for wrong, case in values])


def number(fault: Fault) -> str:
    return fault.path.stem[:2]


def run_case(tree, wrong: Fault, backend: str, case: str):
    if backend not in wrong.backends:
        pytest.skip(f"{wrong.path.stem} is wrong by chance only on {backend}")
    return run_sgemm(tree.build(wrong.path, BACKEND=backend), *case.split())


@cases("fails")
def test_fails(tree, wrong, backend, case):
    run = run_case(tree, wrong, backend, case)
    assert run.status == 1, f"{wrong.path} is wrong, but\n{run.output}"
    for words in wrong.reports:
        assert words in " ".join(run.output.split())  # a long path breaks a line


@cases("passes")
def test_passes_by_luck(tree, wrong, backend, case):
    """The files say why simple cases are not enough; were that untrue, they would mislead
    an author of test cases."""
    run = run_case(tree, wrong, backend, case)
    assert run.status == 0, f"{wrong.path} should be right here, but\n{run.output}"


def plain(text: str) -> str:
    """Without line breaks, and without numbers: where blocks overwrite each other these differ from
    run to run."""
    return re.sub(r"\d+", "N", " ".join(text.split()))


@cases("explains", family=lambda each: each[1].split()[0])
def test_is_explained(tree, wrong, case):
    """On the CPU backend: a GPU's NaN do not say where they came from."""
    name, shape = re.fullmatch(r"(\S+) \((.*)\)", case).groups()
    run = run_sgemm(tree.build(wrong.path), *shape.split(), "--seed", 1, "--json")
    explanations = run.json["explanations"]
    assert [each["formula"] for each in explanations] == [name] * (name != "nothing")
    report = run_sgemm(tree.build(wrong.path), *shape.split(), "--seed", 1).stdout
    for each in explanations:
        said = name != "none-written"  # which the report says in its own words
        assert (plain(each["text"]) in plain(report)) == said
        assert (plain("hint: " + each["hint"]) in plain(report)) == said
        assert 0 < each["explained"] <= each["of"]


@pytest.mark.parametrize("fill", ["identity", "index", "exact", "extremes", "ones-twos"])
@pytest.mark.parametrize(
    "name",
    sample(["18_first_tile_only", "18_nan", "18_infinity", "10_adds_to_c", "18_k_in_whole_tiles"], every=4),
)
def test_fails_with_every_fill(tree, name, fill):
    """No fill's tolerance may be so wide that everything fits."""
    program = tree.build(faulty(name))
    assert run_sgemm(program, 34, "--fill", fill).status == 1
