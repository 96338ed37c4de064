/* Launches: which ones basicSgemm made, why a GPU refuses one, how long they took. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

static bool exceeds(const unsigned extent[3], const unsigned limit[3]) {
    return extent[0] > limit[0] || extent[1] > limit[1] || extent[2] > limit[2];
}

static bool is_empty(const unsigned extent[3]) { return !extent[0] || !extent[1] || !extent[2]; }

const char *launch_refusal(const struct launch_shape *launch, const struct launch_limits *limits,
                           char text[MESSAGE_SIZE]) {
    const unsigned *g = launch->grid, *b = launch->block, *most = limits->grid;
    const unsigned long long threads = (unsigned long long)b[0] * b[1] * b[2];
    text[0] = '\0';
    if (is_empty(g)) {
        snprintf(text, MESSAGE_SIZE, "the grid has no blocks: %u x %u x %u", g[0], g[1], g[2]);
        return "an integer division rounds down: what does it give for a matrix smaller than a "
               "tile?";
    }
    if (is_empty(b)) {
        snprintf(text, MESSAGE_SIZE, "a block has no threads: %u x %u x %u", b[0], b[1], b[2]);
        return "how many threads does a tile need?";
    }
    if (threads > limits->threads || exceeds(b, limits->block)) {
        char in_z[32] = "";
        if (threads <= limits->threads)
            snprintf(in_z, sizeof in_z, ", %u of them in z", limits->block[2]);
        snprintf(text, MESSAGE_SIZE, "a block has %u x %u x %u = %llu threads, a GPU allows %u%s",
                 b[0], b[1], b[2], threads, limits->threads, in_z);
        return "a block is a tile of C, not all of it: what grows with the matrix?";
    }
    if (exceeds(g, limits->grid)) {
        snprintf(text, MESSAGE_SIZE, "the grid is %u x %u x %u blocks, a GPU allows %u x %u x %u",
                 g[0], g[1], g[2], most[0], most[1], most[2]);
        return "how many elements of C does a block compute?";
    }
    if (launch->static_shared + launch->dynamic_shared > limits->shared) {
        snprintf(text, MESSAGE_SIZE, "a block needs %zu bytes of shared memory, a GPU allows %zu",
                 launch->static_shared + launch->dynamic_shared, limits->shared);
        return "how many bytes do all shared arrays of a block take together?";
    }
    return NULL;
}

static bool same_launch(const struct launch_shape *a, const struct launch_shape *b) {
    return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           a->static_shared == b->static_shared && a->dynamic_shared == b->dynamic_shared;
}

void report_launch(struct report *report, const struct launch_shape *launch) {
    int last = report->launch_count - 1;
    if (last >= 0 && !report->launches_left_out && same_launch(&report->launches[last], launch)) {
        report->launch_repeats[last]++;
    } else if (report->launch_count < REPORTED_LAUNCHES) {
        report->launches[report->launch_count] = *launch;
        report->launch_repeats[report->launch_count++] = 1;
    } else {
        report->launches_left_out++;
    }
}

const char *report_refusal(const struct report *report, const struct launch_limits *limits,
                           char text[2 * MESSAGE_SIZE]) {
    char why[MESSAGE_SIZE];
    for (int i = 0; i < report->launch_count; i++) {
        const char *hint = launch_refusal(&report->launches[i], limits, why);
        if (!hint) continue;
        snprintf(text, 2 * MESSAGE_SIZE, "%s<<<...>>>: %s\nhint: %s", report->launches[i].kernel,
                 why, hint);
        return text;
    }
    return NULL;
}

struct launch_times launch_times(const struct report *report) {
    struct launch_times s = {NAN, NAN, NAN, NAN};
    int count = report->sample_count;
    double *sorted = count ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (!sorted) return s;
    memcpy(sorted, report->samples, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    s.min = sorted[0];
    s.max = sorted[count - 1];
    s.median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
    const struct options *o = &report->options;
    if (s.median > 0) s.gflops = 2.0 * o->m * o->n * o->k / s.median / 1e9;
    free(sorted);
    return s;
}
