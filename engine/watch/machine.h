/* What is the machine's fault and not the student's: memory that there is not. */
#ifndef ENGINE_WATCH_MACHINE_H
#define ENGINE_WATCH_MACHINE_H
#include <stddef.h>

/* Calls the handler, or else ends the program. */
_Noreturn void machine_fault(const char *what);
void machine_on_fault(void (*handler)(const char *what));

/* What malloc() or its like has returned, which is not null. */
static inline void *machine_memory(void *made) {
    if (!made) machine_fault("out of memory for watching the program");
    return made;
}

#endif
