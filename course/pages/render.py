"""Templates to HTML: one file, with its style inside, that asks for nothing from outside and runs
no script.

In: a template's name and what it shows. Out: UTF-8. Every text is escaped by Jinja, and what is not
printable in it (control characters, marks that turn the direction of writing) is shown by its code.
"""

import base64
import functools
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..record import share
from ..text import plain, points

HERE = Path(__file__).resolve().parent


def render(template: str, **shown: Any) -> bytes:
    return environment().get_template(template).render(**shown).encode()


@functools.cache
def environment() -> Environment:
    style = (HERE / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    made = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined,
                       trim_blocks=True, lstrip_blocks=True, finalize=visible)
    made.filters |= {"points": points, "share": share}
    made.globals |= {
        "style": Markup(style),
        "policy": Markup(f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
                         "form-action 'none'"),
    }
    return made


def visible(value: Any) -> Any:
    """Of every expression of a template, before it is escaped."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return plain(value)
