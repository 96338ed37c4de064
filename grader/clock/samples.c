/* samples.c: see samples.h. */
#include "samples.h"
#include "../../engine/report/text/numbers.h"

#include <math.h>
#include <stdlib.h>

/* The host's interval holds the events' one. A GPU counts its events in steps of up to a
 * microsecond with a clock of its own, which drifts against the host's by less than a thousandth.
 */
static const double event_step = 2e-6, clock_drift = 1e-3;

/* What the host's interval holds besides: the hold (50 microseconds), launching, being woken after
 * the wait, and now and then an interrupt. Work hidden from the events that is shorter than this is
 * not seen here; fresh data and the verdict on each sample see what it would be for. */
static const double host_overhead = 250e-6, host_share = 0.05;

bool clocks_agree(const struct times *t) {
    if (!isfinite(t->event_seconds) || !isfinite(t->host_seconds)) return false;
    if (t->event_seconds <= 0 || t->host_seconds <= 0) return false;
    const double more = t->host_seconds - t->event_seconds;
    return more >= -(event_step + clock_drift * t->event_seconds) &&
           more <= host_overhead + host_share * t->event_seconds;
}

double counted_seconds(const struct times *t) {
    const bool hidden = !clocks_agree(t) && t->host_seconds > t->event_seconds;
    return hidden ? t->host_seconds : t->event_seconds;
}

/* The value a fraction of the way up. */
static double quantile(const double *sorted, int n, double fraction) {
    const double place = fraction * (n - 1);
    const int below = (int)place;
    if (below >= n - 1) return sorted[n - 1];
    return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

struct summary summarise(double *seconds, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(seconds[i]) || seconds[i] <= 0) n = 0;
    if (n < 1) return (struct summary){0};
    qsort(seconds, (size_t)n, sizeof *seconds, compare_doubles);
    return (struct summary){
        .n = n,
        .median = quantile(seconds, n, 0.5),
        .minimum = seconds[0],
        .quartile_1 = quantile(seconds, n, 0.25),
        .quartile_3 = quantile(seconds, n, 0.75),
    };
}

double fastest_possible(int m, int n, int k, double flops_per_second) {
    return 2.0 * m * n * k / flops_per_second;
}
