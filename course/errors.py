"""What ends a run of a class, or of one of its submissions, without a grade."""


class BadInput(Exception):
    """A file or an option cannot be used: one line a mistake, with what, where, and what to do. Exit
    status 2."""


class MachineFault(Exception):
    """The machine is at fault: no compiler, no memory, no space. One line. Exit status 3; costs nobody
    points and overwrites no earlier result."""
