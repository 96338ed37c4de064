"""Vector addition, a lab in a folder of its own, made from the blocks of docs/lab.md: for tests of what
takes any lab."""

import re
import subprocess
from pathlib import Path

from conftest import BUILT, REPOSITORY, RUN_SECONDS, UNSPACED, Tree, finished

PAGE = REPOSITORY / "docs" / "lab.md"
LAB = "labs/vector_add"
LINE = "if (i < n) c[i] = a[i] + b[i];"
OF_SGEMM = re.compile(r"(?i:gemm|matri[xc]|\btiles?\b)|\b[ABCmk]\b")


def files() -> dict[str, str]:
    found = dict(re.findall(r"^`(labs/vector_add/[\w.]+)`.*?^```c\n(.*?)^```", PAGE.read_text(),
                            re.MULTILINE | re.DOTALL))
    assert sorted(found) == [f"{LAB}/{name}" for name in ("call.cu", "kernel.cu", "lab.c")]
    return found


def kernel(line: str = LINE) -> str:
    """The page's solution, with this line instead of the one that computes."""
    text = files()[f"{LAB}/kernel.cu"]
    assert LINE in text
    return text.replace(LINE, line)


def tree_with_lab(path: Path, programs: Path) -> Tree:
    made = Tree(path, programs, BUILT)
    for name, text in files().items():
        made.write(name, text)
    return made


def check(tree: Tree, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    """This kernel under watch."""
    (tree.path / "other.cu").write_text(text)
    tree.make(f"LAB={LAB}", "KERNEL=other.cu", "vector_add-check", "BACKEND=cpu", *UNSPACED)
    return run(tree, "vector_add-check", *words)


def run(tree: Tree, *command: str) -> subprocess.CompletedProcess[str]:
    done = finished([f"./{command[0]}", *command[1:]], tree.path, timeout=RUN_SECONDS)
    found = OF_SGEMM.search(done.stdout + done.stderr)
    assert not found, f"{found} in {done.stdout}{done.stderr}"
    return done
