"""Which compilers build the grader's parts and submissions, and for which GPU."""

from __future__ import annotations

import functools
import os
import re
import shutil

from .. import ROOT
from ..errors import MachineFault
from ..process import completed


def compilers() -> dict[str, str]:
    """CC and CXX as the environment or make's own defaults have them."""
    return {"CC": os.environ.get("CC") or "cc", "CXX": os.environ.get("CXX") or "c++"}


@functools.cache
def version_of(command: str) -> str:
    """ "gcc 12.2.0" or "clang 14.0.6". Raises MachineFault if there is no such compiler."""
    ask = [*command.split(), "-E", "-P", "-x", "c++", "-"]
    macros = "__clang_major__.__clang_minor__.__clang_patchlevel__ " \
             "__GNUC__.__GNUC_MINOR__.__GNUC_PATCHLEVEL__"
    try:
        ran = completed(ask, asked=macros)
    except OSError:
        ran = None
    if ran is None or ran.returncode != 0:
        raise MachineFault(f"{command} is no C++ compiler that works here; install g++ 11 or "
                           "clang 14, or newer, or name one in CXX")
    clang, gcc = ("".join(word.split())
                  for word in re.findall(r"\S+(?: ?\. ?\S+){2}", ran.stdout)[:2])
    return f"gcc {gcc}" if clang.startswith("__") else f"clang {clang}"


def nvcc_command() -> str:
    """Raises MachineFault if there is none."""
    usual = "/usr/local/cuda/bin/nvcc"
    found = os.environ.get("NVCC") or shutil.which("nvcc") or usual
    if not os.access(found, os.X_OK):
        raise MachineFault("there is no nvcc here (NVCC=... names one); BACKEND=cpu needs none")
    return found


@functools.cache
def gpu_architecture() -> str:
    """Of the GPU at hand: "sm_90". Determined here, because the sandbox in which nvcc compiles has
    no GPU. Raises MachineFault if there is none, or it cannot be determined."""
    ran = completed(["/bin/sh", str(ROOT / "engine" / "gpu_arch.sh")])
    if ran.stdout.startswith("sm_"):
        return ran.stdout.strip()
    if not ran.stdout:
        raise MachineFault("no GPU answers here; BACKEND=cpu needs none")
    raise MachineFault(ran.stderr.strip().rpartition("\n")[2])


def architecture() -> str:
    """What to compile for. Raises MachineFault if ARCH names another GPU than the one here."""
    here = gpu_architecture()
    given = os.environ.get("ARCH") or "native"
    if given == "native":
        return here
    if given.rstrip("af") != here:  # sm_90a is sm_90's, too
        raise MachineFault(f"ARCH={given}, but the GPU here is {here}: what is graded has to be "
                           "compiled for the GPU that runs it")
    return given


def settings_for(backend: str) -> dict[str, str]:
    """make's variables. Raises MachineFault."""
    settings = compilers() | {"BACKEND": backend}
    if backend == "cuda":
        settings |= {"NVCC": nvcc_command(), "ARCH": architecture()}
    return settings
