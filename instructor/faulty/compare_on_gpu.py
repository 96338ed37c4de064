#!/usr/bin/env python3
"""What `make check` finds in each faulty kernel, on the CPU and on a GPU, as a Markdown table.

    python3 instructor/faulty/compare_on_gpu.py [-o docs/check-on-gpu.md] [-j JOBS] [KERNEL.cu ...]

In other kernels, such as right ones, nothing should be found. Needs nvcc, compute-sanitizer and a
GPU. Builds in copies of the repository, not in it. Exit status: 0 if what the GPU finds is what the
files declare ("gpu:"), 1 if not, 3 if a run went wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
SECONDS = 180  # of one build, and of one run
LEFT_OUT = shutil.ignore_patterns("build", ".git", ".venv", "__pycache__", "sgemm", "sgemm-check")


@dataclass
class Row:
    """One kernel: what it declares, and what was found."""

    path: Path
    gpu: str
    refused: bool  # by nvcc
    on_cpu: Any = None
    on_gpu: Any = None


def declared(path: Path, key: str) -> str:
    head = path.read_text().split("*/")[0]
    found = re.search(rf"^ \* {key}: +(.*?) *$", head, re.MULTILINE)
    return found[1] if found else ""


def check(tree: Path, row: Row, backend: str) -> Any:
    """The JSON of one run; with "status" "error" and a message where none came out."""
    kernel = row.path.relative_to(REPOSITORY)
    arguments = [*declared(row.path, "shape").split(), *declared(row.path, "options").split()]
    made = subprocess.run(
        ["make", "-s", "sgemm-check", f"KERNEL={kernel}", f"BACKEND={backend}"],
        cwd=tree, capture_output=True, text=True, timeout=SECONDS, check=False,
    )
    if made.returncode:
        return {"status": "error", "message": (made.stderr.strip() or "no build").splitlines()[-1]}
    try:
        run = subprocess.run(
            ["./sgemm-check", "--json", "--seed", "1", *arguments],
            cwd=tree, capture_output=True, text=True, errors="replace", timeout=SECONDS,
            check=False,
        )
        return json.loads(run.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        return {"status": "error", "message": f"{type(error).__name__}"}


def fill(row: Row, trees: queue.Queue[Path]) -> None:
    tree = trees.get()
    try:
        row.on_cpu = check(tree, row, "cpu")
        if not row.refused:
            row.on_gpu = check(tree, row, "cuda")
    finally:
        trees.put(tree)
    print(f"{row.path.stem}: {cell(row.on_cpu)} | {cell(row.on_gpu)} ({row.gpu})", file=sys.stderr)


# ---- the table -----------------------------------------------------------------------------------


def cell(result: Any) -> str:
    """"shared-race, line 29", with the tool on a GPU."""
    if result is None:
        return "does not compile"
    if result["status"] == "error":
        return f"error: {result['message']}"
    finding = result["finding"]
    if finding is None:
        return "nothing"
    tool = [finding["tool"]] if finding.get("tool") else []
    line = [f"line {finding['line']}"] if finding["line"] else []
    return ", ".join([*tool, finding["kind"], *line])


def who(result: Any) -> str:
    """What `gpu:` declares of such a result."""
    if result is None or result["status"] == "error":
        return "error"
    finding = result["finding"]
    return "none" if finding is None else finding["tool"] or "result"


def same(row: Row) -> str:
    cpu, gpu = (result and result.get("finding") for result in (row.on_cpu, row.on_gpu))
    if not cpu or not gpu:
        return "no" if cpu or gpu else "yes"
    if cpu["kind"] != gpu["kind"]:
        return "no"
    return "yes" if cpu["line"] == gpu["line"] else "kind"


def first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return "unknown"
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "unknown"


def table(rows: list[Row], seconds: float) -> str:
    gpu = first_line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    sanitizer = first_line("compute-sanitizer", "--version")
    kinds = [same(row) for row in rows]
    wrong = [row for row in rows if not row.refused and who(row.on_gpu) != row.gpu]
    lines = [
        "# What `make check` finds on the CPU and on a GPU",
        "",
        f"Each file of `instructor/faulty/`, checked on both. {gpu}; compute-sanitizer: "
        f"{sanitizer}; {time.strftime('%Y-%m-%d')}; {seconds:.0f} s in all. Written by "
        "`instructor/faulty/compare_on_gpu.py`.",
        "",
        f"Of {len(rows)} kernels the CPU checker finds a mistake in "
        f"{sum(row.on_cpu['status'] == 'finding' for row in rows)}, the GPU in "
        f"{sum(bool(row.on_gpu) and row.on_gpu['status'] == 'finding' for row in rows)}; kind and "
        f"line agree in {kinds.count('yes')}, the kind alone in {kinds.count('kind')}.",
        "",
        "| kernel | on the CPU | on the GPU | same |",
        "|---|---|---|---|",
        *(f"| `{row.path.stem}` | {cell(row.on_cpu)} | {cell(row.on_gpu)} | {same(row)} |"
          for row in rows),
        "",
    ]
    if wrong:
        lines += ["Not as declared:", ""]
        lines += [f"- `{row.path.stem}`: `gpu: {row.gpu}`, found by {who(row.on_gpu)}"
                  for row in wrong]
        lines += [""]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", type=Path)
    parser.add_argument("-o", "--output", type=Path, help="write the table there, too")
    parser.add_argument("-j", "--jobs", type=int, default=max(1, (os.cpu_count() or 4) // 4))
    options = parser.parse_args()
    paths = [path.resolve() for path in options.kernels]
    paths = paths or sorted((REPOSITORY / "instructor" / "faulty").glob("*.cu"))
    rows = [Row(path, declared(path, "gpu") or "none", declared(path, "nvcc") == "refuses")
            for path in paths]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        trees: queue.Queue[Path] = queue.Queue()
        for i in range(options.jobs):
            tree = Path(temporary) / f"tree{i}"
            shutil.copytree(REPOSITORY, tree, ignore=LEFT_OUT)
            trees.put(tree)
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(lambda row: fill(row, trees), rows))
    text = table(rows, time.monotonic() - start)
    print(text)
    if options.output:
        options.output.write_text(text)
    if any(result and result["status"] == "error" for row in rows
           for result in (row.on_cpu, row.on_gpu)):
        return 3
    return 1 if "Not as declared" in text else 0


if __name__ == "__main__":
    sys.exit(main())
