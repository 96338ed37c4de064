"""The tests in plain C (tests/*/test_*.c): each file is an item here.

They promise what support.h promises; each file lists its tests with --list and runs those named.
"""

import re
import shlex
import subprocess
from functools import cache

import pytest
from conftest import REPOSITORY, finished, locked, missing, need, slow_but

SOURCES = sorted((REPOSITORY / "tests").rglob("test_*.c"))
SANITIZERS = ["-O0", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

# What reads bytes that others may have written, but for its largest test; at night all others, too.
BY_DAY = {"test_cause_record"}
SANITIZED = slow_but(SOURCES, lambda _, source: source.stem in BY_DAY)

NOT_SANITIZED = {
    # Seconds of sums under the sanitizers, in code that others reach with smaller matrices.
    "infinity_fails_where_the_bound_is_infinite",
}  # fmt: skip


def listed(source) -> list[str]:
    return re.findall(r"^ *TEST\((\w+)\)", source.read_text(), re.MULTILINE)


TESTS = [pytest.param(source, listed(source), id=source.stem) for source in SOURCES]


REPORT = ["engine/report", "engine/report/record", "engine/report/words", "engine/report/text"]
PLAIN = [*REPORT, ".", "lab", "lab/verdict", "lab/mistakes", "engine", "engine/form", "engine/host",
         "engine/host/driver"]
ARCHIVES = [f"build/lib{name}.a" for name in ("lab", "host", "report", "check", "engine")]


@cache
def c_flags(tree) -> list[str]:
    """As the Makefile compiles support.c; and the archives are there."""
    tree.make(*ARCHIVES)
    shown = finished(["sh", "-c", '. build/c/settings; echo "$C_FLAGS"'], tree.path)
    return shlex.split(shown.stdout)


def compile_plain(tree, folders: list[str], *flags: str):
    """What is in these folders as a library with these flags, once for all tests and workers."""
    library = tree.programs / f"{len(folders)}-sanitized.a"
    with locked(library.with_suffix(".lock")):
        if not library.exists():
            sources = [path for folder in folders for path in tree.path.glob(f"{folder}/*.c")]
            objects = [compile_c(tree, source, *flags) for source in sources]
            subprocess.run([need("ar"), "rcs", library, *objects], cwd=tree.path, check=True)
    return library


def compile_test(tree, source, *flags: str):
    """Build a test with that library, once for all workers."""
    program = tree.programs / f"{source.stem}{'-sanitized' if flags else ''}"
    with locked(program.with_suffix(".lock")):
        if not program.exists():
            test, linked = compile_c(tree, tree.path / source.relative_to(REPOSITORY), *flags), ARCHIVES
            if flags:  # by day what reads these bytes, and the rest as users have it
                linked = [compile_plain(tree, REPORT, *flags), *ARCHIVES] if source.stem in BY_DAY else \
                    [compile_plain(tree, PLAIN, *flags)]
            call_cc(tree, *flags, test, "-Wl,-z,muldefs", "-Wl,--start-group", *linked, "-Wl,--end-group",
                    "-o", program, "-lm")
            assert run_test(program, "--list").stdout.split() == listed(source), "a test that is not collected"
    return program


def compile_c(tree, source, *flags: str) -> str:
    """The object; a warning is an error. The command is one that kept_objects.c knows."""
    name = str(source.relative_to(tree.path))
    made = f"build/tested/{len(flags)}/{name}.o"
    (tree.path / made).parent.mkdir(parents=True, exist_ok=True)
    call_cc(tree, *c_flags(tree), "-g", "-Werror", "-I.", "-Iengine/cuda/include", *flags, "-MMD", "-MP",
            "-MF", f"{made}.d", "-c", name, "-o", made)
    return made


def call_cc(tree, *words) -> None:
    built = finished(["cc", *words], tree.path)
    assert built.returncode == 0, built.stderr


def run_test(program, *names: str) -> subprocess.CompletedProcess[str]:
    return finished([program, *names])


@pytest.mark.parametrize(("source", "names"), TESTS)
def test_unit(tree, source, names):
    result = run_test(compile_test(tree, source), *names)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("source", SANITIZED, ids=lambda source: source.stem)
def test_unit_under_sanitizers(tree, source, tmp_path):
    """support.c judges students' results: it must not itself read what it does not own."""
    cc = need("cc")
    probe = tmp_path / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    if finished([cc, *SANITIZERS, probe, "-o", tmp_path / "probe"]).returncode != 0:
        missing("cc -fsanitize=address,undefined", "its run-time libraries are not installed")
    names = [name for name in listed(source) if name not in NOT_SANITIZED]
    assert names
    result = run_test(compile_test(tree, source, *SANITIZERS), *names)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "runtime error" not in result.stderr and "Sanitizer" not in result.stderr
