"""Gradescope's export of submissions in the shape that public tools read."""

import zipfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from downloads import KERNEL, NAMES, UTC, alone, got, zip_of, zipped

from course import gradescope
from course.hand_ins import collect
from course.model import Claim, HandIn
from course.errors import BadInput

METADATA = """---
submission_456:
  :submitters:
  - :name: Ada Lovelace
    :sid: '0015'
    :email: ada@x.edu
  :created_at: 2026-11-20 22:10:00.123456000 Z
  :score: 3.0
  :status: processed
  :results:
    :tests: []
  :history:
  - :id: 1
    :created_at: 2026-11-19 22:10:00.000000000 Z
submission_457:
  :submitters:
  - :name: Bob Hopper
    :sid: 16
    :email: bob@x.edu
  - :name: "=cmd()"
    :sid:
    :email: "../../eve@x.edu"
  :created_at: '2026-11-20T17:10:00-05:00'
submission_458:
  :submitters:
  - :name: No Files
"""


def export(path: Path, metadata: str, *files: tuple[str, bytes], root: str = "assignment_9_export/"
           ) -> list[HandIn]:
    return got(zipped(path / "export.zip", (f"{root}submission_metadata.yml", metadata.encode()),
                      *((root + name, content) for name, content in files)))


ROOT = "assignment_9_export/"


@pytest.mark.parametrize("root, unpacked", [(ROOT, ""), ("", ""), (ROOT, "unpacked"), (ROOT, f"unpacked/{ROOT}")])
def test_submissions_groups_and_times(tmp_path: Path, root: str, unpacked: str) -> None:
    found = export(
        tmp_path, METADATA, ("submission_456/src/kernel.cu", KERNEL),
        ("submission_456/notes.txt", b"x"), ("submission_457/all.zip", zip_of(("kernel.cu", b"two"))),
        root=root)
    if unpacked:
        with zipfile.ZipFile(tmp_path / "export.zip") as archive:
            archive.extractall(tmp_path / "unpacked")
        found = got(tmp_path / unpacked)
    ada, group, none = found
    assert ada.claims == (Claim(name="Ada Lovelace", id="0015", email="ada@x.edu"),)
    assert ada.submitted == datetime(2026, 11, 20, 22, 10, 0, 123456, tzinfo=timezone.utc)
    assert dict(ada.files) == {"src/kernel.cu": KERNEL, "notes.txt": b"x"} and ada.late is None
    assert ada.notes == ("1 earlier attempt, not in the export",)
    assert group.claims == (Claim(name="Bob Hopper", id="16", email="bob@x.edu"),
                            Claim(name="=cmd()", email="../../eve@x.edu"))
    assert [name for name, _ in group.files] == ["all.zip"]
    assert group.submitted == datetime(2026, 11, 20, 17, 10, tzinfo=timezone(timedelta(hours=-5)))
    assert none.problem == "no file was handed in" and none.claims == (Claim(name="No Files"),)


def test_what_the_metadata_does_not_say(tmp_path: Path) -> None:
    """Of a folder anything, of a time its zone, of people a name."""
    [known, other] = export(tmp_path, "submission_1: {}\n", ("submission_1/kernel.cu", KERNEL),
                            ("submission_2/kernel.cu", b"2"))
    assert known.claims == (Claim(word="submission_1"),) and known.files
    assert other.claims == (Claim(word="submission_2"),) and alone(other) == b"2"
    [found] = export(tmp_path, "submission_1:\n  :created_at: 2026-11-20 22:10:00\n"
                     "  :submitters: [1, text, {}, {':sid': 5}]\n", ("submission_1/kernel.cu", KERNEL))
    assert found.submitted == datetime(2026, 11, 20, 22, 10, tzinfo=UTC) and found.claims == (Claim(id="5"),)


def test_names(tmp_path: Path) -> None:
    metadata = yaml.safe_dump({f"submission_{number}": {":submitters": [{":name": name}]}
                               for number, name in enumerate(NAMES, 1)}, sort_keys=False)
    found = export(tmp_path, metadata, *((f"submission_{number}/kernel.cu", KERNEL)
                                         for number in range(1, len(NAMES) + 1)))
    assert [each.claims[0].name for each in found] == [name.strip() for name in NAMES]
    assert all(each.files for each in found)


@pytest.mark.parametrize("metadata", [
    "[" * 100_000, "a: [", "- 1\n", "text", "", "\x00", "a: !!python/object/apply:os.system ['x']\n",
    "submission_1:\n  :created_at: 2026-99-99 00:00:00 Z\n", "? [1]\n: 2\n"])
def test_metadata_that_cannot_be_read(tmp_path: Path, metadata: str) -> None:
    with pytest.raises(BadInput, match="submission_metadata.yml"):
        export(tmp_path, metadata, ("submission_1/kernel.cu", KERNEL))


@pytest.mark.slow
def test_metadata_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own: it is larger than any kernel.cu."""
    [found] = export(tmp_path, "submission_1: {}\n" + "#" * (3 << 20), ("submission_1/k.cu", KERNEL))
    assert found.files
    monkeypatch.setattr(gradescope, "LARGEST_METADATA", 1 << 20)
    with pytest.raises(BadInput, match="larger than 1 MB"):
        collect([tmp_path / "export.zip"], UTC)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.dates()
    | st.datetimes(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from([":submitters", ":name", ":sid", ":email", ":created_at", ":history"])
        | st.text(max_size=5), inner, max_size=4), max_leaves=12)


@settings(max_examples=30, deadline=None)
@given(value=VALUES)
def test_any_metadata(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    path = tmp_path_factory.getbasetemp() / "metadata"
    export(path, yaml.safe_dump({"submission_1": value}), ("submission_1/kernel.cu", KERNEL))
