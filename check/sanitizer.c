/* Starts compute-sanitizer over ./sgemm-check --watched, once for each tool, and sees to its end.
 *
 * One process runs all shapes, because what costs is the sanitizer's start. A tool that says
 * nothing is believed only if it came to its end and says itself that it counted no errors: one
 * that cannot work on this GPU lets the program run all the same. */
#define _GNU_SOURCE
#include "sanitizer.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double start_limit = 60; /* seconds in which a sanitizer has to start, or to end */
static const double grace = 5;        /* of a launch, beyond the time limit: it is slower watched */

/* In this order: what spoils memory explains what is seen later. Padding, so that what lies behind
 * A is not B. Few records: one will do, and each costs time. */
static const struct {
    const char *name, *options[5];
} tools[SANITIZER_TOOLS] = {
    {"memcheck", {"--leak-check", "full", "--padding", "1048576"}},
    {"racecheck", {"--racecheck-report", "hazard"}},
    {"synccheck", {NULL}},
    {"initcheck", {NULL}},
};
enum { MEMCHECK, RACECHECK, SYNCCHECK, INITCHECK };

static bool has_run[SANITIZER_TOOLS];

int sanitizer_tools_run(const char *names[SANITIZER_TOOLS]) {
    int count = 0;
    for (int i = 0; i < SANITIZER_TOOLS; i++)
        if (has_run[i]) names[count++] = tools[i].name;
    return count;
}

/* One run of one tool. */
struct session {
    const struct check_options *options;
    struct outcome *outcome;
    char directory[512], log[600], maps[600], state[600];
    struct watched *watched;
    pid_t process;
};

static bool fail(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct session *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->outcome->machine_fault, sizeof s->outcome->machine_fault, format, arguments);
    va_end(arguments);
    return true;
}

/* --- files ------------------------------------------------------------------------------------ */

static bool make_directory(struct session *s) {
    const char *temporary = getenv("TMPDIR");
    snprintf(s->directory, sizeof s->directory, "%.400s/sgemm-check-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(s->directory)) {
        s->directory[0] = '\0';
        return false;
    }
    snprintf(s->log, sizeof s->log, "%s/" WATCHED_LOG, s->directory);
    snprintf(s->maps, sizeof s->maps, "%s/" WATCHED_MAPS, s->directory);
    snprintf(s->state, sizeof s->state, "%s/" WATCHED_STATE, s->directory);
    return true;
}

