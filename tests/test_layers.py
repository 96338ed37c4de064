"""Layers: who includes and calls whom. No folder of engine/ uses one that is above it, and no files need
each other in a circle.

A unit is a C file with the header of its name. An arrow is an #include, or a symbol that one object
leaves undefined and another one defines.
"""

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from conftest import Tree, need

# From the bottom up; a unit belongs to the first of these that its path begins with.
LAYERS = ("engine/finding", "engine/report/element_type", "engine/report/text/text",
          "engine/report/words/vocabulary", "engine/report/record/sentences", "engine/engine",
          "engine/lab", "engine/report", "engine/cores", "engine/form",
          "engine/cuda", "engine/watch", "engine/explain",
          "engine/show", "lab", "engine/host", "support")
# Linked in place of others, whose names they define.
INSTEAD = re.compile("engine/host/(program|no_mistakes)/")
# Declared by the form of a lab, engine/lab.h: the linker brings one lab's.
OF_THE_FORM = {"lab", "lab_call", "lab_truth", "lab_lessons", "lab_rules"}


def layer(unit: str) -> int | None:
    return next((i for i, path in enumerate(LAYERS) if unit.startswith(path)), None)


def includes(root: Path) -> Iterator[tuple[str, str]]:
    for path in [*root.glob("engine/**/*"), *root.glob("lab/**/*"), *root.glob("support.*")]:
        if path.suffix not in {".c", ".h", ".cu"} or "cuda/include" in path.as_posix():
            continue
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE):
            for base in (path.parent, root):
                found = (base / name).resolve()
                if found.is_file() and found.suffix in {".c", ".h"}:
                    yield unit_of(path, root), unit_of(found, root)
                    break


def unit_of(path: Path, root: Path) -> str:
    name = path.resolve().relative_to(root.resolve())
    return name.with_suffix("").as_posix()


def compile_units(root: Path) -> None:
    """Each file by itself, into build/units: make compiles the files of a library as one text."""

    def compile_unit(source: Path) -> None:
        made = root / "build/units" / source.relative_to(root).with_suffix(".o")
        made.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([need("cc"), "-std=c11", "-O0", "-pthread", "-c", source, "-o", made], check=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = [root / "support.c", *root.glob("engine/**/*.c"), *root.glob("lab/**/*.c")]
        list(pool.map(compile_unit, (s for s in sources if not INSTEAD.search(s.as_posix()))))


def calls(root: Path) -> Iterator[tuple[str, str]]:
    """By objects: those of CUDA are what a build has left."""
    defined: dict[str, str] = {}
    undefined: dict[str, list[str]] = defaultdict(list)
    for folder in ("build/units", "build/cpu"):
        for path in (root / folder).glob("**/*.o"):
            unit = path.relative_to(root / folder).with_suffix("").as_posix()
            if layer(unit) is None:
                continue
            listed = subprocess.run([need("nm"), path], capture_output=True, text=True, check=True)
            for line in listed.stdout.splitlines():
                match line.split():
                    case [kind, name] if kind in "Uw":
                        undefined[unit].append(name)
                    case [_, kind, name] if kind in "TDBRV":
                        defined.setdefault(name, "engine/lab" if name in OF_THE_FORM else unit)
    for unit, names in undefined.items():
        yield from ((unit, defined[name]) for name in names if name in defined)


@pytest.fixture(scope="module", params=["includes", pytest.param("calls, too", marks=pytest.mark.slow)])
def arrows(request: pytest.FixtureRequest, tree: Tree) -> set[tuple[str, str]]:
    """By day of #includes alone, for which nothing is compiled."""
    found = {*includes(tree.path)}
    assert ("engine/watch/shadow/cells", "engine/watch/shadow/shadow") in found
    if request.param != "includes":
        tree.make("sgemm", "sgemm-check", "BACKEND=cpu")
        compile_units(tree.path)
        found |= {*calls(tree.path)}
        assert ("engine/watch/access", "engine/watch/shadow/shared") in found
    return {(one, other) for one, other in found
            if one != other and layer(one) is not None and layer(other) is not None}


def test_no_circle(arrows: set[tuple[str, str]]) -> None:
    order: TopologicalSorter[str] = TopologicalSorter()
    for one, other in arrows:
        order.add(one, other)
    try:
        order.prepare()
    except CycleError as circle:
        pytest.fail(f"these need each other: {circle.args[1]}")


def test_no_arrow_points_up(arrows: set[tuple[str, str]]) -> None:
    up = {(one, other) for one, other in arrows if (layer(one) or 0) < (layer(other) or 0)}
    assert up == set(), "a layer uses one above it"
