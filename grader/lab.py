"""The lab: what the submissions are of, as its own description says (engine/lab.h). Whatever the grader
says or decides about one assignment is in it; nothing else here knows one.

In: build/lab, a program that prints that description (engine/host/lab_json.c). Out: a Lab.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from . import ROOT
from .errors import MachineFault
from .process import completed
from .text import listed

ANY_LAB = ("memory",)  # what every lab's cases may ask for beside a correct result
Params = Mapping[str, int]  # in the order of the command line


class Param(NamedTuple):
    least: int
    most: int


class Kind(NamedTuple):
    """Of findings."""

    headline: str
    hint: str


class Sizes(NamedTuple):
    """Of a run with given parameters."""

    bytes: int  # of all arrays
    outputs: int  # elements of them
    operations: float
    least_loads: int


@dataclass(frozen=True, eq=False)
class Lab:
    folder: str  # relative to the project's root: "lab"
    program: Path  # asked about sizes
    name: str
    title: str
    version: str
    kernel: str | None  # that every submission defines; None: it may be called anything
    wrapper: str
    parameters: str
    """"int m, const float *A": as the wrapper declares them."""
    arguments: Sequence[str]
    params: Mapping[str, Param]  # in the order of the command line
    inputs: Sequence[str]
    outputs: Sequence[str]
    """Names of arrays."""
    fills: Mapping[str, Sequence[str]]  # and which comparisons each allows
    comparisons: Sequence[str]  # the first: as the fill allows. Empty: there is one only.
    beside: str  # what kernels are timed beside on a GPU: "cuBLAS"; "a copy", in the GPU's memory
    marks: Sequence[str]  # criteria that cases may ask for beside a correct result
    kinds: Mapping[str, Kind]

    @property
    def home(self) -> Path:
        """Where kernel.cu, testcases/ and criteria/ are: a lab in a folder of its own has them there."""
        return ROOT if self.folder == "lab" else ROOT / self.folder

    @property
    def testcases(self) -> Path:
        return self.home / "testcases"

    @property
    def result(self) -> str:
        """What is computed, in a sentence: "C"."""
        return listed(self.outputs)

    @property
    def arrays(self) -> str:
        """"A, B and C"."""
        return listed([*self.inputs, *(each for each in self.outputs if each not in self.inputs)])

    def words(self, params: Params) -> list[str]:
        """As they are typed."""
        return [str(params[name]) for name in self.params]

    def sizes(self, params: Params) -> Sizes:
        """Raises ValueError, with the lab's reason, where kernels may not be called with them."""
        found = answer(self.program, tuple(self.words(params)))
        if isinstance(found, str):
            raise ValueError(found)
        return found


@functools.cache
def read(folder: str, program: Path) -> Lab:
    said = json.loads(program.with_name("lab.json").read_bytes())
    params = {each["name"]: Param(each["least"], each["most"]) for each in said["params"]}
    inputs, outputs = ([each["name"] for each in said["arrays"] if each["role"] in (role, "in-out")]
                       for role in ("input", "output"))
    return Lab(
        folder, program, said["lab"], said["title"], said["version"], said["kernel"], said["wrapper"],
        said["parameters"], said["arguments"], {name: params[name] for name in said["command_line"]}, inputs, outputs,
        {name: fill or said["comparisons"][1:] for name, fill in said["fills"].items()},
        said["comparisons"], said["beside"], [*ANY_LAB, *said["criteria"]],
        {kind: Kind(each["headline"], each["hint"] or "") for kind, each in said["findings"].items()})


@functools.cache
def answer(program: Path, words: tuple[str, ...]) -> Sizes | str:
    """What a run takes, or why there is none. Raises MachineFault."""
    try:
        ran = completed([str(program), *words])
    except OSError as error:
        raise MachineFault(f"{program}: {error.strerror}") from error
    if ran.returncode == 2:
        return ran.stderr.strip()
    if ran.returncode != 0:
        raise MachineFault(f"{program} ended with {ran.returncode}")
    said: dict[str, Any] = json.loads(ran.stdout)
    return Sizes(*map(said.__getitem__, Sizes._fields))
