"""The Makefile: what `make` builds, when it builds again, and what it says when it cannot.

A failure here means that somebody's first two words, `make && ./sgemm`, end in something that they
cannot make sense of, or run another program than the one they think.
"""

import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from checked import usual
from conftest import (
    REPOSITORY, RUN_SECONDS, UNSPACED, clean_environment, finished, in_terminal, need, need_nvcc, repository_files,
    run_sgemm, sample, screen, script,
)  # fmt: skip
from elftools.elf.elffile import ELFFile

TILED = "instructor/solutions/2_tiled.cu"
STAGES = ["Setting up the problem...", "Allocating device variables...", "Copying data from host to device...",
          "Launching kernel...", "Copying data from device to host...", "Verifying results..."]
PROTOTYPE = "(int m, int n, int k, const float *A, const float *B, float *C)"
EMPTY_KERNEL = f"__global__ void mysgemm{PROTOTYPE} {{}}\n"
EMPTY_WRAPPER = f"void basicSgemm{PROTOTYPE} {{}}\n"


def shell(tree, command: str, **env: str) -> subprocess.CompletedProcess[str]:
    """As a user types it."""
    return finished(["sh", "-c", command], tree.path, env)


def path_with(directory: Path) -> dict[str, str]:
    return {"PATH": f"{directory}:{os.environ['PATH']}"}


@pytest.fixture
def no_gpu(tmp_path) -> dict[str, str]:
    """An environment in which no GPU answers, whatever the machine has."""
    script(tmp_path / "no gpu" / "nvidia-smi", "echo 'No devices were found'; exit 6")
    return path_with(tmp_path / "no gpu")


def said(result: subprocess.CompletedProcess[str]) -> list[str]:
    """What a failed make said on standard error, without make's own last word."""
    assert result.returncode != 0, result.stdout
    lines = result.stderr.strip().splitlines()
    return [line for line in lines if not re.match(r"make(\[\d+\])?: ", line)]


def said_one_line(result: subprocess.CompletedProcess[str]) -> str:
    lines = said(result)
    assert len(lines) == 1, result.stderr
    return lines[0]


def backend_lines(result: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in result.stdout.splitlines() if "backend: " in line]


def forget_backend(tree) -> None:
    """So that the next make says again which one it takes, and why."""
    (tree.path / "build/backend").unlink(missing_ok=True)


def verdict(tree) -> int:
    return run_sgemm(tree.path / "sgemm", 34).status


# ---- The two commands of the README --------------------------------------------------------------


def test_the_two_commands(fresh_tree):
    """The first thing anyone does; on a GPU as without. And `make clean` undoes all of it, before
    what is built with it."""
    command = "make && ./sgemm 1000 500 700"
    assert command in (fresh_tree.path / "README.md").read_text()
    before = sorted(fresh_tree.path.rglob("*"))
    result = shell(fresh_tree, command)
    assert result.returncode == 1, result.stderr
    assert "TEST FAILED\nNone of the 700,000 elements of C were written.\n" in result.stdout

    result = shell(fresh_tree, f"make clean sgemm KERNEL={TILED} && ./sgemm 1000 500 700")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "\nTEST PASSED 700000\n" in result.stdout
    assert result.stderr == ""
    assert re.findall(r"^(\w.*\.\.\.) +\d+\.\d{3} s$", result.stdout, re.MULTILINE) == STAGES
    fresh_tree.make("clean")
    assert sorted(fresh_tree.path.rglob("*")) == before


@pytest.mark.slow  # gcc and this machine's shell: Tree.build_once()
def test_builds_without_warnings_by_clang_and_in_bash(fresh_tree, tmp_path):
    """A warning in code that is not the student's makes the student look for a mistake there. And
    /bin/sh is dash here, bash there."""
    sh = script(tmp_path / "bin" / "sh", f'exec {need("bash")} "$@"')
    built = fresh_tree.make("-j8", "BACKEND=cpu", f"CC={need('clang')}", f"CXX={need('clang++')}", f"SHELL={sh}",
                            f"KERNEL={TILED}", env=path_with(sh.parent))
    assert built.stderr == "" and "warning" not in built.stdout
    assert " backend: " in built.stdout.splitlines()[0]
    assert verdict(fresh_tree) == 0


# ---- Any KERNEL ----------------------------------------------------------------------------------

NAMES = {
    "odd": "the student's \"best\" größe 行列 a;b&c|d(e)<f>*?!~`back\\slash \\n two $HOME #1 100% a=b:c.cu",
    "another ending": "kernel.cpp",
    "no ending": "kernel",
    "dots": "../checkout-neighbor.cu",
}


def kernel_argument(path: str | Path) -> str:
    """As a shell that knows nothing of make passes it; a dollar sign is make's own."""
    return f"KERNEL={path}"


@pytest.mark.parametrize("name", sample([*NAMES.values()], every=2), ids=NAMES.keys())
def test_kernel_in_the_tree(tree, name):
    """Students name files as they like, and LMS downloads as they must."""
    kernel = tree.path / name
    shutil.copy(REPOSITORY / TILED, kernel)
    tree.make("BACKEND=cpu", kernel_argument(name), *UNSPACED)
    kernel.unlink()
    assert verdict(tree) == 0


