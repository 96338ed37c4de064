"""grader/jail/sandbox.py and grader/jail/jail.c: hostile programs, run for real in each kind of sandbox
that this machine allows. None of these tests rests on how fast something is."""

import ctypes
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, missing, need, script, slow_but

from grader.errors import BadInput, MachineFault
from grader.jail import sandbox
from grader.jail.sandbox import Command, Limits, Ran, Sandbox, choose_sandbox, probe, with_few_files

LIMITS = Limits(cpu_seconds=60, memory_bytes=1 << 30, processes=24, file_bytes=1 << 20,
                output_bytes=4096, wall_seconds=60)
ROOT = os.geteuid() == 0
as_root = pytest.mark.skipif(not ROOT, reason="only root runs under other uids")


def change(**changes: float) -> Limits:
    return replace(LIMITS, **changes)


@contextmanager
def new_folder(prefix: str, where: Path | None = None, mode: int = 0o755) -> Iterator[Path]:
    """One that another user can reach, which those of pytest are not."""
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=where))
    directory.chmod(mode)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with new_folder("sandbox-test-") as directory:
        yield directory


@pytest.fixture(scope="module")
def jail(place: Path) -> Path:
    program = place / "jail"
    subprocess.run([need("cc"), "-std=c11", "-Wall", "-Wextra", "-Werror",
                    REPOSITORY / "grader" / "jail" / "jail.c", "-o", program], check=True)
    return program


@pytest.fixture(scope="module", params=[
    "bubblewrap", "uid", pytest.param("none", marks=pytest.mark.slow)])  # whose limits are those of uid
def box(request: pytest.FixtureRequest, jail: Path) -> Sandbox:
    if request.param == "bubblewrap":
        need("bwrap")
    if request.param == "uid" and not ROOT:
        pytest.skip("another uid takes root")
    try:
        return choose_sandbox(request.param, False, [], jail)
    except MachineFault as fault:
        missing(request.param, str(fault))


@pytest.fixture
def protected(box: Sandbox) -> Sandbox:
    """A kind that keeps secrets."""
    if box.kind == "none":
        pytest.skip("this kind promises limits only")
    return box


@pytest.fixture
def inside(box: Sandbox) -> Sandbox:
    """A kind that shows a part of the machine only."""
    if box.kind != "bubblewrap":
        pytest.skip("this kind shows what its user may see")
    return box


@pytest.fixture
def work(place: Path) -> Iterator[Path]:
    with new_folder("work-", place) as directory:
        yield directory


HEADERS = "".join(f"#include <{name}.h>\n" for name in (
    "arpa/inet", "dirent", "errno", "fcntl", "signal", "stdio", "stdlib", "string", "sys/mman",
    "sys/prctl", "sys/ptrace", "sys/resource", "sys/socket", "sys/stat", "sys/syscall", "sys/uio",
    "sys/wait", "unistd")) + """
static long computed(void) { /* milliseconds, by this process */
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    const struct timeval own = used.ru_utime, kernel = used.ru_stime;
    return (own.tv_sec + kernel.tv_sec) * 1000 + (own.tv_usec + kernel.tv_usec) / 1000;
}
"""


