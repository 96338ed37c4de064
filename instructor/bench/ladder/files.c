/* files.c: ladder.json and ladder.csv, which docs/bench.md describes. Written anew after each
 * shape, each under another name first: whoever reads them finds a whole file, and what was
 * measured before something broke is kept. */
#include "ladder.h"

#include <errno.h>
#include <unistd.h>

/* ---- JSON ------------------------------------------------------------------------------------ */

/* `first` is of the object or list at hand: a comma before all members but that one. */
static void separate(FILE *out, bool *first, const char *indent) {
    fprintf(out, "%s\n%s", *first ? "" : ",", indent);
    *first = false;
}

/* 0 stands for "not known", and is null. */
static void member_or_null(FILE *out, const char *key, double value) {
    json_string(out, key);
    fputs(": ", out);
    if (value > 0)
        json_number(out, value);
    else
        fputs("null", out);
}

static void json_machine(FILE *out, const struct ladder *ladder) {
    bool first = true;
    fputs("  \"machine\": {", out);
    for (int i = 0; i < ladder->machine_count; i++) {
        separate(out, &first, "    ");
        json_member(out, ladder->machine[i].key, ladder->machine[i].text);
    }
    fputs("\n  },\n  \"ceilings\": {", out);
    json_number_member(out, "ffma_flops", ladder->ffma_flops);
    fputs(", ", out);
    json_number_member(out, "memory_bytes_per_second", ladder->memory_bytes);
    fputs(", ", out);
    json_number_member(out, "l2_bytes_per_second", ladder->l2_bytes);
    fputs("},\n", out);
}

static void json_kernels(FILE *out, const struct ladder *ladder) {
    bool first = true;
    fputs("  \"kernels\": [", out);
    for (int i = 0; i < ladder->kernel_count; i++) {
        const struct kernel *k = &ladder->kernels[i];
        separate(out, &first, "    {");
        json_member(out, "name", k->name);
        fputs(", ", out);
        json_member(out, "file", k->path);
        fputs(", ", out);
        member_or_null(out, "flop_per_byte", k->intensity);
        fputs(", ", out);
        json_member(out, "left_out", k->state == STATE_OPEN ? "" : k->reason);
        fputc('}', out);
    }
    fputs("\n  ],\n", out);
}

static void json_samples(FILE *out, const struct result *r) {
    bool first = true;
    fputs("\"samples\": [", out);
    for (int i = 0; i < r->count; i++) {
        separate(out, &first, "          {");
        fprintf(out, "\"round\": %d, ", r->samples[i].round);
        json_number_member(out, "event_seconds", r->samples[i].event);
        fputs(", ", out);
        json_number_member(out, "host_seconds", r->samples[i].host);
        fputc('}', out);
    }
    fputs("]", out);
}

static void json_figures(FILE *out, const struct ladder *ladder, int shape, int kernel) {
    const struct result *r = result_of(ladder, shape, kernel);
    const double speed = gflops(&ladder->shapes[shape], r);
    fputs(",\n         \"seconds\": {", out);
    json_number_member(out, "median", r->seconds.median);
    fputs(", ", out);
    json_number_member(out, "minimum", r->seconds.minimum);
    fputs(", ", out);
    json_number_member(out, "quartile_1", r->seconds.quartile_1);
    fputs(", ", out);
    json_number_member(out, "quartile_3", r->seconds.quartile_3);
    fputs("},\n         ", out);
    json_number_member(out, "gflops", speed);
    fputs(", ", out);
    member_or_null(out, "percent_of_cublas", 100 * ratio_to_cublas(ladder, shape, kernel));
    fputs(", ", out);
    json_number_member(out, "percent_of_ffma", 1e11 * speed / ladder->ffma_flops);
    fputs(", ", out);
    json_number_member(out, "spread_percent", spread_percent(&r->seconds));
    fprintf(out, ",\n         \"through_a_graph\": %s, \"calls_per_sample\": %d, ",
            r->graph ? "true" : "false", r->calls);
    json_number_member(out, "max_error_u", r->max_u);
    fputs(", ", out);
    json_number_member(out, "rms_error_u", r->rms_u);
    fputs(",\n         ", out);
    json_samples(out, r);
}