@pytest.mark.parametrize("backend", ["cpu", pytest.param("cuda", marks=pytest.mark.slow)])
def test_kernel_outside_of_the_repository(tree, tmp_path, backend):
    """A TA builds submissions where they are; the headers beside them are found, and support.h."""
    if backend == "cuda":
        need_nvcc()
    kernel = tmp_path / {"cpu": "two words, l'été, $x #y", "cuda": "two words größe"}[backend] / "kernel.cu"
    kernel.parent.mkdir()
    (kernel.parent / "size.h").write_text("#define TILE_SIZE 8\n")
    text = (REPOSITORY / TILED).read_text().replace("#define TILE_SIZE 16", '#include "size.h"')
    kernel.write_text('#include "support.h"\n' + text)
    tree.make(f"BACKEND={backend}", "ARCH=sm_90", kernel_argument(kernel))
    if backend == "cpu":
        assert verdict(tree) == 0
        tree.make("sgemm-check", "BACKEND=cpu", kernel_argument(kernel))


LAUNCH = "mysgemm<<<1, 1>>>(m, n, k, A, B, C);"
KERNELS = {
    "static": f"static {EMPTY_KERNEL}",
    "extern C": f'extern "C" {EMPTY_KERNEL}',
    "in a namespace": f"namespace mine {{ {EMPTY_KERNEL} }}\nusing mine::mysgemm;\n",
    "in a namespace without a name": f"namespace {{ {EMPTY_KERNEL} }}\n",
    "a template": f"template <int T> {EMPTY_KERNEL}",
}


@pytest.mark.parametrize(("name", "backend"), [
    *sample([(name, "cpu") for name in KERNELS], every=2),
    *[pytest.param(name, "cuda", marks=pytest.mark.slow) for name in KERNELS],
])
def test_any_kernel_of_that_name(tree, name, backend):
    """basicSgemm alone knows it. With the header that old submissions include."""
    if backend == "cuda":
        need_nvcc()
    launch = LAUNCH.replace("<<<", "<4><<<") if name == "a template" else LAUNCH
    wrapper = EMPTY_WRAPPER.replace("{}", f"{{ {launch} }}")
    tree.write("any.cu", f'#include "support.h"\n{KERNELS[name]}{wrapper}')
    tree.make(f"BACKEND={backend}", "ARCH=sm_90", "KERNEL=any.cu")


# ---- CUDA's own headers ------------------------------------------------------------------------

NOT_FOR_THE_CPU = "of the CUDA toolkit does not work on the CPU backend; take the #include " \
                  "out, or build with BACKEND=cuda"


@pytest.fixture
def toolkit(tmp_path) -> Path:
    """What somebody who has CUDA, or only its headers, has on the path of includes."""
    for name in ("cuda_runtime.h", "host_defines.h", "vector_types.h", "cuda_fp16.h", "cub/cub.h"):
        path = tmp_path / "toolkit" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("#error of the toolkit\n" if name.startswith("cub") else
                        "#define __shared__ static\nstruct dim3 {};\n")
    return tmp_path / "toolkit"


@pytest.mark.parametrize(("variable", "cxx"), sample(
    [("CPATH", "g++"), ("CPATH", "clang++"), ("CPLUS_INCLUDE_PATH", "g++"),
     ("CPLUS_INCLUDE_PATH", "clang++")], every=4))
def test_cudas_own_headers_do_not_come_in(tree, toolkit, variable, cxx):
    """The emulator's are taken where it has one; where not, one line says so."""
    text = (REPOSITORY / TILED).read_text()
    path = {variable: str(toolkit)}
    tools = ["BACKEND=cpu", f"CXX={usual(need(cxx), 'c++')}"]
    tree.write("ours.cu", "#include <host_defines.h>\n#include <cuda_runtime.h>\n" + text)
    built = tree.make(*tools, "KERNEL=ours.cu", env=path)
    assert built.stderr == "" and run_sgemm(tree.path / "sgemm", 34).status == 0
    for header, env in (("cub/cub.h", path), ("cuda_fp16.h", {})):  # there, and not there
        tree.write("theirs.cu", f"#include <stdio.h>\n#include <{header}>\n" + text)
        line = said_one_line(tree.make(*tools, "KERNEL=theirs.cu", env=env, check=False))
        assert line == f"theirs.cu:2: <{header}> {NOT_FOR_THE_CPU}"
    tree.make(tools[0], f"{tools[1]} -I{toolkit}", "KERNEL=ours.cu", *UNSPACED)
    assert run_sgemm(tree.path / "sgemm", 34).status == 0


# ---- Building again, or not ----------------------------------------------------------------------


