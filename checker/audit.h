/* A second measurement of which loads and stores are watched, by the processor's memory protection.
 *
 * The compiler announces each access to the checker before it makes it (access.c). What it does not
 * announce, or what a library does, would not be seen. So in blocks drawn at random device memory
 * is closed: each access faults, and must be one that was announced just before. The page is then
 * opened for that one instruction (the trap flag of x86-64), until a number of accesses has been
 * looked at. On other processors nothing is audited. */
#ifndef CHECKER_AUDIT_H
#define CHECKER_AUDIT_H
#include "watch.h"

/* Before the block's first access: draws whether this one is audited. */
void audit_begin_block(struct watch *w);
void audit_end_block(struct watch *w);

/* Whether the running block's accesses have to be announced. */
bool audit_is_on(const struct watch *w);
/* The running thread's next access is to these bytes, or to others since its last one. */
void audit_announce(struct watch *w, uintptr_t address, size_t size);

/* Adds the faults to what the runtime reports. */
void audit_observe(struct observer *o);

#endif
