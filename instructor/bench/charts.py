"""Charts of a run of `make bench`: gflops, percent and roofline, each as SVG.

    charts.py build/bench/ladder.json DIRECTORY

Reads the JSON alone (ladder.py), so that they can be made again on a machine without a GPU.
Exit status: 0; 2 the file cannot be used.
"""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402  (after the choice of what draws)
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402

CUBLAS = "cuBLAS"
# The rungs go from dark to light as the ladder climbs, which also the color-blind and a printer
# without colors can tell apart; the markers differ too.
COLORS = matplotlib.colormaps["viridis"]
MARKERS = "osD^vP*Xph<>"
CUBLAS_STYLE = {"color": "black", "linestyle": "--", "marker": "", "linewidth": 1.8}
GREY = "0.45"

matplotlib.rcParams.update({
    "svg.fonttype": "none",  # text stays text: it can be searched, and read aloud
    "svg.hashsalt": "ladder",  # the same file from the same numbers
    "font.size": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.9",
    "axes.axisbelow": True,
    "figure.constrained_layout.use": True,
})


@dataclass
class Rung:
    """A kernel that was measured somewhere, and how it is drawn."""

    name: str
    flop_per_byte: float | None
    style: dict[str, Any]


@dataclass
class Shape:
    """One size, and what was measured on it."""

    m: int
    k: int
    n: int
    results: dict[str, dict[str, Any]]  # of the measured kernels, by name

    @property
    def is_cube(self) -> bool:
        return self.m == self.k == self.n

    @property
    def label(self) -> str:
        if self.is_cube:
            return f"{self.m}³"
        return f"{self.m}\n× {self.k}\n× {self.n}"

    @property
    def flops(self) -> int:
        return 2 * self.m * self.k * self.n


def style_of(number: int, count: int) -> dict[str, Any]:
    share = number / max(count - 1, 1)
    return {"color": COLORS(0.88 * share), "marker": MARKERS[number % len(MARKERS)],
            "linestyle": "-", "linewidth": 1.8, "markersize": 6}


@dataclass
class Run:
    """A ladder.json, as far as it is drawn."""

    caption: str
    ceilings: dict[str, float]
    rungs: list[Rung]  # cuBLAS first, where it was measured
    shapes: list[Shape]


def read_run(path: Path) -> Run:
    run = json.loads(path.read_text(encoding="utf-8"))
    shapes = [
        Shape(shape["m"], shape["k"], shape["n"],
              {r["kernel"]: r for r in shape["results"] if "gflops" in r})
        for shape in run["shapes"]
    ]
    shapes = sorted((s for s in shapes if s.results), key=lambda s: s.flops)
    measured = [k for k in run["kernels"] if any(k["name"] in s.results for s in shapes)]
    count = sum(k["name"] != CUBLAS for k in measured)
    rungs: list[Rung] = []
    for kernel in measured:
        own = kernel["name"] != CUBLAS
        style = style_of(sum(r.name != CUBLAS for r in rungs), count) if own else CUBLAS_STYLE
        rungs.append(Rung(kernel["name"], kernel["flop_per_byte"], style))
    machine = run["machine"]
    caption = (f"{machine.get('device', '?')}, CUDA {machine.get('cuda_runtime', '?')}, "
               f"driver {machine.get('driver', '?')}, {run['date'][:10]}; "
               "medians of samples that alternate with cuBLAS")
    return Run(caption, run["ceilings"], rungs, shapes)


# ---- names ---------------------------------------------------------------------------------------


def name_rungs(figure: Figure, rungs: Sequence[Rung]) -> None:
    """A legend beside the panels, the ladder's top above."""
    lines = [Line2D([], [], label=rung.name, **rung.style) for rung in reversed(rungs)]
    figure.legend(handles=lines, loc="outside right center", frameon=False, fontsize=9.5)


# ---- figures over size ---------------------------------------------------------------------------


