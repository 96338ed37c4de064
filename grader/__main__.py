"""python -m grader [options]: grade a submission, and print the table. `--help` lists the options.

Exit status: 0 full marks, 1 less; no grade: 2 bad input or options, 3 the machine's fault, 130
interrupted. Every option of pytest works, too: -k, -x, --junitxml, -v.
"""

from __future__ import annotations

import signal

from . import interrupt

if __name__ == "__main__":
    interrupt.handle(signal.SIG_DFL)

import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

sys.dont_write_bytecode = True  # a checkout may be read-only, or belong to another user

import pytest  # noqa: E402

from . import ROOT, plugin  # noqa: E402
from .errors import BadInput  # noqa: E402
from .report import terminal  # noqa: E402
from .text import harmless  # noqa: E402


def main(words: list[str]) -> int:
    # A grade depends neither on other plugins that are installed nor on the user's usual options.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    try:
        return grade(words)
    except KeyboardInterrupt:  # outside of pytest, which reports it otherwise
        say("interrupted")
        return interrupt.STATUS


def grade(words: list[str]) -> int:
    mine = Quiet()
    folder = ROOT / "grader"
    with interrupt.raised():  # afterwards, results are on disk
        status = pytest.main(["-c", str(folder / "pytest.ini"), "--rootdir", str(folder),
                              str(folder / "test_submission.py"), *words], plugins=[mine])
    state = mine.state or plugin.State()  # none: --help, or options that pytest could not read
    if status == pytest.ExitCode.INTERRUPTED and state.record and state.record.complete:
        status = state.status or 0  # it came too late

    before = time.monotonic()
    result = conclusion(status, state)
    if state.record and not state.fault and status != pytest.ExitCode.INTERRUPTED:
        terminal.show(state.record, plugin.place(state), sys.stdout, state.asked)
    write_stages(state.stages | {"report": time.monotonic() - before})
    return result


class Quiet:
    """Removes pytest's own output, unless options ask for it, and makes the state available."""

    def __init__(self) -> None:
        self.state: plugin.State | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        self.state = plugin.state_of(config)
        self.state.quiet = True
        option = config.option
        printer = config.pluginmanager.get_plugin("terminalreporter")
        if printer and not (option.help or option.verbose > 0 or option.collectonly):
            config.pluginmanager.unregister(printer)


def conclusion(status: int, state: plugin.State) -> int:
    """The exit status, and the line that explains 2 and 3."""
    if state.fault:
        say(str(state.fault))
        return plugin.BAD_INPUT if isinstance(state.fault, BadInput) else plugin.MACHINE_FAULT
    if status == pytest.ExitCode.INTERRUPTED:
        where = f"; the cases so far are in {state.store.partial}" if state.store else ""
        say(f"interrupted{where}")
        return interrupt.STATUS
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        say("no case was selected; --collect-only lists them")
        return plugin.BAD_INPUT
    if status == pytest.ExitCode.USAGE_ERROR:
        return plugin.BAD_INPUT
    if status == pytest.ExitCode.INTERNAL_ERROR:
        say("the grader itself failed, see above")
        return plugin.MACHINE_FAULT
    return int(status)


def say(message: str) -> None:
    for line in message.splitlines():
        print(f"grade: {harmless(line)}", file=sys.stderr)


def write_stages(stages: dict[str, float]) -> None:
    """For instructor/bench/grader.py: wall seconds of each stage, in the file GRADER_STAGES."""
    path = os.environ.get("GRADER_STAGES")
    if path:
        with open(path, "w") as file:
            json.dump({name: round(seconds, 4) for name, seconds in stages.items()}, file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
