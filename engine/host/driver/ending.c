/* How the process of main.cu has ended without a result: in words, and whose fault that is. */
#define _GNU_SOURCE
#include "../../report/text/numbers.h"
#include "report.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static const char no_return[] =
    "\nDoes every path through a function that returns a value return one?";

/* What is said of a crash behind the wrapper's name, with more behind that. */
static const struct crash {
    int signal;
    const char *text, *more; /* NULL: what the device pointers are */
} crashes[] = {
    {SIGSEGV, "crashed on the host: invalid memory access (SIGSEGV).", NULL},
    {SIGBUS, "crashed on the host: invalid memory access (SIGBUS).", NULL},
    {SIGFPE, "crashed: integer division by zero (SIGFPE).", ""},
    {SIGILL, "crashed: illegal instruction (SIGILL).", no_return},
    {SIGTRAP, "crashed: trap (SIGTRAP).", no_return},
    {SIGABRT, "crashed: aborted (SIGABRT).", ""},
};

/* NULL: the signal is none of a crash. */
static const struct crash *find_crash(int signal) {
    for (int i = 0; i < LENGTH(crashes); i++)
        if (crashes[i].signal == signal) return &crashes[i];
    return NULL;
}

/* "A, B and C are device pointers: ..." */
static void say_device_pointers(char message[MESSAGE_SIZE]) {
    const int count = lab_arrays(&lab);
    append(message, MESSAGE_SIZE, "\n");
    for (int i = 0; i < count; i++)
        append(message, MESSAGE_SIZE, "%s%s", list_separator(i, count), lab.arrays[i].name);
    append(message, MESSAGE_SIZE,
           count == 1 ? " is a device pointer: only the kernel may dereference it."
                      : " are device pointers: only the kernel may dereference them.");
}

/* During a call of the wrapper. */
static void say_crash(const struct crash *crash, char message[MESSAGE_SIZE]) {
    append(message, MESSAGE_SIZE, "%s %s", lab.wrapper, crash->text);
    if (crash->more)
        append(message, MESSAGE_SIZE, "%s", crash->more);
    else
        say_device_pointers(message);
}

static void say_exit(const struct report *report, char message[MESSAGE_SIZE]) {
    if (report->is_cut_off)
        append(message, MESSAGE_SIZE, "%s closed files of this program: close()?", lab.wrapper);
    else if (report->backend_spoke && !report->exit_called)
        /* The CPU backend exits where a kernel has crashed inside a library function. */
        append(message, MESSAGE_SIZE, "the kernel failed: unspecified launch failure");
    else
        append(message, MESSAGE_SIZE, "%s ended the program instead of returning: exit()?",
               lab.wrapper);
}

enum exit_status report_ending(const struct report *report, int how, char message[MESSAGE_SIZE]) {
    const int signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    const struct crash *crash = find_crash(signal);
    if (signal && !crash && signal != SIGKILL) return EXIT_PASSED;
    if (signal == SIGKILL) {
        append(message, MESSAGE_SIZE,
               "the run was killed (SIGKILL): is the machine out of memory?");
        return EXIT_MACHINE;
    }
    if (report->call_end) {
        if (crash)
            say_crash(crash, message);
        else
            say_exit(report, message);
        return EXIT_WRONG;
    }
    if (crash)
        append(message, MESSAGE_SIZE, "crashed outside of %s: %s", lab.wrapper, strsignal(signal));
    else
        append(message, MESSAGE_SIZE, "ended outside of %s, with exit status %d and no result",
               lab.wrapper, WEXITSTATUS(how));
    return EXIT_MACHINE;
}
