/* What ends a kernel, or the host's code, as facts and in words: faults.def. */
#ifndef ENGINE_REPORT_FAULT_H
#define ENGINE_REPORT_FAULT_H
#include <stddef.h>
#include <stdint.h>

enum fault_code {
    FAULT_NONE,
#define FAULT(name, ...) FAULT_##name,
#include "faults.def"
#undef FAULT
    FAULTS
};

struct fault_facts {
    enum fault_code code; /* FAULT_NONE: all that there is to say has been said elsewhere */
    double seconds;
    uint64_t blocks, of;   /* done; of how many */
    int signal;            /* that ended the host's code */
    const void *address;   /* the device pointer */
    const char *assertion; /* null: not known */
};

/* "deadlock"; null: there is no such fault. */
const char *fault_name(enum fault_code code);
/* One sentence. */
void fault_say(const struct fault_facts *facts, char *text, size_t bytes);
/* Behind it, for who reads it at a terminal; it may be empty. */
const char *fault_advice(enum fault_code code);

#endif
