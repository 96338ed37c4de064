/* The command line of make check: that of a plain run, and what only a checked run can do. */
#include "check.h"
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: ./%s-check [options] [SIZES]\n"
    "\n"
    "Runs %s of kernel.cu with every load and store checked, and names\n"
    "the first mistake: what happened, where, and in which thread. SIZES are those\n"
    "of ./%s; without them, small shapes run until one shows a mistake.\n"
    "\n";

static bool read_block(const char *value, void *member) {
    struct chosen_block *const block = member;
    unsigned *const of = block->of;
    int read = 0;
    block->given = true;
    if (strchr(value, '-')) return false;
    if (sscanf(value, "%u,%u%n,%u%n", &of[0], &of[1], &read, &of[2], &read) < 2) return false;
    return !value[read];
}

static bool read_launch(const char *value, void *launch) {
    *(uint64_t *)launch = (uint64_t)(value[0] - '0');
    return value[0] >= '1' && value[0] - '0' <= OUTCOME_LAUNCHES && !value[1];
}

static bool read_descriptor(const char *value, void *descriptor) {
    return (*(int *)descriptor = atoi(value)) > 0;
}

#define OF(member) offsetof(struct check_options, member)

static const struct option_row check_rows[] = {
    {"--counts", NULL, OF(counts),
     "loads, stores, sectors and bank conflicts of each launch (of a small shape, unless sizes are "
     "given)"},
    {"--phases", NULL, OF(phases),
     "the phases of one block, with small arrays whole (a shape that has several; filled 1, 2, 3, "
     "...)"},
    {"--block", "X,Y", OF(block), "... of this block (default: 0,0)", read_block,
     "give two numbers, or three: --block 1,0"},
    {"--indices", NULL, OF(indices),
     "what the index of each load and store computes, in terms of threadIdx, blockIdx and the "
     "sizes"},
    {"--walk", "FILE", OF(walk),
     "write a page that plays back how one block ran: that of --block, or the one with the "
     "mistake"},
    {"--launch", "N", OF(launch),
     "--phases, --indices and --walk show launch N, 1 to 8 (default: the one with the mistake, or "
     "the first one that loads an input)",
     read_launch, "give a number from 1 to 8"},
    {"--plain", "PROGRAM", OF(plain),
     "run PROGRAM, a plain program of the same kernel.cu, on each shape where nothing is found, "
     "and report a wrong result (as make check does)"},
    {"--seed", "N", OF(run.which.seed), "use the random values of seed N (default: a fresh seed)",
     read_seed, wanted_seed},
    {"--fill", "KIND", OF(run.which.fill),
     "what the inputs hold: the plain program's --help lists it", read_fill, wanted_fill},
    {"--timeout", "S", OF(run.timeout), "seconds that one block may take; a launch may take 4 S",
     read_timeout, wanted_timeout},
    {"--json", NULL, OF(run.json), "print one JSON object instead of text"},
    {"--help", NULL, OF(run.help), "print this"},
    /* Of the grader, and of programs.c for itself. */
    {"--answer", "N", OF(answer), NULL, read_descriptor, "give a descriptor"},
    {"--writers-program", "FILE", OF(writers_program)},
    {"--locals-program", "FILE", OF(locals_program)},
    {"--locals", "REQUEST", OF(locals_request)},
    {0}};

/* Operations of which one block is still worth some seconds. */
static const double most_walked = 1e9;

static const double counting_slows = 5; /* times, beside a run that only checks */
static const double small_timeout = 5;  /* seconds; all blocks together take some milliseconds */

/* Beside what a plain run takes: the device's copies, and eight words for each element of outputs,
 * which say who wrote it and who read it last. */
static void check_memory(const struct check_options *o) {
    const struct shape *s = &o->run.which.shape;
    const struct host_layout layout = host_layout_of(&lab, s, false);
    const size_t more = layout.all + 8 * sizeof(uint32_t) * (size_t)lab_outputs(&lab, s);
    if (memory_needed(s) + more <= memory_available(NULL)) return;
    check_stop(o, EXIT_MACHINE,
               "these sizes need more memory than this machine has: use smaller ones");
}

/* --walk shows one block, for which all others run, too. */
static void check_walk(const struct check_options *o) {
    char message[2 * MESSAGE_SIZE];
    const struct shape *s = &o->run.which.shape;
    if (truth_operations(s) <= most_walked) return;
    snprintf(message, sizeof message,
             "--walk shows one block, and a run with %s takes too long for that: it may have "
             "%.0f million operations at most; try a small one, such as 34",
             lab_shape_text(&lab, s).of, most_walked / 1e6);
    check_stop(o, EXIT_USAGE, message);
}

static void choose_shapes(struct check_options *o) {
    const enum lab_purpose purpose = o->phases   ? SHAPE_PHASES
                                     : o->counts ? SHAPE_COUNT
                                                 : SHAPE_CHECK;
    struct shape shape = o->run.which.shape;
    while (o->run.sized ? !o->shape_count : truth_shape(purpose, o->shape_count, 0, &shape)) {
        o->shapes = realloc(o->shapes, (size_t)(o->shape_count + 1) * sizeof *o->shapes);
        if (!o->shapes) check_stop(o, EXIT_MACHINE, "out of memory");
        o->shapes[o->shape_count++] = shape;
    }
    if (!o->shape_count)
        check_stop(o, EXIT_USAGE, "this lab allows none of the usual sizes: give some");
    /* A second one starts with what the first left behind. */
    o->calls = o->run.sized || o->counts || o->phases ? 1 : 2;
}

struct check_options check_options_read(int argc, char **argv) {
    char message[MESSAGE_SIZE];
    struct check_options o = {.counts = false};
    enum exit_status status = options_parse(argc, argv, check_rows, &o.run, message);
    if (status == EXIT_PASSED && o.run.help) {
        printf(help, lab.name, lab.wrapper, lab.name);
        options_help(check_rows);
        puts("\nExit status: 0 nothing found, 1 a mistake, 2 bad usage, 3 the machine's fault.");
        exit(EXIT_PASSED);
    }
    if (status != EXIT_PASSED) check_stop(&o, status, message);
    if (o.block.of[2] && !o.walk)
        check_stop(&o, EXIT_USAGE, "--block with three numbers is for --walk alone");
    if (o.phases && o.run.json)
        check_stop(&o, EXIT_USAGE, "--phases prints no JSON; the page of --walk holds all of it");
    if (o.locals_request && !locals_read_request(o.locals_request, &o))
        check_stop(&o, EXIT_USAGE, "--locals");
    if (!o.run.sized && !o.run.timeout_given) o.run.timeout = small_timeout;
    if ((o.counts || o.phases) && !o.run.timeout_given) o.run.timeout *= counting_slows;
    o.launch_given = o.launch > 0;
    if (o.phases && !o.run.fill_given) o.run.which.fill = lab.counting_fill;
    if (o.run.sized && o.walk) check_walk(&o);
    if (o.run.sized) check_memory(&o);
    choose_shapes(&o);
    return o;
}
