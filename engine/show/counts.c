/* Counts as a student reads them, and as JSON. What they are: docs/look.md. */
#include "../report/device.h"
#include "../report/text/json.h"
#include "../report/text/text.h"
#include "../watch/shadow/shadow.h"
#include "show.h"
#include <inttypes.h>
#include <string.h>

/* An array of the run, or what is counted beside these, in JSON and in text. Null: the run has no
 * such array. */
static const char *place_key(int place) {
    static const char *const beside[COUNTED_PLACES] = {
        [COUNTED_OTHER] = "other", [COUNTED_CONSTANTS] = "constants", [COUNTED_SHARED] = "shared"};
    const struct engine_array *array = place < COUNTED_OTHER ? region_array(place) : NULL;
    return array ? array->name : beside[place];
}
static const char *place_name(int place) {
    return place == COUNTED_OTHER ? "other memory" : place_key(place);
}

static const char *const way_names[COUNTED_WAYS] = {
    [COUNTED_LOADS] = "loads", [COUNTED_STORES] = "stores", [COUNTED_ATOMICS] = "atomics"};

/* --- sums ------------------------------------------------------------------------------------- */

/* Of all places but shared memory. */
static struct counted global_sum(const struct counted_launch *l, enum counted_way way) {
    struct counted sum = {0};
    for (int place = 0; place < COUNTED_SHARED; place++) counted_add(&sum, &l->of[place][way]);
    return sum;
}

static double coalesced(const struct counted *c) {
    return c->sectors ? 100.0 * (double)c->bytes / ((double)c->sectors * SECTOR) : 0;
}

/* Of each sector one element, which several threads of a warp load: nothing is wasted that another
 * order of the threads would use. */
static bool is_broadcast(const struct counted *c) {
    enum { FLOAT = 4 };
    return c->sectors && c->bytes == FLOAT * c->sectors && c->elements >= 2 * c->sectors;
}

/* Everything that the launches did, as if it were one. */
static struct counted_launch sum_of_launches(const struct counted_launch *launches, int count) {
    struct counted_launch sum = {0};
    for (int i = 0; i < count; i++) {
        for (int place = 0; place < COUNTED_PLACES; place++)
            for (int way = 0; way < COUNTED_WAYS; way++)
                counted_add(&sum.of[place][way], &launches[i].of[place][way]);
        sum.blocks += launches[i].blocks;
        sum.blocks_ended += launches[i].blocks_ended;
        sum.barriers += launches[i].barriers;
        sum.needed += launches[i].needed;
        sum.exchanged += launches[i].exchanged;
    }
    return sum;
}

struct loads loads_of(const struct counted_launch *launches, int count, struct shape s) {
    const struct counted_launch sum = sum_of_launches(launches, count);
    const uint64_t constants = sum.of[COUNTED_CONSTANTS][COUNTED_LOADS].elements;
    return (struct loads){.kernel = global_sum(&sum, COUNTED_LOADS).elements - constants,
                          .naive = (uint64_t)truth_naive_loads(&s)};
}

/* Floating-point operations; 0: not known; else as many as the loads of the plainest kernel. */
static uint64_t flops_of(struct shape s) {
    const double flops = truth_operations(&s);
    return flops == truth_naive_loads(&s) ? (uint64_t)flops : 0;
}

