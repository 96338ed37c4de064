/* The plain program's command line: what is printed of it, and whether this machine has the memory.
 */
#include "../../report/text/numbers.h"
#include "report.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- help ------------------------------------------------------------------------------------- */

/* A list in words. */
struct names {
    char of[300];
};

/* "A and B" */
static struct names input_names(void) {
    struct names names = {""};
    int count = 0, at = 0;
    for (int i = 0; i < lab_arrays(&lab); i++) count += role_has_values(lab.arrays[i].role);
    for (int i = 0; i < lab_arrays(&lab); i++)
        if (role_has_values(lab.arrays[i].role))
            APPEND(names.of, "%s%s", list_separator(at++, count), lab.arrays[i].name);
    return names;
}

static const char other_options[] =
    "  --json           print one JSON object instead of text\n"
    "  --help           print this\n"
    "  --version        print the version\n"
    "\n"
    "Exit status: 0 the test passed, 1 the kernel is wrong, 2 bad usage,\n"
    "3 the machine is at fault.\n";

static void print_usage(void) {
    for (int i = 0; i < LENGTH(lab.usage) && lab.usage[i].sizes; i++) {
        const struct lab_usage *u = &lab.usage[i];
        char line[80] = "";
        APPEND(line, "%s ./%s [options] %s", i ? "      " : "usage:", lab.name, u->sizes);
        printf("%-33s %s\n", line, u->what);
    }
}

/* An option, and what it does: one paragraph. */
static void print_option(const char *option, const char *format, ...) {
    char first[32], text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(first, sizeof first, "%-17s", option);
    print_paragraph("  ", first, text, stdout);
}

static void print_fills(void) {
    for (int i = 0; i < LAB_FILLS && lab.fills[i].name; i++) {
        char text[200];
        snprintf(text, sizeof text, "%-21s%-11s%s", "", lab.fills[i].name, lab.fills[i].what);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            printf("%*s%s\n", line == text ? 0 : 32, "", line);
    }
}

static void print_help(void) {
    const struct names all = input_names();
    const char *const inputs = all.of;
    char what[400];
    print_usage();
    snprintf(what, sizeof what, "Runs %s of kernel.cu, times it, and checks the result: %s.",
             lab.wrapper, lab.title);
    putchar('\n');
    print_paragraph("", "", what, stdout);
    putchar('\n');
    print_option("--seed N", "make %s from this seed (default: a fresh one, printed)", inputs);
    print_option("--fill KIND", "values of %s (default: %s)", inputs, lab.fills[0].name);
    print_fills();
    print_option("--repeat N", "timed launches (default: 10 on a GPU, 1 on the CPU backend)");
    print_option("--verify MODE", "full (default), quick (samples, for large sizes) or none");
    print_option("--timeout S", "seconds one launch may take (default: %s)",
                 lab.time ? lab.time : "10, and 1 more for every 20 million operations");
    fputs(other_options, stdout);
}

/* --- the program ------------------------------------------------------------------------------ */

void options_stop(enum exit_status status, const char *message, bool json) {
    fprintf(stderr, "%s: %s\n", lab.name, message);
    if (json) report_json(NULL, status, message, stdout);
    exit(status);
}

struct options options_read(int argc, char **argv) {
    char message[MESSAGE_SIZE];
    struct options options;
    enum exit_status status = options_parse(argc, argv, &options, message);
    if (status == EXIT_PASSED && (options.help || options.version)) {
        if (options.help)
            print_help();
        else
            printf("%s %s\n", lab.name, lab.version);
        exit(EXIT_PASSED);
    }
    if (status == EXIT_PASSED) {
        size_t needed = memory_needed(&options.which.shape);
        size_t available = memory_available();
        if (needed <= available) return options;
        status = EXIT_MACHINE;
        snprintf(
            message, sizeof message,
            "these sizes need %.1f GB of memory and %.1f GB are available: choose smaller ones",
            (double)needed / 1e9, (double)available / 1e9);
    }
    options_stop(status, message, options.json);
}
