/* ladder.c: `make bench`. Kernels beside cuBLAS, on a GPU: docs/bench.md.
 *
 *     build/bench/ladder [options] NAME.cu LIBRARY [NAME.cu LIBRARY ...]
 *
 * Asks the worker (worker.cu) what the machine can do; lets it check each kernel on all shapes, a
 * process for each kernel; and then time those that were right, a process for each shape, in which
 * they take turns. Table on standard output, progress on standard error, ladder.json and ladder.csv
 * after each shape. A LIBRARY that is not there did not compile: LIBRARY.log says why.
 *
 * Exit status: 0; 1 a kernel is wrong or fails; 2 bad input; 3 the machine is at fault. */
#define _GNU_SOURCE
#include "ladder.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char usage_text[] =
    "usage: ladder [options] NAME.cu LIBRARY [NAME.cu LIBRARY ...]\n"
    "  --worker PATH     the program that touches the GPU (build/bench/worker)\n"
    "  --out DIRECTORY   for ladder.json and ladder.csv (build/bench)\n"
    "  --shapes LIST     m k n, m k n, ... without commas (the published ones)\n"
    "  --samples N       of each kernel on each shape (31, 21 or 11, by size)\n"
    "  --launch HOW      held: between the events is the GPU's time alone (the default);\n"
    "                    plain: also the host's, to launch\n"
    "  --patience S      seconds that a kernel may be silent for (60), and one more for\n"
    "                    every 10^12 operations\n";

struct setup {
    const char *worker, *out, *shapes;
    int samples;
    double patience;
    enum exit_status status; /* what the program ends with: the highest that anything asked for */
    struct ladder ladder;
};

static void stop(enum exit_status status, const char *message) {
    fprintf(stderr, "bench: %s\n", message);
    exit(status);
}

/* One line on standard error about what went wrong; the rest goes on. */
__attribute__((format(printf, 3, 4))) static void
complain(struct setup *setup, enum exit_status status, const char *format, ...) {
    va_list arguments;
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    fputs("bench: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    if (status > setup->status) setup->status = status;
}

/* ---- progress -------------------------------------------------------------------------------- */

/* A line that is written over on a terminal; elsewhere only what begins a stage. */
__attribute__((format(printf, 2, 3))) static void progress(bool stage, const char *format, ...) {
    bool terminal = isatty(STDERR_FILENO);
    if (!terminal && !stage) return;
    va_list arguments;
    va_start(arguments, format);
    if (terminal) fputs("\r\033[K", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (!terminal) fputc('\n', stderr);
    fflush(stderr);
}

static void progress_end(void) {
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

/* ---- the command line ------------------------------------------------------------------------ */

static double number(const char *text, double least, double most, const char *what) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most)) {
        fprintf(stderr, "bench: %s is %s; it is a number from %g to %g\n", what, text, least, most);
        exit(EXIT_USAGE);
    }
    return value;
}

static const char *launch_named(const char *name) {
    if (strcmp(name, "held") != 0 && strcmp(name, "plain") != 0) {
        fprintf(stderr, "bench: LAUNCH is %s; it is held or plain\n", name);
        exit(EXIT_USAGE);
    }
    return name;
}

static void options(struct setup *setup, int argc, char **argv) {
    static const struct option long_options[] = {{"worker", required_argument, NULL, 'w'},
                                                 {"out", required_argument, NULL, 'o'},
                                                 {"shapes", required_argument, NULL, 's'},
                                                 {"samples", required_argument, NULL, 'n'},
                                                 {"launch", required_argument, NULL, 'l'},
                                                 {"patience", required_argument, NULL, 'p'},
                                                 {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case 'w': setup->worker = optarg; break;
        case 'o': setup->out = optarg; break;
        case 's': setup->shapes = optarg; break;
        case 'n': setup->samples = (int)number(optarg, 1, MOST_SAMPLES, "SAMPLES"); break;
        case 'l': setup->ladder.launch = launch_named(optarg); break;
        case 'p': setup->patience = number(optarg, 0.1, 1e6, "--patience"); break;
        default: fputs(usage_text, stderr); exit(EXIT_USAGE);
        }
    }
}