@functools.cache
def program(body: str) -> bytes:
    """A C program whose main() has this body: compiled once for all kinds of sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "program.c"
        source.write_text("#define _GNU_SOURCE\n" + HEADERS + "int main(int argc, char **argv) {\n"
                          + textwrap.dedent(body) + "\n(void)argc; (void)argv; return 0; }\n")
        subprocess.run([need("cc"), "-w", source, "-o", source.with_suffix(""), "-pthread"], check=True)
        return source.with_suffix("").read_bytes()


def run(box: Sandbox, work: Path, body: str, *, limits: Limits = LIMITS, args: Sequence[str] = (),
        pass_fds: tuple[int, ...] = ()) -> Ran:
    """Run the C program whose main() has this body."""
    return execute(box, [str(made(work, body)), *args], work, limits=limits, writable=[work], pass_fds=pass_fds)


def made(work: Path, body: str) -> Path:
    (work / "program").write_bytes(program(body))
    (work / "program").chmod(0o755)
    return work / "program"


def execute(box: Sandbox, argv: Sequence[str], cwd: Path, limits: Limits = LIMITS, **more: Any) -> Ran:
    return box.run(Command(argv, limits, cwd, **more))


def shell(box: Sandbox, text: str, cwd: Path = Path("/"), **more: Any) -> Ran:
    return execute(box, ["/bin/sh", "-c", text], cwd, **more)


# ---- what comes back -----------------------------------------------------------------------------


@pytest.mark.parametrize("text, status, output", [
    ("exit 137", 137, b""), ("exit 255", 255, b""), ("kill -9 $$", -9, b""), ("kill -24 $$", -24, b""),
    ("printf a; printf b >&2; printf c", 0, b"abc"),
    ("exec <&- >&- 2>&-; sleep 0.5; exit 3", 3, b""),
])  # fmt: skip
def test_status_and_output(box: Sandbox, text: str, status: int, output: bytes) -> None:
    """A signal is no exit status, and a program that closes its output goes on."""
    ran = shell(box, text)
    assert (ran.status, ran.output) == (status, output) and not (ran.truncated or ran.time_limit_hit)


def test_a_command_line_without_a_program(jail: Path) -> None:
    for words in ([], ["--report", "5"], ["--report", "5", "--wall"]):
        ran = subprocess.run([jail, *words], capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (2, "jail: jail --report FD [limits] -- program ...\n"), words


def test_only_the_first_output_is_kept(box: Sandbox) -> None:
    ran = shell(box, "yes all work and no play | head -n 300000; exit 5")
    assert (ran.status, len(ran.output), ran.truncated) == (5, LIMITS.output_bytes, True)
    assert ran.output.startswith(b"all work and no play\n" * 100)


def test_a_launcher_that_does_not_end_is_the_machines_fault(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.jail.sandbox.LATE_SECONDS", 1.0)
    script(place / "stuck", "exec sleep 600")
    with pytest.raises(MachineFault, match="does not end"):
        execute(Sandbox("none", "", place / "stuck"), ["true"], place, change(wall_seconds=1))


def test_nothing_is_inherited(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "4711")
    secret = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(secret, True)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    try:
        ran = shell(box, "env; cd /proc/self/fd; echo *; kill -HUP $$")
    finally:
        os.close(secret)
        signal.signal(signal.SIGHUP, before)
    assert ran.status == -signal.SIGHUP
    words = ran.output.decode().split()
    names = {word.partition("=")[0] for word in words if "=" in word}
    assert names - {"PWD", "_", "SHLVL", "OLDPWD"} == {"PATH", "LC_ALL"}
    assert [word for word in words if word.isdigit()] == ["0", "1", "2", "3"]  # 3: for the *


def test_passed_descriptors_keep_their_numbers(box: Sandbox, work: Path) -> None:
    descriptor = os.memfd_create("given")
    os.write(descriptor, b"matrix")
    ran = run(box, work, """
        char text[7] = "";
        int fd = atoi(argv[1]);
        pread(fd, text, 6, 0);
        puts(text);
        pwrite(fd, "RESULT", 6, 0);""", args=(str(descriptor),), pass_fds=(descriptor,))
    assert ran.output == b"matrix\n"
    assert os.pread(descriptor, 6, 0) == b"RESULT"
    os.close(descriptor)


def test_a_program_that_cannot_be_started(box: Sandbox, work: Path) -> None:
    """One that is not there is the machine's fault; one that cannot be loaded is not."""
    with pytest.raises(MachineFault, match="no-such-program"):
        execute(box, ["no-such-program"], Path("/"))
    if box.kind != "bubblewrap":  # which itself is loaded
        with open(made(work, ""), "ab"):  # what is open for writing cannot be executed
            assert execute(box, [str(work / "program")], work, writable=[work]).unloadable == "Text file busy"


# ---- limits --------------------------------------------------------------------------------------


SPIN = "for (;;) ;"
LARGE_FILE = """
    signal(SIGXFSZ, SIG_IGN);
    int fd = open("large", O_WRONLY | O_CREAT, 0644);
    static char text[1 << 16];
    long all = 0, n;
    while ((n = write(fd, text, sizeof text)) > 0) all += n;
    printf("%ld\\n", all);"""
CORE_FILES = """
    struct rlimit core = {1, 1};
    return getrlimit(RLIMIT_CORE, &core) || core.rlim_cur || core.rlim_max;"""
MEMORY_BOMB = """
    for (;;) {
        char *p = malloc(1 << 22);
        if (!p) return 42;
        memset(p, 1, 1 << 22);
    }"""
RESERVED_ONLY = """
    char *p = mmap(0, 1L << 38, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
                   MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return 1;
    p[1L << 37] = 1;
    usleep(200000);"""
