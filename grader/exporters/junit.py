"""JUnit XML, for whatever draws test reports. It holds to both schemas that are in use, Ant's
(windyroad/JUnit-Schema) and that of Jenkins (junit-10.xsd): elements, their order, attributes.

JUnit has no points: each suite's properties carry them, `CASE score` and `CASE max_score`. A case
that earned a part of its points is a failure of type `partial`.
"""

from __future__ import annotations

from xml.etree import ElementTree as xml

from ..record import Record, Timing
from .text import Item, lost, measured, name, one_line, plain, points, shape, status, whole

HOST = "localhost"  # Ant's schema wants a host; which one it was is nobody's business


def export(record: Record) -> str:
    root = xml.Element("testsuites")
    if record.refusal or not record.build.ok:
        add_suite(root, record, "kernel.cu", [])
    items: list[Item] = [*record.tests, *record.performance]
    for suite in dict.fromkeys(item.suite for item in items):
        add_suite(root, record, suite, [item for item in items if item.suite == suite])
    xml.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, "unicode") + "\n"


def add_suite(root: xml.Element, record: Record, suite: str, tests: list[Item]) -> None:
    """Without tests: one case for the submission as a whole, which failed."""
    failures = sum(status(test) in ("partial", "failed") for test in tests) if tests else 1
    element = xml.SubElement(root, "testsuite", {
        "name": one_line(suite), "package": "sgemm", "id": str(len(root)), "hostname": HOST,
        "timestamp": record.started[:19], "tests": str(len(tests) or 1),
        "failures": str(failures), "errors": "0",
        "skipped": str(sum(status(test) == "skipped" for test in tests)),
        "time": f"{sum(test.seconds for test in tests):.3f}",
    })
    properties = xml.SubElement(element, "properties")
    add_property(properties, "score", points(record.score))
    add_property(properties, "max_score", points(record.max_score))
    for test in tests:
        add_property(properties, f"{one_line(test.name)} score", points(test.score))
        add_property(properties, f"{one_line(test.name)} max_score", points(test.max_score))
        add_case(element, test)
    if not tests:
        case = add_testcase(element, "kernel.cu", suite, 0.0)
        add_failure(case, "refused" if record.refusal else "build", whole(record))
    printed = [f"{name(test)}:\n{said}" for test in tests if (said := printed_by(test))]
    xml.SubElement(element, "system-out").text = "\n".join(printed)
    xml.SubElement(element, "system-err")


def printed_by(test: Item) -> str:
    """Of a timed shape: its times, for which JUnit has no other place."""
    return measured(test) if isinstance(test, Timing) else plain(test.output)


def add_case(suite: xml.Element, test: Item) -> None:
    case = add_testcase(suite, test.name, test.suite, test.seconds)
    lines = ([shape(test)] if shape(test) else []) + lost(test)
    if status(test) == "skipped":
        xml.SubElement(case, "skipped", {"message": one_line(test.reason)})
    elif status(test) != "passed":
        add_failure(case, status(test), lines)


def add_testcase(suite: xml.Element, title: str, classname: str, seconds: float) -> xml.Element:
    return xml.SubElement(suite, "testcase", {
        "name": one_line(title), "classname": one_line(classname).replace("/", "."),
        "time": f"{seconds:.3f}"})


def add_failure(case: xml.Element, kind: str, lines: list[str]) -> None:
    failure = xml.SubElement(case, "failure", {
        "type": kind, "message": one_line("; ".join(lines))})
    failure.text = "\n".join(lines)


def add_property(properties: xml.Element, key: str, value: str) -> None:
    xml.SubElement(properties, "property", {"name": key, "value": value})
