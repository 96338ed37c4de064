"""engine/watch/detector.h: a detector is one structure and a line in the table of detectors.c. With an empty table
the watch finds nothing, and the program runs."""

import re

import pytest
from alone import ENGINE, Alone, engine_in, text_of

BACK = "cudaMemcpy(out, d_out, out_bytes"
# Races, leaves memory behind, and fails a call; but what it computes is right.
FAULTY = (text_of("histogram").replace("atomicAdd(&counts[in[i]], 1)", "counts[in[i]] += 1")
          .replace("cudaFree(d_in);", "").replace(BACK, f"{BACK} + 4, cudaMemcpyDeviceToHost);\n    {BACK}"))
SECOND_BARRIER = FAULTY[:FAULTY.rindex("__syncthreads")].count("\n") + 1

NEW = """\
#include "../detector.h"

extern const struct detector detector_second_barrier;

static void begins(struct watch *w) { *(int *)detector_state(&detector_second_barrier, w) = 0; }

static void opens(struct watch *w) {
    int *opened = detector_state(&detector_second_barrier, w);
    if (++*opened != 2) return;
    const struct access access = {.code = w->arrived[0].code};
    struct event event = event_here(w, FINDING_KERNEL_FAULT, &access);
    event_note(&event);
}

const struct detector detector_second_barrier = {
    .worker_bytes = sizeof(int), .block_begins = begins, .barrier_opens = opens};
"""

NAMES = re.findall(r"^ *DETECTOR\((\w+)\)", (ENGINE / "watch/detectors.c").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """A copy whose table the tests change."""
    return engine_in(tmp_path_factory.mktemp("engine"))


def write_table(engine: Alone, *names: str) -> None:
    """With these lines, and no others."""
    table = " \\\n".join(f"    DETECTOR({name})" for name in names) + "\n"
    text, count = re.subn(r"^( *DETECTOR\(\w+\) *\\?\n)+", lambda _: table,
                          (ENGINE / "watch/detectors.c").read_text(), flags=re.MULTILINE)
    assert count == 1
    engine.write(text, "engine/watch/detectors.c")


def test_an_empty_table(engine: Alone) -> None:
    write_table(engine)
    engine.build(FAULTY)
    done = engine.run(status=0)
    assert done.stdout == "all counts are correct\n" and "no mistakes found" in done.stderr


def test_a_file_and_a_line(engine: Alone) -> None:
    (engine.path / "engine/watch/detectors/second_barrier.c").write_text(NEW)
    write_table(engine, *NAMES, "second_barrier")
    found = {one["kind"]: one["line"] for one in engine.findings(FAULTY)["findings"]}
    assert found["kernel-fault"] == SECOND_BARRIER
    assert found.keys() >= {"shared-race", "failed-call"}
