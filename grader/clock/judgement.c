/* judgement.h's functions. */
#include "judgement.h"
#include "../../engine/report/text/json.h"
#include "../../engine/report/text/numbers.h"
#include <math.h>
#include <stdarg.h>
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
    const double more = t->host_seconds - t->event_seconds; /* finite where both are */
    return isfinite(more) && t->event_seconds > 0 && t->host_seconds > 0 &&
           more >= -(event_step + clock_drift * t->event_seconds) &&
           more <= host_overhead + host_share * t->event_seconds;
}

double counted_seconds(const struct times *t) {
    const bool hidden = !clocks_agree(t) && t->host_seconds > t->event_seconds;
    return hidden ? t->host_seconds : t->event_seconds;
}

/* The value a fraction of the way up. */
static double quantile(const double *sorted, int count, double fraction) {
    const double place = fraction * (count - 1);
    const int below = (int)place;
    if (below >= count - 1) return sorted[count - 1];
    return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

struct summary summarise(double *seconds, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(seconds[i]) || seconds[i] <= 0) count = 0;
    if (count < 1) return (struct summary){0};
    qsort(seconds, (size_t)count, sizeof *seconds, compare_doubles);
    return (struct summary){count, quantile(seconds, count, 0.5), seconds[0],
                            quantile(seconds, count, 0.25), quantile(seconds, count, 0.75)};
}

/* --- judgement -------------------------------------------------------------------------------- */

static const char *const state_names[STATES] = {"timed",      "refused",    "wrong",  "faulted",
                                                "time-limit", "impossible", "machine"};

bool judge(struct judgement *judgement, enum state state, const char *format, ...) {
    va_list arguments;
    judgement->state = state;
    va_start(arguments, format);
    vsnprintf(judgement->reason, sizeof judgement->reason, format, arguments);
    va_end(arguments);
    for (char *at = judgement->reason; *at; at++)
        if (*at < 0x20 || *at > 0x7e) *at = '?';
    return false;
}

static void print_summary(FILE *out, const char *name, const struct summary *s) {
    fprintf(out,
            ", \"%s\": {\"median\": %.17g, \"minimum\": %.17g, \"quartile_1\": %.17g, "
            "\"quartile_3\": %.17g}",
            name, s->median, s->minimum, s->quartile_1, s->quartile_3);
}

/* Times that were taken before something went wrong are discarded: only "timed" has any. */
void judgement_print(FILE *out, const struct judgement *j) {
    const bool timed = j->state == STATE_TIMED;
    fprintf(out, "{\"state\": \"%s\", \"reason\": ", state_names[j->state]);
    json_string(out, j->reason);
    fputs(", \"device\": ", out);
    json_string(out, j->device);
    fprintf(out, ", \"launches\": %d, \"samples\": %d", j->launches, timed ? j->samples : 0);
    if (timed) {
        print_summary(out, "seconds", &j->seconds);
        print_summary(out, "beside_seconds", &j->beside_seconds);
    }
    fputs("}\n", out);
}
