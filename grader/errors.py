"""The two ways in which grading ends without a grade. What a student did wrong is none of them: it
is a result, and gets a grade."""


class BadInput(Exception):
    """What the grader was given cannot be used: a case, a submission's file, an option. One line
    that says what, where, and what to do. Exit status 2."""


class MachineFault(Exception):
    """The machine is at fault: no compiler, no memory, no sandbox. One line that says what, where,
    and what to do. Exit status 3; costs nobody points and overwrites no earlier result."""