ALL_PROCESSES_TOGETHER = """
    for (int i = 0; i < 8; i++)
        if (!fork()) { memset(malloc(64 << 20), 1, 64 << 20); for (;;) pause(); }
    for (;;) pause();"""
LIMIT_TESTS: dict[str, tuple[str, dict[str, float], Callable[[Ran], bool]]] = {
    "size of a file": (LARGE_FILE, {}, lambda ran: int(ran.output) == LIMITS.file_bytes),
    "no core files": (CORE_FILES, {}, lambda ran: ran.status == 0),
    "processor time of all processes": (
        "if (!fork()) { while (computed() < 300) continue; return 0; } wait(0);", {},
        lambda ran: 0.25 < ran.cpu_seconds < 30),
    "processor": (SPIN, {"cpu_seconds": 1}, lambda ran: ran.status == -24
                  and not ran.time_limit_hit and ran.cpu_seconds > 0.3),
    "processor, first signal ignored": (
        "signal(SIGXCPU, SIG_IGN);" + SPIN, {"cpu_seconds": 1},
        lambda ran: ran.status == -9 and not ran.time_limit_hit),
    "on the wall": ("for (;;) pause();", {"wall_seconds": 1},
                    lambda ran: ran.status == -9 and ran.time_limit_hit),
    "asleep": ("for (;;) pause();", {"time_seconds": 1},
               lambda ran: ran.status == -9 and ran.time_limit_hit and ran.cpu_seconds < 0.5
               and 0.9 < ran.seconds),
    "asleep beside a child that waits": (
        "if (!vfork()) for (;;) pause();", {"time_seconds": 1}, lambda ran: ran.time_limit_hit),
    "half asleep": (
        "for (;;) { usleep(3000); for (volatile int i = 0; i < 1000000; i++) continue; }",
        {"time_seconds": 0.5}, lambda ran: ran.time_limit_hit and 0.25 < ran.seconds),
    "a thread that computes is not asleep": (
        """
        if (fork()) { int status; wait(&status); return status != 0; }
        pthread_t thread;
        extern int pthread_create(), pthread_join();
        void *spin(void *unused) { while (computed() < 300) continue; return NULL; }
        pthread_create(&thread, NULL, spin, NULL);
        pthread_join(thread, NULL);""",
        {"time_seconds": 30}, lambda ran: ran.status == 0 and ran.asleep_seconds < 0.2),
    "in the system": (
        """for (;;) munmap(mmap(0, 16 << 20, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0), 16 << 20);""",
        {"time_seconds": 0.5}, lambda ran: ran.time_limit_hit and 0.25 < ran.seconds),
    "processes one after the other": (
        """signal(SIGCHLD, SIG_DFL);
        for (;;) if (!fork()) { for (volatile int i = 0; i < 30000000; i++) continue; _exit(0); }
                 else wait(NULL);""",
        {"time_seconds": 0.5}, lambda ran: ran.time_limit_hit),
    "one allocation": ("return malloc(2L << 30) != 0;", {}, lambda ran: ran.status == 0),
    "memory bomb": (MEMORY_BOMB, {"memory_bytes": 256 << 20},
                    lambda ran: ran.status == 42 or ran.memory_limit_hit),
    "memory that is reserved only": (
        RESERVED_ONLY, {"memory_bytes": 1 << 39, "resident_bytes": 64 << 20},
        lambda ran: (ran.status, ran.memory_limit_hit) == (0, False)),
    "memory of all processes": (
        ALL_PROCESSES_TOGETHER, {"memory_bytes": 1 << 30, "resident_bytes": 200 << 20},
        lambda ran: ran.memory_limit_hit and ran.status == -9 and not ran.time_limit_hit),
    "the most memory in use": (
        "memset(malloc(100 << 20), 1, 100 << 20);", {},
        lambda ran: ran.status == 0 and 100 << 20 <= ran.peak_bytes < 200 << 20),
    "the most memory in use at once, long before the end": (
        "for (int i = 0; i < 2; i++) if (!fork()) { memset(malloc(50 << 20), 1, 50 << 20); usleep(300000); return 0; }"
        "wait(0); wait(0); usleep(300000);", {},
        lambda ran: ran.status == 0 and 100 << 20 <= ran.peak_bytes < 200 << 20),
    "stack": ("return ((int (*)(void *))main)(alloca(1 << 16));", {},
              lambda ran: ran.status == -11),
}