def two_panels(run: Run) -> tuple[Figure, list[tuple[Axes, list[Shape]]]]:
    """Cubes on the left, as lines, by size but not to scale; other shapes on the right, points one
    beside the other. Only those panels that have something in them."""
    cubes = [s for s in run.shapes if s.is_cube]
    others = [s for s in run.shapes if not s.is_cube]
    parts = [part for part in (cubes, others) if part]
    figure, axes = plt.subplots(1, len(parts), figsize=(11, 5.6), sharey=True, squeeze=False,
                                width_ratios=[len(part) + 0.4 for part in parts])
    return figure, list(zip(axes[0], parts, strict=True))


def points_of(
    run: Run, rung: Rung, shapes: list[Shape], figure_of: str
) -> list[tuple[float, float]]:
    """(place, figure) where there is one. Points that no line joins stand side by side."""
    shift = 0.0
    if not shapes[0].is_cube and rung.name != CUBLAS:
        own = [r for r in run.rungs if r.name != CUBLAS]
        shift = 0.6 * (own.index(rung) - (len(own) - 1) / 2) / max(len(own), 4)
    return [(i + shift, s.results[rung.name][figure_of]) for i, s in enumerate(shapes)
            if s.results.get(rung.name, {}).get(figure_of) is not None]


def draw_part(axes: Axes, run: Run, shapes: list[Shape], figure_of: str) -> None:
    cubes = shapes[0].is_cube
    for rung in run.rungs:
        points = points_of(run, rung, shapes, figure_of)
        if not points:
            continue
        style = dict(rung.style)
        if not cubes:  # no line from one shape to another: between them is nothing
            style |= {"linestyle": "none"}
            if rung.name == CUBLAS:
                style |= {"marker": "_", "markersize": 52, "markeredgewidth": 1.8}
        elif len(shapes) == 1 and rung.name == CUBLAS:
            style |= {"marker": "_", "markersize": 52, "markeredgewidth": 1.8}
        axes.plot(*zip(*points, strict=True), **style)
    axes.set_xlim(-0.5, len(shapes) - 0.5)
    axes.set_xlabel("m = k = n" if cubes else "m × k × n")
    axes.set_xticks(range(len(shapes)), [str(s.m) if cubes else s.label for s in shapes])
    axes.grid(visible=cubes, axis="x")


def over_size(
    run: Run, figure_of: str, label: str, title: str, ceiling: float | None = None
) -> Figure:
    figure, panels = two_panels(run)
    for axes, shapes in panels:
        draw_part(axes, run, shapes, figure_of)
    first = panels[0][0]
    first.set_ylim(bottom=0)
    first.set_ylabel(label)
    first.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    entitle(figure, title, run.caption)
    if ceiling:
        first.set_ylim(top=1.08 * ceiling)
        draw_ceiling([axes for axes, _ in panels], ceiling)
    name_rungs(figure, run.rungs)
    return figure


def entitle(figure: Figure, title: str, caption: str) -> None:
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    figure.supxlabel(caption, x=0.01, ha="left", fontsize=8.5, color=GREY)


def draw_ceiling(panels: list[Axes], ceiling: float) -> None:
    for axes in panels:
        axes.axhline(ceiling, color=GREY, linewidth=1, linestyle=":")
    panels[0].annotate(f"FFMA ceiling, measured: {ceiling:,.0f}", (0.01, ceiling),
                       xycoords=("axes fraction", "data"), xytext=(0, 3),
                       textcoords="offset points", fontsize=8.5, color=GREY)


def draw_gflops(run: Run) -> Figure:
    return over_size(run, "gflops", "GFLOP/s", "SGEMM, GFLOP/s", run.ceilings["ffma_flops"] / 1e9)


def draw_percent(run: Run) -> Figure:
    return over_size(run, "percent_of_cublas", "% of cuBLAS", "SGEMM, % of cuBLAS (float32)")


# ---- roofline ------------------------------------------------------------------------------------


