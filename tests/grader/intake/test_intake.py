"""A submission is an untrusted file. Whatever is at its path, the result is a Submission or one
clear line; nothing blocks, no link is followed, and what is compiled is UTF-8 with LF."""

import os
import socket
import stat
import subprocess
import threading
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.errors import BadInput
from grader.intake.submission import LARGEST, LARGEST_ZIP, ROOT, Submission, read_submission

TEXT = b"__global__ void mysgemm() {}\n"


def refusal(path: Path | str, name: str | None = None) -> str:
    """Of a path that cannot be graded; within a second, or it blocks."""
    caught: list[BaseException] = []

    def attempt() -> None:
        try:
            caught.append(AssertionError(read_submission(path, name)))
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(5)
    assert caught, f"{path}: blocks"
    assert isinstance(caught[0], BadInput), caught
    text = str(caught[0])
    assert "\n" not in text and text.isprintable()
    return text


def write(path: Path, content: bytes = TEXT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


# ---- what a submission may be --------------------------------------------------------------------


def test_a_file_and_a_directory(tmp_path: Path) -> None:
    path = write(tmp_path / "alice" / "kernel.cu")
    for given_path in (path, path.parent, str(path.parent) + "/"):
        submission = read_submission(given_path)
        assert submission == Submission("alice", path, TEXT, TEXT, [])
    assert read_submission(write(tmp_path / "x" / "2_tiled.cu")).name == "2_tiled"
    assert read_submission(path, name="bob 2").name == "bob 2"
    assert read_submission(ROOT / "kernel.cu").name == "kernel"


@pytest.mark.parametrize("folder, name", [
    ("é ü", "é ü"), ("quo'te\"s", "quo'te\"s"), ("two\nlines", "two_nlines"), ("-rf", "-rf"),
    ("$(touch x)", "$(touch x)"), (os.fsdecode(b"\xff\xfe"), "_udcff_udcfe")])
def test_any_path_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, name: str) -> None:
    path = write(tmp_path / folder / "kernel.cu")
    monkeypatch.chdir(path.parent)
    for way in (path, "kernel.cu", ".", f"../{folder}"):
        submission = read_submission(way)
        assert (submission.source, submission.name, submission.path) == (TEXT, name, path)


# ---- what it may not -----------------------------------------------------------------------------


def test_what_is_no_file(tmp_path: Path) -> None:
    """Nor are links followed."""
    real = write(tmp_path / "real" / "kernel.cu")
    for name, target in (("link.cu", real), ("loop.cu", "loop.cu"), ("directory", real.parent)):
        (tmp_path / name).symlink_to(target)
        assert f"{tmp_path}/{name}: a symbolic link" in refusal(tmp_path / name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s.cu"))
        assert "s.cu: a socket" in refusal(tmp_path / "s.cu")
    assert "/dev/zero: a device" in refusal("/dev/zero")
    for name, make, says in (("bob", lambda path: path.symlink_to(real), "a symbolic link"),
                             ("carol", os.mkfifo, "a FIFO"), ("dave", os.mkdir, "a directory")):
        (tmp_path / name).mkdir()
        make(tmp_path / name / "kernel.cu")
        assert f"{name}/kernel.cu: {says}" in refusal(tmp_path / name)


def test_what_is_not_there(tmp_path: Path) -> None:
    assert f"{tmp_path}: a directory without kernel.cu" in refusal(tmp_path)
    kernel = write(tmp_path / "kernel.cu")
    for path, says in ((tmp_path / "none.cu", "none.cu: cannot read the submission: No such file"),
                       (kernel / "kernel.cu", "Not a directory"), ("a\0b", "not a path"),
                       ("x" * 5000, "File name too long"), ("", "path"),
                       ("a\nb\x1b[2J", "No such")):
        assert says in refusal(path)


@pytest.mark.parametrize("what, says", [
    ("link", "a symbolic link"), ("fifo", "a FIFO"), ("directory", "Not a directory")])
def test_exchanged_while_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, says: str) -> None:
    """Between lstat() and open(): what is opened is looked at again."""
    path, elsewhere = write(tmp_path / "k" / "kernel.cu"), write(tmp_path / "other" / "kernel.cu")
    real, calls = os.open, []

    def exchange(*arguments: Any, **more: Any) -> int:
        calls.append(arguments)
        if len(calls) == 1:
            path.unlink()
            if what == "link":
                path.symlink_to(elsewhere)
            elif what == "fifo":
                os.mkfifo(path)
            else:
                path.parent.rmdir()
                path.parent.symlink_to(elsewhere.parent)
        return real(*arguments, **more)

    monkeypatch.setattr("grader.intake.submission.os.open", exchange)
    assert says in refusal(path.parent if what == "directory" else path)