/* "2_tiled" of "instructor/solutions/2_tiled.cu". */
static void name_of(const char *path, char name[NAME_SIZE]) {
    const char *slash = strrchr(path, '/');
    snprintf(name, NAME_SIZE, "%.63s", slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot > name) *dot = '\0';
}

/* Two files of one name go by their paths. */
static void tell_apart(struct ladder *ladder) {
    for (int i = 1; i < ladder->kernel_count; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(ladder->kernels[i].name, ladder->kernels[j].name) == 0)
                snprintf(ladder->kernels[i].name, NAME_SIZE, "%.63s", ladder->kernels[i].path);
}

/* The first line of a compiler's log that says what is wrong. */
static void first_error(const char *library, char text[TEXT_SIZE]) {
    char path[TEXT_SIZE + 8], line[TEXT_SIZE];
    snprintf(path, sizeof path, "%s.log", library);
    snprintf(text, TEXT_SIZE, "it does not compile");
    FILE *log = fopen(path, "r");
    while (log && fgets(line, sizeof line, log)) {
        if (!strstr(line, "error")) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(text, TEXT_SIZE, "it does not compile: %.370s", line);
        break;
    }
    if (log) fclose(log);
}

static void unusable(struct setup *setup, struct kernel *kernel, const char *reason) {
    kernel->state = STATE_UNUSABLE;
    snprintf(kernel->reason, TEXT_SIZE, "%s", reason);
    complain(setup, EXIT_USAGE, "%s: %s", kernel->path, kernel->reason);
}

static void take_kernels(struct setup *setup, int count, char **arguments) {
    struct ladder *ladder = &setup->ladder;
    if (count % 2 != 0) stop(EXIT_USAGE, "a library is missing; see --help");
    ladder->kernel_count = 1 + count / 2;
    ladder->kernels = calloc((size_t)ladder->kernel_count, sizeof *ladder->kernels);
    if (!ladder->kernels) stop(EXIT_MACHINE, "out of memory");
    ladder->kernels[0] = (struct kernel){.name = "cuBLAS", .library = "cublas"};
    for (int i = 1; i < ladder->kernel_count; i++) {
        struct kernel *kernel = &ladder->kernels[i];
        snprintf(kernel->path, TEXT_SIZE, "%s", arguments[2 * i - 2]);
        snprintf(kernel->library, TEXT_SIZE, "%s", arguments[2 * i - 1]);
        name_of(kernel->path, kernel->name);
        kernel->may_be_empty = strcmp(kernel->path, "kernel.cu") == 0;
        kernel->intensity = intensity_read(kernel->path);
    }
    tell_apart(ladder);
}

static void look_for_libraries(struct setup *setup) {
    char text[TEXT_SIZE];
    for (int i = 1; i < setup->ladder.kernel_count; i++) {
        struct kernel *kernel = &setup->ladder.kernels[i];
        struct stat file;
        if (stat(kernel->path, &file) != 0 || access(kernel->path, R_OK) != 0) {
            unusable(setup, kernel, strerror(errno));
        } else if (!S_ISREG(file.st_mode)) {
            unusable(setup, kernel, "is no file");
        } else if (access(kernel->library, R_OK) != 0) {
            first_error(kernel->library, text);
            unusable(setup, kernel, text);
        }
    }
}

/* ---- the worker's answers -------------------------------------------------------------------- */

/* What take_line() needs to know: which results the worker's numbers stand for. */
struct answer {
    struct setup *setup;
    int kernel;        /* a check: of this kernel, shapes from `shape` on; else -1 */
    int shape;         /* a race: on this shape, */
    const int *racers; /* ... of these kernels */
    int count;         /* numbers are below this */
    int begun;         /* the number of what the worker is at; -1: nothing yet */
    bool ended;
    char machine_fault[TEXT_SIZE], unusable[TEXT_SIZE];
};

/* Whether a line begins with this word and a blank; *rest is what follows. */
static bool is(const char *line, const char *word, const char **rest) {
    size_t length = strlen(word);
    if (strncmp(line, word, length) != 0 || line[length] != ' ') return false;
    *rest = line + length + 1;
    return true;
}

