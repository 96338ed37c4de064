/* Command lines: of both programs as rows of a table, and the plain program's own. */
#define _GNU_SOURCE /* getrandom */
#include "../../report/text/json.h"
#include "../../report/text/numbers.h"
#include "../host.h"
#include "driver.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* What the user typed, fit for one line of a message: short, and without control characters. */
struct quoted {
    char text[48];
};

static struct quoted quote(const char *typed) {
    struct quoted quoted;
    const int room = sizeof quoted.text - sizeof "...";
    snprintf(quoted.text, sizeof quoted.text, "%.*s%s", room, typed,
             strlen(typed) > (size_t)room ? "..." : "");
    for (char *c = quoted.text; *c; c++)
        if (*c < 0x20 || *c >= 0x7f) *c = '?';
    return quoted;
}

/* For `return usage(...)` in what says whether all is well. */
#define usage(message, ...) (snprintf(message, MESSAGE_SIZE, __VA_ARGS__), EXIT_USAGE)

/* --- values ----------------------------------------------------------------------------------- */

/* A whole number without sign, space or anything after it; false also when it is above UINT64_MAX.
 */
static bool parse_unsigned(const char *text, bool hex_allowed, uint64_t *value) {
    bool hex = hex_allowed && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    if (!digits[0] || digits[strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789")])
        return false;
    errno = 0;
    unsigned long long parsed = strtoull(digits, NULL, hex ? 16 : 10);
    *value = parsed;
    return errno == 0;
}

const char wanted_seed[] = "give a whole number from 0 to 2^64 - 1, decimal or 0x";

bool read_seed(const char *value, void *seed) { return parse_unsigned(value, true, seed); }

const char wanted_fill[] = "choose one of";

bool read_fill(const char *value, void *fill) {
    return (*(int *)fill = lab_fill(&lab, value)) >= 0;
}

static bool read_repeat(const char *value, void *repeat) {
    const uint64_t most = 1000000;
    uint64_t count;
    if (!parse_unsigned(value, false, &count) || count < 1 || count > most) return false;
    *(int *)repeat = (int)count;
    return true;
}

static const char *const verify_names[] = {"full", "none"};

const char *verify_name(enum verify_mode mode) { return verify_names[mode]; }

static bool read_verify(const char *value, void *mode) {
    int i = 0;
    while (i < LENGTH(verify_names) && strcmp(value, verify_names[i]) != 0) i++;
    *(enum verify_mode *)mode = (enum verify_mode)i;
    return i < LENGTH(verify_names);
}

const char wanted_timeout[] = "give seconds above 0, like 20 or 2.5";

bool read_timeout(const char *value, void *seconds) {
    const double most = 1e6; /* eleven days */
    char *end;
    if (!value[0] || value[strspn(value, "0123456789.")]) return false;
    const double given = *(double *)seconds = strtod(value, &end);
    return end != value && !*end && given > 0 && given <= most;
}

static enum exit_status parse_size(const char *text, const struct lab_param *param, int64_t *size,
                                   char message[MESSAGE_SIZE]) {
    uint64_t value = 0;
    const bool digits = text[0] && !text[strspn(text, "0123456789")];
    if (digits && (!parse_unsigned(text, false, &value) || value > (uint64_t)param->most))
        return usage(message, "size '%s' is too large: %s is at most %" PRId64, quote(text).text,
                     param->name, param->most);
    if (!digits || value < (uint64_t)param->least)
        return usage(message, "'%s' is not a size: give whole numbers from %" PRId64 " to %" PRId64,
                     quote(text).text, param->least, param->most);
    *size = (int64_t)value;
    return EXIT_PASSED;
}

static enum exit_status wrong_count(int count, char message[MESSAGE_SIZE]) {
    snprintf(message, MESSAGE_SIZE, "%d sizes given: give ", count);
    for (int i = 0; i < LENGTH(lab.usage) && lab.usage[i].sizes; i++)
        append(message, MESSAGE_SIZE, "%s%s", i ? ", or " : "",
               lab.usage[i].sizes[0] ? lab.usage[i].sizes : "none");
    return EXIT_USAGE;
}

static enum exit_status parse_sizes(int count, char **sizes, struct shape *shape,
                                    char message[MESSAGE_SIZE]) {
    const int params = lab_params(&lab);
    const bool one = count == 1 && lab.one_for_all;
    if (count != 0 && count != params && !one) return wrong_count(count, message);
    for (int i = 0; i < params; i++) {
        const int at = lab_typed(&lab, i);
        shape->of[at] = lab.params[at].usual;
        if (!count) continue;
        const enum exit_status status =
            parse_size(sizes[one ? 0 : i], &lab.params[at], &shape->of[at], message);
        if (status != EXIT_PASSED) return status;
    }
    return truth_allows(shape, message) ? EXIT_PASSED : EXIT_USAGE;
}

/* --- options ---------------------------------------------------------------------------------- */

static enum exit_status set_member(const struct option_row *row, const char *value,
                                   struct options *options, char message[MESSAGE_SIZE]) {
    void *const member = (char *)options + row->member;
    if (!row->value)
        *(bool *)member = true;
    else if (!row->read)
        *(const char **)member = value;
    else if (!row->read(value, member))
        snprintf(message, MESSAGE_SIZE, "%s '%s' is wrong: %s", row->name, quote(value).text,
                 row->wanted);
    for (int i = 0; row->read == read_fill && message[0] && lab.fills[i].name; i++)
        append(message, MESSAGE_SIZE, "%s%s", i ? ", " : " ", lab.fills[i].name);
    return message[0] ? EXIT_USAGE : EXIT_PASSED;
}

/* The option of the first of these words, which may take the second one. */
static enum exit_status parse_option(const struct option_row *row, char ***words,
                                     struct options *options, char message[MESSAGE_SIZE]) {
    const char *typed = *(*words)++, *value = strchr(typed, '=');
    const size_t length = value ? (size_t)(value++ - typed) : strlen(typed);
    while (row->name && (strncmp(typed, row->name, length) != 0 || row->name[length])) row++;
    if (!row->name)
        return usage(message, "there is no option '%s': --help lists the options",
                     quote(typed).text);
    if (value && !row->value)
        return usage(message, "option '%s' takes no value", quote(typed).text);
    if (row->value && !value && !(value = *(*words)++))
        return usage(message, "option '%s' needs a value: --help says which", quote(typed).text);
    return set_member(row, value, options, message);
}

/* What begins with a - but for -5, by which a student means a size. */
static bool is_option(const char *word) {
    return word[0] == '-' && word[1] && word[1] != '.' && !isdigit((unsigned char)word[1]);
}

/* 32 bits, so that a student can retype it. */
static uint64_t fresh_seed(void) {
    uint32_t seed = 0;
    while (getrandom(&seed, sizeof seed, 0) < 0 && errno == EINTR) continue;
    return seed;
}

enum exit_status options_parse(int argc, char **argv, const struct option_row *rows,
                               struct options *options, char message[MESSAGE_SIZE]) {
    const struct vocabulary words = lab_words(&lab);
    char **word = argv + 1, **const sizes = argv + 1;
    enum exit_status status = EXIT_PASSED;
    int count = 0;
    vocabulary_use(&words);
    *options = (struct options){.which = {.seed = fresh_seed(), .fill = -1}, .verify = VERIFY_FULL};
    for (int i = 1; i < argc; i++) options->json |= strcmp(argv[i], "--json") == 0;
    message[0] = '\0';
    while (*word && status == EXIT_PASSED)
        if (is_option(*word))
            status = parse_option(rows, &word, options, message);
        else
            sizes[count++] = *word++;
    if (status != EXIT_PASSED || options->help || options->version) return status;
    options->sized = count > 0;
    options->fill_given = options->which.fill >= 0;
    if (!options->fill_given) options->which.fill = 0;
    status = parse_sizes(count, sizes, &options->which.shape, message);
    options->timeout_given = options->timeout > 0;
    if (status == EXIT_PASSED && !options->timeout_given)
        options->timeout = truth_seconds(&options->which.shape);
    return status;
}

void options_help(const struct option_row *row) {
    for (; row->name; row++) {
        char option[40], first[48], text[400] = "";
        if (!row->help) continue;
        snprintf(option, sizeof option, "%s %s", row->name, row->value ? row->value : "");
        snprintf(first, sizeof first, "%-17s", option);
        APPEND(text, "%s", row->help);
        if (row->usual && *row->usual) APPEND(text, " (default: %s)", *row->usual);
        print_paragraph("  ", first, text, stdout);
    }
}

/* --- the plain program ------------------------------------------------------------------------ */

#define AT(member) offsetof(struct options, member)

const struct option_row options_of_run[] = {
    {"--seed", "N", AT(which.seed),
     "make the inputs from this seed (default: a fresh one, printed)", read_seed, wanted_seed},
    {"--fill", "KIND", AT(which.fill), "values of the inputs, see below", read_fill, wanted_fill,
     &lab.fills[0].name},
    {"--repeat", "N", AT(repeat), "timed launches (default: 10 on a GPU, 1 on the CPU backend)",
     read_repeat, "give a whole number from 1 to 1000000"},
    {"--verify", "MODE", AT(verify), "full (default) or none", read_verify, "choose full or none"},
    {"--timeout", "S", AT(timeout), "seconds one launch may take", read_timeout, wanted_timeout,
     &lab.time},
    {"--json", NULL, AT(json), "print one JSON object instead of text"},
    {"--help", NULL, AT(help), "print this"},
    {"--version", NULL, AT(version), "print the version"},
    {0}};

static void print_help(void) {
    char what[400];
    for (int i = 0; i < LENGTH(lab.usage) && lab.usage[i].sizes; i++) {
        const struct lab_usage *u = &lab.usage[i];
        char line[80] = "";
        APPEND(line, "%s ./%s [options] %s", i ? "      " : "usage:", lab.name, u->sizes);
        printf("%-33s %s\n", line, u->what);
    }
    snprintf(what, sizeof what, "Runs %s of kernel.cu, times it, and checks the result: %s.",
             lab.wrapper, lab.title);
    putchar('\n');
    print_paragraph("", "", what, stdout);
    putchar('\n');
    options_help(options_of_run);
    puts("\nKIND is one of these:");
    for (int i = 0; i < LAB_FILLS && lab.fills[i].name; i++) {
        char text[200];
        snprintf(text, sizeof text, "  %-17s%s", lab.fills[i].name, lab.fills[i].what);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            printf("%*s%s\n", line == text ? 0 : 19, "", line);
    }
    puts("\nExit status: 0 the test passed, 1 the kernel is wrong, 2 bad usage,\n"
         "3 the machine is at fault.");
}

void options_stop(enum exit_status status, const char *message, bool json) {
    struct json object = {stdout, false};
    fprintf(stderr, "%s: %s\n", lab.name, message);
    if (json) {
        json_open(&object, NULL, '{');
        json_text(&object, "status", "error");
        json_value(&object, "exit_status", "%d", status);
        json_text(&object, "message", message);
        json_close(&object, '}');
        putchar('\n');
    }
    exit(status);
}

struct options options_read(int argc, char **argv) {
    char message[MESSAGE_SIZE];
    struct options options;
    enum exit_status status = options_parse(argc, argv, options_of_run, &options, message);
    if (status != EXIT_PASSED) options_stop(status, message, options.json);
    if (options.help) print_help();
    if (options.version && !options.help) printf("%s %s\n", lab.name, lab.version);
    if (options.help || options.version) exit(EXIT_PASSED);
    const size_t needed = memory_needed(&options.which.shape), available = memory_available(NULL);
    if (needed <= available) return options;
    snprintf(message, sizeof message,
             "these sizes need %.1f GB of memory and %.1f GB are available: choose smaller ones",
             (double)needed / 1e9, (double)available / 1e9);
    options_stop(EXIT_MACHINE, message, options.json);
}