def draw_roofline(run: Run) -> Figure:
    """Each rung at the intensity that its file's head says, on the largest shape."""
    shape = run.shapes[-1]
    rungs = [r for r in run.rungs if r.flop_per_byte and r.name in shape.results]
    speeds = [shape.results[r.name]["gflops"] for r in rungs]
    figure, axes = plt.subplots(figsize=(9.5, 6))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=10)
    axes.set_xlim(min([0.125, *(r.flop_per_byte / 2 for r in rungs)]),
                  max([128, *(r.flop_per_byte * 4 for r in rungs)]))
    draw_roofs(axes, run, min(speeds, default=1e9))
    for rung, speed in zip(rungs, speeds, strict=True):
        axes.plot(rung.flop_per_byte, speed, **(rung.style | {"markersize": 8}), zorder=3)
    if CUBLAS in shape.results:
        level(axes, "cuBLAS", shape.results[CUBLAS]["gflops"], color="black", linestyle="--")
    axes.set_xlabel("FLOP per byte that the kernel asks of global memory")
    axes.set_ylabel("GFLOP/s")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    size = shape.label.replace("\n", " ")
    entitle(figure, f"SGEMM, roofline at {size}", f"{run.caption}; roofs measured")
    name_rungs(figure, rungs)
    return figure


def level(axes: Axes, name: str, value: float, **line: Any) -> None:
    """A horizontal line, and above its left end what it is."""
    axes.axhline(value, linewidth=1.2, zorder=1, **line)
    axes.annotate(f"{name}: {value:,.0f} GFLOP/s", (0.01, value),
                  xycoords=("axes fraction", "data"), xytext=(0, -4), textcoords="offset points",
                  va="top", fontsize=8.5, color=line["color"])


def draw_roofs(axes: Axes, run: Run, slowest: float) -> None:
    """What bytes allow on the left, what FFMA allows on the right: nothing is above either, but
    what the level-1 cache serves."""
    left, right = axes.get_xlim()
    peak = run.ceilings["ffma_flops"] / 1e9
    roofs = [("L2 cache", run.ceilings["l2_bytes_per_second"] / 1e9, "-"),
             ("memory", run.ceilings["memory_bytes_per_second"] / 1e9, "--")]
    axes.set_ylim(min(left * roofs[1][1], slowest) / 1.3, peak * 1.6)
    for name, bandwidth, line in roofs:
        axes.plot([left, peak / bandwidth, right], [left * bandwidth, peak, peak], color=GREY,
                  linestyle=line, linewidth=1.4, zorder=1)
        x = left * 1.2
        axes.text(x, 1.08 * x * bandwidth, f"{name}: {bandwidth:,.0f} GB/s", fontsize=8.5,
                  rotation=math.degrees(math.atan(bandwidth)), rotation_mode="anchor",
                  transform_rotates_text=True, color=GREY)
    axes.annotate(f"FFMA: {peak:,.0f} GFLOP/s", (0.99, peak), xycoords=("axes fraction", "data"),
                  xytext=(0, 4), textcoords="offset points", ha="right", fontsize=8.5, color=GREY)


# --------------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: charts.py LADDER.json DIRECTORY", file=sys.stderr)
        return 2
    source, target = Path(arguments[0]), Path(arguments[1])
    try:
        run = read_run(source)
    except OSError as error:
        print(f"{source}: {error.strerror}; make bench writes it, on a GPU", file=sys.stderr)
        return 2
    except (ValueError, KeyError, TypeError) as error:
        print(f"{source}: no ladder.json of make bench ({type(error).__name__}: {error})",
              file=sys.stderr)
        return 2
    if not run.shapes:
        print(f"{source}: nothing was measured, so there is nothing to draw", file=sys.stderr)
        return 2
    for name, draw in (("gflops", draw_gflops), ("percent", draw_percent),
                       ("roofline", draw_roofline)):
        figure = draw(run)
        path = target / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None})
        print(path)
        plt.close(figure)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