KINDS_AND_LIMITS = [(kind, name) for kind in ("bubblewrap", "uid", "none") for name in LIMIT_TESTS]


@pytest.mark.parametrize(("box", "name"), slow_but(  # it is one jail that all kinds have
    KINDS_AND_LIMITS, lambda number, value: value[0] == "bubblewrap" or number % 8 == 2),
    indirect=["box"])
def test_limits(box: Sandbox, work: Path, name: str) -> None:
    body, changes, holds = LIMIT_TESTS[name]
    ran = run(box, work, body, limits=change(**changes))
    assert holds(ran), ran


# In a pid namespace of its own, where what is forked next can be given the number of a process that has ended.
NUMBER_IS_USED_AGAIN = """
mkfifo go
sleep 60 & earlier=$!
"$0" --report 3 --address 1000000000 --cpu 60 --resident 50000000 --wall 30 -- ./program 3>&1 &
exec 4>go # which the program opens, too
kill -9 $earlier
wait $earlier
echo $((earlier - 1)) >/proc/sys/kernel/ns_last_pid
echo $earlier >&4
wait"""


@as_root
def test_a_process_with_the_number_of_one_that_was_there_before(jail: Path, work: Path) -> None:
    """What ran before the program is not looked at; but this is the program's, which may have waited for it."""
    (work / "program").write_bytes(program("""
        int earlier;
        if (fscanf(fopen("go", "r"), "%d", &earlier) != 1) return 1;
        pid_t child = fork();
        if (child) return child != earlier || waitpid(child, NULL, 0) != child;
        memset(malloc(100 << 20), 1, 100 << 20);
        sleep(20);"""))
    (work / "program").chmod(0o755)
    ran = subprocess.run([need("unshare"), "--pid", "--kill-child", "--mount-proc", "sh", "-c", NUMBER_IS_USED_AGAIN,
                          jail], cwd=work, capture_output=True, text=True, check=False, timeout=60)
    if "unshare" in ran.stderr:
        missing("unshare", ran.stderr.strip())
    assert ran.stdout.endswith("limit memory\n"), ran


def test_fork_bomb(box: Sandbox, work: Path) -> None:
    if box.kind == "none" and ROOT:
        pytest.skip("no limit of processes binds root: this kind is for ordinary users")
    ran = run(box, work, """
        int failed = 0, started = 0;
        for (int i = 0; i < 2000; i++) {
            pid_t child = fork();
            if (child == 0) for (;;) pause();
            if (child < 0) failed++; else started++;
        }
        printf("%d %d\\n", started, failed);""")
    started, failed = map(int, ran.output.split())
    assert failed > 0 and started <= LIMITS.processes
    if box.kind != "none":
        ran = run(box, work, "for (;;) fork();", limits=change(wall_seconds=1))
        assert ran.status == -9 and ran.time_limit_hit and not running(work / "program")


# ---- what is left --------------------------------------------------------------------------------


def running(program: Path) -> list[int]:
    """Processes of this program; the test's own are never meant."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe").startswith(str(program)):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_a_child_left_behind_is_gone(box: Sandbox, work: Path) -> None:
    ran = run(box, work, """
        for (int i = 0; i < 5; i++)
            if (!fork()) {
                setsid();
                signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN);
                if (!fork()) for (;;) { sleep(1); write(1, "SCORE 100\\n", 10); }
                _exit(0);
            }
        puts("bye");""")
    assert (ran.status, ran.output) == (0, b"bye\n")
    assert not running(work / "program")


def script_of(work: Path, grader: Path, kind: str, hidden: bool, jail: Path, does: str) -> Path:
    """A program that chooses a sandbox, whose run() takes words, as those of another process."""
    path = work / "script.py"
    path.write_text(f"""
