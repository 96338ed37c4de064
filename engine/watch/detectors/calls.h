/* The host's side of a run: what the wrapper does with the CUDA runtime, and what it must not do.
 */
#ifndef ENGINE_WATCH_DETECTORS_CALLS_H
#define ENGINE_WATCH_DETECTORS_CALLS_H
#include "../block.h"

/* Around the wrapper, which runs in that process, or in this one (0). `stopped` is called when a
 * mistake has been noted with which the program cannot go on; it must not return. */
void host_begin(int process, void (*stopped)(void));
void host_end(void);
int host_process(void);

/* Adds the host's calls to what the runtime reports. */
void host_observe(struct observer *o);
void host_access(const struct access *access);

/* The first call that failed, whose error is still pending, or launch that was refused, becomes the
 * event of a run that has none. */
void host_note_failure(void);

/* The first call that failed, where cudaGetLastError() has given its error and forgotten it: no
 * mistake where C is right. Null: none. */
const struct event *host_forgotten_failure(void);

#endif
