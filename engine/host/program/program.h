/* A program with its own main() under watch: what its process leaves, and what is said of it. */
#ifndef ENGINE_HOST_PROGRAM_PROGRAM_H
#define ENGINE_HOST_PROGRAM_PROGRAM_H
#include "../../engine.h"

enum { PROGRAM_FINDINGS = 32 };
enum { EXIT_MISTAKE = 1, EXIT_BAD_USAGE = 2, EXIT_BAD_MACHINE = 3 };

/* Of the run, in memory that the program's process shares with the one that waits for it. */
struct program_run {
    struct finding findings[PROGRAM_FINDINGS]; /* the gravest first */
    int count;
    int launches;
    bool is_leak;            /* the finding is what was never freed: none, if the program failed */
    bool ended;              /* all of this is complete */
    char machine_fault[256]; /* why the machine is at fault; empty: it is not */
};

/* How the program ended, and in what time. */
struct program_end {
    int status; /* that it gave exit(), or returned from main() */
    int signal; /* by which it was stopped; 0: none */
    double seconds;
};

/* 0: nothing was found and the program says that all went well; 1; 3: the machine is at fault. */
int program_exit_status(const struct program_run *run, const struct program_end *end);

void program_print(const struct program_run *run, const struct program_end *end);
void program_print_json(const struct program_run *run, const struct program_end *end);

#endif