static int shape_numbered(const struct answer *a, int number) {
    return a->kernel >= 0 ? a->shape + number : a->shape;
}

static struct result *result_numbered(const struct answer *a, int number) {
    return result_of(&a->setup->ladder, shape_numbered(a, number),
                     a->kernel >= 0 ? a->kernel : a->racers[number]);
}

/* The result that a line's rest begins with the number of, or NULL; *rest is then what follows. */
static struct result *result_named(const struct answer *a, const char **rest, int *number) {
    char *end;
    long value = strtol(*rest, &end, 10);
    if (end == *rest || value < 0 || value >= a->count) return NULL;
    *number = (int)value;
    *rest = *end ? end + 1 : end;
    return result_numbered(a, *number);
}

static void take_machine(struct ladder *ladder, const char *rest) {
    if (ladder->machine_count == MOST_FACTS) return;
    struct fact *fact = &ladder->machine[ladder->machine_count++];
    int length = (int)strcspn(rest, " ");
    snprintf(fact->key, NAME_SIZE, "%.*s", length, rest);
    snprintf(fact->text, TEXT_SIZE, "%s", rest[length] ? rest + length + 1 : "");
}

static void take_ceiling(struct ladder *ladder, const char *rest) {
    if (sscanf(rest, "ffma_flops %lf", &ladder->ffma_flops) == 1) return;
    if (sscanf(rest, "memory_bytes_per_second %lf", &ladder->memory_bytes) == 1) return;
    sscanf(rest, "l2_bytes_per_second %lf", &ladder->l2_bytes);
}

static void take_sample(struct result *result, const char *rest) {
    struct sample sample;
    if (sscanf(rest, "%d %lf %lf", &sample.round, &sample.event, &sample.host) != 3) return;
    if (result->count < MOST_SAMPLES) result->samples[result->count++] = sample;
}

/* This kernel gets no figure on this shape, and why. */
static void end_result(struct setup *setup, struct result *result, enum state state,
                       const char *reason) {
    const struct ladder *ladder = &setup->ladder;
    const int place = (int)(result - ladder->results);
    const struct kernel *kernel = &ladder->kernels[place % ladder->kernel_count];
    result->state = state;
    snprintf(result->reason, TEXT_SIZE, "%s", reason);
    if (!state_failed(state)) return;
    complain(setup, place % ladder->kernel_count ? EXIT_WRONG : EXIT_MACHINE, "%s on %s: %s: %s",
             kernel->name, shape_text(&ladder->shapes[place / ladder->kernel_count]).text,
             state_name(state), reason);
}

static void take_how(struct result *result, const char *rest) {
    result->graph = strncmp(rest, "graph ", 6) == 0;
    sscanf(rest, "%*s %d", &result->calls);
}

static void take_right(struct result *result, const char *rest) {
    result->state = STATE_OPEN;
    sscanf(rest, "%lf %lf", &result->max_u, &result->rms_u);
}

/* Lines on one kernel and shape. */
static void take_result(struct answer *a, const char *line) {
    static const struct {
        const char *word;
        enum state state;
    } ends[] = {{"wrong", STATE_WRONG},
                {"fault", STATE_FAULTED},
                {"nothing", STATE_NOTHING},
                {"disagree", STATE_UNSTEADY},
                {"impossible", STATE_IMPOSSIBLE}};
    const char *rest;
    struct result *result;
    int number;
    if (is(line, "begin", &rest) && result_named(a, &rest, &number))
        a->begun = number;
    else if (is(line, "right", &rest) && (result = result_named(a, &rest, &number)))
        take_right(result, rest);
    else if (is(line, "how", &rest) && (result = result_named(a, &rest, &number)))
        take_how(result, rest);
    else if (is(line, "sample", &rest) && (result = result_named(a, &rest, &number)))
        take_sample(result, rest);
    for (int i = 0; i < LENGTH(ends); i++)
        if (is(line, ends[i].word, &rest) && (result = result_named(a, &rest, &number)))
            end_result(a->setup, result, ends[i].state, rest);
}