def test_size(tmp_path: Path) -> None:
    assert "the file is empty" in refusal(write(tmp_path / "k.cu", b""))
    assert read_submission(write(tmp_path / "k.cu", b" " * LARGEST)).source
    assert "larger than 1 MB" in refusal(write(tmp_path / "k.cu", b" " * (LARGEST + 1)))
    with open(tmp_path / "sparse.cu", "wb") as file:
        file.truncate(1 << 40)
    assert "larger than 1 MB" in refusal(tmp_path / "sparse.cu")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".hidden", "a\n", "x" * 81, "\x1b[2J"])
def test_names_of_results_stay_in_their_directory(tmp_path: Path, name: str) -> None:
    assert "name " in refusal(write(tmp_path / "k.cu"), name)


# ---- bytes and text ------------------------------------------------------------------------------


def test_what_is_no_text(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-32-be"):
        text = refusal(write(tmp_path / "k.cu", TEXT.decode().encode(encoding)))
        assert "UTF-16 or UTF-32 text; save it as UTF-8" in text
    assert "a NUL byte at offset 28" in refusal(write(tmp_path / "k.cu", TEXT[:-1] + b"\0\n"))


@pytest.mark.parametrize(("original", "source", "notes"), [
    (b"\xef\xbb\xbf" + TEXT, TEXT, ["byte order mark"]),
    (b"a\r\nb\r\n", b"a\nb\n", ["Windows line ends"]),
    (b"a\rb\r", b"a\nb\n", ["Macintosh line ends"]),
    (b"\n// caf\xe9 \x81\n", "\n// café \x81\n".encode(), ["not UTF-8 (line 2), taken as Latin-1"]),
    ("// café\n".encode(), "// café\n".encode(), []),
    (b"no line end", b"no line end", []),
    (b"\xef\xbb\xbf// caf\xe9\r\nint a;\rint b;\n", "// café\nint a;\nint b;\n".encode(),
     ["byte order mark", "Latin-1", "Windows", "Macintosh"]),
])  # fmt: skip
def test_what_editors_leave_behind(tmp_path: Path, original: bytes, source: bytes, notes: list[str]) -> None:
    submission = read_submission(write(tmp_path / "k.cu", original))
    assert (submission.original, submission.source) == (original, source)
    for note, words in zip(submission.notes, notes, strict=True):
        assert words in note


@settings(max_examples=100, deadline=None, database=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(
    st.binary(max_size=200),
    st.lists(st.sampled_from([b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\r", b"\n", b"a", b"\xe9",
                              b"\x81", "é".encode()]), max_size=12).map(b"".join)))
def test_any_bytes_give_a_submission_or_one_line(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path / "k.cu", content)
    try:
        submission = read_submission(path)
    except BadInput as error:
        assert str(error).isprintable()
        return
    assert submission.original == content
    text = submission.source.decode("utf-8")
    assert "\r" not in text and "\0" not in text
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n")
    assert text.count("\n") == lines  # so that lines in messages are those of the student
    assert (submission.source != content) == bool(submission.notes)


# ---- folders and zips ----------------------------------------------------------------------------

OTHER = b"// another one\n"


def zipped(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes], **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", **options) as archive:
        warnings.simplefilter("ignore")  # two entries of one name
        for name, content in entries:
            archive.writestr(name, content)
    return path


def laid_out(where: Path, form: str, names: list[str]) -> Path:
    """The same files as a folder and as a zip; of .cu files the first holds TEXT."""
    texts = {name: OTHER for name in names} | {names[0]: TEXT}
    if form == "zip":
        return zipped(where / "alice.zip", *texts.items())
    for name, content in texts.items():
        write(where / "alice" / name, content)
    return where / "alice"


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize("names", [
    ["kernel.cu"], ["Kernel.cu"], ["KERNEL.CU"], ["src/kernel.cu"], ["lab/src/Kernel.cu"],
    ["sgemm.cu"], ["src/my kernel.CU"], ["kernel.cu", "main.cu"], ["src/kernel.cu", "other.cu"],
    ["kernel.cu", "__MACOSX/._kernel.cu", "__MACOSX/kernel.cu", "._kernel.cu", ".DS_Store"],
    ["kernel.cu", ".git/kernel.cu", "a.zip"], ["sgemm.cu", "._sgemm.cu", "kernel.cu.txt"], ["lab: 1/kernel.cu"],
])  # fmt: skip
def test_the_one_that_is_meant(tmp_path: Path, form: str, names: list[str]) -> None:
    given_path = laid_out(tmp_path, form, names)
    submission = read_submission(given_path)
    assert submission.original == TEXT and submission.name == "alice"
    assert submission.path == given_path / names[0]
    notes = "\n".join(submission.notes)
    assert (names[0] in notes) == (form == "zip" or names[0] != "kernel.cu")
    ignored = [name for name in names[1:] if not name.startswith((".", "__MACOSX"))]
    assert f"ignored: {', '.join(ignored)}" in notes if ignored else "ignored" not in notes


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize("names", [
    ["kernel.cu", "src/kernel.cu"], ["kernel.cu", "Kernel.cu"], ["a/kernel.cu", "b/kernel.cu"], ["a.cu", "src/b.CU"]])
def test_of_two_none_is_taken(tmp_path: Path, form: str, names: list[str]) -> None:
    text = refusal(laid_out(tmp_path, form, names))
    assert all(name in text for name in names) and "which one is the submission?" in text


def test_a_folder_with_a_zip(tmp_path: Path) -> None:
    zipped(tmp_path / "alice" / "lab.zip", ("src/kernel.cu", TEXT), ("report.pdf", b"x"))
    submission = read_submission(tmp_path / "alice")
    assert (submission.original, submission.name) == (TEXT, "alice")
    assert "src/kernel.cu was taken out of lab.zip" in submission.notes
    assert "ignored: report.pdf" in submission.notes
    write(tmp_path / "alice" / "a.cu")
    assert "a.cu and lab.zip" in refusal(tmp_path / "alice")
    renamed = zipped(tmp_path / "kernel.cu", ("a/kernel.cu", TEXT))  # as Autolab does with every file
    assert read_submission(renamed).original == TEXT
    unusual = zipped(renamed, ("kernel.cu", TEXT), compression=zipfile.ZIP_BZIP2)  # which unpacks all at once
    assert "compressed in an unusual way" in refusal(unusual)


@pytest.mark.parametrize("names, says", [
    (["main.c", "report.pdf"], "it holds main.c and report.pdf"),
    (["kernel.cu.txt"], "it holds kernel.cu.txt"),
    ([f"{n:02}.txt" for n in range(20)], "05.txt and 14 more"),
    (["__MACOSX/._kernel.cu"], "or any other .cu file"), (["x" * 200 + ".c"], "xxx..."),
])  # fmt: skip
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_what_holds_no_kernel_says_what_it_holds(tmp_path: Path, form: str, names: list[str], says: str) -> None:
    text = refusal(laid_out(tmp_path, form, names))
    assert "without kernel.cu" in text and says in text and len(text) < 400 + len(str(tmp_path))


def test_links_within_a_folder_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "real" / "kernel.cu")
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice" / "src").symlink_to(tmp_path / "real")
    assert "without kernel.cu" in refusal(tmp_path / "alice")
    (tmp_path / "alice" / "x.cu").symlink_to(tmp_path / "real" / "kernel.cu")
    assert "x.cu: a symbolic link" in refusal(tmp_path / "alice")


