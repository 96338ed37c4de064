/* The command line of make check: that of a plain run, and what only a checked run can do. */
#define _GNU_SOURCE
#include "../../report/text/numbers.h"
#include "check.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help_text[] =
    "usage: ./%s-check [options] [SIZES]\n"
    "\n"
    "Runs %s of kernel.cu with every load and store checked, and names the first\n"
    "mistake: what happened, where, and in which thread. SIZES are those of ./%s;\n"
    "without them, a handful of small shapes run until one shows a mistake.\n"
    "\n"
    "  --counts        loads, stores, sectors and bank conflicts of each launch\n"
    "                  (of a small shape, unless sizes are given)\n"
    "  --phases        the phases of one block, with small arrays whole\n"
    "                  (a shape that has several; filled 1, 2, 3, ...)\n"
    "  --block X,Y     ... of this block (default: 0,0)\n"
    "  --indices       what the index of each load and store computes, in terms of\n"
    "                  threadIdx, blockIdx and the sizes\n"
    "  --walk FILE     write a page that plays back how one block ran: that of --block,\n"
    "                  or the one with the mistake\n"
    "  --launch N      --phases, --indices and --walk show launch N, 1 to 8 (default: the\n"
    "                  one with the mistake, or the first one that loads an input)\n"
    "  --plain PROGRAM run PROGRAM, a ./%s of the same kernel.cu, on each shape where\n"
    "                  nothing is found, and report a wrong result (as make check does)\n"
    "  --seed N        use the random values of seed N (default: a fresh seed)\n"
    "  --fill KIND     what the inputs hold: see ./%s --help\n"
    "  --timeout S     seconds that one block may take; a launch may take 4 S\n"
    "  --json          print one JSON object instead of text\n"
    "  --help          print this\n"
    "\n"
    "Exit status: 0 nothing found, 1 a mistake, 2 bad usage, 3 the machine's fault.\n";

/* Operations of which one block is still worth some seconds. */
static const double most_walked = 1e9;

static const double counting_slows = 5; /* times, beside a run that only checks */
static const double small_timeout = 5;  /* seconds; all blocks together take some milliseconds */

/* Takes out the option, which has so many words, and returns the last of them; null: it is not
 * there. */
static const char *take(int *argc, char **argv, const char *option, int words) {
    int i = 1;
    while (i + words <= *argc && strcmp(argv[i], option) != 0) i++;
    if (i + words > *argc) return NULL;
    const char *last = argv[i + words - 1];
    *argc -= words;
    memmove(&argv[i], &argv[i + words], (size_t)(*argc - i + 1) * sizeof *argv);
    return last;
}

static bool take_flag(int *argc, char **argv, const char *option) {
    bool found = false;
    while (take(argc, argv, option, 1)) found = true;
    return found;
}

static const char *take_value(int *argc, char **argv, const char *option) {
    return take(argc, argv, option, 2);
}

/* Beside what a plain run takes: the device's copies, and eight words for each element of outputs,
 * which say who wrote it and who read it last. */
static void check_memory(const struct check_options *o) {
    const struct shape *s = &o->run.which.shape;
    const struct host_layout layout = host_layout_of(&lab, s, false);
    const size_t more = layout.all + 8 * sizeof(uint32_t) * (size_t)lab_outputs(&lab, s);
    if (memory_needed(s) + more <= memory_available()) return;
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

static void take_block(struct check_options *o, int *argc, char **argv) {
    char more;
    const char *block = take_value(argc, argv, "--block");
    o->block_given = block != NULL;
    if (!block) return;
    const bool two = sscanf(block, "%u,%u%c", &o->block[0], &o->block[1], &more) == 2;
    const bool three =
        o->walk && !two &&
        sscanf(block, "%u,%u,%u%c", &o->block[0], &o->block[1], &o->block[2], &more) == 3;
    if (strchr(block, '-') || !(two || three))
        check_stop(o, EXIT_USAGE,
                   o->walk ? "--block needs two numbers, or three: --block 1,0"
                           : "--block needs two numbers: --block 1,0");
}

static void take_launch(struct check_options *o, int *argc, char **argv) {
    const char *launch = take_value(argc, argv, "--launch");
    if (!launch) return;
    o->launch = launch[0] - '0';
    if (launch[0] < '1' || o->launch > OUTCOME_LAUNCHES || launch[1])
        check_stop(o, EXIT_USAGE, "--launch needs a number from 1 to 8: --launch 2");
}

static void choose_shapes(struct check_options *o) {
    const enum lab_purpose purpose = o->phases   ? SHAPE_PHASES
                                     : o->counts ? SHAPE_COUNT
                                                 : SHAPE_CHECK;
    struct shape shape;
    while (!o->sized && truth_shape(purpose, o->shape_count, 0, &shape)) o->shape_count++;
    if (o->sized) o->shape_count = 1;
    o->shapes = malloc((size_t)o->shape_count * sizeof *o->shapes);
    if (!o->shapes) check_stop(o, EXIT_MACHINE, "out of memory");
    for (int i = 0; i < o->shape_count; i++)
        if (!truth_shape(purpose, i, 0, &o->shapes[i]) || o->sized)
            o->shapes[i] = o->run.which.shape;
    /* A second one starts with what the first left behind. */
    o->calls = o->sized || o->counts || o->phases ? 1 : 2;
}

struct check_options check_options_read(int argc, char **argv) {
    char message[MESSAGE_SIZE];
    struct check_options o = {0};
    o.counts = take_flag(&argc, argv, "--counts");
    o.phases = take_flag(&argc, argv, "--phases");
    o.indices = take_flag(&argc, argv, "--indices");
    o.walk = take_value(&argc, argv, "--walk");
    o.plain = take_value(&argc, argv, "--plain");
    o.locals_program = take_value(&argc, argv, "--locals-program"); /* of the grader */
    const char *answer = take_value(&argc, argv, "--answer");       /* likewise */
    const char *locals = take_value(&argc, argv, "--locals");       /* of programs.c, for itself */
    take_block(&o, &argc, argv);
    take_launch(&o, &argc, argv);
    enum exit_status status = options_parse(argc, argv, &o.run, message);
    if (status == EXIT_PASSED && o.run.help) {
        printf(help_text, lab.name, lab.wrapper, lab.name, lab.name, lab.name);
        exit(EXIT_PASSED);
    }
    if (status != EXIT_PASSED) check_stop(&o, status, message);
    if (answer) o.answer = atoi(answer);
    if (locals && !locals_read_request(locals, &o)) check_stop(&o, EXIT_USAGE, "--locals");
    o.sized = optind < argc; /* where options_parse found the first size */
    if (!o.sized && !o.run.timeout_given) o.run.timeout = small_timeout;
    if ((o.counts || o.phases) && !o.run.timeout_given) o.run.timeout *= counting_slows;
    if (o.phases && !o.run.fill_given) o.run.which.fill = lab.counting_fill;
    if (o.sized && o.walk) check_walk(&o);
    if (o.sized) check_memory(&o);
    choose_shapes(&o);
    return o;
}