static void take_large(struct answer *a, const char *rest) {
    int number;
    struct result *result = result_named(a, &rest, &number);
    if (!result) return;
    struct shape *shape = &a->setup->ladder.shapes[shape_numbered(a, number)];
    if (!*shape->problem)
        complain(a->setup, EXIT_USAGE, "%s: too large: %s", shape_text(shape).text, rest);
    snprintf(shape->problem, TEXT_SIZE, "too large: %s", rest);
    end_result(a->setup, result, STATE_SKIPPED, shape->problem);
}

static void show_round(const struct answer *a, const char *rest) {
    int round;
    if (sscanf(rest, "%d", &round) != 1) return;
    progress(false, "%s: round %d", shape_text(&a->setup->ladder.shapes[a->shape]).text,
             round + WARM_UPS + 1);
}

static void take_line(void *context, char *line) {
    struct answer *a = context;
    const char *rest;
    if (strcmp(line, "end") == 0)
        a->ended = true;
    else if (is(line, "machine", &rest))
        take_machine(&a->setup->ladder, rest);
    else if (is(line, "ceiling", &rest))
        take_ceiling(&a->setup->ladder, rest);
    else if (is(line, "machine-fault", &rest))
        snprintf(a->machine_fault, TEXT_SIZE, "%s", rest);
    else if (is(line, "unusable", &rest))
        snprintf(a->unusable, TEXT_SIZE, "%s", rest);
    else if (is(line, "large", &rest))
        take_large(a, rest);
    else if (is(line, "round", &rest) && a->racers)
        show_round(a, rest);
    else
        take_result(a, line);
}

/* The slowest that one waits for: 10^12 operations a second, as of the largest shape. */
static double patience_for(const struct setup *setup) {
    const double slowest = 1e12;
    double most = 0;
    for (int i = 0; i < setup->ladder.shape_count; i++)
        if (setup->ladder.shapes[i].flops > most) most = setup->ladder.shapes[i].flops;
    return setup->patience + most / slowest;
}

/* Ask the worker. A fault of the machine's, or a worker that cannot be started, ends all of it:
 * what was measured is in the files. */
static struct job_outcome ask(struct answer *a, const char *const *arguments) {
    a->begun = -1;
    a->ended = false;
    struct job_outcome outcome =
        job_run(a->setup->worker, arguments, patience_for(a->setup), take_line, a);
    progress_end();
    if (*a->machine_fault) stop(EXIT_MACHINE, a->machine_fault);
    if (outcome.end == JOB_NOT_STARTED) stop(EXIT_MACHINE, outcome.text);
    return outcome;
}

/* The worker is gone without its last line: what it was at is to blame. */
static void blame(const struct answer *a, const struct job_outcome *outcome) {
    if (a->begun < 0) stop(EXIT_MACHINE, outcome->text);
    struct result *result = result_numbered(a, a->begun);
    if (result->state != STATE_OPEN) return; /* it said so itself */
    end_result(a->setup, result, outcome->end == JOB_SILENT ? STATE_HUNG : STATE_FAULTED,
               outcome->text);
}

/* ---- machine, check, time -------------------------------------------------------------------- */

static void ask_machine(struct setup *setup) {
    struct answer a = {.setup = setup, .shape = -1, .kernel = -1};
    const char *const arguments[] = {"machine", NULL};
    progress(true, "measuring what this GPU can do at most");
    struct job_outcome outcome = ask(&a, arguments);
    if (!a.ended) stop(EXIT_MACHINE, outcome.text);
}

/* The arguments of a job: words, and numbers that are printed into `digits`. */
struct arguments {
    const char **words;
    char (*digits)[16];
    int count, numbers;
};

static struct arguments arguments_new(int words) {
    struct arguments a = {.words = calloc((size_t)words + 1, sizeof *a.words),
                          .digits = calloc((size_t)words + 1, sizeof *a.digits)};
    if (!a.words || !a.digits) stop(EXIT_MACHINE, "out of memory");
    return a;
}

static void add_word(struct arguments *a, const char *word) { a->words[a->count++] = word; }

