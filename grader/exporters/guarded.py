"""Run a command in a GitHub workflow so that nothing it prints is a command to the runner.

    python -m grader.exporters.guarded make grade SUITE=public

Between `::stop-commands::TOKEN` and `::TOKEN::` the runner reads lines as text. The token is random
and stays in this process, so that no submission can print it. For the same reason the files through
which steps talk to the runner are removed from the environment. Exits as the command did. Only
Python's standard library is needed: this runs before anything is installed.
"""

import os
import secrets
import signal
import subprocess
import sys

# Where a step writes what the next ones get; its summary; the runner's own tokens.
NOT_INHERITED = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE",
                 "GITHUB_STEP_SUMMARY", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN",
                 "ACTIONS_ID_TOKEN_REQUEST_TOKEN")


def main(command: list[str]) -> int:
    if not command:
        print("usage: python -m grader.exporters.guarded COMMAND [ARGUMENT ...]", file=sys.stderr)
        return 2
    environment = {key: value for key, value in os.environ.items() if key not in NOT_INHERITED}
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return run(command, environment)
    token = secrets.token_hex(32)
    print(f"::stop-commands::{token}", flush=True)
    try:
        return run(command, environment)
    finally:
        print(f"\n::{token}::", flush=True)  # on a line of its own, whatever came before


def run(command: list[str], environment: dict[str, str]) -> int:
    """Errors go where the output goes, so that the log has one order. An interrupt is for the
    command to handle."""
    signal.signal(signal.SIGINT, lambda number, frame: None)  # the command does not inherit this
    try:
        status = subprocess.run(command, env=environment, stderr=subprocess.STDOUT, check=False).returncode
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 3
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
