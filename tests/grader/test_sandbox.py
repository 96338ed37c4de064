"""grader/sandbox.py and grader/jail/jail.c: hostile programs, run for real in each kind of sandbox
that this machine allows. None of these tests rests on how fast something is."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import REPOSITORY, missing, need

sys.path.insert(0, str(REPOSITORY))

from grader import sandbox  # noqa: E402
from grader.errors import MachineFault  # noqa: E402
from grader.sandbox import Limits, Ran, Sandbox, choose_sandbox  # noqa: E402

LIMITS = Limits(cpu_seconds=60, memory_bytes=1 << 30, processes=24, file_bytes=1 << 20,
                output_bytes=4096, wall_seconds=60)
ROOT = os.geteuid() == 0


def change(**changes: float) -> Limits:
    return Limits(**({name: getattr(LIMITS, name) for name in LIMITS.__dataclass_fields__}
                     | changes))


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A directory that another user can reach, which those of pytest are not."""
    directory = Path(tempfile.mkdtemp(prefix="sandbox-test-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="module")
def jail(place: Path) -> Path:
    program = place / "jail"
    subprocess.run([need("cc"), "-std=c11", "-Wall", "-Wextra", "-Werror",
                    REPOSITORY / "grader" / "jail" / "jail.c", "-o", program], check=True)
    return program


@pytest.fixture(scope="module", params=["bubblewrap", "uid", "none"])
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
    directory = Path(tempfile.mkdtemp(prefix="work-", dir=place))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


HEADERS = "".join(f"#include <{name}.h>\n" for name in (
    "arpa/inet", "dirent", "errno", "fcntl", "signal", "stdio", "stdlib", "string", "sys/mman",
    "sys/prctl", "sys/ptrace", "sys/resource", "sys/socket", "sys/stat", "sys/syscall", "sys/uio",
    "sys/wait", "unistd"))


def run(box: Sandbox, work: Path, body: str, *, limits: Limits = LIMITS, args: tuple[str, ...] = (),
        pass_fds: tuple[int, ...] = ()) -> Ran:
    """Run the C program whose main() has this body."""
    source = work / "program.c"
    source.write_text("#define _GNU_SOURCE\n" + HEADERS + "int main(int argc, char **argv) {\n"
                      + textwrap.dedent(body) + "\n(void)argc; (void)argv; return 0; }\n")
    subprocess.run([need("cc"), "-w", source, "-o", work / "program", "-pthread"], check=True)
    return box.run([str(work / "program"), *args], limits=limits, readable=[], writable=[work],
                   cwd=work, tools=True, pass_fds=pass_fds)


# ---- what comes back -----------------------------------------------------------------------------


@pytest.mark.parametrize("status", [0, 1, 3, 77, 137, 139, 255])
def test_exit_status(box: Sandbox, work: Path, status: int) -> None:
    assert run(box, work, f"return {status};").status == status


@pytest.mark.parametrize("signal", [4, 6, 8, 9, 11, 15, 24])
def test_signals_are_no_exit_statuses(box: Sandbox, work: Path, signal: int) -> None:
    ran = run(box, work, f"raise({signal}); for (;;) pause();")
    assert (ran.status, ran.wall_limit_hit) == (-signal, False)


def test_output_of_both_streams_in_order(box: Sandbox, work: Path) -> None:
    ran = run(box, work, 'write(1, "a", 1); write(2, "b", 1); write(1, "c", 1);')
    assert (ran.output, ran.truncated) == (b"abc", False)


def test_only_the_first_output_is_kept(box: Sandbox, work: Path) -> None:
    ran = run(box, work, 'for (int i = 0; i < 300000; i++) puts("all work and no play"); return 5;')
    assert (ran.status, len(ran.output), ran.truncated) == (5, LIMITS.output_bytes, True)
    assert ran.output.startswith(b"all work and no play\n" * 100)


def test_a_program_that_closes_its_output_goes_on(box: Sandbox, work: Path) -> None:
    ran = run(box, work, "close(0); close(1); close(2); sleep(7); return 3;")
    assert (ran.status, ran.output) == (3, b"")


def test_a_launcher_that_does_not_end_is_the_machines_fault(
        place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "LATE_SECONDS", 1.0)
    (place / "stuck").write_text("#!/bin/sh\nexec sleep 600\n")
    (place / "stuck").chmod(0o755)
    with pytest.raises(MachineFault, match="does not end"):
        Sandbox("none", "", place / "stuck").run(
            ["true"], limits=change(wall_seconds=1), readable=[], writable=[], cwd=place,
            tools=False)


def test_cpu_seconds_of_all_processes(box: Sandbox, work: Path) -> None:
    ran = run(box, work, """
        if (!fork()) {
            struct rusage used;
            do getrusage(RUSAGE_SELF, &used);
            while (used.ru_utime.tv_sec + used.ru_stime.tv_sec < 1);
            return 0;
        }
        wait(0);""")
    assert 0.9 < ran.cpu_seconds < 30


def test_nothing_is_inherited(box: Sandbox, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "4711")
    secret = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(secret, True)
    try:
        ran = box.run(["/bin/sh", "-c", "env; ls /proc/self/fd"], limits=LIMITS, readable=[],
                      writable=[work], cwd=work, tools=True)
    finally:
        os.close(secret)
    words = ran.output.decode().split()
    names = {word.partition("=")[0] for word in words if "=" in word}
    assert names - {"PWD", "_", "SHLVL", "OLDPWD"} == {"PATH", "LC_ALL"}
    assert [word for word in words if word.isdigit()] == ["0", "1", "2", "3"]  # 3: ls's own


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


def test_a_program_that_is_not_there_is_the_machines_fault(box: Sandbox, work: Path) -> None:
    with pytest.raises(MachineFault, match="no-such-program"):
        box.run(["no-such-program"], limits=LIMITS, readable=[], writable=[work], cwd=work,
                tools=True)


# ---- limits --------------------------------------------------------------------------------------


def test_hang_on_the_processor(box: Sandbox, work: Path) -> None:
    ran = run(box, work, "for (;;) ;", limits=change(cpu_seconds=1))
    assert ran.status == -24 and not ran.wall_limit_hit and ran.cpu_seconds > 0.3


def test_a_program_that_ignores_the_first_signal(box: Sandbox, work: Path) -> None:
    ran = run(box, work, "signal(SIGXCPU, SIG_IGN); for (;;) ;", limits=change(cpu_seconds=1))
    assert ran.status == -9 and not ran.wall_limit_hit


def test_hang_asleep(box: Sandbox, work: Path) -> None:
    ran = run(box, work, "for (;;) pause();", limits=change(wall_seconds=1))
    assert ran.status == -9 and ran.wall_limit_hit


def test_endless_output(box: Sandbox, work: Path) -> None:
    ran = run(box, work, 'for (;;) puts("all work and no play makes jack a dull boy");',
              limits=change(wall_seconds=2))
    assert ran.status < 0 and ran.truncated and len(ran.output) == LIMITS.output_bytes


def test_memory_in_one_allocation(box: Sandbox, work: Path) -> None:
    ran = run(box, work, "return malloc(2L << 30) != 0;")
    assert ran.status == 0


def test_memory_bomb(box: Sandbox, work: Path) -> None:
    ran = run(box, work, """
        for (;;) {
            char *p = malloc(1 << 22);
            if (!p) return 42;
            memset(p, 1, 1 << 22);
        }""", limits=change(memory_bytes=256 << 20))
    assert ran.status == 42 or ran.memory_limit_hit


def test_memory_that_is_reserved_only_does_not_count(box: Sandbox, work: Path) -> None:
    ran = run(box, work, """
        char *p = mmap(0, 1L << 38, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
                       MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) return 1;
        p[1L << 37] = 1;
        usleep(200000);""", limits=change(memory_bytes=1 << 39, resident_bytes=64 << 20))
    assert (ran.status, ran.memory_limit_hit) == (0, False)


def test_memory_of_all_processes_together(box: Sandbox, work: Path) -> None:
    ran = run(box, work, """
        for (int i = 0; i < 8; i++)
            if (!fork()) { memset(malloc(64 << 20), 1, 64 << 20); for (;;) pause(); }
        for (;;) pause();""", limits=change(memory_bytes=1 << 30, resident_bytes=200 << 20))
    assert ran.memory_limit_hit and ran.status == -9 and not ran.wall_limit_hit


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


def test_fork_bomb_of_all_children(protected: Sandbox, work: Path) -> None:
    ran = run(protected, work, "for (;;) fork();", limits=change(wall_seconds=3))
    assert ran.status == -9 and ran.wall_limit_hit
    assert not running(work / "program")


def test_large_file(box: Sandbox, work: Path) -> None:
    ran = run(box, work, """
        signal(SIGXFSZ, SIG_IGN);
        int fd = open("large", O_WRONLY | O_CREAT, 0644);
        static char text[1 << 16];
        long all = 0, n;
        while ((n = write(fd, text, sizeof text)) > 0) all += n;
        printf("%ld\\n", all);""")
    assert int(ran.output) == LIMITS.file_bytes
    assert (work / "large").stat().st_size == LIMITS.file_bytes


def test_deep_recursion(box: Sandbox, work: Path) -> None:
    (work / "recursion.c").write_text("int f(int n) { volatile char a[4096]; a[0] = n;"
                                      "return f(n + 1) + a[0]; } int main() { return f(0); }")
    subprocess.run([need("cc"), "-w", work / "recursion.c", "-o", work / "recursion"], check=True)
    ran = box.run([str(work / "recursion")], limits=LIMITS, readable=[], writable=[work], cwd=work,
                  tools=True)
    assert ran.status == -11


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


def test_a_killed_grader_leaves_nothing(box: Sandbox, work: Path) -> None:
    (work / "grader.py").write_text(f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
from pathlib import Path
from grader.sandbox import *
limits = Limits(60, 1 << 30, 24, 1 << 20, 4096, 600)
box = choose_sandbox({box.kind!r}, False, [], Path({str(box.jail)!r}))
box.run([{str(work / 'program')!r}], limits=limits, readable=[Path({str(work)!r})],
        writable=[], cwd=Path({str(work)!r}), tools=True)
""")
    (work / "program.c").write_text("#include <unistd.h>\nint main() { for (;;) pause(); }")
    subprocess.run([need("cc"), work / "program.c", "-o", work / "program"], check=True)
    with subprocess.Popen([sys.executable, "-B", work / "grader.py"]) as grader:
        wait_until(lambda: bool(running(work / "program")))
        grader.kill()
    wait_until(lambda: not running(work / "program"))


def wait_until(true: object) -> None:
    late = time.monotonic() + 60
    while not true():  # type: ignore[operator]
        assert time.monotonic() < late
        time.sleep(0.05)


def test_links_and_pipes_do_not_stay(box: Sandbox, work: Path) -> None:
    run(box, work, """
        mkdir("d", 0755);
        symlink("/etc/passwd", "d/link"); mkfifo("d/pipe", 0644); symlink("/etc", "directory");
        close(open("d/file", O_CREAT | O_WRONLY, 0644));""")
    assert sorted(p.name for p in (work / "d").iterdir()) == ["file"]
    assert not (work / "directory").is_symlink()
    assert (work / "d" / "file").stat().st_uid == os.geteuid()


def test_nothing_stays_where_anybody_may_write(protected: Sandbox, work: Path) -> None:
    name = f"/tmp/left-{work.name}"
    run(protected, work, f"""
        mkdir("{name}", 0755);
        close(open("{name}/f", O_CREAT | O_WRONLY, 0644));""")
    assert not os.path.exists(name)


# ---- secrets -------------------------------------------------------------------------------------


@pytest.fixture
def secret(place: Path) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="hidden-", dir=place))  # mode 700
    (directory / "cases.toml").write_text("the hidden case")
    yield directory / "cases.toml"
    shutil.rmtree(directory)


READ = """
    char text[64] = "";
    int fd = open(argv[1], O_RDONLY);
    if (fd < 0) { perror(argv[1]); return 9; }
    read(fd, text, 60);
    puts(text);"""


def test_hidden_cases_cannot_be_read(protected: Sandbox, work: Path, secret: Path) -> None:
    ran = run(protected, work, READ, args=(str(secret),))
    assert ran.status == 9 and b"hidden case" not in ran.output


def test_the_machine_is_not_there(inside: Sandbox, work: Path) -> None:
    for path in ("/etc/passwd", "/etc/hostname", str(REPOSITORY / "README.md"), "/root", "/home",
                 "/sys", "/var", "/dev/zero", "/dev/random", "/dev/tty", "/dev/shm", "/run"):
        ran = run(inside, work, READ, args=(path,))
        assert ran.status == 9 and b"No such file" in ran.output, path


def test_private_paths_below_a_visible_one_are_covered(jail: Path, inside: Sandbox, work: Path,
                                                       secret: Path) -> None:
    box = choose_sandbox("bubblewrap", True, [secret.parent, work / "one.toml"], jail)
    (work / "one.toml").write_text("another hidden case")
    ran = box.run(["/bin/sh", "-c", f"cat {secret} {work}/one.toml; ls {work.parent}"],
                  limits=LIMITS, readable=[work.parent], writable=[], cwd=work, tools=True)
    assert work.name.encode() in ran.output and b"hidden case" not in ran.output


def test_other_processes_cannot_be_seen(inside: Sandbox, work: Path) -> None:
    """Nor their environment: the sandbox's own programs have a clean one."""
    os.environ["SECRET_OF_THE_GRADER"] = "4711"
    try:
        ran = run(inside, work, """
            system("ls /proc | grep -c '^[0-9]'");
            system("cat /proc/*/environ /proc/*/cmdline | tr '\\\\0' ' '");""")
    finally:
        del os.environ["SECRET_OF_THE_GRADER"]
    assert int(ran.output.split()[0]) < 12
    assert b"SECRET_OF_THE_GRADER" not in ran.output and b"4711" not in ran.output


def test_the_choice_of_a_gpu_reaches_what_uses_one(box: Sandbox, work: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what the kernels were compiled for. Nothing else of the environment does, and it only
    where there is a GPU."""
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_FORCE_PTX_JIT"):
        monkeypatch.setenv(name, f"that of {name}")

    def environment(devices: list[Path]) -> set[str]:
        ran = box.run(["/bin/sh", "-c", "env"], limits=LIMITS, readable=[work], writable=[],
                      cwd=work, tools=True, devices=devices)
        return {line for line in ran.output.decode().splitlines() if line.startswith("CUDA")}

    assert environment([Path("/dev/null")]) == {
        "CUDA_VISIBLE_DEVICES=that of CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER=that of CUDA_DEVICE_ORDER"}
    assert environment([]) == set()


def test_the_graders_memory_and_environment_are_closed(protected: Sandbox, work: Path) -> None:
    for what in ("environ", "mem", "maps", "fd/0"):
        ran = run(protected, work, READ, args=(f"/proc/{os.getpid()}/{what}",))
        assert ran.status == 9, what


def test_the_report_cannot_be_forged(box: Sandbox, work: Path) -> None:
    """Neither through an inherited descriptor nor through those of the launcher's."""
    if box.kind == "none" and ROOT:
        pytest.skip("root opens everything")
    ran = run(box, work, """
        const char *line = "ended exit 0 cpu 0.000 limit none filter yes\\n";
        char path[64];
        for (int fd = 3; fd < 256; fd++) write(fd, line, strlen(line));
        for (int fd = 3; fd < 32; fd++) {
            sprintf(path, "/proc/%d/fd/%d", getppid(), fd);
            int door = open(path, O_WRONLY);
            if (door >= 0) { write(door, line, strlen(line)); puts("open"); }
        }
        return 3;""")
    assert (ran.status, ran.output) == (3, b"")


# ---- writing -------------------------------------------------------------------------------------


def test_nothing_can_be_written_but_what_was_given(protected: Sandbox, work: Path,
                                                   place: Path) -> None:
    for path in ("/x", "/usr/x", "/etc/x", "/jail", "/usr/bin/cc", str(REPOSITORY / "x"),
                 str(place / "x"), str(place / "jail")):
        ran = run(protected, work, """
            int fd = open(argv[1], O_WRONLY | O_CREAT, 0644);
            return fd >= 0 && write(fd, "x", 1) == 1;""", args=(path,))
        assert ran.status == 0, path
        assert path in (str(place / "jail"), "/usr/bin/cc") or not os.path.exists(path)


def test_readable_is_not_writable(protected: Sandbox, work: Path, place: Path) -> None:
    (place / "given").mkdir(exist_ok=True)
    (place / "given" / "kernel.cu").write_text("original")
    ran = protected.run(["/bin/sh", "-c", f"cd {place}/given; cat kernel.cu; echo x >kernel.cu;"
                         "rm -f kernel.cu; echo x >new"],
                        limits=LIMITS, readable=[place / "given"], writable=[work], cwd=work,
                        tools=True)
    assert ran.output.startswith(b"original")
    assert [p.name for p in (place / "given").iterdir()] == ["kernel.cu"]
    assert (place / "given" / "kernel.cu").read_text() == "original"


# ---- other processes, the network, the kernel ----------------------------------------------------


def test_the_network_is_out_of_reach(box: Sandbox, work: Path) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        ran = run(box, work, f"""
            int s = socket(AF_INET, SOCK_STREAM, 0);
            if (s < 0) return 7;
            struct sockaddr_in a = {{.sin_family = AF_INET, .sin_addr = {{htonl(INADDR_LOOPBACK)}},
                                    .sin_port = htons({server.getsockname()[1]})}};
            return connect(s, (struct sockaddr *)&a, sizeof a) == 0;""")
    assert ran.status == 7


def test_nobody_else_can_be_signalled(box: Sandbox, work: Path) -> None:
    with subprocess.Popen(["sleep", "600"]) as bystander:
        others = [bystander.pid]
        if not (box.kind == "none" and ROOT):  # where a filter that fails would end the machine
            others += [os.getpid(), 1, -1]
        try:
            ran = run(box, work, """
                int reached = 0;
                for (int i = 1; i < argc; i++) {
                    pid_t other = atoi(argv[i]);
                    reached += kill(other, SIGKILL) == 0;
                    reached += syscall(SYS_tgkill, other, other, SIGKILL) == 0;
                    reached += syscall(SYS_tkill, other, SIGKILL) == 0;
                    reached += ptrace(PTRACE_ATTACH, other, 0, 0) == 0;
                }
                reached += kill(getppid(), SIGKILL) == 0;
                reached += kill(0, SIGCONT) == 0; /* its own group: nobody, but who knows */
                return reached;""", args=tuple(map(str, others)))
            assert (ran.status, bystander.poll()) == (0, None)
        finally:
            bystander.kill()


@pytest.mark.parametrize("call", [
    "socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0})", "ptrace(PTRACE_TRACEME, 0, 0, 0)",
    "syscall(SYS_bpf, 0, 0, 0)", "syscall(SYS_perf_event_open, 0, 0, 0, 0, 0)",
    "syscall(SYS_userfaultfd, 0)", "syscall(425, 1, 0)", "syscall(SYS_keyctl, 0, 0)",
    "syscall(SYS_unshare, 0x10000000)", "syscall(SYS_setns, 0, 0)",
    "syscall(SYS_mount, 0, 0, 0, 0, 0)", "syscall(SYS_chroot, \"/\")",
    "syscall(SYS_memfd_create, \"x\", 0)", "syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0)",
    "syscall(SYS_process_vm_readv, getppid(), 0, 0, 0, 0, 0)", "syscall(SYS_shmget, 0, 4096, 0600)",
    "syscall(SYS_personality, 0x0040000)", "syscall(434, 1, 0)",
])  # fmt: skip
def test_system_calls_that_no_kernel_needs(box: Sandbox, work: Path, call: str) -> None:
    ran = run(box, work, f"errno = 0; long r = {call}; return r == -1 && errno == EPERM ? 0 : 1;")
    assert ran.status == 0


def test_no_privileges_can_be_won(protected: Sandbox, work: Path) -> None:
    ran = run(protected, work, """
        return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || setuid(0) == 0 && getuid() == 0 &&
               access("/jail", W_OK) == 0;""")
    assert ran.status == 0


# ---- the compiler --------------------------------------------------------------------------------


def compiled(box: Sandbox, work: Path, text: str, limits: Limits = LIMITS) -> Ran:
    (work / "kernel.cpp").write_text(text)
    return box.run(["c++", "-c", "kernel.cpp", "-o", "kernel.o"], limits=limits, readable=[],
                   writable=[work], cwd=work, tools=True)


def test_the_compiler_works(box: Sandbox, work: Path) -> None:
    ran = compiled(box, work, "#include <vector>\n#include <iostream>\nstd::vector<int> v(3);")
    assert (ran.status, ran.output) == (0, b"")
    assert (work / "kernel.o").read_bytes()[:4] == b"\x7fELF"


def test_including_dev_zero(box: Sandbox, work: Path) -> None:
    ran = compiled(box, work, '#include "/dev/zero"\n',
                   change(memory_bytes=512 << 20, cpu_seconds=30))
    assert ran.status != 0 and not (work / "kernel.o").exists()
    if box.kind == "bubblewrap":
        assert b"No such file" in ran.output or b"not found" in ran.output


@pytest.mark.parametrize("name", ["/etc/passwd", "../../../../../../etc/passwd"])
def test_error_messages_quote_no_files(inside: Sandbox, work: Path, name: str) -> None:
    ran = compiled(inside, work, f'#include "{name}"\n')
    assert ran.status != 0 and b"root:" not in ran.output


def test_template_recursion(box: Sandbox, work: Path) -> None:
    text = """
        template <int d, int p> struct tree {
            enum { v = tree<d - 1, 2 * p>::v + tree<d - 1, 2 * p + 1>::v }; };
        template <int p> struct tree<0, p> { enum { v = p }; };
        int leaves = tree<26, 1>::v;"""
    ran = compiled(box, work, text, change(memory_bytes=512 << 20, cpu_seconds=20))
    assert ran.status != 0 and not ran.wall_limit_hit


def test_endless_words_of_the_compiler(box: Sandbox, work: Path) -> None:
    ran = compiled(box, work, "@ no; such; words;\n" * 20000, change(cpu_seconds=3))
    assert ran.status != 0 and ran.truncated and len(ran.output) == LIMITS.output_bytes


# ---- several at once, and choosing ---------------------------------------------------------------


def test_runs_side_by_side_do_not_meet(box: Sandbox, place: Path) -> None:
    """Each kills all that is its own at its end, and nothing else."""
    results: list[Ran] = []

    def grade(seconds: float) -> None:
        results.append(box.run(["/bin/sh", "-c", f"sleep {seconds}; exit 5"], limits=LIMITS,
                               readable=[], writable=[], cwd=Path("/"), tools=True))

    threads = [threading.Thread(target=grade, args=(0.1 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [ran.status for ran in results] == [5] * 8


def test_hidden_cases_run_in_nothing_less_than_a_sandbox(jail: Path) -> None:
    with pytest.raises(MachineFault, match="hidden"):
        choose_sandbox("none", True, [], jail)


def test_without_bubblewrap(jail: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    box = choose_sandbox("auto", False, [], jail)
    assert box.kind == ("uid" if ROOT else "none") and "bubblewrap" in box.note
    with pytest.raises(MachineFault, match="bubblewrap is not installed"):
        choose_sandbox("bubblewrap", False, [], jail)


def test_a_bubblewrap_that_may_make_no_namespaces(jail: Path, place: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container: it is there, and fails."""
    fake = place / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: Creating new namespace failed' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(fake) if name == "bwrap" else None)
    box = choose_sandbox("auto", False, [], jail)
    assert box.kind == ("uid" if ROOT else "none") and "Creating new namespace failed" in box.note


@pytest.mark.skipif(not ROOT, reason="another uid takes root")
@pytest.mark.parametrize("mode, readable", [(0o700, False), (0o755, True), (0o711, True)])
def test_uid_refuses_what_everybody_can_read(jail: Path, secret: Path, mode: int,
                                             readable: bool) -> None:
    secret.parent.chmod(mode)
    if readable:
        with pytest.raises(MachineFault, match="chmod"):
            choose_sandbox("uid", True, [secret.parent], jail)
    else:
        assert choose_sandbox("uid", True, [secret.parent], jail).kind == "uid"


@pytest.mark.skipif(not ROOT, reason="another uid takes root")
def test_one_command_closes_all_that_is_private(jail: Path, place: Path) -> None:
    """And it is the one that is printed."""
    folders = [place / name for name in ("hidden", "the solutions", "results: a", "closed")]
    for folder in folders:
        folder.mkdir(mode=0o755)
    folders[-1].chmod(0o700)
    with pytest.raises(MachineFault) as error:
        choose_sandbox("uid", True, folders, jail)
    said, command = str(error.value).split("; ")
    assert all(str(folder) in said for folder in folders[:3]) and str(folders[3]) not in said
    subprocess.run(command, shell=True, check=True)
    assert choose_sandbox("uid", True, folders, jail).kind == "uid"


@pytest.mark.skipif(not ROOT, reason="only root runs under other uids")
def test_one_command_opens_all_that_the_sandbox_reads(jail: Path, place: Path) -> None:
    tops = [place / "a" / "b" / name for name in ("one", "two")]
    for top in tops:
        top.mkdir(mode=0o700, parents=True)
    for folder in (place / "a", place / "a" / "b"):
        folder.chmod(0o700)
    box = choose_sandbox("uid", False, [], jail)

    def run_there() -> None:
        box.run(["true"], limits=LIMITS, readable=tops, writable=[], cwd=Path("/"), tools=True)

    with pytest.raises(MachineFault) as error:
        run_there()
    subprocess.run(str(error.value).split("; ")[1], shell=True, check=True)
    run_there()


@pytest.mark.skipif(not ROOT, reason="only root runs under other uids")
def test_paths_closed_to_other_users_are_the_machines_fault(jail: Path, work: Path) -> None:
    (work / "private").mkdir(mode=0o700)
    box = choose_sandbox("auto", False, [], jail)
    with pytest.raises(MachineFault, match=r"chmod -R o\+rX"):
        box.run(["true"], limits=LIMITS, readable=[work / "private"], writable=[], cwd=work,
                tools=True)


def test_each_run_has_a_uid_of_its_own(jail: Path) -> None:
    if not ROOT:
        pytest.skip("only root runs under other uids")
    box = choose_sandbox("auto", False, [], jail)
    with sandbox.own_uid(box) as one, sandbox.own_uid(box) as other:
        assert one is not None and other is not None and one != other
        assert one in sandbox.UIDS and other in sandbox.UIDS


@pytest.mark.skipif(not ROOT, reason="runs itself again as somebody else")
def test_bubblewrap_for_an_ordinary_user(jail: Path, place: Path) -> None:
    """What a teaching assistant has on a laptop: the same, in a user namespace."""
    need("bwrap")
    script = place / "ordinary.py"
    script.write_text(f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
from pathlib import Path
from grader.sandbox import *
limits = Limits(60, 1 << 30, 24, 1 << 20, 4096, 60)
box = choose_sandbox("bubblewrap", True, [], Path({str(jail)!r}))
def sh(text):
    return box.run(["/bin/sh", "-c", text], limits=limits, readable=[], writable=[], cwd=Path("/"),
                   tools=True)
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
    script.chmod(0o755)
    python = "/usr/bin/python3"  # the tests' own may lie in root's home
    if not os.access(python, os.X_OK):
        missing(python)
    ran = subprocess.run([python, "-B", script], user=61999, group=61999, extra_groups=[],
                         env={"PATH": os.environ["PATH"], "SECRET": "4711"},
                         capture_output=True, text=True, check=False, cwd="/")
    if "MachineFault" in ran.stderr:
        missing("bubblewrap", ran.stderr.strip().splitlines()[-1])
    assert ran.stdout == "good\n", ran.stderr
