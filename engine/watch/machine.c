/* The machine's faults: see machine.h. */
#include "machine.h"
#include <stdlib.h>

static void (*on_fault)(const char *what);

void machine_on_fault(void (*handler)(const char *what)) { on_fault = handler; }

void machine_fault(const char *what) {
    if (on_fault) on_fault(what);
    abort();
}
