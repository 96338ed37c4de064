"""`make pictures`: the handout's pictures, docs/pictures/*.svg, from pictures.js.

    python instructor/pictures/draw.py [DIR]    default: docs/pictures

They are drawn by the walkthrough's own functions (engine/show/page/view/draw.js), which need a browser: Chromium
runs them without a window, and prints the page. Each SVG has the rules of page.css and the colors that it
uses, so that it is readable by itself, in light and dark. The same files in each run.

Exit status: 0 written; 3 no browser, or it failed.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
WALK = REPOSITORY / "engine" / "show" / "page" / "view"
SECONDS = 60
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PAGE = '<!doctype html><meta charset="utf-8"><pre id="pictures"></pre><script>{}</script>'


class NoBrowser(Exception):
    pass


def browser() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not found:
        raise NoBrowser(f"{BROWSERS[0]}: is not installed")
    return found


def drawn(tile: int = 16) -> dict[str, str]:
    """Each picture's SVG by its name, for tiles of so many elements. Raises NoBrowser."""
    scripts = f"const BLOCK = {tile};\n" + "\n".join(path.read_text(encoding="utf-8") for path in
                        (WALK / "draw.js", HERE / "pictures.js"))
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "pictures.html"
        page.write_text(PAGE.format(scripts), encoding="utf-8")
        # No sandbox: the page is ours, and where root runs this, Chromium has none.
        done = subprocess.run(
            [browser(), "--headless", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={folder}/profile", "--dump-dom", page.as_uri()],
            capture_output=True, text=True, encoding="utf-8", timeout=SECONDS, check=False)
    found = re.search(r'<pre id="pictures">(\[.*?\])</pre>', done.stdout, re.DOTALL)
    if not found:
        raise NoBrowser(f"{browser()}: drew nothing; {done.stderr.strip()[-300:]}")
    return {name: finished(name, text) for name, text in json.loads(html.unescape(found[1]))}


# ---- style ---------------------------------------------------------------------------------------

RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
VARIABLE = re.compile(r"(--[\w-]+): ([^;]+);")


def finished(name: str, text: str) -> str:
    """With its style inside, unused patterns left out, and one element a line."""
    for pattern in re.findall(r'<pattern id="([\w-]+)"', text):
        if f"url(#{pattern})" not in style_of(text):
            text = re.sub(rf'<pattern id="{pattern}".*?</pattern>', "", text)
    if "marker-end" not in text:
        text = re.sub(r"<marker .*?</marker>", "", text)
    text = text.replace("><", ">\n<")
    return text.replace("<defs>", f"<style>\n{style_of(text)}</style>\n<defs>", 1) + "\n"


def style_of(text: str) -> str:
    """The rules whose classes occur, and the colors that these name, in light and dark."""
    page = (WALK / "page.css").read_text(encoding="utf-8")
    of_pictures = page[page.index("/* --- pictures:"):] + (HERE / "pictures.css").read_text()
    classes = {name for value in re.findall(r' class="([^"]+)"', text) for name in value.split()}
    rules = [f"{selector.strip()} {{{body}}}"
             for selector, body in RULE.findall(re.sub(r"/\*.*?\*/", "", of_pictures, flags=re.DOTALL))
             if any(set(re.findall(r"\.([\w-]+)", one)) <= classes for one in selector.split(","))]
    named = set(re.findall(r"var\((--[\w-]+)\)", "".join(rules)))
    light, dark = (WALK / "colors.css").read_text(encoding="utf-8").split("@media", 1)

    def colors(theme: str) -> str:
        return " ".join(f"{name}: {value};" for name, value in VARIABLE.findall(theme) if name in named)

    return (f":root {{ {colors(light)} }}\n"
            f"@media (prefers-color-scheme: dark) {{ :root {{ {colors(dark)} }} }}\n"
            + "\n".join(rules) + "\n")


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "docs" / "pictures"
    try:
        pictures = drawn()
    except (NoBrowser, subprocess.TimeoutExpired) as fault:
        print(f"make pictures: {fault}", file=sys.stderr)
        return 3
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pictures.items():
        (folder / f"{name}.svg").write_text(text, encoding="utf-8")
        print(folder / f"{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
