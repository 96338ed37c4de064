/* From an address to a line of source: by addr2line, which every gcc installation brings along
 * (binutils). */
#define _GNU_SOURCE
#include "../../report/text/text.h"
#include "program.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
extern const char __executable_start[], etext[], end[]; /* set by the linker */

bool place_in_program(const void *address) {
    return (const char *)address >= __executable_start && (const char *)address < etext;
}

bool place_in_image(const void *address) {
    return (const char *)address >= __executable_start && (const char *)address < end;
}

/* --- lines ------------------------------------------------------------------------------------ */

uintptr_t place_link_address(const void *address) {
    const Elf64_Ehdr *header = (const void *)__executable_start;
    uintptr_t base = header->e_type == ET_DYN ? (uintptr_t)__executable_start : 0;
    return (uintptr_t)address - base;
}

static FILE *start_tool(const char *const *arguments, pid_t *pid) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(pid, arguments[0], &actions, NULL,
                              (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *stream = failed ? NULL : fdopen(ends[0], "r");
    if (!stream) close(ends[0]);
    return stream;
}

/* What is linked with a submission: C files and headers below these folders, and a driver. A
 * submission is a .cu file, in whatever folder. */
static bool is_projects(const char *file) {
    static const char *const folders[] = {"/engine/cuda/", "/engine/watch/", "/engine/explain/",
                                          "/engine/host/", "/grader/worker/"};
    const char *extension = strrchr(file, '.');
    if (strstr(file, "/grader/worker/worker.cu")) return true;
    if (!extension || (strcmp(extension, ".c") != 0 && strcmp(extension, ".h") != 0)) return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i)
        if (strstr(file, folders[i])) return true;
    return false;
}

/* "/home/me/lab/kernel.cu:12 (discriminator 3)" -> file, line; relative to where we are. False: it
 * is none of the student's. */
static bool parse_place(char *text, struct place *place) {
    char *colon = strrchr(text, ':');
    if (!colon) return false;
    *colon = '\0';
    place->line = atoi(colon + 1);
    if (place->line <= 0 || text[0] == '?' || is_projects(text) || strncmp(text, "/usr/", 5) == 0)
        return false;
    snprintf(place->file, sizeof place->file, "%s", path_from_here(text));
    return true;
}

/* A line, or what of it fits: a template's name can be thousands of characters long. */
static bool read_text(char *text, int bytes, FILE *stream) {
    if (!fgets(text, bytes, stream)) return false;
    for (int c = strchr(text, '\n') ? '\n' : getc(stream); c != '\n' && c != EOF;) c = getc(stream);
    return true;
}

/* A template of our headers, which gcc may place in the file that uses it. */
static bool is_emulators(const char *function) {
    return strncmp(function, "emulator::", 10) == 0 ||
           strncmp(function, "void emulator::", 15) == 0;
}

/* Whether a member of this name, whose argument is an object of its class, copies it: the
 * constructor of pair<int> is pair. */
static bool copies(const char *name, size_t length, const char *class) {
    const size_t bare = strcspn(class, "<& "), before = bare - length;
    if (length == 9 && strncmp(name, "operator=", length) == 0) return true;
    return length <= bare && strncmp(class + before, name, length) == 0 &&
           (!before || class[before - 1] == ':');
}

/* Whether it is "pair::operator=(pair const&)" or "pair::pair(pair&&)", say. The compiler's own has
 * the line of the class. */
static bool is_copy(const char *function) {
    const char *const end = strrchr(function, '&');
    if (!end || end == function || strcmp(end, "&)") != 0) return false;
    for (const char *open = strchr(function, '('); open; open = strchr(open + 1, '(')) {
        const char *const class = open + 1;
        const ptrdiff_t length = end - class - (end[-1] == '&' ? 1 : 6); /* without " const" */
        const char *const name = function + length + 2;
        if (length > 0 && name < open && strncmp(function, class, (size_t)length) == 0 &&
            strncmp(name - 2, "::", 2) == 0)
            return copies(name, (size_t)(open - name), class);
    }
    return false;
}

