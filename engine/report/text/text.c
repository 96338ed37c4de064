/* See text.h. */
#define _GNU_SOURCE /* fileno */
#include "text.h"
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool use_color(FILE *out) {
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(out)) && !(no_color && *no_color) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

enum { NARROWEST = 40, WIDTH = 80 };
static int width_of_files = WIDTH;

void text_fit(FILE *out) { width_of_files = text_width(out); }

int text_width(FILE *out) {
    struct winsize size;
    if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || !size.ws_col)
        return width_of_files;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col < WIDTH ? size.ws_col : WIDTH;
}

struct grouped grouped(uint64_t count) {
    enum { PLAIN = 4, GROUP = 3 }; /* digits */
    struct grouped g = {""};
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    for (int i = 0, to = 0; i < length; i++) {
        if (i && length > PLAIN && (length - i) % GROUP == 0) g.text[to++] = ',';
        g.text[to++] = digits[i];
    }
    return g;
}

struct how_many how_many(uint64_t count, uint64_t of) {
    struct how_many words = {""};
    if (of == 1)
        APPEND(words.text, "the one element");
    else if (count == of)
        APPEND(words.text, "all %s elements", grouped(of).text);
    else
        APPEND(words.text, "%s of the %s elements", grouped(count).text, grouped(of).text);
    return words;
}

void print_wrapped(int column, int margin, const char *text, FILE *out) {
    const int width = text_width(out);
    for (const char *gap = ""; *text && *text != '\n'; gap = " ") {
        int length = (int)strcspn(text, " \n");
        if (*gap && column + 1 + length > width) {
            fprintf(out, "\n%*s", margin, "");
            column = margin;
            gap = "";
        }
        column += fprintf(out, "%s%.*s", gap, length, text);
        text += length + strspn(text + length, " ");
    }
}

void print_paragraph(const char *indent, const char *first, const char *text, FILE *out) {
    const int margin = fprintf(out, "%s%s", indent, first);
    print_wrapped(margin, margin, text, out);
    fputc('\n', out);
}

void append(char *text, size_t size, const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

/* Of a file below this folder the rest of its path, else null. */
static const char *path_below(const char *folder, const char *file) {
    const size_t length = folder ? strlen(folder) : 0;
    const bool below = length && strncmp(file, folder, length) == 0 && file[length] == '/';
    return below ? file + length + 1 : NULL;
}

/* A program that is started in another folder than the one that starts it has a wrong PWD. */
static bool is_here(const char *folder) {
    struct stat there, here;
    return folder && stat(folder, &there) == 0 && stat(".", &here) == 0 &&
           there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

const char *path_from_here(const char *file) {
    char here[PATH_MAX];
    const char *pwd = getenv("PWD"), *path = NULL;
    if (*file == '/') path = path_below(getcwd(here, sizeof here), file);
    if (!path && *file == '/' && is_here(pwd)) path = path_below(pwd, file); /* a symbolic link */
    return path ? path : file;
}

const char *text_line(const char *text, int line) {
    while (text && --line > 0) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    return text;
}

double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#define WORDS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
#define NAMES WORDS ":<>(),.*&/~- []+"

const char characters_of_words[] = WORDS;
const char characters_of_names[] = NAMES;
const char characters_of_conditions[] = NAMES "=!%|^?'\"";
