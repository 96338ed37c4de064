/* samples.h: what is said about a handful of times. Plain C, no CUDA; used by ./clock and by
 * `make bench`. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In seconds. Quartiles as Python's statistics.quantiles(method="inclusive") and NumPy's default
 * have them: linear between neighbours, the smallest is the 0th, the largest the 4th. */
struct summary {
    int n;
    double median, minimum, quartile_1, quartile_3;
};

/* n >= 1 times, in any order; seconds is left as it is. All zero, n too, when n < 1, or when there
 * is no memory, or when one of them is no positive, finite number: then there is nothing to say. */
struct summary summarise(const double *seconds, int n);

/* Interquartile range in percent of the median. */
double spread_percent(const struct summary *summary);

/* Whether the GPU's events and the host's clock, both around the same call and the host's also
 * around the wait for the whole device, can both be right. If not, work went on outside of what the
 * events enclose, or a clock was tampered with, or the machine was busy with something else. */
bool times_agree(double event_seconds, double host_seconds);

/* Seconds below which no machine with so many float32 operations a second computes 2 m n k of them:
 * whoever took less has not computed the product. */
double fastest_possible(int m, int n, int k, double flops_per_second);

#ifdef __cplusplus
}
#endif

#endif