static void add_number(struct arguments *a, int number) {
    char *digits = a->digits[a->numbers++];
    snprintf(digits, sizeof a->digits[0], "%d", number);
    add_word(a, digits);
}

static void add_shape(struct arguments *a, const struct shape *shape) {
    add_number(a, shape->m);
    add_number(a, shape->k);
    add_number(a, shape->n);
}

static void arguments_free(struct arguments *a) {
    free(a->words);
    free(a->digits);
}

/* A worker checks the shapes from `first` on, until it is done or the kernel breaks it. Returns the
 * first one that it has not come to. */
static int check_from(struct setup *setup, int kernel, int first) {
    struct ladder *ladder = &setup->ladder;
    struct answer a = {
        .setup = setup, .kernel = kernel, .shape = first, .count = ladder->shape_count - first};
    struct arguments arguments = arguments_new(2 + 3 * a.count);
    add_word(&arguments, "check");
    add_word(&arguments, ladder->kernels[kernel].library);
    for (int i = first; i < ladder->shape_count; i++) add_shape(&arguments, &ladder->shapes[i]);
    struct job_outcome outcome = ask(&a, arguments.words);
    arguments_free(&arguments);
    if (*a.unusable) unusable(setup, &ladder->kernels[kernel], a.unusable);
    if (a.ended || *a.unusable) return ladder->shape_count;
    blame(&a, &outcome);
    return first + a.begun + 1;
}

/* Where a kernel hung once it is not tried again: each time would take as long. */
static int give_up_if_hung(struct setup *setup, int kernel, int next) {
    const struct ladder *ladder = &setup->ladder;
    if (result_of(ladder, next - 1, kernel)->state != STATE_HUNG) return next;
    for (int i = next; i < ladder->shape_count; i++) {
        struct result *result = result_of(ladder, i, kernel);
        result->state = STATE_HUNG;
        snprintf(result->reason, TEXT_SIZE, "not tried after %s",
                 shape_text(&ladder->shapes[next - 1]).text);
    }
    return ladder->shape_count;
}

/* A kernel that never wrote anything is either the empty one that is handed out, or wrong. */
static void judge_nothing(struct setup *setup, int kernel) {
    struct ladder *ladder = &setup->ladder;
    struct kernel *k = &ladder->kernels[kernel];
    int nothing = 0;
    for (int i = 0; i < ladder->shape_count; i++)
        nothing += result_of(ladder, i, kernel)->state == STATE_NOTHING;
    if (k->may_be_empty && nothing == ladder->shape_count) {
        k->state = STATE_NOTHING;
        snprintf(k->reason, TEXT_SIZE, "writes nothing, as it was handed out");
        complain(setup, EXIT_PASSED, "%s %s: left out", k->path, k->reason);
        return;
    }
    for (int i = 0; i < ladder->shape_count; i++) {
        struct result *result = result_of(ladder, i, kernel);
        if (result->state == STATE_NOTHING)
            end_result(setup, result, STATE_WRONG, "no element of C is written");
    }
}

static void check(struct setup *setup, int kernel) {
    struct ladder *ladder = &setup->ladder;
    if (ladder->kernels[kernel].state != STATE_OPEN) return;
    progress(true, "checking %s (%d of %d)", ladder->kernels[kernel].name, kernel + 1,
             ladder->kernel_count);
    for (int next = 0; next < ladder->shape_count;)
        next = give_up_if_hung(setup, kernel, check_from(setup, kernel, next));
    judge_nothing(setup, kernel);
}

/* Those that were right there so far. */
static int racers_of(const struct ladder *ladder, int shape, int *racers) {
    int count = 0;
    for (int i = 0; i < ladder->kernel_count; i++)
        if (ladder->kernels[i].state == STATE_OPEN &&
            result_of(ladder, shape, i)->state == STATE_OPEN)
            racers[count++] = i;
    return count;
}

static void conclude(struct result *result) {
    double *events = calloc((size_t)result->count + 1, sizeof *events);
    if (!events) stop(EXIT_MACHINE, "out of memory");
    for (int i = 0; i < result->count; i++) events[i] = result->samples[i].event;
    result->seconds = summarise(events, result->count);
    if (result->seconds.n) result->state = STATE_MEASURED;
    free(events);
}

