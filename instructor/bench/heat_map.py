"""The picture of a run of `make bench GRID=1`: grid.svg.

    heat_map.py build/bench/grid.json DIRECTORY

Reads the JSON alone (grid.py). Exit status: 0; 2 the file cannot be used.
"""

import json
import math
import statistics
import sys
from pathlib import Path
from typing import Any

import charts
from matplotlib import pyplot as plt
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

# Upper ends of the bins, and what they are called. Those of min(m, n) and of k are the same.
BINS = {1: "1", 7: "2 to 7", 33: "8 to 33", 100: "34 to 100", 256: "101 to 256",
        1100: "257 to 1100", 4096: "to 4096", math.inf: "more"}
LOWEST, HIGHEST = 60, 160  # % where the colors end


def bin_of(side: int) -> int:
    return next(i for i, end in enumerate(BINS) if side <= end)


def means(results: list[dict[str, Any]]) -> dict[tuple[int, int], list[float]]:
    """The ratios of each bin of (min(m, n), k)."""
    found: dict[tuple[int, int], list[float]] = {}
    for result in results:
        place = (bin_of(min(result["m"], result["n"])), bin_of(result["k"]))
        found.setdefault(place, []).append(100 * result["ratio"])
    return found


def draw(run: dict[str, Any]) -> Figure:
    figure, axes = plt.subplots(figsize=(9.5, 6))
    cells = [[math.nan] * len(BINS) for _ in BINS]
    for (row, column), ratios in means(run["shapes"]).items():
        cells[row][column] = mean = statistics.geometric_mean(ratios)
        axes.text(column, row, f"{mean:.0f} %\n{len(ratios)}: {min(ratios):.0f} to "
                  f"{max(ratios):.0f}", ha="center", va="center", fontsize=8)
    norm = TwoSlopeNorm(100, LOWEST, HIGHEST)
    image = axes.imshow(cells, cmap="RdYlGn", norm=norm, origin="lower", aspect="auto", alpha=0.85)
    figure.colorbar(image, label="% of the better of cuBLAS and cuBLASLt", extend="both")
    names = list(BINS.values())
    axes.set_xticks(range(len(names)), names, fontsize=9)
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.set_xlabel("k")
    axes.set_ylabel("min(m, n)")
    axes.grid(visible=False)
    machine = run["machine"]
    charts.entitle(figure, f"{Path(run['kernel']).stem}: geometric mean, number of shapes, least "
                   "and most", f"{machine.get('device', '?')}, CUDA "
                   f"{machine.get('cuda_runtime', '?')}, {run['date'][:10]}, "
                   f"{len(run['shapes'])} shapes; medians, cold L2 cache")
    return figure


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: heat_map.py GRID.json DIRECTORY", file=sys.stderr)
        return 2
    source, target = Path(arguments[0]), Path(arguments[1])
    try:
        figure = draw(json.loads(source.read_text(encoding="utf-8")))
    except OSError as error:
        print(f"{source}: {error.strerror}; make bench GRID=1 writes it, on a GPU", file=sys.stderr)
        return 2
    except (ValueError, KeyError, TypeError) as error:
        print(f"{source}: no grid.json of make bench GRID=1 ({type(error).__name__}: {error})",
              file=sys.stderr)
        return 2
    path = target / "grid.svg"
    figure.savefig(path, metadata={"Date": None})
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
