/* Options: the command line of the plain program, parsed. */
#define _GNU_SOURCE /* getopt_long */
#include "options.h"
#include "../../report/text/numbers.h"
#include "../../report/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { MAX_REPEAT = 1000000 };
static const double max_timeout = 1e6; /* seconds, so eleven days */

static const char *const verify_names[] = {"full", "quick", "none"};

const char *verify_name(enum verify_mode mode) { return verify_names[mode]; }

static bool parse_verify(const char *name, enum verify_mode *mode) {
    int i = 0;
    while (i < LENGTH(verify_names) && strcmp(name, verify_names[i]) != 0) i++;
    *mode = (enum verify_mode)i;
    return i < LENGTH(verify_names);
}

/* A list in words. */
struct name_list {
    char of[300];
};

/* --- what was typed --------------------------------------------------------------------------- */

/* What the user typed, fit for one line of a message: short, and without control characters. */
struct quoted {
    char text[48];
};

static struct quoted quote(const char *typed) {
    struct quoted quoted;
    const size_t room = sizeof quoted.text - 4; /* for "..." */
    size_t length = min_size(strlen(typed), room);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)typed[i];
        quoted.text[i] = (c < 0x20 || c >= 0x7f) ? '?' : typed[i];
    }
    strcpy(quoted.text + length, typed[length] ? "..." : "");
    return quoted;
}

__attribute__((format(printf, 2, 3))) static enum exit_status usage(char message[MESSAGE_SIZE],
                                                                    const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return EXIT_USAGE;
}

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

/* "M K N" */
static struct shape_text size_names(void) {
    struct shape_text names = {""};
    for (int i = 0; i < LAB_PARAMS && lab.command_line[i]; i++)
        APPEND(names.of, "%s%s", i ? " " : "", lab.command_line[i]);
    for (char *c = names.of; *c; c++) *c = (char)toupper((unsigned char)*c);
    return names;
}

static enum exit_status wrong_count(int count, char message[MESSAGE_SIZE]) {
    static const char *const words[LAB_PARAMS + 1] = {"none", "one",  "two", "three",
                                                      "four", "five", "six"};
    const struct shape_text all = size_names();
    char one[32] = "";
    if (lab.one_for_all) APPEND(one, ", one (%.*s)", (int)strcspn(all.of, " "), all.of);
    return usage(message, "%d sizes given: give none%s or %s (%s)", count, one,
                 words[lab_params(&lab)], all.of);
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

static bool parse_timeout(const char *text, double *seconds) {
    char *end;
    if (!text[0] || text[strspn(text, "0123456789.")]) return false;
    *seconds = strtod(text, &end);
    return end != text && !*end && *seconds > 0 && *seconds <= max_timeout;
}

/* 32 bits, so that a student can retype it. */
static uint64_t fresh_seed(void) {
    uint32_t seed = 0;
    while (getrandom(&seed, sizeof seed, 0) < 0 && errno == EINTR) continue;
    return seed;
}

enum {
    OPTION_SEED = 256,
    OPTION_FILL,
    OPTION_REPEAT,
    OPTION_VERIFY,
    OPTION_TIMEOUT,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"seed", required_argument, NULL, OPTION_SEED},
    {"fill", required_argument, NULL, OPTION_FILL},
    {"repeat", required_argument, NULL, OPTION_REPEAT},
    {"verify", required_argument, NULL, OPTION_VERIFY},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* "random, ones-twos, identity" */
static struct name_list fill_names(void) {
    struct name_list names = {""};
    for (int i = 0; i < LAB_FILLS && lab.fills[i].name; i++)
        APPEND(names.of, "%s%s", i ? ", " : "", lab.fills[i].name);
    return names;
}

/* One option that getopt_long knows. */
static enum exit_status parse_option(int option, const char *argument, struct options *options,
                                     char message[MESSAGE_SIZE]) {
    uint64_t value;
    switch (option) {
    case OPTION_SEED:
        if (!parse_unsigned(argument, true, &options->which.seed))
            return usage(
                message,
                "'%s' is not a seed: give a whole number from 0 to 2^64 - 1, decimal or 0x",
                quote(argument).text);
        break;
    case OPTION_FILL:
        options->fill_given = true;
        options->which.fill = lab_fill(&lab, argument);
        if (options->which.fill < 0)
            return usage(message, "there is no fill '%s': choose one of %s", quote(argument).text,
                         fill_names().of);
        break;
    case OPTION_REPEAT:
        if (!parse_unsigned(argument, false, &value) || value < 1 || value > MAX_REPEAT)
            return usage(message, "--repeat '%s' is wrong: give a whole number from 1 to %d",
                         quote(argument).text, MAX_REPEAT);
        options->repeat = (int)value;
        break;
    case OPTION_VERIFY:
        if (!parse_verify(argument, &options->verify))
            return usage(message, "--verify '%s' is wrong: choose full, quick or none",
                         quote(argument).text);
        break;
    case OPTION_TIMEOUT:
        options->timeout_given = true;
        if (!parse_timeout(argument, &options->timeout))
            return usage(message, "--timeout '%s' is wrong: give seconds above 0, like 20 or 2.5",
                         quote(argument).text);
        break;
    case OPTION_JSON: options->json = true; break;
    case OPTION_HELP: options->help = true; break;
    case OPTION_VERSION: options->version = true; break;
    }
    return EXIT_PASSED;
}

/* What getopt_long rejects. It takes -5 for an option; a student means a size. */
static enum exit_status reject_option(int argc, char **argv, char message[MESSAGE_SIZE]) {
    const char *typed = argv[optind - 1];
    if (optopt > 0 && optopt < 256) {
        if (optind < argc && argv[optind][0] == '-' && argv[optind][1] == optopt)
            typed = argv[optind]; /* getopt is still inside this word */
        int64_t size;
        if (isdigit(optopt) || optopt == '.')
            return parse_size(typed, &lab.params[0], &size, message);
        if (optopt == 'h') return usage(message, "there is no option -h: --help lists the options");
    }
    if (optopt >= OPTION_SEED)
        return usage(message, "option '%s' takes no value", quote(typed).text);
    return usage(message, "there is no option '%s': --help lists the options", quote(typed).text);
}

enum exit_status options_parse(int argc, char **argv, struct options *options,
                               char message[MESSAGE_SIZE]) {
    const struct vocabulary words = lab_words(&lab);
    vocabulary_use(&words);
    *options = (struct options){.verify = VERIFY_FULL};
    options->which.seed = fresh_seed();
    for (int i = 1; i < argc; i++) options->json |= strcmp(argv[i], "--json") == 0;
    message[0] = '\0';
    optind = 0; /* start afresh, also when called twice */
    opterr = 0; /* print no messages of its own */
    int option;
    while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        enum exit_status status;
        if (option == ':')
            status = usage(message, "option '%s' needs a value: --help says which",
                           quote(argv[optind - 1]).text);
        else if (option == '?')
            status = reject_option(argc, argv, message);
        else
            status = parse_option(option, optarg, options, message);
        if (status != EXIT_PASSED) return status;
    }
    if (options->help || options->version) return EXIT_PASSED;
    enum exit_status status =
        parse_sizes(argc - optind, argv + optind, &options->which.shape, message);
    if (status == EXIT_PASSED && options->timeout == 0)
        options->timeout = truth_seconds(&options->which.shape);
    return status;
}