/* Pairs of lines, a function and a place, from the innermost on. A copy is where it is called. */
static struct place read_places(FILE *stream) {
    struct place found = {.line = 0}, next = {.line = 0};
    char text[1024], called[sizeof found.called] = "";
    bool in_copy = false;
    while (read_text(next.function, sizeof next.function, stream)) {
        next.function[strcspn(next.function, "\n")] = '\0';
        const bool copy = is_copy(next.function);
        next.function[strcspn(next.function, "(")] = '\0'; /* the name will do */
        if (!read_text(text, sizeof text, stream)) break;
        if ((!found.line || in_copy) && !is_emulators(next.function) && parse_place(text, &next)) {
            found = next;
            in_copy = copy;
            memcpy(found.called, called, sizeof called);
        }
        if (strncmp(next.function, "cuda", 4) == 0)
            snprintf(called, sizeof called, "%.*s", (int)sizeof called - 1, next.function);
    }
    return found;
}

/* The place that addr2line, or a tool that takes the same arguments, gives for those. */
static struct place ask(const char *const *arguments) {
    pid_t pid;
    struct place place = {.line = 0};
    FILE *stream = start_tool(arguments, &pid);
    if (!stream) return place;
    place = read_places(stream);
    fclose(stream);
    waitpid(pid, NULL, 0);
    return place;
}

static struct place find(void *const *addresses, int count) {
    enum { FIXED = 6, MOST = 96, TEXT = 20 };
    /* GNU's does not find each line of what clang has made. */
    static const char *const tools[] = {"addr2line", "llvm-addr2line"};
    char program[512], texts[MOST][TEXT];
    const char *arguments[FIXED + MOST + 1] = {NULL, "-C", "-f", "-i", "-e", program};
    int used = FIXED;
    struct place place = {.line = 0};
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return place;
    program[length] = '\0';
    if (access(program, R_OK) != 0) /* deleted, or never had a name */
        snprintf(program, sizeof program, "/proc/%d/exe", (int)getpid());
    for (int i = 0; i < count && i < MOST; ++i) {
        if (!place_in_program(addresses[i])) continue;
        snprintf(texts[i], TEXT, "0x%zx", (size_t)place_link_address(addresses[i]));
        arguments[used++] = texts[i];
    }
    for (size_t i = 0; i < sizeof tools / sizeof *tools && !place.line && used > FIXED; ++i) {
        arguments[0] = tools[i];
        place = ask(arguments);
    }
    return place;
}

struct place place_in_object(const char *object, const char *section, size_t offset) {
    char text[20];
    const char *const arguments[] = {"addr2line", "-C", "-f", "-i",    "-e",
                                     object,      text, "-j", section, NULL};
    snprintf(text, sizeof text, "0x%zx", offset);
    return ask(arguments);
}

/* An instruction that a compiler has made of two lines has no line; the nearest one in front of it
 * has one to report. */
struct place place_find(void *const *addresses, int count) {
    enum { STEP = 4, TRIES = 15, FRAMES = 6 };
    void *nearby[FRAMES * TRIES];
    int used = 0;
    struct place place = find(addresses, count);
    for (int i = 0; i < count && used < FRAMES * TRIES && !place.line; ++i)
        for (int near = 1; near <= TRIES && place_in_program(addresses[i]); ++near)
            nearby[used++] = (char *)addresses[i] - near * STEP;
    return used ? find(nearby, used) : place;
}

/* --- found before ----------------------------------------------------------------------------- */

/* Each search starts a program. A worker may be stopped for good anywhere in here (fault.c), so
 * nobody waits for anybody: entries are only added, and while one thread does, others do not. */
static struct {
    const void *code;
    struct place place;
} known[64];
static size_t known_count;
static bool adding;

static const struct place *find_known(const void *code) {
    const size_t count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);
    for (size_t i = 0; i < count; ++i)
        if (known[i].code == code) return &known[i].place;
    return NULL;
}

static void add_known(const void *code, const struct place *place) {
    if (__atomic_exchange_n(&adding, true, __ATOMIC_ACQUIRE)) return;
    if (known_count < sizeof known / sizeof *known) {
        known[known_count].code = code;
        known[known_count].place = *place;
        __atomic_store_n(&known_count, known_count + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&adding, false, __ATOMIC_RELEASE);
}

struct place place_before(const void *code) {
    const struct place *before = find_known(code);
    if (before) return *before;
    void *inside = (char *)(uintptr_t)code - 1;
    const struct place place = place_find(&inside, 1);
    add_known(code, &place);
    return place;
}

bool place_same_line(const struct place *a, const struct place *b) {
    return a->line && a->line == b->line && strcmp(a->file, b->file) == 0;
}
