/* The host's side of a run: what the wrapper does with the CUDA runtime. */
#ifndef ENGINE_WATCH_HOST_H
#define ENGINE_WATCH_HOST_H
#include "event.h"

/* Around the wrapper, which runs in that process, or in this one (0). `stopped` is called when a
 * mistake has been noted with which the program cannot go on; it must not return. */
void host_begin(int process, void (*stopped)(void));
void host_end(void);
int host_process(void);

/* Adds the host's calls to what the runtime reports. */
void host_observe(struct observer *o);
/* The host's code loads or stores. */
void host_access(const struct access *access);

/* The line of the program that has called the runtime. */
struct place host_place(void);
/* Notes it: the program cannot go on. */
void host_stop(const struct event *event);

#endif
