/* judgement.h's functions. */
#include "judgement.h"
#include "../../support/shared.h"
#include <stdarg.h>

static const char *const names[STATES] = {"timed",      "refused",    "wrong",  "faulted",
                                          "time-limit", "impossible", "machine"};

const char *state_name(enum state state) { return names[state]; }

bool state_parse(const char *name, size_t length, enum state *state) {
    for (int i = 0; i < STATES; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            *state = (enum state)i;
            return true;
        }
    return false;
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

const char *short_name(const char *name, char buffer[SHORT_NAME_SIZE]) {
    const bool fits = strlen(name) < SHORT_NAME_SIZE;
    snprintf(buffer, SHORT_NAME_SIZE, fits ? "%s" : "%.60s...", name);
    make_printable(buffer);
    return buffer;
}

/* ---- the JSON object ------------------------------------------------------------------------ */

static void summary_entry(FILE *out, const char *name, const struct summary *s) {
    fprintf(out, ", \"%s\": ", name);
    if (s->n == 0) {
        fputs("null", out);
        return;
    }
    fputc('{', out);
    json_number_member(out, "median", s->median);
    fputs(", ", out);
    json_number_member(out, "minimum", s->minimum);
    fputs(", ", out);
    json_number_member(out, "quartile_1", s->quartile_1);
    fputs(", ", out);
    json_number_member(out, "quartile_3", s->quartile_3);
    fputc('}', out);
}

static void ratio_entries(FILE *out, const struct judgement *j) {
    if (j->state != STATE_TIMED) {
        fputs(", \"ratio\": null, \"gflops\": null", out);
        return;
    }
    const double operations = 2.0 * j->m * j->n * j->k;
    fputs(", ", out);
    json_number_member(out, "ratio", j->cublas_seconds.median / j->seconds.median);
    fputs(", ", out);
    json_number_member(out, "gflops", operations / j->seconds.median * 1e-9);
}

/* A time that was taken before something went wrong is nobody's time: only "timed" has times. */
void judgement_print(FILE *out, const struct judgement *j) {
    const struct summary none = {0};
    const bool timed = j->state == STATE_TIMED;
    fprintf(out, "{\"state\": \"%s\", \"reason\": ", state_name(j->state));
    json_string(out, j->reason);
    fputs(", \"device\": ", out);
    json_string(out, j->device);
    fprintf(out, ", \"launches\": %d, \"samples\": %d", j->launches, timed ? j->samples : 0);
    summary_entry(out, "seconds", timed ? &j->seconds : &none);
    summary_entry(out, "cublas_seconds", timed ? &j->cublas_seconds : &none);
    ratio_entries(out, j);
    fputs("}\n", out);
}
