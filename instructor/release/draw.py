"""`make hidden SEED=...`: hidden suites that nobody has seen, of the kinds that the lab's instructor/hidden
says.

instructor/hidden/NAME.toml is a suite (docs/grading.md) whose sizes are ranges: m = [65, 96], or n = "m" for
as many; `avoid = 16` allows no multiple of that. What is drawn gets its sizes into its name. If `make release` would
find some of it in a file that students get, everything is drawn again. In: a seed, which nobody can guess. Out:
testcases/hidden/NAME.toml; the same seed draws the same, as long as these files are the same.
"""

import json
import os
import random
import re
import shutil
from pathlib import Path
from typing import Any

from grader.cases.read import load_suites, read_toml
from grader.errors import BadInput
from grader.lab import Lab
from instructor.release.layout import published_texts
from instructor.release.leaks import leaks_of
from instructor.release.repository import REPOSITORY

TRIES = 1000
DRAWS = 20  # of which students get a part of one in seven, by chance
HEAD = "# Drawn by `make hidden` from instructor/hidden/{name}: nobody has seen these cases.\n\n"


def suites(lab: Lab, seed: str, folder: Path) -> Path:
    """A folder of test cases below `folder`: the lab's public ones, and hidden ones that were drawn. Raises
    BadInput."""
    number = seed_in(seed)
    place = lab.home / "instructor" / "hidden"
    kinds = sorted(place.glob("*.toml"))
    if not kinds:
        raise BadInput(f"{os.path.relpath(place, REPOSITORY)}: no kinds of cases here: write NAME.toml, a suite as in "
                       "testcases/hidden with ranges for sizes, such as n = [65, 95] (docs/instructor.md)")
    shutil.copytree(lab.testcases / "public", folder / "public")
    (folder / "hidden").mkdir()
    texts = published_texts()
    for time in range(DRAWS):
        write(lab, kinds, f"{number} {time}" if time else f"{number}", folder)
        try:
            found = leaks_of(load_suites(lab, "all", folder), texts)
        except BadInput as wrong:  # what was drawn is gone when this is read
            raise BadInput(str(wrong).replace(str(folder / "hidden"), os.path.relpath(place, REPOSITORY))) from None
        if not found:
            return folder
    raise BadInput(f"{os.path.relpath(place, REPOSITORY)}: in {DRAWS} draws there was always something that "
                   f"`make release` would refuse, at last {found[0]}; {found[0].instead}")


def write(lab: Lab, kinds: list[Path], seed: str, folder: Path) -> None:
    """One draw. Raises BadInput."""
    used = {frozenset(item.params.items()) for suite in load_suites(lab, "public") for item in suite.items}
    for path in kinds:
        table = read_toml(path)
        if "performance" in table:
            raise BadInput(f"{path}: performance: shapes for speed are not drawn")
        rng = random.Random(f"{path.name} {seed}")
        try:
            table["case"] = [drawn(case, rng, lab, used, path) for case in table.get("case", [])]
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{path}: a case cannot be drawn: {error!r}; each has a name, a fill, and of each parameter "
                           "a number, a range [least, most], or the name of another one") from None
        (folder / "hidden" / path.name).write_text(HEAD.format(name=path.name) + toml(table), encoding="utf-8")


def publish(lab: Lab, folder: Path) -> list[Path]:
    """In place of the lab's hidden suites of these names."""
    made = []
    for path in sorted((folder / "hidden").glob("*.toml")):
        made.append(lab.testcases / "hidden" / path.name)
        made[-1].parent.mkdir(exist_ok=True)
        shutil.copyfile(path, made[-1])
    return made


def seed_in(text: str) -> int:
    """Raises BadInput."""
    if not re.fullmatch(r"[1-9][0-9]{9,17}", text):
        raise BadInput(f"SEED={text[:40]}: it must be a whole number of 10 to 18 digits that nobody can guess, "
                       "such as `od -An -N7 -tu8 /dev/urandom` gives")
    return int(text)


def drawn(kind: dict[str, Any], rng: random.Random, lab: Lab, used: set[frozenset[tuple[str, int]]],
          path: Path) -> dict[str, Any]:
    """A case of this kind that is no other one. Raises BadInput."""
    avoid, refused = kind.get("avoid", 0), ""
    for _ in range(TRIES):
        params = sizes(kind, rng, lab)
        try:
            lab.sizes(params)
        except ValueError as wrong:
            refused = f": {wrong}"
            continue
        if avoid and any(isinstance(kind[name], list) and size % avoid == 0 for name, size in params.items()):
            continue
        if frozenset(params.items()) in used and any(isinstance(kind[name], list) for name in params):
            continue
        used.add(frozenset(params.items()))
        fills = kind["fill"] if isinstance(kind["fill"], list) else [kind["fill"]]
        name = "-".join([kind["name"], *map(str, params.values())])
        return {key: value for key, value in kind.items() if key != "avoid"} | params | {
            "name": name, "fill": rng.choice(fills)}
    raise BadInput(f"{path}: {kind.get('name')}: its ranges have no sizes that are left{refused}")


def sizes(kind: dict[str, Any], rng: random.Random, lab: Lab) -> dict[str, int]:
    """Of a parameter: itself, a number of a range, or that of another parameter."""
    found: dict[str, int] = {}
    for name in sorted(lab.params, key=lambda name: isinstance(kind.get(name), str)):
        said = kind.get(name)
        if isinstance(said, list):
            found[name] = rng.randint(*said)
        else:
            found[name] = found[said] if isinstance(said, str) else said  # type: ignore[assignment]
    return {name: found[name] for name in lab.params}


def toml(table: dict[str, Any]) -> str:
    """As read_toml() reads it."""
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()
             if key != "case" and not isinstance(value, dict)]
    for name, numbers in table.items():
        if isinstance(numbers, dict):
            lines += ["", f"[{name}]", *(f"{key} = {value}" for key, value in numbers.items())]
    for case in table["case"]:
        lines += ["", "[[case]]", *(f"{key} = {json.dumps(value, ensure_ascii=False)}"
                                    for key, value in case.items())]
    return "\n".join(lines) + "\n"
