/* judgement.h's functions. */
#include "judgement.h"
#include "../../engine/report/text/json.h"
#include <stdarg.h>
#include <string.h>

static const char *const names[STATES] = {"timed",      "refused",    "wrong",  "faulted",
                                          "time-limit", "impossible", "machine"};

const char *state_name(enum state state) { return names[state]; }

enum state state_named(const char *name) {
    enum state state = 0;
    while (state < STATES && strcmp(names[state], name) != 0) state++;
    return state;
}

static void make_printable(char *text) {
    for (; *text; text++)
        if (*text < 0x20 || *text > 0x7e) *text = '?';
}

bool judge(struct judgement *judgement, enum state state, const char *format, ...) {
    va_list arguments;
    judgement->state = state;
    va_start(arguments, format);
    vsnprintf(judgement->reason, sizeof judgement->reason, format, arguments);
    va_end(arguments);
    make_printable(judgement->reason);
    return false;
}

/* ---- the JSON object ------------------------------------------------------------------------ */

static void print_summary(FILE *out, const char *name, const struct summary *s) {
    fprintf(out,
            ", \"%s\": {\"median\": %.17g, \"minimum\": %.17g, \"quartile_1\": %.17g, "
            "\"quartile_3\": %.17g}",
            name, s->median, s->minimum, s->quartile_1, s->quartile_3);
}

static void print_times(FILE *out, const struct judgement *j) {
    print_summary(out, "seconds", &j->seconds);
    print_summary(out, "beside_seconds", &j->beside_seconds);
    fprintf(out, ", \"ratio\": %.17g, \"gflops\": %.17g",
            j->beside_seconds.median / j->seconds.median, j->operations / j->seconds.median * 1e-9);
}

/* Times that were taken before something went wrong are discarded: only "timed" has any. */
void judgement_print(FILE *out, const struct judgement *j) {
    const bool timed = j->state == STATE_TIMED;
    fprintf(out, "{\"state\": \"%s\", \"reason\": ", state_name(j->state));
    json_string(out, j->reason);
    fputs(", \"device\": ", out);
    json_string(out, j->device);
    fprintf(out, ", \"launches\": %d, \"samples\": %d", j->launches, timed ? j->samples : 0);
    if (timed)
        print_times(out, j);
    else
        fputs(", \"seconds\": null, \"beside_seconds\": null, \"ratio\": null, \"gflops\": null",
              out);
    fputs("}\n", out);
}
