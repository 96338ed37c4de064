/* What is the machine's fault and not the student's: memory that there is not. */
#ifndef ENGINE_WATCH_MACHINE_H
#define ENGINE_WATCH_MACHINE_H

/* Calls the handler, or else ends the program. */
_Noreturn void machine_fault(const char *what);
void machine_on_fault(void (*handler)(const char *what));

#endif
