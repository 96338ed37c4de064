"""Shapes like the published ones, on which a submission is tried where hidden cases count: one that
is right on most published shapes, and in not one element of C on these, knows the shapes by heart
instead of computing the product (docs/security.md). In: cases; out: problems for run/."""

from __future__ import annotations

import random

from .cases.model import Case
from .run.limits import Problem

NEIGHBORS = 3
LARGEST_NEIGHBOR = 60  # small, so that the audit takes no time, and several tiles wide
ONE_TILE = 16  # the usual tile: up to here a kernel needs one block and one phase
WIDEST_STEP = 32  # the largest tile or vector in use
LAUNCH_SECONDS = 2.0
TRIES = 20  # draws for each published shape

Shape = tuple[int, int, int]  # m k n


def neighbors(public: list[Case], right: list[Case], seed: int) -> list[Problem]:
    """Unpublished shapes like those in `right`, the public cases that a submission passes: an
    honest kernel that multiplies the one gets some element of the other right. Empty if it fails
    half of the public cases, or if there are no such shapes."""
    draw = random.Random(seed)
    # Inputs that are known beforehand come out right by many an honest mistake.
    tried, known = ([case for case in cases if case.fill == "random"] for cases in (public, right))
    if 2 * len(known) <= len(tried):
        return []
    published = {shape_of(case) for case in public}
    patterns = [case for case in known if min(shape_of(case)) > 1]
    draw.shuffle(patterns)
    found: list[Problem] = []
    for case in patterns * TRIES:
        shape = shape_like(case, draw)
        if shape and shape not in published and len(found) < NEIGHBORS:
            m, k, n = shape
            found.append(Problem(m=m, n=n, k=k, fill="random", seed=draw.getrandbits(63),
                                 tolerance=None, time_limit=LAUNCH_SECONDS))
    return found


def shape_of(case: Case) -> Shape:
    return case.m, case.k, case.n


def shape_like(case: Case, draw: random.Random) -> Shape | None:
    """With the same of m, k and n equal, and the same larger; None if this draw gives none."""
    old = sorted(set(shape_of(case)))
    new = [draw.choice(sizes_like(size)) for size in old]
    if new != sorted(set(new)):
        return None
    m, k, n = (new[old.index(size)] for size in shape_of(case))
    return m, k, n


def sizes_like(size: int) -> list[int]:
    """No larger, on the same side of one tile, and divisible by the same power of two: what a
    kernel without guards, with one block, one phase or arrays of fixed size still multiplies."""
    step = min(size & -size, WIDEST_STEP)
    least = 2 if size <= ONE_TILE else ONE_TILE + 1
    return [like for like in range(least, min(size, LARGEST_NEIGHBOR) + 1) if like % step == 0]
