"""A class as it is now: its students, what they handed in, and the results there are. In: settings
and a folder of results. Out: what has to be graded, and each student's standing."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from .errors import BadInput
from .hand_ins import collect
from .model import Attempt, Files, HandIn, Override, Standing, Student
from .moodle import times
from .overrides import read_overrides
from .policy import attempts_to_grade, standing_of
from .record import SOURCE
from .jobs.results import Job, Key, Results, last_try, not_taken, record_of, seen_of
from .roster import Roster, claim_of, read_roster
from .settings import Settings, ours
from .text import counted

LONG_AGO = datetime.min.replace(tzinfo=timezone.utc)


@dataclass(frozen=True, eq=False)
class Class:
    settings: Settings
    results: Results
    students: Sequence[Student]
    handed_in: dict[str, list[HandIn]]
    """Of each student's folder, by time."""
    overrides: dict[str, Override]

    def attempts(self, student: Student) -> list[Attempt]:
        """Without what is known of their results."""
        return [self._attempt(student, number, hand_in)
                for number, hand_in in enumerate(self.handed_in.get(student.folder, []), 1)]

    def _attempt(self, student: Student, number: int, hand_in: HandIn) -> Attempt:
        if hand_in.problem:
            return Attempt(student, hand_in, number, "", None)
        job = self._job(student, hand_in)
        return Attempt(student, hand_in, number, job.sha256, job.directory)

    @functools.lru_cache(maxsize=None)  # noqa: B019 - a class lives as long as its run
    def _job(self, student: Student, hand_in: HandIn) -> Job:
        return self.results.job(student.folder, hand_in.files)

    def to_grade(self) -> dict[Job, Files]:
        """All that can count, whether it has a result or not."""
        found: dict[Job, Files] = {}
        for student in self.students:
            override = self.overrides.get(student.folder)
            if override and override.excused:
                continue
            for attempt in attempts_to_grade(self.attempts(student), self.settings, override):
                found[self._job(student, attempt.hand_in)] = attempt.hand_in.files
        return found

    def names(self) -> dict[Job, str]:
        """For people; of several attempts of a student with their numbers."""
        found: dict[Job, str] = {}
        for student in self.students:
            attempts = self.attempts(student)
            for each in attempts:
                which = f", attempt {each.number}" if len(attempts) > 1 else ""
                if not each.problem:
                    found[self._job(student, each.hand_in)] = student.known_as + which
        return found

    def standings(self, key: Key | None) -> list[Standing]:
        """`key`: of today's results; None: any will do."""
        return [standing_of(student, [known(attempt, key) for attempt in self.attempts(student)],
                            self.settings, self.overrides.get(student.folder))
                for student in self.students]


def known(attempt: Attempt, key: Key | None) -> Attempt:
    """With its record, and why there is no other."""
    if attempt.directory is None:
        return attempt
    job = Job(attempt.directory, attempt.sha256)
    record, seen, last = record_of(job), seen_of(job), last_try(job)
    old = bool(record and key and key.differs(record))
    problem = "" if record else not_taken(job, key)
    fault = last.message if last and (old or record is None) else ""
    return replace(attempt, record=record, seen=seen, old=old, fault=fault, not_taken=problem,
                   source=source_of(job) if record else b"")


def source_of(job: Job) -> bytes:
    try:
        return (job.directory / SOURCE).read_bytes()
    except OSError:
        return b""


def date(handed_in: Mapping[str, list[HandIn]], students: Mapping[str, Student],
         known: Mapping[Student, datetime | None]) -> None:
    """By Moodle's worksheet, which has the time of the last hand-in alone: of what Moodle has numbered,
    and of the only hand-in of a student, as of a folder of ours."""
    numbered, participants = {each.moodle_id: time for each, time in known.items()}, Roster(known)

    def time_of(student: Student, hand_in: HandIn, alone: bool) -> datetime | None:
        found = [numbered.get(claim.moodle_id) for claim in hand_in.claims]
        if alone and (who := participants.match(replace(claim_of(student), word=student.name))):
            found.append(known[who])
        return next(filter(None, found), None)

    for folder, hand_ins in handed_in.items():
        hand_ins[:] = [replace(each, submitted=each.submitted or time_of(
            students[folder], each, len(hand_ins) == 1)) for each in hand_ins]


def gather(settings: Settings, results: Results) -> Class:
    """Raises BadInput where a file of the instructor's has a mistake, or nothing was handed in."""
    roster = Roster(read_roster(settings.roster) if settings.roster else [])
    hand_ins = collect(settings.submissions, settings.zone, ours(settings))
    if not hand_ins:
        raise BadInput(f"{', '.join(map(str, settings.submissions))}: nothing was handed in; it should "
                       "hold a folder, .cu file or zip for each student, or what a platform exports")
    handed_in: dict[str, list[HandIn]] = {}
    students: dict[str, Student] = {}
    for hand_in in hand_ins:
        for claim in hand_in.claims:
            student = roster.student_of(claim)
            students[student.folder] = student
            noted = hand_in if student.enrolled else replace(
                hand_in, notes=(*hand_in.notes, roster.reason(claim)))
            handed_in.setdefault(student.folder, []).append(noted)
    if settings.moodle:
        date(handed_in, students, times(settings.moodle, settings.zone))
    if roster.students and not any(student.enrolled for student in students.values()):
        raise BadInput(f"{settings.roster}: none of {counted(len(hand_ins), 'hand-in')} is of a student who is named "
                       f"here; the first is {hand_ins[0].source}")
    students |= {student.folder: student for student in roster.students}
    for each in handed_in.values():
        each.sort(key=lambda one: (one.submitted or LONG_AGO, one.source))
    everybody = sorted(students.values(), key=lambda one: (one.known_as.casefold(), one.folder))
    overrides = read_overrides(settings.overrides, everybody, settings.zone) \
        if settings.overrides else {}
    for folder, override in overrides.items():
        if override.submitted and folder in handed_in:
            handed_in[folder][-1] = replace(handed_in[folder][-1], submitted=override.submitted)
    return Class(settings, results, everybody, handed_in, overrides)
