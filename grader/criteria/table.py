"""All criteria by their names, the most basic one first."""

from . import correct, memory, tiled

CRITERIA = {"correct": correct, "memory": memory, "tiled": tiled}
