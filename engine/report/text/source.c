/* Source: which file the program was built from, whether it has changed since, and the command to
 * try next. */
#define _GNU_SOURCE /* readlink */
#include "source.h"
#include "json.h"
#include "text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of the lab, or nothing, where it is the usual one; kernel.cu's name; and its text:
 * each with a zero byte behind it. A program that is built without it (the grader's plain one, the
 * tests') knows no source. */
extern const char kernel_source[] __attribute__((weak));
extern const char kernel_source_end[] __attribute__((weak));

static const char *behind(const char *text) { return text + strlen(text) + 1; }

const char *source_name(void) { return kernel_source ? behind(kernel_source) : NULL; }

bool source_is_of_another_lab(void) { return kernel_source && *kernel_source; }

const char *source_text(void) { return kernel_source ? behind(source_name()) : NULL; }

bool source_may_say(const char *word) { return !source_text() || strstr(source_text(), word); }

bool source_is(const char *file) {
    const char *name = source_name();
    char here[PATH_MAX];
    if (!name) return false;
    const size_t folder = *name == '/' && getcwd(here, sizeof here) ? strlen(here) : 0;
    if (folder && strncmp(name, here, folder) == 0 && name[folder] == '/') name += folder + 1;
    const size_t length = strlen(file), expected = strlen(name); /* as seen from here */
    return expected && length >= expected && strcmp(file + length - expected, name) == 0;
}

/* A relative name starts from where make ran, the program's own directory. */
static FILE *open_source(void) {
    char path[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    while (length > 0 && path[length - 1] != '/') length--;
    if (*source_name() == '/' || length < 0) length = 0;
    snprintf(path + length, PATH_MAX, "%s", source_name());
    struct stat status;
    bool regular = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    return regular ? fopen(path, "rb") : NULL;
}

enum source_state source_state(void) {
    FILE *file = kernel_source ? open_source() : NULL;
    if (!file) return SOURCE_GONE;
    const char *text = source_text();
    bool same = true;
    for (int c = getc(file); same && c != EOF; c = getc(file))
        same = text < kernel_source_end && (unsigned char)*text++ == c;
    same = same && text == kernel_source_end && !ferror(file);
    fclose(file);
    return same ? SOURCE_UNCHANGED : SOURCE_CHANGED;
}

/* " KERNEL=...", quoted so that a shell reads this name; make takes it as it is. */
static void print_kernel(const char *name, FILE *out) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
    bool quote = name[strspn(name, plain)] != '\0';
    fprintf(out, " KERNEL=%s", quote ? "'" : "");
    for (; *name; name++) {
        if (*name == '\'')
            fputs("'\\''", out);
        else
            putc(*name, out);
    }
    fputs(quote ? "'" : "", out);
}

/* What make takes where no KERNEL is given. */
static bool is_usual_kernel(void) {
    const size_t folder = strlen(kernel_source);
    return strncmp(source_name(), kernel_source, folder) == 0 &&
           strcmp(source_name() + folder, folder ? "/kernel.cu" : "kernel.cu") == 0;
}

void source_print_next(enum source_state state, const char *program, const char *rebuild,
                       const char *next, FILE *out) {
    if (!kernel_source) return;
    if (state == SOURCE_CHANGED) {
        bool color = use_color(out);
        fprintf(out, "%swarning:%s %s has changed since %s was built\n", color ? "\33[1;33m" : "",
                color ? "\33[0m" : "", source_name(), program);
        next = rebuild;
    }
    if (!next) return;
    fprintf(out, "next: %s", next);
    if (source_is_of_another_lab()) fprintf(out, " LAB=%s", kernel_source);
    if (!is_usual_kernel()) print_kernel(source_name(), out);
    fputc('\n', out);
}

void source_json(struct json *json, enum source_state state) {
    static const char *const changed[] = {"false", "true", "null"};
    if (!kernel_source) {
        json_text(json, "source", NULL);
        return;
    }
    json_open(json, "source", '{');
    json_text(json, "file", source_name());
    json_value(json, "changed", "%s", changed[state]);
    json_close(json, '}');
}