def test_folders_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "deep"
    deep.mkdir()
    monkeypatch.chdir(deep)
    for _ in range(30):  # deeper than any path can name
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    write(Path("kernel.cu"))
    try:
        assert "without kernel.cu" in refusal(deep)
    finally:
        subprocess.run(["rm", "-rf", str(deep)], check=True)
    monkeypatch.setattr("grader.intake.submission.MOST_FILES", 50)
    for number in range(51):
        write(tmp_path / "many" / f"{number}.txt")
    assert "holds more than 50 files" in refusal(tmp_path / "many")
    zipped(tmp_path / "many.zip", *((f"{number}.txt", b"") for number in range(51)))
    assert "holds more than 50 files" in refusal(tmp_path / "many.zip")


# ---- zips that are attacks, or damaged -----------------------------------------------------------


def linked(name: str, mode: int = stat.S_IFLNK | 0o777) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, mode << 16
    return entry


def encrypted(content: bytes) -> bytes:
    """By the flag of the file, and of the directory of files."""
    changed = bytearray(content)
    changed[6] |= 1
    changed[content.index(b"PK\1\2") + 8] |= 1
    return bytes(changed)


ONE = ("kernel.cu", TEXT)
ODD_ZIPS: list[tuple[list[Any], Callable[[bytes], bytes], str]] = [
    ([("../kernel.cu", TEXT)], bytes, "a path that leads out of it: ../kernel.cu"),
    ([ONE, ("a/../../x", b"")], bytes, "a path that leads out of it"),
    ([("/etc/kernel.cu", TEXT)], bytes, "a path that leads out of it"),
    ([("..\\kernel.cu", TEXT)], bytes, "a path that leads out of it"),
    ([("C:\\kernel.cu", TEXT)], bytes, "a path that leads out of it"),
    ([("C:kernel.cu", TEXT)], bytes, "a path that leads out of it"),
    # zipfile ends names at a zero byte
    ([ONE], lambda zipped: zipped.replace(b"kernel.cu", b"\0ernel.cu"), "a path that leads out of it"),
    ([(linked("kernel.cu"), b"/etc/passwd")], bytes, "kernel.cu: a symbolic link"),
    ([(linked("kernel.cu", stat.S_IFIFO | 0o600), b"")], bytes, "kernel.cu: a FIFO"),
    ([ONE, ("kernel.cu", OTHER)], bytes, "kernel.cu and kernel.cu: which one"),
    ([("inner.zip", b"PK")], bytes, "it holds inner.zip"),
    ([("kernel.cu", b"PK\3\4...")], bytes, "a zip within a zip"),
    ([("kernel.cu", b" " * (LARGEST + 1))], bytes, "larger than 1 MB"),
    ([("kernel.cu", b"\0" * (64 << 20))], bytes, "larger than 1 MB"),
    ([ONE], lambda zipped: zipped + os.urandom(LARGEST_ZIP), "a zip: larger than 8 MB"),
    ([("kernel.cu", b"")], bytes, "the file is empty"), ([], bytes, "without kernel.cu"),
    ([("a\n\x1b[2J.cu", TEXT), ("b.cu", TEXT)], bytes, "a\\n\\x1b[2J.cu and b.cu"),
    ([ONE], encrypted, "encrypted"),
]


