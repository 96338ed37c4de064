"""Where the assignment can be worked on without installing it: .devcontainer/ and the notebook for
Colab. Neither Docker nor Colab is to be had here, so their files are held against their formats."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import REPOSITORY, Tree, need

CONTAINER = REPOSITORY / ".devcontainer"
NEEDED = {"make", "g++", "binutils", "python3-venv", "clangd", "git"}

# The properties of containers.dev/implementors/json_reference/ that are used here, and no others:
# above all none that gives the container rights (privileged, capAdd, runArgs, mounts).
DEVCONTAINER: dict[str, Any] = {
    "type": "object", "additionalProperties": False,
    "required": ["name", "build", "remoteUser"],
    "properties": {
        "name": {"type": "string"},
        "build": {"type": "object", "additionalProperties": False, "required": ["dockerfile"],
                  "properties": {"dockerfile": {"const": "Dockerfile"}}},
        "remoteUser": {"const": "student"},
        "containerEnv": {"type": "object", "additionalProperties": {"type": "string"}},
        "customizations": {"type": "object"},
    },
}  # fmt: skip

# Of nbformat 4.5, what a notebook without outputs has.
LINES = {"type": "array", "items": {"type": "string"}}
NOTEBOOK: dict[str, Any] = {
    "type": "object", "additionalProperties": False,
    "required": ["metadata", "nbformat_minor", "nbformat", "cells"],
    "properties": {
        "metadata": {"type": "object", "required": ["kernelspec"]},
        "nbformat": {"const": 4}, "nbformat_minor": {"const": 5},
        "cells": {"type": "array", "items": {"oneOf": [
            {"type": "object", "additionalProperties": False,
             "required": ["id", "cell_type", "metadata", "source"],
             "properties": {"id": {"pattern": "^[a-zA-Z0-9-_]{1,64}$"}, "metadata": {},
                            "cell_type": {"const": "markdown"}, "source": LINES}},
            {"type": "object", "additionalProperties": False,
             "required": ["id", "cell_type", "metadata", "source", "outputs", "execution_count"],
             "properties": {"id": {"pattern": "^[a-zA-Z0-9-_]{1,64}$"}, "metadata": {},
                            "cell_type": {"const": "code"}, "source": LINES,
                            "outputs": {"maxItems": 0}, "execution_count": {"const": None}}},
        ]}},
    },
}  # fmt: skip


def test_the_container_has_what_is_needed_and_no_rights() -> None:
    jsonschema.validate(json.loads((CONTAINER / "devcontainer.json").read_text()), DEVCONTAINER)
    dockerfile = (CONTAINER / "Dockerfile").read_text()
    assert re.search(r"^FROM debian:bookworm-\d{8}-slim@sha256:[0-9a-f]{64}$", dockerfile, re.M)
    assert "useradd --create-home --shell /bin/bash student" in dockerfile
    assert set(packages(dockerfile)) >= NEEDED


def packages(dockerfile: str) -> list[str]:
    listed = re.search(r"--no-install-recommends \\\n(.*?)&&", dockerfile, re.S)
    assert listed
    return listed[1].replace("\\", " ").split()


def test_debian_has_these_packages() -> None:
    """Where the lists of Debian 12 are at hand."""
    release = Path("/etc/os-release")
    if not release.exists() or "VERSION_CODENAME=bookworm" not in release.read_text():
        pytest.skip("this is not Debian 12")
    known = subprocess.run([need("apt-cache"), "pkgnames"], capture_output=True, text=True,
                           timeout=60, check=True).stdout.split()
    if "clangd" not in known:
        pytest.skip("apt has no package lists here")
    assert set(packages((CONTAINER / "Dockerfile").read_text())) <= set(known)


def notebook() -> Any:
    return json.loads((REPOSITORY / "docs/colab.ipynb").read_text(encoding="utf-8"))


def test_the_notebook_is_one() -> None:
    jsonschema.validate(notebook(), NOTEBOOK)
    ids = [cell["id"] for cell in notebook()["cells"]]
    assert len(ids) == len(set(ids))


def test_the_notebooks_cells_call_make(tree: Tree) -> None:
    cells = ["".join(cell["source"]) for cell in notebook()["cells"] if cell["cell_type"] == "code"]
    made = [re.findall(r"\bmake\b ?([a-z-]*)", cell) for cell in cells]
    assert made == [[""], ["check"], ["grade"]]
    for [target] in made:
        tree.make("-n", *([target] if target else []), "BACKEND=cpu")
    for line in "\n".join(cells).splitlines():
        if line.startswith("!"):
            subprocess.run([need("sh"), "-n", "-c", line[1:]], check=True, timeout=60)