class Compilers:
    """cc and c++ that log each compilation, and what a make with them compiled."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.log = directory / "log"
        for name in ("cc", "c++"):
            # Preprocessing and questions are no compilation.
            script(directory / name, f'''\
case " $* " in *" -E "*|*" --version "*|*" -v "*|*" -dM "*) ;; *) echo "$*" >>"{self.log}" ;; esac
exec {shlex.quote(need(name))} "$@"''')

    def make(self, tree, *args: str) -> list[str]:
        """Compiler calls of this make."""
        self.log.write_text("")
        tree.make(*args, f"CC={self.directory}/cc", f"CXX={self.directory}/c++")
        return self.log.read_text().splitlines()


@pytest.fixture
def compilers(tmp_path) -> Compilers:
    return Compilers(tmp_path / "compilers")


def test_a_make_within_a_make_shares_its_jobs(tree):
    within = "all:\n\t$(MAKE) help\n\t$(MAKE) -f engine/Makefile clean -n KERNEL=x.cu\n"
    assert "jobserver" not in tree.make("-j3", f"--eval={within}", "-f", "/dev/null", "all").stderr


def test_built_again_exactly_when_something_changed(fresh_tree, compilers):
    """Built too rarely, ./sgemm is not what the student just wrote; built too often, they wait."""
    right, wrong = ["BACKEND=cpu", f"KERNEL={TILED}"], ["BACKEND=cpu"]
    fresh_tree.make(*right)
    objects = {path.name for path in (fresh_tree.path / "build").rglob("*.o")}
    called = "\n".join(compilers.make(fresh_tree, *right))
    built = {Path(name).name for name in re.findall(r"-o (\S+\.o)\b", called)}
    assert built == objects and len(objects) > 5, "no objects of two compilers in one program"
    assert verdict(fresh_tree) == 0
    assert compilers.make(fresh_tree, *right) == []

    os.utime(fresh_tree.path / TILED)
    assert compilers.make(fresh_tree, *right) == [], "a new date alone changes nothing"

    (fresh_tree.path / "support.c").open("a").write("/* changed */\n")
    called = compilers.make(fresh_tree, *right)
    assert called and not any("kernel.o" in call.split(" -o ")[1] for call in called)
    assert compilers.make(fresh_tree, *right) == []

    only_kernel = compilers.make(fresh_tree, *wrong)  # the untouched kernel.cu
    assert 1 <= len(only_kernel) <= 4, \
        "another kernel: compile that one, and once more for its calls, keep its text, and link"
    assert verdict(fresh_tree) == 1
    assert compilers.make(fresh_tree, *wrong) == []

    assert len(compilers.make(fresh_tree, *right, "EMULATED_FLAGS=-std=c++17 -O0 -pthread")) > 2
    assert verdict(fresh_tree) == 0


def test_a_kept_prelude_changes_no_object(tree):
    """gcc keeps what it makes of CUDA's declarations when it compiles for the second time (engine/kernel.sh).
    What it cannot read is as good as none."""
    kept, made = tree.path / "build/cpu/prelude.gch", tree.path / "build/cpu/kernel.o"
    objects = []
    for before in ("first", "kept", "spoiled"):
        if before == "first":
            tree.make_first()
            kept.unlink(missing_ok=True)
            made.unlink(missing_ok=True)
        elif before == "spoiled":
            kept.write_text("no object of gcc's")
        tree.make("build/cpu/kernel.o", "BACKEND=cpu", "CXX=g++", "KERNEL=instructor/solutions/2_tiled.cu")
        objects.append(made.read_bytes())
        tree.make("build/cpu/kernel.o", "BACKEND=cpu", "CXX=g++", "KERNEL=instructor/solutions/1_naive.cu")
        assert kept.exists() and made.read_bytes() != objects[0]
    assert objects[0] == objects[1] == objects[2]


def test_a_changed_kernel_or_header_is_built(tree, tmp_path):
    """Also when its date does not show it: an unpacked archive sets dates as it likes. And a kernel of the
    same name in another directory is another one."""
    text = (REPOSITORY / TILED).read_text()

    def build(path: Path, changed: Path, text: str) -> int:
        changed.write_text(text)
        os.utime(changed, (1e9, 1e9))
        tree.make("BACKEND=cpu", kernel_argument(path), *UNSPACED)
        return verdict(tree)

    kernel, header = Path("changing.cu"), tree.path / "body.h"
    tree.write("changing.cu", '#include "body.h"\n')
    assert build(kernel, header, text) == 0
    assert build(kernel, header, text.replace("sum +=", "sum -=")) == 1
    assert build(kernel, tree.path / kernel, text) == 0
    assert build(tmp_path / kernel, tmp_path / kernel, EMPTY_KERNEL + EMPTY_WRAPPER) == 1


@pytest.mark.slow  # test_the_two_commands and test_broken_kernel: what is built, and what is not left
def test_other_programs_leave_sgemm_alone(tree):
    """The first `make check` used to delete ./sgemm, which it does not build."""
    tree.make("BACKEND=cpu", f"KERNEL={TILED}")
    tree.make("sgemm-check", "BACKEND=cpu", f"KERNEL={TILED}")
    assert verdict(tree) == 0
    tree.make("sgemm-check", "BACKEND=cpu", "KERNEL=none.cu", check=False)
    assert verdict(tree) == 0 and not (tree.path / "sgemm-check").exists()
    tree.write("main.cu.cu", "int main() { return 0; }\n")
    tree.make("program", "BACKEND=cpu", "KERNEL=main.cu.cu")
    tree.make("grader-parts", "BACKEND=cpu")
    assert verdict(tree) == 0


# ---- A KERNEL that cannot be built ---------------------------------------------------------------

BROKEN = {
    "missing": (None, "broken.cu: no such file; KERNEL=... names the .cu file to build"),
    "empty": ("", "broken.cu: does not define __global__ void mysgemm"),
    "no mysgemm": (EMPTY_WRAPPER, "broken.cu: does not define __global__ void mysgemm"),
    "no basicSgemm": (EMPTY_KERNEL, "broken.cu: does not define void basicSgemm"),
    "misspelt": (EMPTY_KERNEL + EMPTY_WRAPPER.replace("Sgemm", "SGEMM"), "broken.cu: does not define void basicSgemm"),
    "another signature": (EMPTY_KERNEL + EMPTY_WRAPPER.replace("int m", "char m"),
                          "broken.cu:2: has basicSgemm(char, int, int, float const*, float const*, float*), but "
                          "main.cu calls void basicSgemm(int m, int n, int k,"),
    "only declared": (EMPTY_KERNEL + EMPTY_WRAPPER.replace(" {}", ";"), "broken.cu:2: does not define void basicSgemm"),
    "static": (EMPTY_KERNEL + "static " + EMPTY_WRAPPER,
               "broken.cu:2: has static void basicSgemm(int m, int n, int k, const float *A, "
               "const float *B, float *C), but main.cu calls void basicSgemm(int m"),
    "extern C": (EMPTY_KERNEL + 'extern "C" ' + EMPTY_WRAPPER,
                 'has extern "C" basicSgemm, but main.cu calls void basicSgemm(int m'),
    "in a namespace": (f"{EMPTY_KERNEL}namespace mine {{\n{EMPTY_WRAPPER}}}\n",
                       "broken.cu:3: has mine::basicSgemm(int, int, int, float const*, "),
    "a main() left over": (EMPTY_KERNEL + EMPTY_WRAPPER + "\nint main(void)\n{\n}\n",
                           "broken.cu:4: remove main(): main.cu has one"),
}
COMPILER_ERRORS = {
    "syntax error": (EMPTY_KERNEL + EMPTY_WRAPPER.replace("{}", "{ int x = ; }"), "broken.cu:2:"),
    "unknown name": (EMPTY_KERNEL + EMPTY_WRAPPER.replace("{}", "{\n    x = 1; }"), "broken.cu:3:"),
    # nvcc does not bring <stdio.h> along, so neither does the CPU backend.
    "forgotten include": (EMPTY_KERNEL + EMPTY_WRAPPER.replace("{}", '{ printf("here"); }'), "broken.cu:2:"),
    "missing header": ('#include "none.h"\n', "broken.cu:1:"),
    "inline PTX": (EMPTY_WRAPPER + EMPTY_KERNEL.replace("{}", '{ asm("exit;"); }'), "broken.cu:2:"),
}


@pytest.mark.parametrize(("name", "backend"), [
    *sample([(name, "cpu") for name in BROKEN | COMPILER_ERRORS], every=3),
    *[pytest.param(name, "cuda", marks=pytest.mark.slow) for name in BROKEN | COMPILER_ERRORS if name != "inline PTX"],
])
def test_broken_kernel(tree, name, backend):
    """The last line names the file and what it lacks, in no linker's words; or a compiler's, with the student's
    own file and line. What is left of an older ./sgemm is removed, else `make; ./sgemm` would run the kernel before
    the last one and print TEST PASSED; and the next make says the same."""
    if backend == "cuda":
        need_nvcc()
    text, message = (BROKEN | COMPILER_ERRORS)[name]
    (tree.path / "broken.cu").unlink(missing_ok=True)
    if text is not None:
        tree.write("broken.cu", text)
    # Not written into: who looks at a process of the test before may hold its program for a moment yet.
    (tree.path / "sgemm").unlink(missing_ok=True)
    tree.write("sgemm", "an older program")
    words = [f"BACKEND={backend}", "ARCH=sm_90", "KERNEL=broken.cu"]
    lines = said(tree.make(*words, check=False))
    assert not (tree.path / "sgemm").exists()
    if name in ("no basicSgemm", "unknown name"):
        assert lines[-1] == said(tree.make(*words, check=False))[-1]
    if backend == "cuda":
        assert lines[0].startswith("broken.cu")
        return
    assert "undefined reference" not in "".join(lines)
    assert message in lines[-1] if name in BROKEN else any(line.startswith(message) for line in lines), lines


# ---- Settings that cannot be used ----------------------------------------------------------------

LINES = {
    "KERNEL=instructor": "instructor: no such file",
    "KERNEL=loop.cu": "no such file",  # what even root cannot read
    **{f"BACKEND={word}": "auto, cuda or cpu" for word in ("nonsense", "CPU", "gpu", "")},
    "BACKEND=cuda NVCC=": "needs nvcc.*BACKEND=cpu",
    # -arch=native without a GPU is a riddle in nvcc's own words.
    "BACKEND=cuda NVCC=true": "no GPU.*ARCH=sm_.*BACKEND=cpu|BACKEND=cpu.*ARCH=sm_",
    **{f"BACKEND=cuda NVCC=true ARCH={arch}": f"^ARCH={arch} is not a GPU architecture"
       for arch in ("90", "compute_90", "all")},
    **{f"{variable}={compiler}": f"{variable}={compiler}.*install gcc 11 or clang 14"
       for variable in ("CC", "CXX") for compiler in ("true", "no-such-compiler", "cat")},
    "grade VENV=/proc/packages": "^/proc/packages cannot be written: "
                                 "VENV=path names another folder for Python's packages$",
}


@pytest.mark.parametrize("words", LINES)
def test_what_cannot_be_used_is_said_in_a_line(tree, no_gpu, words):
    """And no ./sgemm of other settings is left to be taken for theirs."""
    if words == "KERNEL=loop.cu" and not (tree.path / "loop.cu").is_symlink():
        (tree.path / "loop.cu").symlink_to("loop.cu")
    tree.write("sgemm", "an older program")
    env = no_gpu | ({} if "BACKEND" in words else {"BACKEND": "cpu"})
    message = said_one_line(tree.make(*words.split(), env=env, check=False))
    assert re.search(LINES[words], message), message
    if words.startswith(("KERNEL", "BACKEND=cuda")):
        assert not (tree.path / "sgemm").exists()


@pytest.mark.parametrize(("variable", "real", "macros"), [
    ("CC", "gcc", "-U__GNUC__ -D__GNUC__=10"), ("CC", "clang", "-U__clang_major__ -D__clang_major__=13"),
    ("CXX", "g++", "-U__GNUC__ -D__GNUC__=10"), ("CXX", "clang++", "-U__clang_major__ -D__clang_major__=13"),
])
def test_compiler_too_old(tree, tmp_path, variable, real, macros):
    """It would fail far from here, with errors in files that are not the student's."""
    old = script(tmp_path / "old", f'exec {need(real)} {macros} "$@"')
    message = said_one_line(tree.make("BACKEND=cpu", f"{variable}={old}", check=False))
    assert re.search(f"{re.escape(f'{variable}={old}')} is .*too old.*gcc 11 or clang 14", message), message


