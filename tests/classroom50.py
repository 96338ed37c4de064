"""What Classroom 50 demands of a result.json: the constraints of its schema classroom50/result/v1, and
those that its runner checks beside the schema, written down from its documentation (wiki page
"Advanced Autograding", schemas/result-v1.schema.json)."""

from __future__ import annotations

from typing import Any

import jsonschema

ENVIRONMENT = {
    "CLASSROOM": "cs101", "ASSIGNMENT": "sgemm", "ASSIGNMENT_TYPE": "individual", "OWNER": "alice",
    "USERNAME": "alice", "SUBMISSION_TAG": "submit/2026-11-21T06-00-00Z-0123456",
    "PAGES_BASE_URL": "https://org.example/classroom50",
    "COMMIT_URL": "https://git.example/org/cs101-sgemm-alice/commit/0123456",
    "RELEASE_URL": "https://git.example/org/cs101-sgemm-alice/releases/tag/submit",
    "REVIEW_URL": "https://git.example/org/cs101-sgemm-alice/compare/fedcba9...0123456",
}  # fmt: skip
"""What the runner sets for an autograder.py, beside GitHub's own variables."""

TEXT = {"type": "string", "minLength": 1}
WHOLE_POINTS = {"type": "integer", "minimum": 0}
TIME = {"type": "string",
        "pattern": r"^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$"}
TEST = {
    "type": "object",  # further members are allowed, and kept
    "required": ["test-name", "passed", "score", "max-score"],
    "properties": {"test-name": TEXT, "passed": {"type": "boolean"}, "score": WHOLE_POINTS,
                   "max-score": WHOLE_POINTS},
}
MEMBERS = {
    "schema": {"const": "classroom50/result/v1"}, "classroom": TEXT, "assignment": TEXT,
    "assignment_type": {"enum": ["individual", "group"]}, "owner": TEXT,
    "submission": {"type": "string", "pattern": "^submit/"}, "commit": TEXT, "release": TEXT,
    "review": TEXT, "datetime": TIME, "score": WHOLE_POINTS, "max-score": WHOLE_POINTS,
    "tests": {"type": "array", "items": TEST},
}  # fmt: skip
OPTIONAL = {
    "graded_at": TIME,
    "submitted_by": {"type": "object", "additionalProperties": False, "required": ["username"],
                     "properties": {"username": TEXT, "id": {"type": ["integer", "null"]}}},
}  # fmt: skip
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object", "additionalProperties": False,
    "required": list(MEMBERS), "properties": MEMBERS | OPTIONAL,
}  # fmt: skip


def check(result: Any) -> None:
    """Fails where the runner would record an error instead of this result."""
    jsonschema.Draft202012Validator(SCHEMA).validate(result)
    assert result["classroom"] == ENVIRONMENT["CLASSROOM"]
    assert result["assignment"] == ENVIRONMENT["ASSIGNMENT"]
    assert result["assignment_type"] == ENVIRONMENT["ASSIGNMENT_TYPE"]
    assert result["owner"] == ENVIRONMENT["OWNER"]
    for one in (result, *result["tests"]):
        assert one["score"] <= one["max-score"]
        assert type(one["score"]) is type(one["max-score"]) is int  # 4.0 is a float to its runner
    for total in ("score", "max-score"):
        assert result[total] == sum(test[total] for test in result["tests"])


def status(result: Any) -> str:
    """Of the commit. No test at all would be a success."""
    return "success" if all(test["passed"] for test in result["tests"]) else "failure"
