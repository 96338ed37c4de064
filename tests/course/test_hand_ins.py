"""Hand-ins as they come: one that cannot be taken is a row with a reason, and the others go on."""

import os
import struct
import tracemalloc
import zipfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from downloads import KERNEL, NAMES, UTC, alone, got, table, write, zip_of, zipped

from course import archive
from course.gather import gather
from course.hand_ins import collect, time_of
from course.jobs.results import Results
from course.model import Claim
from course.roster import Roster
from course.errors import BadInput
from course.archive import LARGEST
from course.settings import read_settings

# ---- a folder of students ------------------------------------------------------------------------


def test_a_folder_with_an_entry_a_student(tmp_path: Path) -> None:
    folder = tmp_path / "the class"
    write(folder / "ada" / "src" / "Kernel.cu")
    write(folder / "bob.cu", b"bob")
    zipped(folder / "Čapek.zip", ("x/kernel.cu", b"capek"), ("readme.txt", b""))
    for other in (".DS_Store", "roster.csv", "notes.md", "._bob.cu"):
        write(folder / other)
    ada, bob, capek = got(folder)
    assert ada.claims == (Claim(word="ada"),) and alone(ada) == KERNEL
    assert ada.source == "the class: ada" and ada.submitted is None
    assert bob.claims == (Claim(word="bob"),) and alone(bob) == b"bob"
    assert capek.claims == (Claim(word="Čapek"),) and [name for name, _ in capek.files] == ["Čapek.zip"]


def test_one_path_may_be_one_students(tmp_path: Path) -> None:
    for path in (write(tmp_path / "ada" / "kernel.cu"), tmp_path / "ada", write(tmp_path / "ada.cu"),
                 zipped(tmp_path / "ada.zip", ("kernel.cu", KERNEL))):
        [found] = got(path)
        assert found.claims == (Claim(word="ada"),) and len(found.files) == 1
    write(tmp_path / "two" / "ada.cu")
    assert [each.source for each in collect([tmp_path / "two", tmp_path / "ada.cu"], UTC)] == [
        "two: ada.cu", "ada.cu"], "several, one after the other"


def test_names_are_data(tmp_path: Path) -> None:
    names = [name for name in NAMES if "/" not in name and len(name) < 200]
    for name in [*names, os.fsdecode(b"\xff\xfe")]:
        write(tmp_path / name / "kernel.cu")
    found = got(tmp_path)
    assert {each.claims[0].word for each in found} >= set(names) and len(found) == len(names) + 1
    roster = Roster([])
    assert len({roster.student_of(each.claims[0]).folder for each in found}) == len(found)


