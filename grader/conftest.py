"""The front for pytest: its options, and the record that its items are made of. The grader itself
knows no pytest.

    python -m pytest grader --submission path/kernel.cu --suite all -k 34 -x --junitxml=out.xml

BadInput and MachineFault (errors.py) end the session with exit status 2 or 3.
"""

import pytest

from . import interrupt, options
from .errors import BadInput, MachineFault
from .grade import Run
from .intake.submission import read_submission
from .record.model import AnyResult


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("grader", "grading a submission")
    for name, how in options.OPTIONS.items():
        group.addoption(name, **how)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    keys = run_of(metafunc.config).keys
    metafunc.parametrize("key", keys, ids=[key.replace("/", "-") for key in keys])


def run_of(config: pytest.Config) -> Run:
    given = {name.lstrip("-"): config.getoption(name) for name in options.OPTIONS}
    try:
        asked = options.check(given)
        return Run(asked, read_submission(asked.kernel(given["submission"]), given["name"]),
                   named=given["name"] is not None)
    except (BadInput, MachineFault) as error:
        pytest.exit(f"grade: {error}", returncode=error.status)


@pytest.fixture(scope="session")
def graded(request: pytest.FixtureRequest) -> dict[str, AnyResult]:
    """What was selected, graded, by the keys."""
    run = run_of(request.config)
    chosen = {item.callspec.params["key"] for item in request.session.items}  # type: ignore[attr-defined]
    run.choose(chosen)
    try:
        with interrupt.raised():
            record = run.run()
    except MachineFault as error:
        pytest.exit(f"grade: {error}", returncode=error.status)
    return {item.key: item for item in record.items}
