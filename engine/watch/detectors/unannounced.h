/* A second measurement of which loads and stores are watched, by the processor's memory protection.
 *
 * The compiler announces each access to the checker before it makes it (access.c). What it does not
 * announce, or what a library does, would not be seen. So device memory is closed for some time, a
 * window: each access faults, and must be explained by one that the same thread has announced and
 * not yet made. The page is then opened for that one instruction (the trap flag of x86-64).
 *
 * One block of each launch, drawn at random, is looked at from its first access on; windows in all
 * blocks whose accesses take the slow path begin at random. No kernel can know when: what has been
 * drawn is in hidden memory (runtime.h), and when the next window begins is in no memory at all,
 * but decided at that time. On other processors nothing is audited. */
#ifndef ENGINE_WATCH_DETECTORS_UNANNOUNCED_H
#define ENGINE_WATCH_DETECTORS_UNANNOUNCED_H

/* In this process nothing is audited: its runs show what is known, and decide nothing. */
void audit_nothing(void);

#endif
