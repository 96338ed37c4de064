"""Times a submission beside what its lab says, with none of its host code near the clock.

    recorder   in the sandbox: calls the wrapper once, and writes down what it launches
    clock      outside, trusted: replays those launches on data of its own, judges every C, times

In: a submission's programs and a shape; out: what the clock said. A fault of the machine's, or of the
clock itself, is a MachineFault, which costs no points.
"""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ..build.parts import Parts
from ..build.submission import Programs
from ..errors import MachineFault
from ..jail.sandbox import ENVIRONMENT, Command, Ran, Sandbox, gpu_environment
from ..lab import Lab, Params
from ..process import completed
from ..record.model import Times
from ..run.outcome import Doubtful, doubt_about, ended, settle
from ..run.limits import limits_on_gpu
from ..run.once import SEAL_ALL, gpu_devices, memory_file, on_the_gpu, printable, seal

SAMPLES = 11  # of each shape: enough for a median and quartiles
# On the wall, for one call of the wrapper: a thousand times what a naive kernel needs.
RECORD_SECONDS = 10
# For all replays together, of which there are two dozen: an ordinary kernel takes a tenth of that for 10^12
# operations. The clock itself ends what takes longer.
REPLAY_SECONDS = 60
# For the whole run. The clock has 300 s for what is not the submission's; one that takes longer has failed.
CLOCK_SECONDS = 420.0
LARGEST_RECORDING = 4 << 20
MACHINE = 3  # the recorder's exit status, having written nothing, where it gets no GPU or no memory

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Measured(Times):
    """Positive and finite."""

    model_config = ConfigDict(extra="forbid", strict=True)

    median: Positive
    minimum: Positive
    quartile_1: Positive
    quartile_3: Positive


class Said(BaseModel):
    """The one JSON object that the clock prints."""

    model_config = ConfigDict(extra="forbid", strict=True)

    state: Literal["timed", "refused", "wrong", "faulted", "time-limit", "impossible", "machine"]
    reason: str = ""
    device: str | None = None
    samples: int = Field(default=0, ge=0)
    seconds: Measured | None = None
    beside_seconds: Measured | None = None
    launches: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def whole(self) -> Said:
        if self.state != "timed" and not self.reason:
            raise ValueError(f"{self.state} without a reason")
        if self.state == "timed" and not (self.device and self.samples and self.seconds and self.beside_seconds):
            raise ValueError("timed, but something of the measurement is missing")
        return self

    @property
    def ratio(self) -> float | None:
        """How fast it is, where what it is timed beside is 1."""
        return self.beside_seconds.median / self.seconds.median if self.seconds and self.beside_seconds else None


def measure(parts: Parts, programs: Programs, params: Params, *, box: Sandbox,
            samples: int = SAMPLES) -> Said:
    """Record one call and time so many of its replays, while nothing else of the grader's uses the GPU. Raises
    MachineFault."""
    return settle(lambda of: measure_once(parts, of, params, box, samples), parts, programs, box)


def measure_once(parts: Parts, programs: Programs, params: Params, box: Sandbox, samples: int) -> Said:
    """Raises MachineFault and Doubtful."""
    assert programs.recorder and programs.kernels and parts.clock
    with on_the_gpu(parts, alone=True), memory_file("recording") as recording:
        command = [str(parts.clock), str(programs.kernels), f"/proc/self/fd/{recording}",
                   *parts.lab.words(params), str(samples), str(REPLAY_SECONDS)]
        return record(parts.lab, programs.recorder, params, recording, box) or run_clock(command, recording)


def record(lab: Lab, recorder: Path, params: Params, recording: int, box: Sandbox) -> Said | None:
    """Fills `recording`, or returns why it is empty. The clock checks what it holds. Raises
    MachineFault."""
    limits = replace(limits_on_gpu(RECORD_SECONDS, lab.sizes(params).bytes),
                     file_bytes=LARGEST_RECORDING)
    words = [str(recorder), *lab.words(params), str(recording), str(RECORD_SECONDS)]
    ran = box.run(Command(words, limits, cwd=recorder.parent, readable=[recorder.parent],
                          pass_fds=(recording,), devices=gpu_devices()))
    try:
        seal(recording, SEAL_ALL)
    except OSError:  # the submission has sealed it, or holds it open for writing
        return Said(state="refused", reason="the recording was tampered with")
    return why_not_recorded(lab, ran, os.fstat(recording).st_size)


def why_not_recorded(lab: Lab, ran: Ran, bytes_written: int) -> Said | None:
    """A bad end is believed, as it earns nothing. A good one is checked by the clock. Raises
    Doubtful."""
    if ran.status == 0:
        return None
    how = ended("", ran)
    if how == "time-limit":
        return Said(state="time-limit", reason=f"{lab.wrapper} was still running at its time limit")
    said = Said(state="faulted", reason=f"{lab.wrapper} ended the program instead of returning")
    if how == "crashed":
        why = ran.unloadable or ("it used more memory than it may" if ran.memory_limit_hit else
                                 signal.strsignal(-ran.status))
        said = Said(state="faulted", reason=f"{lab.wrapper} crashed: {why}")
        if doubt := doubt_about(how, ran):
            raise Doubtful(doubt, said)
        return said
    if bytes_written:
        return None
    if ran.status == MACHINE:
        words = printable(ran).strip().splitlines() or ["it needs CUDA 12.4 or newer"]
        raise Doubtful(f"launches could not be recorded: {words[-1]}", said)
    return said


def run_clock(command: list[str], recording: int) -> Said:
    """It contains none of the student's host code, but may hang all the same. Raises MachineFault."""
    library_path = {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
    try:
        ran = completed(command, timeout=CLOCK_SECONDS, cwd="/", pass_fds=(recording,),
                        env=ENVIRONMENT | gpu_environment() | library_path)
    except subprocess.TimeoutExpired:
        raise MachineFault(f"the clock has not ended after {CLOCK_SECONDS:g} s; does nvidia-smi show a GPU that "
                           "works?") from None
    except OSError as error:
        raise MachineFault(f"the clock cannot be started: {error.strerror}") from error
    return said_by(ran.returncode, ran.stdout, ran.stderr)


def said_by(status: int, output: str, complaints: str) -> Said:
    """What the clock printed, checked. Raises MachineFault for all that it should not print."""
    lines = complaints.strip().splitlines()
    last_words = f": {lines[-1]}" if lines else ""
    if status < 0:
        raise MachineFault(f"the clock crashed: {signal.strsignal(-status)}{last_words}")
    try:
        answer = Said.model_validate_json(output)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        what = last_words or f": {place or 'the answer'}: {first['msg']}"
        raise MachineFault(f"the clock ended with {status} and printed nothing that can be "
                           f"used{what}") from None
    if answer.state == "machine" or status != 0:
        raise MachineFault(f"the clock could not measure: {answer.reason or f'status {status}'}")
    return answer