static bool map_state(struct session *s) {
    int file = open(s->state, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void *memory = MAP_FAILED;
    if (file >= 0 && ftruncate(file, sizeof *s->watched) == 0)
        memory = mmap(NULL, sizeof *s->watched, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    s->watched = memory == MAP_FAILED ? NULL : memory;
    return s->watched;
}

static void remove_files(struct session *s) {
    if (s->watched) munmap(s->watched, sizeof *s->watched);
    s->watched = NULL;
    if (!s->directory[0]) return;
    unlink(s->log);
    unlink(s->maps);
    unlink(s->state);
    rmdir(s->directory);
}

/* --- the sanitizer's process ------------------------------------------------------------------ */

/* Where it is: COMPUTE_SANITIZER, or on the PATH, or where the CUDA toolkit puts it. */
static const char *find_sanitizer(char path[1024]) {
    static const char name[] = "compute-sanitizer", usual[] = "/usr/local/cuda/bin";
    const char *given = getenv("COMPUTE_SANITIZER"), *at = getenv("PATH");
    if (given && *given) return given;
    for (; at && *at; at += strcspn(at, ":") + (at[strcspn(at, ":")] == ':')) {
        snprintf(path, 1024, "%.*s/%s", (int)strcspn(at, ":"), at, name);
        if (path[0] == '/' && access(path, X_OK) == 0) return path;
    }
    snprintf(path, 1024, "%s/%s", usual, name);
    return access(path, X_OK) == 0 ? path : NULL;
}

struct arguments {
    const char *words[40];
    int count;
    char texts[4][24];
    char program[1024];
};

static void add(struct arguments *a, const char *word) { a->words[a->count++] = word; }

static bool build_arguments(struct arguments *a, const struct session *s, int tool,
                            const char *sanitizer) {
    const struct options *o = &s->options->run;
    ssize_t length = readlink("/proc/self/exe", a->program, sizeof a->program - 1);
    if (length <= 0) return false;
    a->program[length] = '\0';
    a->count = 0;
    add(a, sanitizer);
    add(a, "--tool"), add(a, tools[tool].name);
    add(a, "--target-processes"), add(a, "application-only");
    add(a, "--print-limit"), add(a, "40");
    add(a, "--strip-paths"), add(a, "no");
    for (int i = 0; tools[tool].options[i]; i++) add(a, tools[tool].options[i]);
    add(a, a->program);
    add(a, "--watched"), add(a, s->directory);
    snprintf(a->texts[0], sizeof a->texts[0], "%" PRIu64, o->seed);
    add(a, "--seed"), add(a, a->texts[0]);
    add(a, "--fill"), add(a, fill_name(o->fill));
    const int sizes[] = {o->m, o->k, o->n};
    for (int i = 0; i < 3 && s->options->sized; i++) {
        snprintf(a->texts[1 + i], sizeof a->texts[1 + i], "%d", sizes[i]);
        add(a, a->texts[1 + i]);
    }
    add(a, NULL);
    return true;
}

/* In a process group of its own, so that all of it can be ended at once. */
static bool start(struct session *s, const struct arguments *a) {
    int log = open(s->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (log < 0 || nothing < 0) return false;
    fflush(NULL);
    s->process = fork();
    if (s->process == 0) {
        setpgid(0, 0);
        dup2(nothing, STDIN_FILENO);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        execv(a->words[0], (char *const *)(uintptr_t)a->words);
        dprintf(STDERR_FILENO, "%s: %s\n", a->words[0], strerror(errno));
        _exit(127);
    }
    close(log);
    close(nothing);
    return s->process > 0;
}

static void end_all(struct session *s, int *status) {
    int watched = s->watched->pid;
    kill(-s->process, SIGKILL);
    if (watched > 0) kill(watched, SIGKILL);
    while (waitpid(s->process, status, 0) < 0 && errno == EINTR) continue;
}

enum ending { ENDED, HUNG_IN_WRAPPER, HUNG };

static void show_progress(const char *tool, double seconds, bool *shown) {
    const double patience = 3;
    if (seconds < patience || !isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\rcompute-sanitizer %s: %.0f s", tool, seconds);
    *shown = true;
}

/* Waits for its end, or ends it: a launch has its time limit, and so has all that is not one. */
static enum ending wait_for(struct session *s, int tool, int *status) {
    const struct timespec tick = {.tv_nsec = 2000 * 1000};
    const double limit = s->options->run.timeout + grace;
    double start = clock_seconds(), alive = start, now = start;
    int last_shape = -1;
    bool shown = false;
    enum ending ending = ENDED;
    while (ending == ENDED && waitpid(s->process, status, WNOHANG) == 0) {
        now = clock_seconds();
        bool in_wrapper = s->watched->in_wrapper;
        if (s->watched->shape != last_shape || in_wrapper) alive = now;
        last_shape = s->watched->shape;
        if (in_wrapper && now - s->watched->began > limit) ending = HUNG_IN_WRAPPER;
        if (now - alive > start_limit) ending = HUNG;
        show_progress(tools[tool].name, now - start, &shown);
        nanosleep(&tick, NULL);
    }
    if (shown) fputs("\r                                        \r", stderr);
    if (ending != ENDED) end_all(s, status);
    return ending;
}

/* --- what became of it ------------------------------------------------------------------------ */

static void keep_finding(struct session *s, const struct finding *finding) {
    int shape = s->watched->shape;
    if (shape < 0 || shape >= s->options->shape_count) shape = 0;
    s->outcome->finding = *finding;
    s->outcome->shape = s->options->shapes[shape];
}

static void say_endless(struct session *s) {
    struct finding f = {.kind = FINDING_ENDLESS};
    snprintf(f.at.file, sizeof f.at.file, "%s", s->watched->file);
    snprintf(f.what, sizeof f.what, "basicSgemm does not return");
    snprintf(f.hint, sizeof f.hint, "which loop has a condition that never becomes false?");
    keep_finding(s, &f);
}

static void say_left(struct session *s) {
    struct finding f = {.kind = FINDING_HOST_FAULT};
    snprintf(f.at.file, sizeof f.at.file, "%s", s->watched->file);
    snprintf(f.what, sizeof f.what, "basicSgemm ended the program instead of returning");
    keep_finding(s, &f);
}

/* The log has no mistake in it. Is that the truth? */
static bool doubt(struct session *s, int tool, const struct sanitizer_log *log, bool understood) {
    const char *name = tools[tool].name;
    if (log->complaint[0]) return fail(s, "compute-sanitizer (%s): %.150s", name, log->complaint);
    if (!understood)
        return fail(s, "compute-sanitizer (%s) says what nobody here understands: %.120s", name,
                    log->records[0].head);
    if (!s->watched->started) return fail(s, "compute-sanitizer (%s) did not start", name);
    if (!s->watched->ended || !log->summary)
        return fail(s, "compute-sanitizer (%s) did not come to its end", name);
    if (log->counted && !log->count)
        return fail(s, "compute-sanitizer (%s) counts %" PRIu64 " errors, and names none", name,
                    log->counted);
    return false;
}

/* Sets a finding, or what is wrong with the machine; false: nothing, in a run that went well. */
static bool conclude(struct session *s, int tool, enum ending ending) {
    struct sanitizer_log log;
    struct watched *w = s->watched;
    if (w->machine_fault[0]) return fail(s, "%s", w->machine_fault);
    if (!log_read(s->log, &log)) return fail(s, "out of memory, or of space for files");
    bool understood = log_finding(&log, w, s->options->shapes, s->maps, s->outcome);
    bool found = s->outcome->finding.kind != FINDING_NONE;
    if (found)
        snprintf(s->outcome->finding.tool, sizeof s->outcome->finding.tool, "%s", tools[tool].name);
    else if (w->crash.kind != FINDING_NONE)
        keep_finding(s, &w->crash), found = true;
    else if (ending == HUNG_IN_WRAPPER)
        say_endless(s), found = true;
    else if (ending == HUNG)
        found = fail(s, "compute-sanitizer (%s) does not come to an end", tools[tool].name);
    else if (w->started && w->in_wrapper && !log.complaint[0])
        say_left(s), found = true;
    else
        found = doubt(s, tool, &log, understood);
    log_free(&log);
    return found;
}

/* --- one tool, all tools ---------------------------------------------------------------------- */

static bool run_tool(struct session *s, int tool, const char *sanitizer) {
    struct arguments arguments;
    int status = 0;
    bool found;
    if (!make_directory(s) || !map_state(s))
        found = fail(s, "no directory for compute-sanitizer's files: %s", strerror(errno));
    else if (!build_arguments(&arguments, s, tool, sanitizer) || !start(s, &arguments))
        found = fail(s, "compute-sanitizer cannot be started: %s", strerror(errno));
    else
        found = conclude(s, tool, wait_for(s, tool, &status));
    has_run[tool] = !s->outcome->machine_fault[0];
    remove_files(s);
    return found;
}

/* Something does not end; threads that wait for each other at barriers are synccheck's to tell. */
static void look_for_barriers(struct session *s, const char *sanitizer) {
    struct outcome endless = *s->outcome;
    s->outcome->finding.kind = FINDING_NONE;
    run_tool(s, SYNCCHECK, sanitizer);
    if (s->outcome->machine_fault[0] || s->outcome->finding.kind == FINDING_NONE)
        *s->outcome = endless;
}

bool sanitizer_check(const struct check_options *options, struct outcome *outcome) {
    struct session s = {.options = options, .outcome = outcome};
    char path[1024];
    const char *sanitizer = find_sanitizer(path);
    if (!sanitizer)
        return fail(&s,
                    "there is no compute-sanitizer here, which watches kernels on a GPU; it comes "
                    "with the CUDA toolkit, beside nvcc");
    for (int tool = 0; tool < SANITIZER_TOOLS; tool++) {
        if (!run_tool(&s, tool, sanitizer)) continue;
        if (outcome->finding.kind == FINDING_ENDLESS && tool < SYNCCHECK)
            look_for_barriers(&s, sanitizer);
        return true;
    }
    return false;
}
