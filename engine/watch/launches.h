/* The launches of a run: which kernel, in how many blocks of how many threads, and which line of
 * the program launches it. */
#ifndef ENGINE_WATCH_LAUNCHES_H
#define ENGINE_WATCH_LAUNCHES_H
#include "../cuda/runtime/runtime.h"
#include "../finding.h"

/* Of a run that makes more launches than this, the first ones and the last ones are kept. */
enum { LAUNCHES_FIRST = 8, LAUNCHES_LAST = 8 };

/* A run begins, and has made none. */
void launches_begin(void);
/* The host launches that now, or has tried to: a refused launch counts. */
void launches_note(const struct launch *launch);
/* Since the run began. */
uint64_t launches_noted(void);

/* The launch with this number, from 1 to launches_noted(), without its place. False: it
 * was not kept. */
bool launches_find(uint64_t number, struct finding_launch *launch);
/* Where it is: kernel<<<...>>>. Asks addr2line. Line 0: unknown. */
struct place launches_place(uint64_t number);

/* The name of a kernel, without its parameters. */
void launches_kernel_name(const void *kernel, char *name, size_t bytes);

#endif
