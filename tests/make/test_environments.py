"""Where the assignment can be worked on without installing it: .devcontainer/ and the notebook for
Colab. Neither Docker nor Colab is to be had here."""

import json
import re
import subprocess
from typing import Any

from conftest import REPOSITORY, Tree, need

CONTAINER = REPOSITORY / ".devcontainer"
NEEDED = {"make", "g++", "binutils", "python3-venv", "clangd", "git"}
# No properties but these, above all none that gives the container rights (privileged, capAdd, runArgs, mounts).
PROPERTIES = {"name", "build", "remoteUser", "containerEnv", "customizations"}


def test_the_container_has_what_is_needed_and_no_rights() -> None:
    container = json.loads((CONTAINER / "devcontainer.json").read_text())
    assert container.keys() <= PROPERTIES
    assert (container["build"], container["remoteUser"]) == ({"dockerfile": "Dockerfile"}, "student")
    dockerfile = (CONTAINER / "Dockerfile").read_text()
    assert re.search(r"^FROM debian:bookworm-\d{8}-slim@sha256:[0-9a-f]{64}$", dockerfile, re.M)
    assert "useradd --create-home --shell /bin/bash student" in dockerfile
    assert set(packages(dockerfile)) >= NEEDED


def packages(dockerfile: str) -> list[str]:
    listed = re.search(r"--no-install-recommends \\\n(.*?)&&", dockerfile, re.S)
    assert listed
    return listed[1].replace("\\", " ").split()


def notebook() -> Any:
    return json.loads((REPOSITORY / "docs/colab.ipynb").read_text(encoding="utf-8"))


def test_the_notebooks_cells_call_make(tree: Tree) -> None:
    cells = ["".join(cell["source"]) for cell in notebook()["cells"] if cell["cell_type"] == "code"]
    made = [re.findall(r"\bmake\b ?([a-z-]*)", cell) for cell in cells]
    assert made == [[""], ["check"], ["grade"]]
    for [target] in made:
        tree.make("-n", *([target] if target else []), "BACKEND=cpu")
    for line in "\n".join(cells).splitlines():
        if line.startswith("!"):
            subprocess.run([need("sh"), "-n", "-c", line[1:]], check=True, timeout=60)
