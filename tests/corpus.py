"""The corpus of kernels: instructor/solutions, tests/kernels/right and instructor/faulty/styles are
right. Of the styles instructor/faulty/mistakes.py makes faulty ones (SEEDED). And each of FAULTS, files
of instructor/faulty and what faults.toml there makes of correct kernels, would be correct except for one
mistake, which its first comment describes:

    what ./sgemm-check has to find (test_check.py)
      finds:        the kind of the finding
      cause:        its cause, where one has to be named
      variable:     what was touched; element: which element of it
      thread:       x y [z] of the thread that did it; block: of its block
      other-thread: and of the second party's; other-block
      phase:        0 of 3
      says:         words of the text; hint: words of the hint; not: words that neither may have
      shape:        m k n, where the usual shapes would show something else first
      options:      further options

    what ./sgemm has to report (test_faulty_kernels.py)
      fails:        on which shapes (m k n, and options) it must fail, all of them
      passes:       where it is right by luck, which is why simple cases do not find it
      reports:      words that the report must contain when it fails
      explains:     what the report says C is instead, by the names that --json gives, and on which
                    shape: NAME (m k n); `nothing` where no explanation is better than a wrong one
      backends:     where that holds, if not everywhere

    what the grader takes points for (instructor/release/prove_cases.py)
      loses:        one of its criteria

Lines of the code end in /* <- here */ where the finding is, and in /* <- other */ where the second
party is. Without a mark the finding has no line; several marks: any of them.
"""

import re
from pathlib import Path
from types import SimpleNamespace

from kinds import KINDS
from conftest import REPOSITORY
from instructor.faulty import faults
from instructor.faulty.mistakes import FOLDER, STYLES, seeded

RIGHT = [*sorted((REPOSITORY / "tests" / "kernels" / "right").glob("*.cu")), *STYLES]
SOLUTIONS = [*sorted((REPOSITORY / "instructor" / "solutions").glob("*.cu")),
             REPOSITORY / "instructor" / "solutions" / "9_every_shape" / "every_shape.cu"]

TEXT = ["finds", "cause", "variable", "element", "thread", "block", "other_thread", "other_block",
        "phase", "shape", "options"]
WORDS = ["says", "hint", "not_", "reports"]  # each line as a whole, and several of them
LISTS = ["fails", "passes", "explains", "backends"]  # separated by commas


class Fault(SimpleNamespace):
    """What a faulty kernel's first comment declares, by the names above, and its marks, `here` and `other`: lines.
    Its `text`, and the `path` of it in the copies of the repository that `tree` and `checker` have."""

    @property
    def arguments(self) -> list[str]:
        """Of ./sgemm-check."""
        return [*self.shape.split(), *self.options.split()]


def read(path: Path, text: str) -> Fault:
    """What a kernel declares; AssertionError where that is not as described above."""
    head = text.split("*/")[0] + "*/"
    fault = Fault(path=path, text=text, **dict.fromkeys(TEXT, ""), **{name: [] for name in [*WORDS, *LISTS]})
    fault.backends = ["cpu", "cuda"]
    declared = head.rsplit("\n *\n", 1)[-1]
    for key, value in re.findall(r"^ \* ([a-z-]+): +(.*?) *(?:\*/)?$", declared, re.MULTILINE):
        name = "not_" if key == "not" else key.replace("-", "_")
        if name in WORDS:
            getattr(fault, name).append(value)
        elif name in TEXT + LISTS:
            setattr(fault, name, value.split(", ") if name in LISTS else value)
        else:
            assert key == "loses", f"{path}: {key}: see {__file__}"  # which prove_cases.py reads
    for mark in ("here", "other"):
        lines = enumerate(text.splitlines(), 1)
        setattr(fault, mark, [number for number, line in lines if f"/* <- {mark} */" in line])
    assert re.match(r"/\* FAULT \d+: ", head) and fault.finds in KINDS, f"{path}: see {__file__}"
    return fault


FILES = [read(path.relative_to(REPOSITORY), path.read_text()) for path in FOLDER.glob("*.cu")]
EDITED = [read(faults.WRITTEN / f"{each.name}.cu", each.text) for each in faults.edited()]
FAULTS = sorted([*FILES, *EDITED], key=lambda fault: fault.path.name)
BY_NAME = {fault.path.stem: fault for fault in FAULTS}
SEEDED = list(seeded())


def faulty(name: str) -> str:
    """Where the copies of the repository that `tree` and `checker` have hold this faulty kernel."""
    return str(BY_NAME[name].path)