def test_what_cannot_be_taken_is_a_row(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    write(folder / "ada" / "kernel.cu")
    write(folder / "two" / "a.cu")
    write(folder / "two" / "b.cu")  # two are the grader's to refuse
    write(folder / "huge.cu", b"x" * (LARGEST + 1))
    write(folder / "program.exe", b"MZ, not text\0\0")
    write(folder / "todo.txt", KERNEL)
    (folder / "empty").mkdir()
    (folder / "late/20261120-2310").mkdir(parents=True)
    (folder / "link.cu").symlink_to(folder / "ada" / "kernel.cu")
    (folder / "linked").symlink_to(write(tmp_path / "elsewhere/2026-11-20_23-10-00/kernel.cu").parent.parent)
    (folder / "inside").mkdir()
    (folder / "inside" / "kernel.cu").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.cu")
    found = {each.claims[0].word: each for each in got(folder)}
    for name, part in {
        "ada": "", "two": "", "empty": "no file was handed in", "late": "no file was handed in",
        "huge": "larger than 8 MB", "program.exe": "neither a folder", "todo.txt": "neither a folder",
        "link": "a symbolic link", "linked": "a symbolic link", "inside": "kernel.cu: a symbolic link",
        "pipe": "a FIFO",
    }.items():  # fmt: skip
        hand_in = found.pop(name)
        assert part in hand_in.problem and bool(part) == bool(hand_in.problem), name
        assert hand_in.submitted == (datetime(2026, 11, 20, 23, 10, tzinfo=UTC) if name == "late" else None)
    assert found == {}


def test_what_is_left_out_of_a_hand_in_is_said(tmp_path: Path) -> None:
    """Links and what is too large; a kernel is never left out for it."""
    folder = tmp_path / "class/ada"
    write(folder / "a large one", bytes(LARGEST - 1))
    write(folder / "another", bytes(LARGEST + 1))
    write(folder / "kernel.cu")
    (folder / "linked").symlink_to("/etc")
    write(folder / ".git/config")
    [ada] = got(tmp_path / "class")
    assert dict(ada.files) == {"kernel.cu": KERNEL} and ada.notes == (
        "left out: linked: a symbolic link, not a regular file",
        "left out: a large one: all together are larger than 8 MB",
        "left out: another: larger than 8 MB")


def test_what_is_ours_is_no_hand_in(tmp_path: Path) -> None:
    """Where the class's own folder holds the hand-ins."""
    write(tmp_path / "results" / "ada" / "kernel.cu")
    write(tmp_path / "class.toml")
    ours = [tmp_path / "results", zipped(tmp_path / "extra.zip", *CANVAS)]
    zipped(tmp_path / "submissions.zip", *CANVAS)
    assert [each.source for each in collect([tmp_path], UTC, ours)] == [
        "submissions.zip: lovelaceada_7_100_kernel.cu", "submissions.zip: hopperbob_8_101_kernel.cu"]
    (tmp_path / "submissions.zip").unlink()
    write(tmp_path / "lovelaceada_7_100_kernel.cu")
    [found] = collect([tmp_path], UTC, ours)
    assert found.claims[0].canvas_id == "7"


def test_paths_that_hold_nothing(tmp_path: Path) -> None:
    write(tmp_path / "class" / "roster.csv")
    for path, said in ((tmp_path / "none", "no such file"), (tmp_path / "class", "holds no hand-ins")):
        with pytest.raises(BadInput, match=said):
            collect([path], UTC)


# ---- attempts ------------------------------------------------------------------------------------


def test_attempts_are_named_by_their_times(tmp_path: Path) -> None:
    """What lies beside them is none."""
    ada = tmp_path / "ada"
    write(ada / "2026-11-20_23-10-00" / "kernel.cu", b"first")
    write(ada / "20261121-001500.cu", b"second")
    zipped(ada / "2026-11-21T08:00:00-05:00.zip", ("kernel.cu", b"third"))
    write(ada / "kernel.cu", b"later?")
    write(tmp_path / "bob" / "kernel.cu")
    found = sorted(collect([tmp_path], ZoneInfo("Europe/Vienna")), key=lambda each: each.source)
    assert [each.claims[0].word for each in found] == ["ada"] * 4 + ["bob"]
    assert [each.submitted and each.submitted.astimezone(UTC).isoformat() for each in found] == [
        "2026-11-20T22:10:00+00:00", "2026-11-21T13:00:00+00:00", "2026-11-20T23:15:00+00:00", None, None]
    assert ["beside attempts" in each.problem for each in found] == [False, False, False, True, False]


@pytest.mark.parametrize("text, hour", [
    ("2026-11-20T23:10:05Z", 23), ("2026-11-20 23:10:05+02:00", 21), ("20261120-231005", 22),
    ("20261120T231005+0530", 17), ("2026-11-20_23-10-05", 22), ("2026-11-20T23:10:05-00:00", 23),
])  # fmt: skip
def test_times(text: str, hour: int) -> None:
    found = time_of(text, timezone(timedelta(hours=1)))
    assert found and found.astimezone(UTC).replace(minute=0) == datetime(2026, 11, 20, hour, 0, 5, tzinfo=UTC)


def test_no_times() -> None:
    for text in ("", "ada", "2026-13-20_23-10-00", "2026-11-20", "1-2-3_4-5-6", "2026-02-30T00:00:00",
                 "2026-11-20_25-00-00", "20261120", "2026-11-20T23:10:00+99:00", "２０２６-11-20_23-10-00",
                 "0000-01-01T00:00"):
        assert time_of(text, UTC) is None, text


# ---- downloads -----------------------------------------------------------------------------------

CANVAS = ("lovelaceada_7_100_kernel.cu", KERNEL), ("hopperbob_8_101_kernel.cu", b"bob")


def test_downloads_in_a_folder_and_unpacked(tmp_path: Path) -> None:
    path = zipped(tmp_path / "d" / "submissions.zip", *CANVAS)
    zipped(tmp_path / "d" / "moodle.zip", ("Ada Lovelace_3_assignsubmission_file/kernel.cu", KERNEL))
    table(tmp_path / "d" / "roster.csv", ["name"])
    assert [each.claims[0].canvas_id or each.claims[0].moodle_id for each in got(tmp_path / "d")] == ["3", "7", "8"]
    with zipfile.ZipFile(path) as download:
        download.extractall(tmp_path / "unpacked")
    write(tmp_path / "unpacked" / "grades.csv")
    assert [each.claims[0].canvas_id for each in got(tmp_path / "unpacked")] == ["8", "7"]


@pytest.mark.parametrize("download, beside", [
    ("submissions.zip", "solution/kernel.cu"),  # of staff
    ("submissions.zip", "results.bak/records/ada/kernel.cu"), ("submissions.zip", "lovelaceada_7_100_kernel.cu"),
    ("lovelaceada_7_100_kernel.cu", "solution/kernel.cu"), ("lovelaceada_7_100_mine.zip", "notes.txt"),
    ("Ada L_3_assignsubmission_file/kernel.cu", "bob.cu"), ("Ada L_3_assignsubmission_file_kernel.cu", "bob/kernel.cu"),
    ("eve.zip", "bob.cu"),  # a student's, to hand in for others
])  # fmt: skip
def test_a_download_stands_alone(tmp_path: Path, download: str, beside: str) -> None:
    """Beside anything else it would be taken for one student's, and nothing be left of the others' points."""
    zipped(tmp_path / download, *CANVAS)
    assert got(tmp_path)
    write(tmp_path / beside)
    with pytest.raises(BadInput) as refused:
        collect([tmp_path], UTC)
    for name in (download, beside):
        first, slash, _ = name.partition("/")
        assert first + slash in str(refused.value)


def test_hand_ins_of_nobody_in_the_class_end_the_run(tmp_path: Path) -> None:
    """It is another roster, or something that is no longer recognized as a platform's download."""
    (tmp_path / "roster.csv").write_text("login\nada\n")
    write(tmp_path / "submissions/submissions.zip", zip_of(*CANVAS)[:-30])
    write(tmp_path / "submissions/solution/kernel.cu")
    with pytest.raises(BadInput, match="roster.csv: none of 2 hand-ins is of a student who is named here; the first"):
        gather(read_settings(tmp_path), Results(tmp_path / "results"))
    write(tmp_path / "submissions/ada.cu")
    assert len(gather(read_settings(tmp_path), Results(tmp_path / "results")).students) == 3


def test_a_damaged_download_is_named(tmp_path: Path) -> None:
    """A student's zip within it stays one, whatever is in it."""
    whole = zip_of(*CANVAS)
    for content in (whole[:-30], whole[: len(whole) // 2], b"PK\5\6"):
        with pytest.raises(BadInput, match=r"submissions\.zip: this zip is damaged"):
            got(write(tmp_path / "submissions.zip", content))
    for own in (zip_of(("src/kernel.cu", b"taken")), b"PK\3\4", zip_of(("../kernel.cu", b""))):
        [found] = got(zipped(tmp_path / "submissions.zip", ("s_1_1_mine.zip", own)))
        assert found.files == (("mine.zip", own),)


def test_a_zip_bomb_is_one_row(tmp_path: Path) -> None:
    path = zipped(tmp_path / "submissions.zip", CANVAS[0], ("s_9_1_kernel.cu", b"0" * (64 << 20)))
    tracemalloc.start()
    ada, bomb = got(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ada.files and bomb.problem == "kernel.cu: larger than 8 MB" and most < 32 << 20


def test_all_together_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "submissions.zip", *CANVAS)
    monkeypatch.setattr(archive, "LARGEST_CLASS", len(KERNEL) + 2)
    ada, bob = got(path)
    assert ada.files and "split them" in bob.problem
    monkeypatch.setattr(archive, "MOST_FILES", 1)
    with pytest.raises(BadInput, match="holds more than 1 files"):
        got(path)


IN_DIRECTORY = 46
"""Bytes in front of a name in the directory, at the end of a zip; offsets below count from there."""


@pytest.mark.parametrize("offset, form, value, said", [
    (38, "<I", 0o120777 << 16, "a symbolic link"), (38, "<I", 0o010644 << 16, "a FIFO"),
    (8, "<H", 1, "encrypted"), (10, "<H", 12, "compressed in an unusual way"),
    (IN_DIRECTORY, "<B", 0, "a path outside of the archive"),  # zipfile ends names at a zero byte
    (None, "<B", 0xFF, "damaged"),  # in what the file holds
])  # fmt: skip
def test_links_and_what_else_zips_can_hold(tmp_path: Path, offset: int | None, form: str, value: int,
                                           said: str) -> None:
    """It is one row, and the other file is taken."""
    content, name = bytearray(zip_of(*CANVAS)), CANVAS[0][0].encode()
    at = content.index(name) + len(name) + 3 if offset is None else content.rindex(name) - IN_DIRECTORY + offset
    struct.pack_into(form, content, at, value)
    ada, bob = sorted(got(write(tmp_path / "submissions.zip", bytes(content))), key=lambda each: not each.problem)
    assert said in ada.problem and alone(bob) == b"bob"


def test_paths_outside_and_names_that_are_there_twice(tmp_path: Path) -> None:
    path = zipped(tmp_path / "submissions.zip", *CANVAS, CANVAS[0], ("../eve_9_102_kernel.cu", KERNEL),
                  ("/etc/kernel.cu", KERNEL), ("C:\\kernel.cu", KERNEL))
    found = got(path)
    assert alone(found[1]) == b"bob" and not any(each.files for each in found[2:])
    assert found[0].claims[0].canvas_id == "7" and "is in the archive 2 times" in found[0].problem
    assert {each.problem for each in found[2:]} == {"a path outside of the archive"}
    assert sorted(tmp_path.iterdir()) == [path]  # nothing was unpacked


SHAPES = st.sampled_from(["ada_1_2_kernel.cu", "ada_LATE_1_3_k.cu", "b_2_5_x.zip", "b_2_text.html",
                          "Ada_1_assignsubmission_file_/kernel.cu", "assignment_1_export/",
                          "submission_metadata.yml", "../x", "/x", "x/../../y", "\0", "kernel.cu"])


@settings(deadline=None)
@given(names=st.lists(SHAPES | st.text(min_size=1, max_size=30), max_size=6),
       own=st.binary(max_size=60),
       flips=st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=6))
def test_any_zip(tmp_path_factory: pytest.TempPathFactory, names: list[str], own: bytes,
                 flips: list[tuple[int, int]]) -> None:
    """Random and damaged: rows, or BadInput; never another exception."""
    try:
        content = bytearray(zip_of(*((name, own) for name in names)))
    except (ValueError, IndexError):  # a name that zipfile does not write
        return
    for at, value in flips:
        content[at % len(content)] = value
    path = write(tmp_path_factory.getbasetemp() / "any" / "any.zip", bytes(content))
    for given_path in (path, path.parent):
        try:
            got(given_path)
        except BadInput as error:
            assert str(error).isprintable()
