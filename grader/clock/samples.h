/* samples.h: the times of single runs, and what a handful of them says. Plain C, no CUDA. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stdbool.h>

/* Of one run. */
struct times {
    double event_seconds; /* between two events on the GPU, around the run */
    double host_seconds;  /* by the host's clock, around those, the hold before them (timer.h) and
                             the wait for the device */
};

/* Whether both can be right. If not, work went on outside of what the events enclose, or a clock
 * was tampered with, or the machine was busy with something else. */
bool clocks_agree(const struct times *times);

/* The time that counts. Where the clocks differ, the slower one: work that is hidden from the
 * events is not hidden from the host. */
double counted_seconds(const struct times *times);

/* In seconds. Quartiles as Python's statistics.quantiles(method="inclusive") and NumPy's default
 * have them: linear between neighbors, the smallest is the 0th, the largest the 4th. */
struct summary {
    int count;
    double median, minimum, quartile_1, quartile_3;
};

/* count >= 1 times, in any order; they are sorted. All zero, count too, when count < 1 or one of
 * them is no positive, finite number: then there is nothing to say. */
struct summary summarise(double *seconds, int count);

#endif
