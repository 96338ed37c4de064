"""Feedback as Markdown, for an issue or a mail: the same as the page, without bars. It can be read
as it is.

In: Feedback. Out: Markdown, in which text from elsewhere is text and nothing else, as in
exporters/summary.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...exporters.summary import markdown, row, speed, table
from ...text import plain
from .feedback import Advice, Feedback, in_words, next_without_mistakes, result_of, time_of
from .source import Line


def as_markdown(feedback: Feedback) -> str:
    blocks = [f"# {markdown(feedback.assignment)}: {markdown(feedback.name)}",
              f"**{markdown(feedback.total)}**",
              "\n".join(f"- {markdown(what)}: {how_much}" if how_much else f"- {markdown(what)}"
                        for what, how_much in feedback.account),
              *map(markdown, feedback.remarks)]
    if feedback.record:
        blocks += of_record(feedback)
    if feedback.attempts:
        blocks += ["## What you handed in", attempts(feedback)]
    return "\n\n".join(filter(None, (block.strip("\n") for block in blocks))) + "\n"


def of_record(feedback: Feedback) -> list[str]:
    record = feedback.record
    assert record
    blocks = [f"## {in_words(feedback)}", markdown(next_without_mistakes(feedback))]
    for advice in feedback.advice:
        blocks += of_mistake(advice)
    if feedback.public or feedback.hidden:
        blocks += ["## Each case", table(record)]
    if feedback.loads:
        blocks += ["## Loads from global memory", loads(feedback)]
    if feedback.speed or feedback.not_timed:
        blocks += ["## Speed", speed(record)]
    return blocks


def of_mistake(advice: Advice) -> list[str]:
    return [f"### {markdown(advice.headline)}",
            as_code("\n".join(advice.details)) if advice.details else "",
            as_code("\n".join(map(numbered, advice.code))) if advice.code else "",
            f"Hint: {markdown(advice.hint)}" if advice.hint else "",
            *(["It printed:", as_code(advice.printed)] if advice.printed else []),
            "Try next:", as_code(advice.command), markdown(advice.cost)]


def as_code(text: str) -> str:
    """A block whose fence is longer than any in it."""
    text = plain(text)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def numbered(line: Line) -> str:
    sign = ">" if line.marks else " "
    return f"{sign}{line.number:5} | {line.text}"


def loads(feedback: Feedback) -> str:
    kinds = [bar.what for bar in feedback.loads[0][1]]
    lines = [row("case", *kinds), row("---", *["---:"] * len(kinds))]
    lines += [row(markdown(test.name), *(f"{bar.count:,}" for bar in bars))
              for test, bars in feedback.loads]
    return "\n".join(lines)


def attempts(feedback: Feedback) -> str:
    lines: Sequence[str] = [
        row(str(each.number), markdown(time_of(each)), markdown(result_of(each)),
            "counts" if feedback.is_counted(each) else "") for each in feedback.attempts]
    head = [row("attempt", "when", "points", ""), row("---:", "---", "---", "---")]
    return "\n".join([*head, *lines])
