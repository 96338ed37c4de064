/* samples.c: see samples.h. */
#include "samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value a fraction of the way up. */
static double quantile(const double *sorted, int n, double fraction) {
    double place = fraction * (n - 1);
    int below = (int)place;
    if (below >= n - 1) return sorted[n - 1];
    return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

struct summary summarise(const double *seconds, int n) {
    struct summary summary = {0};
    for (int i = 0; i < n; i++)
        if (!isfinite(seconds[i]) || seconds[i] <= 0) return summary;
    double *sorted = n < 1 ? NULL : malloc((size_t)n * sizeof *sorted);
    if (!sorted) return summary;
    memcpy(sorted, seconds, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    summary.n = n;
    summary.minimum = sorted[0];
    summary.quartile_1 = quantile(sorted, n, 0.25);
    summary.median = quantile(sorted, n, 0.5);
    summary.quartile_3 = quantile(sorted, n, 0.75);
    free(sorted);
    return summary;
}

double spread_percent(const struct summary *summary) {
    if (summary->n < 1) return 0;
    return 100 * (summary->quartile_3 - summary->quartile_1) / summary->median;
}

/* The host's interval holds the events' one. A GPU counts its events in steps of up to a
 * microsecond with a clock of its own, which drifts against the host's by less than a thousandth.
 */
static const double event_step = 2e-6, clock_drift = 1e-3;

/* What the host's interval holds besides: the hold of l2.h (50 microseconds), launching, being
 * woken after the wait, and now and then an interrupt. Work hidden from the events that is shorter
 * than this is not seen here; fresh data and the verdict on each sample see what it would be for.
 */
static const double host_overhead = 250e-6, host_share = 0.05;

bool times_agree(double event_seconds, double host_seconds) {
    if (!isfinite(event_seconds) || !isfinite(host_seconds)) return false;
    if (event_seconds <= 0 || host_seconds <= 0) return false;
    double more = host_seconds - event_seconds;
    return more >= -(event_step + clock_drift * event_seconds) &&
           more <= host_overhead + host_share * event_seconds;
}

double fastest_possible(int m, int n, int k, double flops_per_second) {
    return 2.0 * m * n * k / flops_per_second;
}
