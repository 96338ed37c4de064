"""A Slurm of one node, in a folder of its own, on loopback: munged, slurmctld and slurmd of Debian's
packages munge and slurm-wlm, started as root and ended again. slurm.conf(5) explains the settings."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SLOTS = 4
STARTING_SECONDS = 30.0
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1,batch_sched_delay=0
MaxArraySize=3
ReturnToService=2
KillWait=1
MinJobAge=5
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={slots} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


# Daemons are in a folder that a user's PATH does not have.
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


def missing_program() -> str | None:
    return next((name for name in PROGRAMS if not shutil.which(name, path=PATH)), None)


class Slurm:
    def __init__(self, folder: Path):
        self.folder, self.host = folder, socket.gethostname().partition(".")[0]
        self.environment = {"SLURM_CONF": str(folder / "slurm.conf")}

    def start(self) -> None:
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(mode=0o700, parents=True)
        key = self.folder / "munge/key"
        key.write_bytes(secrets.token_bytes(64))
        key.chmod(0o600)
        (self.folder / "slurm.conf").write_text(CONF.format(
            host=self.host, folder=self.folder, slots=SLOTS, port=free_port(),
            node_port=free_port()))
        # slurmd's own choice needs a systemd where there is cgroup v2; of v1 nothing is asked.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        munge = self.folder / "munge"
        self.call("munged", "--force", f"--key-file={key}", f"--socket={munge}/socket",
                  f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.call("slurmctld", "-f", self.environment["SLURM_CONF"])
        self.start_node()
        self.wait_for_node("idle")

    def start_node(self) -> None:
        self.call("slurmd", "-f", self.environment["SLURM_CONF"], "-N", self.host)

    def wait_for_node(self, *states: str) -> None:
        until = time.monotonic() + STARTING_SECONDS
        while self.ask("sinfo", "--noheader", "--format=%T").strip("* \n") not in states:
            assert time.monotonic() < until, (self.folder / "slurmctld.log").read_text()[-2000:]
            time.sleep(0.1)

    def stop(self) -> None:
        for name in ("slurmd.pid", "slurmctld.pid", "munge/pid"):
            with suppress(OSError, ValueError):
                number = int((self.folder / name).read_text())
                os.kill(number, signal.SIGTERM)
                wait_for_end(number)

    def call(self, *command: str) -> str:
        return subprocess.run(command, env={**os.environ, **self.environment, "PATH": PATH},
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=True, timeout=60).stdout

    def ask(self, *command: str) -> str:
        with suppress(subprocess.CalledProcessError):
            return self.call(*command)
        return ""

    def jobs(self) -> list[str]:
        """Tasks that are in the queue, as JOB_TASK, also those of an array that wait."""
        return self.call("squeue", "--noheader", "--array", "--format=%F_%K").split()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for_end(number: int) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.kill(number, signal.SIGKILL)


@contextmanager
def running(folder: Path) -> Iterator[Slurm]:
    cluster = Slurm(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
