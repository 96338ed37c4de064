"""What grading raises. Two errors end it without a grade; the other two are results, and get one.

Raised in every module of the grader; caught in one_case.py and grade.py (NotBuilt, Refused) and at the top
(BadInput, MachineFault: __main__.py, and the front for pytest).
"""


class BadInput(Exception):
    """The grader was given something it cannot use: a case, a submission's file, an option. One
    line that says what, where, and what to do."""

    status = 2


class MachineFault(Exception):
    """The machine is at fault: no compiler, no memory, no sandbox. One line that says what, where,
    and what to do. Costs no points and overwrites no earlier result."""

    status = 3


class NotBuilt(Exception):
    """kernel.cu does not compile, or lacks one of its two functions.

    message: the compiler's first error; file, line: its place (None, 0: unknown); output: the first
    lines that the compiler printed."""

    def __init__(self, message: str, file: str | None = None, line: int = 0, output: str = ""):
        super().__init__(message)
        self.message, self.file, self.line, self.output = message, file, line, output


class Refused(Exception):
    """The submission tried something that no submission may, and gets no points at all.

    tried: a verb phrase, as in "calls fopen"; file, line: its place (None, 0: unknown); hint: what
    the student can do about it."""

    def __init__(self, tried: str, file: str | None = None, line: int = 0, hint: str = ""):
        super().__init__(tried)
        self.tried, self.file, self.line, self.hint = tried, file, line, hint
