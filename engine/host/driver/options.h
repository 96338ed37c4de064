/* The command lines of the plain program and of make check, and exit statuses. */
#ifndef ENGINE_HOST_OPTIONS_H
#define ENGINE_HOST_OPTIONS_H
#include "../../lab.h"
#include "../../report/text/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Exit statuses. A grader must be able to distinguish a wrong kernel from a broken machine. */
enum exit_status {
    EXIT_PASSED = 0,  /* the result is right, or was not compared (--verify none) */
    EXIT_WRONG = 1,   /* the kernel is wrong: result, launch, fault or time limit */
    EXIT_USAGE = 2,   /* the command line is wrong */
    EXIT_MACHINE = 3, /* the machine is at fault: no GPU, no memory, driver */
};

struct options {
    struct lab_case which;
    bool sized; /* sizes were given */
    int repeat; /* timed launches; 0: not given, the backend's own default */
    enum verify_mode verify;
    double timeout; /* seconds that one launch may take */
    bool json;
    bool help, version;
    bool fill_given, timeout_given;
};

/* An option, which sets a member of the options. */
struct option_row {
    const char *name;  /* "--seed" */
    const char *value; /* what it takes, for --help: "N"; null: nothing */
    size_t member;     /* its offset */
    const char *help;  /* what it does; null: --help does not say */
    /* Sets the member to a value; false: it is none. Null: to the text; without a value, to true.
     */
    bool (*read)(const char *value, void *member);
    const char *wanted;       /* behind "is wrong": what to do instead */
    const char *const *usual; /* its default, for --help; null: it has none, or help says it */
};

extern const struct option_row options_of_run[]; /* of the plain program; ends with zeros */

/* What the programs have in common: sets members of struct options. */
bool read_seed(const char *value, void *seed);
bool read_fill(const char *value, void *fill);
bool read_timeout(const char *value, void *seconds);
extern const char wanted_seed[], wanted_fill[], wanted_timeout[];

/* Reads the command line into *options, which begins what the rows set members of; the rest of that
 * is the caller's. Defaults included (a seed that was not given is drawn fresh). Prints nothing and
 * does not exit. EXIT_PASSED, or EXIT_USAGE with a one-line message; then options->json says how to
 * print it. Moves words of argv. */
enum exit_status options_parse(int argc, char **argv, const struct option_row *rows,
                               struct options *options, char message[MESSAGE_SIZE]);

/* What they do, a paragraph each. */
void options_help(const struct option_row *rows);

/* options_parse() for a program's main(): prints help, the version or the error and exits; also
 * exits (EXIT_MACHINE) when the sizes do not fit into this machine's memory. */
struct options options_read(int argc, char **argv);

/* The program ends before its run begins: a line on standard error, or a JSON object, too. */
void options_stop(enum exit_status status, const char *message, bool json)
    __attribute__((noreturn));

/* Its name on the command line. */
const char *verify_name(enum verify_mode mode);

#ifdef __cplusplus
}
#endif
#endif
