/* Options: the command line of ./sgemm, parsed and checked against this machine's memory. */
#define _GNU_SOURCE /* getopt_long */
#include "../../support.h"
#include "../report/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char fill_list[] = "random, ones-twos, identity, index, exact, extremes, counting";

enum { DEFAULT_SIZE = 1000, MAX_REPEAT = 1000000 };
static const double max_timeout = 1e6; /* seconds, so eleven days */

static const char help_text[] =
    "usage: ./sgemm [options]          multiply 1000 x 1000 matrices\n"
    "       ./sgemm [options] M        M x M matrices\n"
    "       ./sgemm [options] M K N    A (M x K) by B (K x N)\n"
    "\n"
    "Runs basicSgemm of kernel.cu, compares C = A B with a reference, times it.\n"
    "\n"
    "  --seed N         make A and B from this seed (default: a fresh one, printed)\n"
    "  --fill KIND      what A and B hold (default: random)\n"
    "                     random     uniform on (-1, 1)\n"
    "                     ones-twos  A = 1, B = 2: every element of C is 2 K\n"
    "                     identity   A picks rows of B: C[i][j] = B[i mod K][j], and\n"
    "                                the values of B name their row and column\n"
    "                     index      B picks columns of A: C[i][j] = A[i][j mod K],\n"
    "                                the values of A name their row and column\n"
    "                     exact      integers that float32 adds up exactly\n"
    "                     extremes   magnitudes from 2^-30 to 2^30\n"
    "                     counting   1, 2, 3, ... row by row\n"
    "  --repeat N       timed launches (default: 10 on a GPU, 1 on the CPU backend)\n"
    "  --verify MODE    full (default), quick (samples, for large sizes) or none\n"
    "  --timeout S      seconds one launch may take (default: 10, and 1 more for\n"
    "                   every 20 million multiply-adds M K N)\n"
    "  --json           print one JSON object instead of text\n"
    "  --help           print this\n"
    "  --version        print the version\n"
    "\n"
    "Exit status: 0 the test passed, 1 the kernel is wrong, 2 bad usage,\n"
    "3 the machine is at fault.\n";

double default_timeout(int m, int n, int k) {
    /* Twenty times what a plain build of a naive kernel takes on two cores, and more. */
    return 10.0 + (double)m * n * k / 20e6;
}

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

static enum exit_status parse_size(const char *text, int *size, char message[MESSAGE_SIZE]) {
    uint64_t value = 0;
    bool digits = text[0] && !text[strspn(text, "0123456789")];
    if (digits && (!parse_unsigned(text, false, &value) || value > INT_MAX))
        return usage(message, "size '%s' is too large: a dimension is at most %d", quote(text).text,
                     INT_MAX);
    if (!digits || value == 0)
        return usage(message, "'%s' is not a matrix size: give whole numbers from 1 to %d",
                     quote(text).text, INT_MAX);
    *size = (int)value;
    return EXIT_PASSED;
}

/* Kernels compute row * n + col in int, which must not overflow. */
static enum exit_status check_elements(char name, int rows, int cols, char message[MESSAGE_SIZE]) {
    int64_t elements = (int64_t)rows * cols;
    if (elements <= INT_MAX) return EXIT_PASSED;
    return usage(message,
                 "%c would be %d x %d = %" PRId64 " elements: a matrix has at most %d, "
                 "because kernels index with int",
                 name, rows, cols, elements, INT_MAX);
}

static enum exit_status parse_sizes(int count, char **sizes, struct options *options,
                                    char message[MESSAGE_SIZE]) {
    int value[3] = {DEFAULT_SIZE, DEFAULT_SIZE, DEFAULT_SIZE};
    if (count != 0 && count != 1 && count != 3)
        return usage(message, "%d sizes given: give none, one (M) or three (M K N)", count);
    for (int i = 0; i < count; i++) {
        enum exit_status status = parse_size(sizes[i], &value[i], message);
        if (status != EXIT_PASSED) return status;
    }
    if (count == 1) value[1] = value[2] = value[0];
    options->m = value[0];
    options->k = value[1]; /* the command line says m k n */
    options->n = value[2];
    enum exit_status status = check_elements('A', options->m, options->k, message);
    if (status == EXIT_PASSED) status = check_elements('B', options->k, options->n, message);
    if (status == EXIT_PASSED) status = check_elements('C', options->m, options->n, message);
    return status;
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

/* One option that getopt_long knows. */
static enum exit_status parse_option(int option, const char *argument, struct options *options,
                                     char message[MESSAGE_SIZE]) {
    uint64_t value;
    switch (option) {
    case OPTION_SEED:
        if (!parse_unsigned(argument, true, &options->seed))
            return usage(
                message,
                "'%s' is not a seed: give a whole number from 0 to 2^64 - 1, decimal or 0x",
                quote(argument).text);
        break;
    case OPTION_FILL:
        if (!fill_parse(argument, &options->fill))
            return usage(message, "there is no fill '%s': choose one of %s", quote(argument).text,
                         fill_list);
        break;
    case OPTION_REPEAT:
        if (!parse_unsigned(argument, false, &value) || value < 1 || value > MAX_REPEAT)
            return usage(message, "--repeat '%s' is wrong: give a whole number from 1 to %d",
                         quote(argument).text, MAX_REPEAT);
        options->repeat = (int)value;
        break;
    case OPTION_VERIFY:
        if (!verify_parse(argument, &options->verify))
            return usage(message, "--verify '%s' is wrong: choose full, quick or none",
                         quote(argument).text);
        break;
    case OPTION_TIMEOUT:
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
        int size;
        if (isdigit(optopt) || optopt == '.') return parse_size(typed, &size, message);
        if (optopt == 'h') return usage(message, "there is no option -h: --help lists the options");
    }
    if (optopt >= OPTION_SEED)
        return usage(message, "option '%s' takes no value", quote(typed).text);
    return usage(message, "there is no option '%s': --help lists the options", quote(typed).text);
}

enum exit_status options_parse(int argc, char **argv, struct options *options,
                               char message[MESSAGE_SIZE]) {
    *options = (struct options){.fill = FILL_RANDOM, .verify = VERIFY_FULL};
    options->seed = fresh_seed();
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
    enum exit_status status = parse_sizes(argc - optind, argv + optind, options, message);
    if (status == EXIT_PASSED && options->timeout == 0)
        options->timeout = default_timeout(options->m, options->n, options->k);
    return status;
}

static bool wants_json(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) return true;
    }
    return false;
}

struct options options_read(int argc, char **argv) {
    char message[MESSAGE_SIZE];
    struct options options;
    enum exit_status status = options_parse(argc, argv, &options, message);
    if (status == EXIT_PASSED && (options.help || options.version)) {
        fputs(options.help ? help_text : "sgemm " SGEMM_VERSION "\n", stdout);
        exit(EXIT_PASSED);
    }
    if (status == EXIT_PASSED) {
        size_t needed = memory_needed(options.m, options.n, options.k);
        size_t available = memory_available();
        if (needed <= available) return options;
        status = EXIT_MACHINE;
        snprintf(
            message, sizeof message,
            "these sizes need %.1f GB of memory and %.1f GB are available: choose smaller ones",
            (double)needed / 1e9, (double)available / 1e9);
    }
    fprintf(stderr, "sgemm: %s\n", message);
    if (wants_json(argc, argv)) report_json(NULL, status, message, stdout);
    exit(status);
}