static void json_shape(FILE *out, const struct ladder *ladder, int shape) {
    const struct shape *s = &ladder->shapes[shape];
    bool first = true;
    fprintf(out, "{\"m\": %d, \"k\": %d, \"n\": %d, ", s->m, s->k, s->n);
    json_member(out, "problem", s->problem);
    fputs(", \"results\": [", out);
    for (int i = 0; i < ladder->kernel_count; i++) {
        const struct result *r = result_of(ladder, shape, i);
        if (ladder->kernels[i].state != STATE_OPEN) continue;
        separate(out, &first, "        {");
        json_member(out, "kernel", ladder->kernels[i].name);
        fputs(", ", out);
        json_member(out, "state", state_name(r->state));
        fputs(", ", out);
        json_member(out, "reason", r->reason);
        if (r->state == STATE_MEASURED) json_figures(out, ladder, shape, i);
        fputc('}', out);
    }
    fputs("]}", out);
}

static void json_write(FILE *out, const struct ladder *ladder) {
    bool first = true;
    fputs("{\n  \"format\": 1,\n  ", out);
    json_member(out, "date", ladder->date);
    fputs(", ", out);
    json_member(out, "launch", ladder->launch);
    fputs(",\n", out);
    json_machine(out, ladder);
    json_kernels(out, ladder);
    fputs("  \"shapes\": [", out);
    for (int i = 0; i < ladder->shape_count; i++) {
        separate(out, &first, "    ");
        json_shape(out, ladder, i);
    }
    fputs("\n  ]\n}\n", out);
}

/* ---- CSV (RFC 4180): a row for each sample --------------------------------------------------- */

static void csv_text(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; ++text) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static const char *fact(const struct ladder *ladder, const char *key) {
    for (int i = 0; i < ladder->machine_count; i++)
        if (strcmp(ladder->machine[i].key, key) == 0) return ladder->machine[i].text;
    return "";
}

static void csv_samples(FILE *out, const struct ladder *ladder, int shape, int kernel) {
    const struct shape *s = &ladder->shapes[shape];
    const struct result *r = result_of(ladder, shape, kernel);
    static const char *const facts[] = {"device", "driver", "cuda_runtime", "cublas"};
    for (int i = 0; i < r->count && r->state == STATE_MEASURED; i++) {
        fprintf(out, "%s,", ladder->date);
        for (int j = 0; j < LENGTH(facts); j++) {
            csv_text(out, fact(ladder, facts[j]));
            fputc(',', out);
        }
        fprintf(out, "%d,%d,%d,", s->m, s->k, s->n);
        csv_text(out, ladder->kernels[kernel].name);
        fprintf(out, ",%s,%d,%d,%.9g,%.9g,%.9g\r\n", r->graph ? "graph" : "call", r->calls,
                r->samples[i].round, r->samples[i].event, r->samples[i].host,
                1e-9 * s->flops / r->samples[i].event);
    }
}

static void csv_write(FILE *out, const struct ladder *ladder) {
    fputs("date,device,driver,cuda,cublas,m,k,n,kernel,how,calls_per_sample,round,event_seconds,"
          "host_seconds,gflops\r\n",
          out);
    for (int i = 0; i < ladder->shape_count; i++)
        for (int j = 0; j < ladder->kernel_count; j++) csv_samples(out, ladder, i, j);
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool write_one(const char *directory, const char *name, const struct ladder *ladder,
                      void (*write)(FILE *, const struct ladder *)) {
    char path[TEXT_SIZE], fresh[TEXT_SIZE + 8];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *out = fopen(fresh, "w");
    if (!out) return false;
    write(out, ladder);
    bool whole = !ferror(out);
    whole = fclose(out) == 0 && whole;
    if (whole && rename(fresh, path) == 0) return true;
    int error = errno;
    unlink(fresh);
    errno = error;
    return false;
}

bool files_write(const char *directory, const struct ladder *ladder) {
    return write_one(directory, "ladder.json", ladder, json_write) &&
           write_one(directory, "ladder.csv", ladder, csv_write);
}