/* 0: no byte was moved, or the operations are not known. */
static double flops_per_byte(const struct counted_launch *sum, struct shape s) {
    uint64_t sectors = 0;
    for (int way = 0; way < COUNTED_WAYS; way++)
        sectors += global_sum(sum, (enum counted_way)way).sectors;
    return sectors ? (double)flops_of(s) / ((double)sectors * SECTOR) : 0;
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_head(FILE *out, const struct counted_launch *l) {
    struct finding_launch launch = {.number = 0};
    char text[LAUNCH_TEXT];
    snprintf(launch.kernel, sizeof launch.kernel, "%s", l->kernel);
    memcpy(launch.grid, l->grid, sizeof launch.grid);
    memcpy(launch.block, l->block, sizeof launch.block);
    launch_describe(&launch, text);
    fprintf(out, "\n%s\n", text);
    if (l->blocks_ended < l->blocks)
        fprintf(out, "stopped early: %s of %s blocks had ended\n", grouped(l->blocks_ended).text,
                grouped(l->blocks).text);
    if (l->idle_blocks)
        fprintf(out, "%s blocks store nothing; they make %s of the loads\n",
                grouped(l->idle_blocks).text, grouped(l->idle_loads).text);
}

static bool is_narrow(FILE *out) { return text_width(out) < 78; }

static void print_row(FILE *out, const char *what, const char *elements, const char *requests,
                      const char *third, const char *fourth) {
    fprintf(out, is_narrow(out) ? "  %-15s %11s %10s %9s %9s\n" : "  %-22s %14s %12s %13s %11s\n",
            what, elements, requests, third, fourth);
}

static void print_global_row(FILE *out, const char *what, const struct counted *c) {
    char used[32] = "broadcast";
    if (!is_broadcast(c)) snprintf(used, sizeof used, "%.1f %%", coalesced(c));
    print_row(out, what, grouped(c->elements).text, grouped(c->requests).text,
              grouped(c->sectors).text, used);
}

static void print_global(FILE *out, const struct counted_launch *l) {
    fputc('\n', out);
    print_row(out, "global memory", "elements", "requests", "sectors", "coalesced");
    for (int way = 0; way < COUNTED_WAYS; way++) {
        const struct counted all = global_sum(l, (enum counted_way)way);
        int rows = 0;
        char what[64];
        for (int place = 0; place < COUNTED_SHARED; place++) {
            if (!l->of[place][way].requests) continue;
            rows++;
            snprintf(what, sizeof what, "%s of %s", way_names[way], place_name(place));
            print_global_row(out, what, &l->of[place][way]);
        }
        snprintf(what, sizeof what, "all %s", way_names[way]);
        if (rows > 1) print_global_row(out, what, &all);
    }
}

static void print_shared(FILE *out, const struct counted_launch *l) {
    bool any = false;
    for (int way = 0; way < COUNTED_WAYS; way++) {
        const struct counted *shared = &l->of[COUNTED_SHARED][way];
        char worst[16] = "none";
        if (!shared->requests) continue;
        if (!any) fputc('\n', out);
        if (!any) print_row(out, "shared memory", "elements", "requests", "conflicts", "worst");
        any = true;
        if (shared->worst > 1) snprintf(worst, sizeof worst, "%u-way", shared->worst);
        print_row(out, way_names[way], grouped(shared->elements).text,
                  grouped(shared->requests).text, grouped(shared->conflicts).text, worst);
    }
    if (!any) fputs("\n  shared memory: not used\n", out);
    if (l->exchanged)
        fprintf(out, "  %-22s %14s\n", "... from other threads", grouped(l->exchanged).text);
}

static void print_barriers(FILE *out, const struct counted_launch *l) {
    fprintf(out, "\n  %-22s %14s in all", "barriers", grouped(l->barriers).text);
    if (!l->kernel[0])
        fputc('\n', out);
    else if (l->least_barriers == l->most_barriers)
        fprintf(out, ", %s per block\n", grouped(l->most_barriers).text);
    else
        fprintf(out, ", %s to %s per block\n", grouped(l->least_barriers).text,
                grouped(l->most_barriers).text);
}

static void print_line(FILE *out, const struct counted_line *line) {
    const struct counted *c = &line->counted;
    const double requests = (double)c->requests;
    const char *way = way_names[line->way];
    const int column = fprintf(out, "    %s:%d  ", line->file, line->line);
    char words[200] = "";
    if (line->place == COUNTED_SHARED)
        APPEND(words, "shared %s: %.1f needless passes per request (%u-way)", way,
               (double)c->conflicts / requests, c->worst);
    else
        APPEND(words, "%s of %s: %.1f sectors per request, ", way, place_name(line->place),
               (double)c->sectors / requests);
    if (line->place != COUNTED_SHARED && is_broadcast(c))
        APPEND(words, "a broadcast from each");
    else if (line->place != COUNTED_SHARED)
        APPEND(words, "%.1f %% of their bytes used", coalesced(c));
    print_wrapped(column, 6, words, out);
    fputc('\n', out);
}

static void print_counted_launch(FILE *out, const struct counted_launch *l) {
    print_global(out, l);
    print_shared(out, l);
    print_barriers(out, l);
    if (l->line_count) fputs("\n  lines with the most to gain\n", out);
    for (int i = 0; i < l->line_count; i++) print_line(out, &l->lines[i]);
}

/* What is said beside a number, or below it. */
static const char *aside(FILE *out) { return is_narrow(out) ? "\n        " : "   "; }

/* How `other` compares with what the kernel does. */
static void print_times(FILE *out, uint64_t other, uint64_t loads) {
    const bool more = other > loads;
    const uint64_t fewer = more ? loads : other;
    const double times = fewer ? (double)(more ? other : loads) / (double)fewer : 0;
    const char *compared = more ? "times as many" : "times fewer";
    if (other == loads)
        fprintf(out, "%sthe same\n", aside(out));
    else if (times >= 10000)
        fprintf(out, "%s%s %s\n", aside(out), grouped((uint64_t)(times + .5)).text, compared);
    else if (times)
        fprintf(out, "%s%.4g %s\n", aside(out), times, compared);
    else
        fputc('\n', out);
}

static void print_work(FILE *out, const struct counted_launch *sum, struct shape s) {
    const uint64_t loads = loads_of(sum, 1, s).kernel, naive = loads_of(sum, 1, s).naive;
    const double per_byte = flops_per_byte(sum, s);
    fprintf(out, "\nelements loaded from global memory, %s\n", lab_shape_text(&lab, &s).of);
    fprintf(out, "  %-38s %13s\n", "this kernel", grouped(loads).text);
    if (lab.naive) {
        char label[64] = "the naive kernel, ";
        APPEND(label, "%s", lab.naive);
        fprintf(out, "  %-38s %13s", label, grouped(naive).text);
        print_times(out, naive, loads);
    }
    fprintf(out, "  %-38s %13s", "if each block loaded each element once",
            grouped(sum->needed).text);
    print_times(out, sum->needed, loads);
    if (per_byte > 0)
        fprintf(out, "  %-38s %13.2f\n", "floating-point operations per byte", per_byte);
}

void print_counts(FILE *out, const struct counted_launch *launches, int count, struct shape s) {
    struct counted_launch sum = sum_of_launches(launches, count);
    if (count) print_work(out, &sum, s);
    for (int i = 0; i < count; i++) {
        print_head(out, &launches[i]);
        print_counted_launch(out, &launches[i]);
    }
    if (count > 1) {
        fprintf(out, "\nall %d launches\n", count);
        print_counted_launch(out, &sum);
    }
    if (count) fputs("\ndocs/look.md says what each figure is\n", out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_counted(struct json *json, const char *name, const struct counted *c,
                         bool shared) {
    json_open(json, name, '{');
    json_unsigned(json, "elements", c->elements);
    json_unsigned(json, "requests", c->requests);
    json_unsigned(json, "bytes", c->bytes);
    if (shared) {
        json_unsigned(json, "conflicts", c->conflicts);
        json_unsigned(json, "worst_way", c->worst);
    } else {
        json_unsigned(json, "sectors", c->sectors);
        json_value(json, "coalesced_percent", c->sectors ? "%.6g" : "null", coalesced(c));
    }
    json_close(json, '}');
}

static void json_ways(struct json *json, const char *name, const struct counted ways[COUNTED_WAYS],
                      bool shared) {
    json_open(json, name, '{');
    for (int way = 0; way < COUNTED_WAYS; way++)
        json_counted(json, way_names[way], &ways[way], shared);
    json_close(json, '}');
}

/* What launches and their sum have in common. */
static void json_figures(struct json *json, const struct counted_launch *l) {
    struct counted all[COUNTED_WAYS];
    for (int way = 0; way < COUNTED_WAYS; way++) all[way] = global_sum(l, (enum counted_way)way);
    json_open(json, "global", '{');
    for (int place = 0; place < COUNTED_SHARED; place++)
        if (place_key(place)) json_ways(json, place_key(place), l->of[place], false);
    json_ways(json, "all", all, false);
    json_close(json, '}');
    json_ways(json, "shared", l->of[COUNTED_SHARED], true);
    json_unsigned(json, "exchanged", l->exchanged);
    json_unsigned(json, "barriers", l->barriers);
    json_unsigned(json, "loads_if_once_per_block", l->needed);
}

static void json_counted_launch(struct json *json, const struct counted_launch *l) {
    json_open(json, NULL, '{');
    json_text(json, "kernel", l->kernel);
    json_extent(json, "grid", l->grid);
    json_extent(json, "block", l->block);
    json_unsigned(json, "blocks", l->blocks);
    json_unsigned(json, "blocks_ended", l->blocks_ended);
    json_unsigned(json, "blocks_without_stores", l->idle_blocks);
    json_unsigned(json, "loads_without_stores", l->idle_loads);
    json_figures(json, l);
    json_value(json, "barriers_per_block", "[%" PRIu64 ", %" PRIu64 "]", l->least_barriers,
               l->most_barriers);
    json_open(json, "lines", '[');
    for (int i = 0; i < l->line_count; i++) {
        const struct counted_line *line = &l->lines[i];
        json_open(json, NULL, '{');
        json_text(json, "file", line->file);
        json_value(json, "line", "%d", line->line);
        json_text(json, "memory", place_key(line->place));
        json_text(json, "way", way_names[line->way]);
        json_counted(json, "counted", &line->counted, line->place == COUNTED_SHARED);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* "counts": for each launch
 *     kernel, grid, block; blocks, blocks_ended (fewer: it was stopped early)
 *     blocks_without_stores, loads_without_stores: blocks that store nothing in global memory,
 *         and their loads but for constants
 *     global: for A, B, C, other, constants and all: loads, stores, atomics, each with elements,
 *         requests, bytes (once a request), sectors, coalesced_percent (null: nothing moved)
 *     shared: loads, stores, atomics, each with elements, requests, bytes, conflicts, worst_way
 *     exchanged: elements read from shared memory where another thread had stored them last, and
 *         values that warp operations brought from other lanes
 *     barriers; barriers_per_block: least, most
 *     loads_if_once_per_block: of A and B, if each block loaded what it uses once
 *     lines: where most is to gain: file, line, memory, way, counted
 *
 * "counts_sum": of all launches together
 *     global, shared, exchanged, barriers, loads_if_once_per_block: as above
 *     flops (0: not known) and loads_naive (2 m n k both), flops_per_byte (null: none moved) */
void json_counts(struct json *json, const struct counted_launch *launches, int count,
                 struct shape s) {
    struct counted_launch sum = sum_of_launches(launches, count);
    const double per_byte = flops_per_byte(&sum, s);
    json_open(json, "counts", '[');
    for (int i = 0; i < count; i++) json_counted_launch(json, &launches[i]);
    json_close(json, ']');
    json_open(json, "counts_sum", '{');
    json_figures(json, &sum);
    json_unsigned(json, "flops", flops_of(s));
    json_unsigned(json, "loads_naive", loads_of(&sum, 1, s).naive);
    json_real_if(json, "flops_per_byte", per_byte > 0, per_byte);
    json_close(json, '}');
}