@pytest.mark.parametrize("entries, change, says", ODD_ZIPS)
def test_zips_that_are_refused(tmp_path: Path, entries: list[Any], change: Callable[[bytes], bytes],
                               says: str) -> None:
    (tmp_path / "below").mkdir()
    path = zipped(tmp_path / "below/z.zip", *entries, compression=zipfile.ZIP_DEFLATED)
    path.write_bytes(change(path.read_bytes()))
    assert says in refusal(path)
    assert sorted(tmp_path.rglob("*")) == [path.parent, path], "nothing is written"


def test_a_zip_that_lies_about_sizes(tmp_path: Path) -> None:
    """A bomb that says that it holds 29 bytes: no more than LARGEST is ever unpacked."""
    path = zipped(tmp_path / "z.zip", ("kernel.cu", b" " * (64 << 20)), compression=zipfile.ZIP_DEFLATED)
    content = path.read_bytes().replace((64 << 20).to_bytes(4, "little"), (29).to_bytes(4, "little"))
    path.write_bytes(content)
    tracemalloc.start()
    refusal(path)
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()


@settings(max_examples=100, deadline=None, database=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10**6), what=st.binary(max_size=8), cut=st.booleans())
def test_a_damaged_zip_gives_a_submission_or_one_line(tmp_path: Path, place: int, what: bytes, cut: bool) -> None:
    path = zipped(tmp_path / "z.zip", ("src/kernel.cu", TEXT * 20), ("b.txt", b"x"),
                  compression=zipfile.ZIP_DEFLATED)
    content = bytearray(path.read_bytes())
    place %= len(content)
    content[place:place + len(what)] = what
    path.write_bytes(content[:place] if cut else content)
    try:
        read_submission(path)
    except BadInput as error:
        assert str(error).isprintable()
