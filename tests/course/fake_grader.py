"""A grader of a few milliseconds, with the command line of the real one: it does what a submission says,
line by line, and counts in the file FAKE_CALLS what it has begun and graded.

    score 3            so many points of 40, where the suite has no cases of its own
    loses CASE 0.5 WHY such a share of a case's points
    sleep 0.1          seconds
    fault 2            the machine's fault, so many times; killed 2: likewise, it kills itself
    fault-of-seed 5    likewise, whenever the class has this seed
    nothing WHY        there is no kernel in it

A suite is public, or a file of JSON: the points of each case, by name. Imported is only what starts fast.
"""

import json
import os
import signal
import sys
import time
import zlib
from os.path import basename, dirname, exists, isfile, join

words = dict(word.split("=", 1) if "=" in word else (word, "") for word in sys.argv[1:])
suite = words.get("--suite", "public")
lab = words.get("--lab", "sgemm")
cases, name = {}, "public/basics"


def stop(status, line):
    print(f"grade: {line}", file=sys.stderr)
    sys.exit(status)


def read(path):
    with open(path, "rb") as file:
        return file.read()


if words.get("--protection") == "x":
    stop(2, "--protection (PROTECTION with make): 'x' is not one of auto, bubblewrap, uid, none")
if suite == "":
    stop(2, "--suite (SUITE with make): the path is empty")
if suite.endswith(".toml"):
    try:
        cases, name = json.loads(read(suite)), basename(suite).removesuffix(".toml")
    except FileNotFoundError as error:
        stop(2, f"{suite}: cannot read this file: {error.strerror}")
key = dict(lab=lab, version="1.0", grader="of the grader", suites=[name], backend="cpu",
           cases=f"{zlib.crc32(json.dumps([name, cases]).encode()):016x}")
here = dict(compiler="g++ 12", architecture=None)
if "--about" in words:
    fault = os.environ.get("FAKE_FAULT")
    told = key | {"host": "here", "max_score": 40} | ({"fault": fault} if fault else here)
    print(json.dumps(told))
    stop(3, fault) if fault else sys.exit(0)

given, seed = words["--submission"], int(words["--seed"])
found = [given] if isfile(given) else [join(folder, name) for folder, _, names in os.walk(given) for name in names]
place = join(words["--results"], words["--name"])


def count(what):
    with open(os.environ["FAKE_CALLS"], "a") as file:
        file.write(f"{basename(dirname(place))} {what}\n")


count("begun")
if len(found) != 1:
    stop(2, f"{given}: a directory with {len(found)} files: which one is the submission?")
kernel = read(found[0])
tests = [dict(name=case, suite=name, hidden=False, title="", params=dict(m=4, k=4, n=4), fill="random", seed=1,
              score=points, max_score=points, reason="", status="passed",
              criteria=[dict(name="correct", score=points, max_score=points, passed=True, reason="")])
         for case, points in cases.items()]
record = key | here | dict(
    lab=dict(name=lab, title=""), format=6, complete=True, submission=dict(bytes=len(kernel), notes=[]), seed=seed,
    score=0, max_score=sum(cases.values()) or 40, build=dict(ok=True), refusal=None, tests=tests,
    started="2026-11-20T10:00:00Z", of_a_later_grader={"x": 1})
for line in kernel.decode().splitlines():
    order, _, value = line.partition(" ")
    tried = join(place, f"tried-{order}")
    tries = int(read(tried)) if exists(tried) else 0
    if order == "score":
        record["score"] = float(value)
    elif order == "nothing":
        stop(2, f"{found[0]}: {value}")
    elif order == "loses":
        case, share, why = value.split(" ", 2)
        for test in tests:
            if test["name"] == case:
                lost = dict(score=test["max_score"] * (1 - float(share)), reason=why)
                test |= lost | {"status": "failed"}
                test["criteria"][0] |= lost | {"passed": False}
    elif order == "sleep":
        time.sleep(float(value))
    elif order == "fault-of-seed" and seed == int(value):
        stop(3, "no sandbox works here")
    elif order in ("fault", "killed") and tries < int(value or 1):
        with open(tried, "w") as file:
            file.write(str(tries + 1))
        if order == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        stop(3, "no sandbox works here")
if tests:
    record["score"] = sum(test["score"] for test in tests)
for file_name, content in (("kernel.cu", kernel), ("student.json", json.dumps(record).encode()),
                           ("result.json", json.dumps(record).encode())):
    temporary = join(place, "written")
    with open(temporary, "wb") as file:
        file.write(content)
    os.replace(temporary, join(place, file_name))
count("graded")
sys.exit(0 if record["score"] >= record["max_score"] else 1)