def test_a_compiler_that_was_refused_is_not_remembered(tree):
    """After the failure the usual make works again."""
    for _ in range(2):
        assert "CXX=false" in said_one_line(tree.make("BACKEND=cpu", "CXX=false", check=False))
    tree.make("BACKEND=cpu", f"KERNEL={TILED}", *UNSPACED)
    assert verdict(tree) == 0


# ---- Backends ------------------------------------------------------------------------------------


SMI = """case $* in
-L) echo 'GPU 0: some GPU' ;;
*-i*) echo "$CHOSEN" ;;
*) printf '%b' "$GPUS" ;;
esac"""


@pytest.mark.parametrize(("gpus", "env", "status", "says"), [
    ("9.0\\n", {}, 0, "sm_90"),
    ("12.1\\n", {}, 0, "sm_121"),
    ("8.6\\n8.6\\n", {"CUDA_VISIBLE_DEVICES": "1,0"}, 0, "sm_86"),
    ("8.0\\n9.0\\n", {"CUDA_VISIBLE_DEVICES": "GPU-1234", "CHOSEN": "9.0"}, 0, "sm_90"),
    ("8.0\\n9.0\\n", {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CHOSEN": "8.0"}, 0, "sm_80"),
    ("8.0\\n9.0\\n", {}, 3, "CUDA_DEVICE_ORDER=PCI_BUS_ID"),  # CUDA's order is another
    ("8.0\\n9.0\\n", {"CUDA_VISIBLE_DEVICES": "1"}, 3, "ARCH=sm_"),
    ('Field "compute_cap" is not a valid field to query.\\n', {}, 3, "ARCH=sm_"),
    ("9.0\\n", {"CUDA_VISIBLE_DEVICES": ""}, 2, "no GPU"),
    ("9.0\\n", {"CUDA_VISIBLE_DEVICES": "-1"}, 2, "no GPU"),
])
def test_the_architecture_of_the_gpu(tree, tmp_path, gpus, env, status, says):
    """The machine's; where it cannot be known, a guess would be compiled for, and then be translated by the driver."""
    script(tmp_path / "gpus" / "nvidia-smi", SMI)
    env = path_with(tmp_path / "gpus") | {"GPUS": gpus} | env
    found = shell(tree, "sh engine/gpu_arch.sh", **env)
    assert found.returncode == status
    if status == 0:
        assert (found.stdout, found.stderr) == (f"{says}\n", "")
        return
    assert found.stdout == ("unknown" if status == 3 else "")
    assert found.stderr.count("\n") == 1 and says in found.stderr
    made = tree.make("BACKEND=cuda", "NVCC=true", check=False, env=env)
    assert said_one_line(made) == found.stderr.strip()


def test_the_sandbox_is_told_the_architecture(tree, tmp_path):
    """In it no GPU can be seen, and -arch=native would be sm_75."""
    script(tmp_path / "gpus" / "nvidia-smi", SMI)
    tree.make("build/grader/flags", "BACKEND=cuda", "NVCC=true",
              env=path_with(tmp_path / "gpus") | {"GPUS": "8.9\\n"})
    flags = (tree.path / "build/grader/flags").read_text()
    assert "-arch=compute_89 -code=sm_89" in flags and "native" not in flags


def fat_binary_entries(program: Path) -> list[tuple[str, int]]:
    """What a program holds for GPUs: kind and architecture of each entry."""
    with open(program, "rb") as file:
        content = ELFFile(file).get_section_by_name(".nv_fatbin").data()
    found, at = [], 0
    while at < len(content):
        magic, header, size = struct.unpack_from("<IxxHQ", content, at)
        assert magic == 0xBA55ED50
        end, at = at + header + size, at + header
        while at < end:
            kind, header, size, architecture = struct.unpack_from("<HxxIQ12xI", content, at)
            found.append(({1: "PTX", 2: "machine code"}[kind], architecture))
            at += header + size
        at += -at % 8
    return found


def test_why_this_backend_is_said_when_it_changes(tree, no_gpu):
    """What a student reads at every make, they read no more when it matters. A login node has nvcc and no
    GPU; a program built for one would not run there."""
    forget_backend(tree)
    for words, why in ((["NVCC=true"], "nvcc is here, but no GPU answers"), (["NVCC="], "there is no nvcc here"),
                       (["BACKEND=cpu"], "BACKEND=cpu")):
        assert backend_lines(tree.make(*words, env=no_gpu)) == [f"CPU backend: {why}"]
        assert tree.make(*words, env=no_gpu).stdout == "./sgemm is built from kernel.cu, for the CPU\n"


@pytest.mark.parametrize("arch", sample([80, 90], every=2))
def test_cuda_compiles_without_a_gpu(tree, arch):
    """A machine with nvcc and no GPU can compile what another will run, without warnings and with
    nothing but machine code, for the architecture that was asked for; ./sgemm is always what the
    last make said."""
    need_nvcc()
    tree.make("BACKEND=cpu", f"KERNEL={TILED}", *UNSPACED)
    on_cpu = (tree.path / "sgemm").read_bytes()
    forget_backend(tree)
    built = tree.make("BACKEND=cuda", f"ARCH=sm_{arch}", f"KERNEL={TILED}")
    assert built.stderr == "" and "warning" not in built.stdout
    assert backend_lines(built) == [f"CUDA backend: BACKEND=cuda (ARCH=sm_{arch})"]
    assert set(fat_binary_entries(tree.path / "sgemm")) == {("machine code", arch)}
    assert fat_binary_entries(tree.path / "build/cuda/main.o"), "C++ of the CPU backend"
    again = tree.make("BACKEND=cuda", f"ARCH=sm_{arch}", f"KERNEL={TILED}")
    assert again.stdout.splitlines() == [f"./sgemm is built from {TILED}, for a GPU (sm_{arch})"]
    tree.make("BACKEND=cpu", f"KERNEL={TILED}", *UNSPACED)
    assert (tree.path / "sgemm").read_bytes() == on_cpu


@pytest.mark.gpu
def test_the_two_commands_on_a_gpu(fresh_tree, gpu):
    """The same words, the same output, with the GPU's name in it."""
    result = shell(fresh_tree, f"make KERNEL={TILED} && ./sgemm 1000 500 700 --json")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "CUDA backend: nvcc and a GPU are here" in result.stdout
    assert '"backend": "cuda"' in result.stdout


# ---- What make says ------------------------------------------------------------------------------


def test_make_says_little(tree):
    """A student who sees sixty lines of commands does not see the one that matters."""
    tree.make("sgemm", "sgemm-check", f"KERNEL={TILED}", *UNSPACED)
    forget_backend(tree)
    first = tree.make()
    assert first.stderr == "" and all(len(line) <= 80 for line in first.stdout.splitlines())
    why, compiling, built = first.stdout.splitlines()
    assert " backend: " in why and compiling in ("CXX kernel.cu", "NVCC kernel.cu")
    assert tree.make().stdout.splitlines() == [built]
    assert built.startswith("./sgemm is built from kernel.cu, for ")
    checked = tree.make("sgemm-check")
    plain = ["CXX kernel.cu"] if compiling == "NVCC kernel.cu" else []  # which is there already, without a GPU
    assert checked.stdout.splitlines() == [*plain, "CXX kernel.cu (checked)"] and checked.stderr == ""
    assert tree.make("-s", f"KERNEL={TILED}").stdout == ""


def test_make_shows_its_commands_when_asked(tree):
    made = "build/c/engine/cores.o"
    (tree.path / made).unlink(missing_ok=True)
    shown = tree.make(made, "BACKEND=cpu", "V=1").stdout
    assert re.search(rf" -c engine/cores.c -o {made}$", shown, re.MULTILINE), shown


def test_a_warning_is_shown(tree):
    """Of the student's own code."""
    text = EMPTY_KERNEL + EMPTY_WRAPPER.replace("{}", "{\n    if (m = 1) return; }")
    tree.write("warned.cu", text)
    assert "warned.cu:3:" in tree.make("BACKEND=cpu", "KERNEL=warned.cu").stderr


def test_an_error_in_a_terminal(tree):
    """The compiler's message is what it is elsewhere."""
    tree.write("broken.cu", EMPTY_KERNEL + "int x = ;\n")
    sent = in_terminal(need("make"), "BACKEND=cpu", "KERNEL=broken.cu", cwd=tree.path)
    lines = screen(sent)
    assert any(line.startswith("broken.cu:2:9: error: ") for line in lines), lines


# ---- A machine that lacks something --------------------------------------------------------------


def tools_without(directory: Path, *missing: str) -> dict[str, str]:
    """A PATH on which all is found but these."""
    directory.mkdir()
    readable = [path for path in os.environ["PATH"].split(":") if os.access(path, os.R_OK | os.X_OK)]
    for path in reversed(readable):
        for tool in Path(path).glob("*"):
            link = directory / tool.name
            link.unlink(missing_ok=True)
            if tool.name not in missing:
                link.symlink_to(tool)
    return {"PATH": str(directory)}


@pytest.mark.parametrize("target", sample(["sgemm", "sgemm-check"], every=2))
def test_no_binutils(fresh_tree, tmp_path, target):
    """gcc's own words are: cannot execute 'as'."""
    binutils = ("ar", "as", "ld", "nm", "objcopy", "readelf", "addr2line")
    lacking = tools_without(tmp_path / "bin", *binutils)
    message = said_one_line(fresh_tree.make(target, "BACKEND=cpu", env=lacking, check=False))
    assert message == "ar is not installed (as and ld are probably missing, too): install binutils"


PYTHONS = {
    # what PYTHON is, and the end of what make grade says
    "none": ("exit 127", "install Python 3.10 or newer (Debian: python3-venv)"),
    "old": ('case $* in *version_info*) exit 1;; *-V*) echo Python 3.9.2;; esac',
            "Python 3.9.2 is too old: Python 3.10 or newer is needed (PYTHON=... names it)"),
    "no venv": ("case $* in *ensurepip*) exit 1;; esac",
                "has no venv: install it (Debian: python3-venv)"),
    "no network": ('case $* in "-m venv "*) mkdir -p "$3/bin"; echo "exit 1" >"$3/bin/python"; '
                   'chmod +x "$3/bin/python";; esac',
                   "Python's packages could not be installed: is there a network?"),
}


def test_programs_without_packages_say_that_there_is_no_python(tree, tmp_path):
    result = tree.make("gradescope", f"PYTHON={tmp_path}/python", check=False)
    assert said_one_line(result) == f"{tmp_path}/python does not run: install Python 3.10 or newer (Debian: python3-venv)"


@pytest.mark.parametrize(("body", "message"), PYTHONS.values(), ids=PYTHONS.keys())
def test_python_that_will_not_do(tree, tmp_path, body, message):
    python = script(tmp_path / "bin" / "python", body)
    result = tree.make("grade", f"VENV={tmp_path}/packages", f"PYTHON={python}", check=False)
    assert said_one_line(result).endswith(message)
    assert not (tmp_path / "packages/grader-ready").exists()


def test_ctrl_c_while_packages_are_installed(fresh_tree, tmp_path):
    """No traceback of the Python that makes the environment, and nothing goes on without make."""
    begun = tmp_path / "begun"
    python = script(tmp_path / "bin" / "python", f"""
        case "$*" in "-m venv "*)
            set -- -c "import time; open('{begun}', 'w'); time.sleep({RUN_SECONDS})";;
        esac
        exec "{sys.executable}" "$@" """)
    with subprocess.Popen([need("make"), "grade", "VENV=packages", f"PYTHON={python}"],
                          cwd=fresh_tree.path, env=clean_environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          start_new_session=True) as process:
        assert process.stdout.readline().startswith("installing ")
        until = time.monotonic() + RUN_SECONDS
        while not begun.exists() and time.monotonic() < until:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        rest = process.stdout.read()  # whoever goes on has it open
    # Make's own, one or three: it may find its children gone, and say so.
    assert rest and all(line.startswith("make: ***") for line in rest.splitlines()), rest
    assert list((fresh_tree.path / "packages").iterdir()) == []


PIP = """case $* in
"-m venv "*)
    mkdir -p "$3/bin"
    printf '#!/bin/sh\necho Collecting one==1\necho Downloading one.whl\n' >"$3/bin/python"
    printf 'exit "${GRADER_EXIT:-0}"\n' >>"$3/bin/python"
    chmod +x "$3/bin/python" ;;
esac"""


def test_the_first_download_shows_that_it_goes_on(fresh_tree, tmp_path):
    """Thirty silent seconds look like a program that hangs."""
    python = script(tmp_path / "bin" / "python", PIP)
    target = "packages", f"VENV={tmp_path}/two words", f"PYTHON={python}"
    sent = in_terminal(need("make"), *target, cwd=fresh_tree.path)
    assert "Downloading one.whl" in sent
    first, *rest = screen(sent)
    assert re.fullmatch(r"installing \d+ Python packages into .*two words \(once\)", first)
    assert not any(rest), "pip's lines are gone when it is done"
    shutil.rmtree(tmp_path / "two words")
    assert len(fresh_tree.make(*target).stdout.splitlines()) == 3  # this pip knows no --quiet


PACKAGE = """case $* in
*"-m venv "*)
    "{0}" -m venv --without-pip "$3"
    mv "$3/bin/python" "$3/bin/real"
    printf '#!/bin/sh\\ncase $* in *"-m pip "*) ;; *) exec "$(dirname "$0")/real" "$@";; esac\\n' >"$3/bin/python"
    chmod +x "$3/bin/python"
    cd "$3"/lib/python*/site-packages
    mkdir pydantic
    touch pydantic/__init__.py pydantic/unused.py ;;
*) exec "{0}" "$@" ;;
esac"""


def test_packages_are_compiled_when_they_are_installed(fresh_tree, tmp_path):
    """Those that are imported: else each grade would take half a second more."""
    python = script(tmp_path / "bin" / "python", PACKAGE.format(sys.executable))
    fresh_tree.make("packages", f"VENV={tmp_path}/packages", f"PYTHON={python}")
    compiled = [path.name.partition(".")[0] for path in tmp_path.glob("packages/lib/*/*/pydantic/*/*.pyc")]
    assert compiled == ["__init__"]


BESIDE_PIP = """case $* in
"-m venv "*)
    mkdir -p "$3/bin"
    until [ -e BEGUN ]; do sleep 0.1; done # else this never ends
    printf '#!/bin/sh\nexit 3\n' >"$3/bin/python"
    chmod +x "$3/bin/python" ;;
*"-m grader.build.parts "*)
    echo "$*" >BEGUN
    echo error >&2
    exit 1 ;;
esac"""


@pytest.mark.parametrize("given", [(), ("BACKEND=cuda",)])
def test_the_graders_parts_are_built_while_packages_are_installed(fresh_tree, tmp_path, given):
    """And what fails then, the grader reports."""
    begun = tmp_path / "begun"
    python = script(tmp_path / "bin" / "python", BESIDE_PIP.replace("BEGUN", f"'{begun}'"))
    result = fresh_tree.make("-j2", "grade", f"VENV={tmp_path}/packages", f"PYTHON={python}", *given,
                             check=False)
    assert "error" not in result.stderr.replace("Error", "")
    assert begun.read_text().split()[-2:] == ["cuda" if given else "cpu", "lab"]


@pytest.mark.slow  # test_the_graders_parts_are_built_while_packages_are_installed: before there are any
def test_the_graders_parts_need_no_package(tree):
    """Nor do they say anything, whatever fails."""
    cache = tree.path / "parts"
    need("make")
    for tools, made in (("/nowhere", False), (os.environ["PATH"], True)):
        done = finished([sys.executable, "-S", "-B", "-m", "grader.build.parts", "cpu", "lab"], tree.path,
                        {"GRADER_CACHE": str(cache), "PATH": tools})
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert any(cache.glob("*/build/judge")) == made


@pytest.mark.slow
def test_line_ends_of_windows(fresh_tree, tmp_path):
    """git for Windows converts them at each clone, unless a repository says otherwise; a script or
    a macro with a carriage return at the end of each line is broken."""
    git = [need("git"), "-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], cwd=fresh_tree.path, check=True, timeout=RUN_SECONDS)
    clone = tmp_path / "clone"
    subprocess.run([*git, "clone", "-q", "-c", "core.autocrlf=true", fresh_tree.path, clone],
                   check=True, timeout=RUN_SECONDS)
    for name in repository_files():
        assert (clone / name).read_bytes() == (fresh_tree.path / name).read_bytes(), name


# ---- The rest ------------------------------------------------------------------------------------


def test_help_lists_every_target_and_fits_a_screen_in_a_students_copy(tree):
    """Whoever does not find a target in `make help` has to read the Makefile."""
    students = [tree.path / "Makefile", tree.path / "grader/grader.mk"]
    text = "\n".join(path.read_text() for path in [*students, *tree.path.rglob("*.mk")]).replace("\\\n", " ")
    phony = set(" ".join(re.findall(r"^\.PHONY:(.*)$", text, re.MULTILINE)).split())
    shown = tree.make("help").stdout
    hidden = {"FORCE", "all", "help", "packages", "parts-beside-pip"}
    assert [target for target in phony - hidden if not re.search(rf"^make .*\b{target}\b(?!-)", shown, re.M)] == []
    assert "check" in phony and max(map(len, shown.splitlines())) <= 80
    assert 10 < sum(path.read_text().count("\n## ") for path in students) <= 24


def test_a_checkout_that_cannot_be_written(tree):
    with tempfile.TemporaryDirectory() as directory:
        for name in ("Makefile", "main.cu", "support.c", "support.h", "kernel.cu", "engine", "lab", "grader"):
            subprocess.run(["cp", "-r", tree.path / name, directory], check=True)
        subprocess.run(["chmod", "-R", "a-w,a+rX", directory], check=True)
        nobody = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        result = finished(["make", "BACKEND=cpu"], Path(directory), **nobody)
        subprocess.run(["chmod", "-R", "u+w", directory], check=True)
    message = said_one_line(result)
    assert message == "this folder cannot be written: copy it (cp -r), and run make in the copy"


def test_variables_from_the_environment(tree):
    """`export BACKEND=cpu` once, in a shell where all builds are to be so."""
    tree.make(*UNSPACED, env={"KERNEL": TILED, "BACKEND": "cpu"})
    assert verdict(tree) == 0
