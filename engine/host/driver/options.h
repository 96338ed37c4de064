/* The command line of the plain program, and exit statuses. */
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
    int repeat; /* timed launches; 0: not given, the backend's own default */
    enum verify_mode verify;
    double timeout; /* seconds that one launch may take */
    bool json;
    bool help, version;
    bool fill_given, timeout_given;
};

/* Read the command line into *options, defaults included (a seed that was not given is drawn
 * fresh). Prints nothing and does not exit. EXIT_PASSED, or EXIT_USAGE with a one-line message;
 * then options->json says how to print it. */
enum exit_status options_parse(int argc, char **argv, struct options *options,
                               char message[MESSAGE_SIZE]);

/* Its name on the command line. */
const char *verify_name(enum verify_mode mode);

#ifdef __cplusplus
}
#endif
#endif