import sys
sys.path.insert(0, {str(grader)!r})
from pathlib import Path
from grader.jail.sandbox import *
box = choose_sandbox({kind!r}, {hidden}, [], Path({str(jail)!r}))
def run(*words, **more):
    return box.run(Command(words, Limits(60, 1 << 30, 24, 1 << 20, 4096, 600), Path("/"), **more))
{does}""")
    path.chmod(0o755)
    return path


def test_a_killed_grader_leaves_nothing(box: Sandbox, work: Path) -> None:
    does = f"run({str(work / 'program')!r}, writable=[Path({str(work)!r})])"
    script = script_of(work, REPOSITORY, box.kind, False, box.jail, does)
    # The child's parent is the jail, and nothing but the jail ends the child.
    made(work, "if (!fork()) setsid(); for (;;) pause();")
    with subprocess.Popen([sys.executable, "-B", script]) as grader:
        wait_until(lambda: len(running(work / "program")) == 2)
        grader.kill()
    wait_until(lambda: not running(work / "program"))


def wait_until(true: object) -> None:
    late = time.monotonic() + 60
    while not true():  # type: ignore[operator]
        assert time.monotonic() < late
        time.sleep(0.05)


def test_an_interrupted_run_has_ended(place: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With bubblewrap, whose own process ends first, all that is in the sandbox: it might still write."""
    launcher = place / "launcher"
    launcher.write_text(f"#!/bin/sh\nsetsid sh -c 'echo begun; sleep 0.5; : >{work}/late' &\nsleep 60\n")
    launcher.chmod(0o755)

    def interrupted(process: subprocess.Popen[bytes], *more: Any) -> Any:
        assert process.stdout and process.stdout.read(6) == b"begun\n"
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(sandbox, "drain", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Sandbox("none", "", launcher).run(Command([], LIMITS, cwd=work))
    assert (work / "late").exists()


def test_links_and_pipes_do_not_stay(box: Sandbox, work: Path) -> None:
    shell(box, "mkdir d; ln -s /etc/passwd d/link; mkfifo d/pipe; touch d/file;"
          "ln -s /etc directory", work, writable=[work])
    assert sorted(p.name for p in (work / "d").iterdir()) == ["file"]
    assert not (work / "directory").is_symlink()
    assert (work / "d" / "file").stat().st_uid == os.geteuid()


def test_nothing_stays_where_anybody_may_write(protected: Sandbox, work: Path) -> None:
    one, other = (Path(f"/tmp/left-{work.name}-{number}") for number in range(2))
    for box in (protected, replace(protected, landlock=False)):
        shell(box, f"mkdir {one} {other}; touch {one}/f {other}/f")
        assert not one.exists() and not other.exists()


def test_what_others_remove_does_not_end_the_sweep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("first", "last"):
        (tmp_path / name).touch()
    monkeypatch.setattr("grader.jail.uid.TEMPORARY", (tmp_path, tmp_path / "none"))
    monkeypatch.setattr(os, "listdir", lambda _: ["first", "gone", "last"])
    sandbox.uids.sweep(os.geteuid())
    assert not (tmp_path / "first").exists() and not (tmp_path / "last").exists()


@as_root
def test_without_landlock_shared_memory_is_memory_in_use(monkeypatch: pytest.MonkeyPatch, jail: Path) -> None:
    """Files may stay there, then, which the note says."""
    monkeypatch.setattr("grader.jail.sandbox.probe", lambda _: "no Landlock")
    note = with_few_files(Sandbox("uid", "", jail)).note
    assert "/tmp, /var/tmp, /dev/shm are swept after each run" in note and "can leave something" in note
    limits = change(resident_bytes=64 << 20, file_bytes=1 << 30)
    ran = shell(Sandbox("uid", "", jail), "head -c 200000000 /dev/zero >/dev/shm/$$; exec sleep 5", limits=limits)
    assert ran.memory_limit_hit


def landlock_version() -> int:
    """Below 1: there is none (landlock_create_ruleset)."""
    return int(ctypes.CDLL(None).syscall(444, None, 0, 1))


def test_with_landlock_no_other_files(box: Sandbox, place: Path, work: Path) -> None:
    """Not even those that every user may read or write; and the report says so. But what the runtime reads; and a
    GPU's driver can name its threads, without which it does not start."""
    if box.kind != "uid" or landlock_version() < 1:
        pytest.skip("another kind, or no Landlock here")
    assert box.landlock and "Landlock" in box.note
    (place / "open file").write_text("x")
    (place / "open file").chmod(0o666)
    naming = "echo x >/proc/$$/comm"
    for attempt in ("cat /proc/1/cmdline", "cat /etc/passwd", "ls /proc", "touch /run/lock/x", "touch /dev/shm/x",
                    f"cat '{place}/open file'", f"echo y >'{place}/open file'", naming):
        assert shell(box, attempt).status != 0, attempt
    if landlock_version() >= 3:  # earlier ones say nothing of this
        assert run(box, work, "return truncate(argv[1], 0) == 0;", args=[str(place / "open file")]).status == 0
    assert (place / "open file").read_text() == "x"
    assert shell(box, naming, devices=[Path("/dev/null")]).status == 0
    for read in ("/proc/self/maps", "/proc/meminfo", "/proc/cpuinfo", "/proc/sys/vm/overcommit_memory"):
        assert shell(box, f"exec cat {read} >/dev/null").status == 0, read
    assert shell(box, "ls /sys/devices/system/cpu").status == 0


# ---- secrets -------------------------------------------------------------------------------------


@pytest.fixture
def secret(place: Path) -> Iterator[Path]:
    with new_folder("hidden-", place, 0o700) as directory:
        (directory / "cases.toml").write_text("the hidden case")
        yield directory / "cases.toml"


def test_what_cannot_be_read(protected: Sandbox, secret: Path) -> None:
    mine = f"/proc/{os.getpid()}"
    paths = [secret, *(f"{mine}/{what}" for what in ("environ", "mem", "maps", "fd/0"))]
    if protected.kind == "bubblewrap":  # which shows a part of the machine only
        paths += ["/etc/passwd", "/etc/hostname", REPOSITORY / "README.md", "/root", "/home",
                  "/sys", "/var", "/dev/zero", "/dev/random", "/dev/tty", "/dev/shm", "/run"]
    for path in paths:
        ran = execute(protected, ["cat", str(path)], Path("/"))
        assert ran.status == 1 and b"hidden case" not in ran.output, path
        assert protected.kind == "uid" or b"No such file" in ran.output, path


def test_private_paths_below_a_visible_one_are_covered(jail: Path, inside: Sandbox, work: Path,
                                                       secret: Path) -> None:
    box = choose_sandbox("bubblewrap", True, [secret.parent, work / "one.toml"], jail)
    (work / "one.toml").write_text("another hidden case")
    ran = shell(box, f"cat {secret} {work}/one.toml; ls {work.parent}", work, readable=[work.parent])
    assert work.name.encode() in ran.output and b"hidden case" not in ran.output


def test_other_processes_cannot_be_seen(inside: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor their environment: the sandbox's own programs have a clean one."""
    monkeypatch.setenv("SECRET_OF_THE_GRADER", "4711")
    ran = shell(inside, "ls /proc | grep -c '^[0-9]'; cat /proc/*/environ /proc/*/cmdline")
    assert int(ran.output.split()[0]) < 12
    assert b"SECRET_OF_THE_GRADER" not in ran.output and b"4711" not in ran.output


def test_the_choice_of_a_gpu_reaches_what_uses_one(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels were compiled for it. Nothing else of the environment is passed on, and that only
    where there is a GPU."""
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_FORCE_PTX_JIT"):
        monkeypatch.setenv(name, f"that of {name}")

    def environment(devices: list[Path]) -> set[str]:
        ran = shell(box, "env", devices=devices)
        return {line for line in ran.output.decode().splitlines() if line.startswith("CUDA")}

    assert environment([Path("/dev/null")]) == {
        "CUDA_VISIBLE_DEVICES=that of CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER=that of CUDA_DEVICE_ORDER"}
    assert environment([]) == set()


def test_the_report_cannot_be_forged(box: Sandbox, work: Path) -> None:
    """Neither through an inherited descriptor nor through those of the launcher's."""
    if box.kind == "none" and ROOT:
        pytest.skip("root opens everything")
    ran = run(box, work, """
        const char *line = "ended exit 0 cpu 0.000 limit none\\n";
        char path[64];
        for (int fd = 3; fd < 256; fd++) write(fd, line, strlen(line));
        for (int fd = 3; fd < 32; fd++) {
            sprintf(path, "/proc/%d/fd/%d", getppid(), fd);
            int door = open(path, O_WRONLY);
            if (door >= 0) { write(door, line, strlen(line)); puts("open"); }
        }
        return 3;""")
    assert (ran.status, ran.output) == (3, b"")


def test_nothing_can_be_written_but_what_was_given(protected: Sandbox, work: Path, place: Path) -> None:
    for path in ("/x", "/usr/x", "/etc/x", "/usr/bin/cc", f"{REPOSITORY}/x", f"{place}/x", f"{place}/jail"):
        ran = shell(protected, f'echo x >"{path}"')
        assert ran.status == 2 and (path in (f"{place}/jail", "/usr/bin/cc") or not os.path.exists(path)), path
    with new_folder("given-", place) as given:
        (given / "kernel.cu").write_text("original")
        ran = shell(protected, f"cd {given}; cat kernel.cu; echo x >kernel.cu; rm -f kernel.cu; echo x >new", work,
                    readable=[given], writable=[work])
        assert ran.output.startswith(b"original")
        assert [(path.name, path.read_text()) for path in given.iterdir()] == [("kernel.cu", "original")]


# ---- other processes, the network, the kernel ----------------------------------------------------


REFUSED_CALLS = [
    "socket(AF_INET, SOCK_STREAM, 0)", "socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0})",
    "ptrace(PTRACE_TRACEME, 0, 0, 0)", "syscall(SYS_bpf, 0, 0, 0)",
    "syscall(SYS_perf_event_open, 0, 0, 0, 0, 0)", "syscall(SYS_userfaultfd, 0)",
    "syscall(425, 1, 0)", "syscall(SYS_keyctl, 0, 0)", "syscall(SYS_unshare, 0x10000000)",
    "syscall(SYS_setns, 0, 0)", "syscall(SYS_mount, 0, 0, 0, 0, 0)", "syscall(SYS_chroot, \"/\")",
    "syscall(SYS_memfd_create, \"x\", 0)", "syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0)",
    "syscall(SYS_process_vm_readv, getppid(), 0, 0, 0, 0, 0)", "syscall(SYS_shmget, 0, 4096, 0600)",
    "syscall(SYS_personality, 0x0040000)", "syscall(434, 1, 0)",
    # Nothing comes of these, where they are not refused: they say something else than EPERM.
    *(f"syscall(SYS_{name}, -1, -1, -1, -1, -1, -1)" for name in (
        "connect", "bind", "listen", "process_vm_writev", "kcmp", "ioprio_set", "sched_setparam",
        "sched_setattr", "move_pages", "shmat", "shmctl", "semget", "semop", "semctl", "msgget",
        "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink", "add_key", "request_key",
        "name_to_handle_at", "vmsplice", "umount2", "pivot_root")),
    # Numbers that older headers lack, all that the filter has: process_madvise, set_mempolicy_home_node and others.
    *(f"syscall({number}, -1, -1, -1, -1, -1, -1)" for number in (
        426, 427, *range(428, 434), 438, 440, 442, 447, 448, 450, 457, 458)),
]  # fmt: skip


SIGNALS = ["kill(child, 0)", "kill(getppid(), 0)", "kill(-1, 0)", "kill(0, 0)", "syscall(SYS_tkill, child, 0)",
           "syscall(SYS_tgkill, child, child, 0)", "syscall(SYS_rt_sigqueueinfo, child, 0, &info)",
           "syscall(SYS_rt_tgsigqueueinfo, child, child, 0, &info)",
           "syscall(424, 0, 0, 0, 0)", "syscall(434, child, 0)"]  # pidfd_send_signal, pidfd_open


def test_system_calls_that_no_kernel_needs(box: Sandbox, work: Path) -> None:
    """The network among them, and signals to others, even to a child, which has the same uid."""
    ran = run(box, work, """
        pid_t child = fork();
        if (!child) for (;;) pause();
        siginfo_t info = {.si_code = SI_QUEUE};
        if (kill(getpid(), 0) != 0) puts("itself");
        if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) puts("privileges");
        """ + "\n".join(f"errno = 0; if (({call}) != -1 || errno != EPERM) puts({json.dumps(call)});"
                        for call in [*SIGNALS, *REFUSED_CALLS]))
    assert (ran.status, ran.output) == (0, b"")


def test_the_compiler_works(box: Sandbox, work: Path) -> None:
    (work / "kernel.cpp").write_text("#include <vector>\n#include <iostream>\nstd::vector<int> v(3);")
    ran = execute(box, ["env", f"TMPDIR={work}", "c++", "-c", "kernel.cpp", "-o", "kernel.o"], work, writable=[work])
    assert (ran.status, ran.output) == (0, b"")
    assert (work / "kernel.o").read_bytes()[:4] == b"\x7fELF"


# ---- several at once, and choosing ---------------------------------------------------------------


def test_runs_side_by_side_do_not_meet(box: Sandbox) -> None:
    """Each kills all that is its own at its end, and nothing else."""
    with ThreadPoolExecutor(8) as pool:
        ran = pool.map(lambda i: shell(box, f"sleep {0.1 * i}; exit 5"), range(8))
    assert [each.status for each in ran] == [5] * 8


def test_hidden_cases_run_in_nothing_less_than_a_sandbox(jail: Path) -> None:
    with pytest.raises(BadInput, match="PROTECTION=none: hidden cases are not run without"):
        choose_sandbox("none", True, [], jail)


@pytest.mark.parametrize("text, why", [
    (None, "bubblewrap is not installed"),
    ("echo 'Creating new namespace failed' >&2; exit 1", "the sandbox failed: bwrap: Creating new namespace failed"),
], ids=["not installed", "in a container"])  # fmt: skip
def test_a_bubblewrap_that_does_not_work(jail: Path, place: Path, monkeypatch: pytest.MonkeyPatch,
                                         text: str | None, why: str) -> None:
    fake = place / "bwrap"
    if text:
        script(fake, text)
    which, bwrap = shutil.which, str(fake) if text else None
    monkeypatch.setattr(shutil, "which", lambda name, **more: bwrap if name == "bwrap" else which(name, **more))
    box = choose_sandbox("auto", False, [], jail)
    assert box.kind == ("uid" if ROOT else "none") and why in box.note
    with pytest.raises(MachineFault, match=f"bubblewrap does not work here: .*{why}"):
        choose_sandbox("bubblewrap", False, [], jail)


def test_a_trial_that_ends_otherwise(jail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sandbox, "run", lambda box, command: Ran(3, b"", False, False, 0.0))
    assert probe(Sandbox("none", "", jail)) == "a trial program ended with 3"


@as_root
def test_one_command_closes_all_that_is_private(jail: Path, place: Path) -> None:
    """And it is the one that is printed."""
    with new_folder("private-", place) as above:
        folders = [above / name for name in ("hidden", "the solutions", "results: a", "closed")]
        for folder, mode in zip(folders, (0o755, 0o711, 0o704, 0o700), strict=True):
            folder.mkdir()
            folder.chmod(mode)
        with pytest.raises(MachineFault) as error:
            choose_sandbox("uid", True, folders, jail)
        said, command = str(error.value).split("; ")
        assert all(str(folder) in said for folder in folders[:3]) and str(folders[3]) not in said
        subprocess.run(command, shell=True, check=True)
        assert choose_sandbox("uid", True, folders, jail).kind == "uid"


@as_root
def test_one_command_opens_all_that_the_sandbox_reads(jail: Path, place: Path) -> None:
    tops = [place / "a" / "b" / name for name in ("one", "two")]
    for folder in (place / "a", place / "a" / "b", *tops):
        folder.mkdir(mode=0o700)
    box = choose_sandbox("uid", False, [], jail)
    with pytest.raises(MachineFault) as error:
        execute(box, ["true"], Path("/"), readable=tops)
    subprocess.run(str(error.value).split("; ")[1], shell=True, check=True)
    execute(box, ["true"], Path("/"), readable=tops)


@as_root
def test_bubblewrap_for_an_ordinary_user(jail: Path, place: Path) -> None:
    """What a teaching assistant has on a laptop: the same, in a user namespace."""
    need("bwrap")
    shutil.copytree(REPOSITORY / "grader", place / "grader")  # the checkout may be its owner's alone
    script = script_of(place, place, "bubblewrap", True, jail, """
def sh(text):
    return run("/bin/sh", "-c", text)
assert sh("exit 7").status == 7
assert sh("kill -9 $$").status == -9
assert sh("kill -9 $PPID; exit 3").status == 3
assert sh("echo x >/x || exit 6").status == 6
assert sh("ls /proc/$PPID/fd >/dev/null 2>&1 && exit 8; exit 9").status == 9  # the jail's
assert b"4711" not in sh("cat /proc/*/environ").output
assert sh("cat /etc/passwd").status == 1
assert sh("i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; exit 5").status == 2
print("good")
""")
    python = "/usr/bin/python3"  # the tests' own may lie in root's home
    if not os.access(python, os.X_OK):
        missing(python)
    ran = subprocess.run([python, "-B", script], user=61999, group=61999, extra_groups=[],
                         env={"PATH": os.environ["PATH"], "SECRET": "4711"},
                         capture_output=True, text=True, check=False, cwd="/")
    if "MachineFault" in ran.stderr:
        missing("bubblewrap", ran.stderr.strip().splitlines()[-1])
    assert ran.stdout == "good\n", ran.stderr