/* True: done, or there is nobody left. False: one has broken the worker, and the others have to be
 * timed again, without it. */
static bool race(struct setup *setup, int shape, int *racers) {
    struct ladder *ladder = &setup->ladder;
    struct answer a = {.setup = setup, .kernel = -1, .shape = shape, .racers = racers};
    a.count = racers_of(ladder, shape, racers);
    if (a.count == 0) return true;
    struct arguments arguments = arguments_new(7 + a.count);
    add_word(&arguments, "time");
    add_number(&arguments, WARM_UPS);
    add_number(&arguments, ladder->samples ? ladder->samples : samples_for(&ladder->shapes[shape]));
    add_word(&arguments, ladder->launch);
    add_shape(&arguments, &ladder->shapes[shape]);
    for (int i = 0; i < a.count; i++) {
        add_word(&arguments, ladder->kernels[racers[i]].library);
        result_numbered(&a, i)->count = 0;
    }
    struct job_outcome outcome = ask(&a, arguments.words);
    arguments_free(&arguments);
    if (!a.ended) {
        blame(&a, &outcome);
        return false;
    }
    for (int i = 0; i < a.count; i++)
        if (result_numbered(&a, i)->state == STATE_OPEN) conclude(result_numbered(&a, i));
    return true;
}

static void measure(struct setup *setup, int shape) {
    struct ladder *ladder = &setup->ladder;
    int *racers = calloc((size_t)ladder->kernel_count, sizeof *racers);
    if (!racers) stop(EXIT_MACHINE, "out of memory");
    if (!*ladder->shapes[shape].problem) {
        progress(true, "timing %s (%d of %d)", shape_text(&ladder->shapes[shape]).text, shape + 1,
                 ladder->shape_count);
        while (!race(setup, shape, racers)) continue;
    }
    free(racers);
    table_shape(stdout, ladder, shape);
    if (!files_write(setup->out, ladder)) {
        complain(setup, EXIT_MACHINE, "%s: %s", setup->out, strerror(errno));
        exit(EXIT_MACHINE);
    }
}

/* ---------------------------------------------------------------------------------------------- */

static void results_new(struct ladder *ladder) {
    size_t count = (size_t)ladder->shape_count * (size_t)ladder->kernel_count;
    ladder->results = calloc(count, sizeof *ladder->results);
    for (size_t i = 0; ladder->results && i < count; i++) {
        ladder->results[i].calls = 1;
        ladder->results[i].samples = calloc(MOST_SAMPLES, sizeof(struct sample));
        if (!ladder->results[i].samples) stop(EXIT_MACHINE, "out of memory");
    }
    if (!ladder->results) stop(EXIT_MACHINE, "out of memory");
}

static void ladder_free(struct ladder *ladder) {
    for (int i = 0; i < ladder->shape_count * ladder->kernel_count; i++)
        free(ladder->results[i].samples);
    free(ladder->results);
    free(ladder->kernels);
    free(ladder->shapes);
}

static void write_date(char date[32]) {
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(date, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

int main(int argc, char **argv) {
    struct setup setup = {.worker = "build/bench/worker",
                          .out = "build/bench",
                          .shapes = published_shapes,
                          .patience = 60,
                          .ladder = {.launch = "held"}};
    char message[TEXT_SIZE];
    struct ladder *ladder = &setup.ladder;
    options(&setup, argc, argv);
    ladder->samples = setup.samples;
    ladder->shapes = shapes_parse(setup.shapes, &ladder->shape_count, message);
    if (!ladder->shapes) stop(EXIT_USAGE, message);
    take_kernels(&setup, argc - optind, argv + optind);
    results_new(ladder);
    write_date(ladder->date);
    look_for_libraries(&setup);
    ask_machine(&setup);
    for (int i = 0; i < ladder->kernel_count; i++) check(&setup, i);
    table_begin(stdout, ladder);
    for (int i = 0; i < ladder->shape_count; i++) measure(&setup, i);
    ladder_free(ladder);
    return setup.status;
}
