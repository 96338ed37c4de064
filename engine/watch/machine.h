/* What is the machine's fault and not the student's: memory that there is not. */
#ifndef ENGINE_WATCH_MACHINE_H
#define ENGINE_WATCH_MACHINE_H
#include <stdbool.h>
#include <stdlib.h>

/* Calls the handler, or else ends the program. */
_Noreturn void machine_fault(const char *what);
void machine_on_fault(void (*handler)(const char *what));

/* What malloc() or its like has returned, which is not null. */
static inline void *machine_memory(void *made) {
    if (!made) machine_fault("out of memory for watching the program");
    return made;
}

/* Memory that two workers may make at the same time: puts what one of them has made there, or frees
 * it where the other was faster. Returns what is there. */
static inline void *machine_first(void *place, void *made) {
    typedef void *__attribute__((may_alias)) pointer; /* to whatever it is */
    pointer there = NULL, *at = place;
    if (__atomic_compare_exchange_n(at, &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    free(made);
    return there;
}

#endif
