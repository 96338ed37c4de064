"""What Classroom 50 demands of a result.json: the constraints of its schema classroom50/result/v1, and
those that its runner checks beside the schema, written down from its documentation (wiki page
"Advanced Autograding", schemas/result-v1.schema.json)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

ENVIRONMENT = {
    "CLASSROOM": "cs101", "ASSIGNMENT": "sgemm", "ASSIGNMENT_TYPE": "individual", "OWNER": "alice",
    "USERNAME": "alice", "SUBMISSION_TAG": "submit/2026-11-21T06-00-00Z-0123456",
    "PAGES_BASE_URL": "https://org.example/classroom50",
    "COMMIT_URL": "https://git.example/org/cs101-sgemm-alice/commit/0123456",
    "RELEASE_URL": "https://git.example/org/cs101-sgemm-alice/releases/tag/submit",
    "REVIEW_URL": "https://git.example/org/cs101-sgemm-alice/compare/fedcba9...0123456",
}  # fmt: skip
"""What the runner sets for an autograder.py, beside GitHub's own variables."""

Text = Annotated[str, Field(min_length=1)]
WholePoints = Annotated[int, Field(ge=0)]  # 4.0 is a float to its runner
Time = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$")]


class Scored(BaseModel, extra="allow", strict=True):
    """A test of a result, of which further members are kept."""

    name: Text = Field(alias="test-name")
    passed: bool
    score: WholePoints
    max_score: WholePoints = Field(alias="max-score")


class Submitter(BaseModel, extra="forbid", strict=True):
    username: Text
    id: int | None = None


class Result(BaseModel, extra="forbid", strict=True):
    version: Literal["classroom50/result/v1"] = Field(alias="schema")
    classroom: Text
    assignment: Text
    assignment_type: Literal["individual", "group"]
    owner: Text
    submission: Annotated[str, Field(pattern="^submit/")]
    commit: Text
    release: Text
    review: Text
    datetime: Time
    score: WholePoints
    max_score: WholePoints = Field(alias="max-score")
    tests: list[Scored]
    graded_at: Time = ""
    submitted_by: Submitter = Submitter(username="alice")


def check(result: Any) -> None:
    """Fails where the runner would record an error instead of this result."""
    read = Result.model_validate(result)
    for name in ("classroom", "assignment", "assignment_type", "owner"):
        assert result[name] == ENVIRONMENT[name.upper()]
    assert all(each.score <= each.max_score for each in (read, *read.tests))
    assert (read.score, read.max_score) == (sum(test.score for test in read.tests),
                                            sum(test.max_score for test in read.tests))


def status(result: Any) -> str:
    """Of the commit. No test at all would be a success."""
    return "success" if all(test["passed"] for test in result["tests"]) else "failure"
