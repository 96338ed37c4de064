/* What a detector hears of a run, what it may keep, and how it reports.
 *
 * The watch follows every access to where it goes and keeps, for each word of device memory, a
 * shadow: who wrote it last and who has read it since. A detector is one
 * `const struct detector` in a file of detectors/, and a line in the table of detectors.c. It hears
 * the events that it has a function for, and judges them. It knows no other detector and no words.
 *
 * What a load or store costs: the compiler calls __tsan_read4() and its like in access.c, where
 * three questions are answered inline. Has a word of shared memory not been written, or, for a
 * store, not been accessed in this interval? Is it a word that no kernel writes, or that is
 * settled? Is it a local variable? No detector hears of what takes this short path, because there
 * is nothing in it to object to, and none can make it longer. All else comes to access_slowly():
 * the word's shadow is asked, and what came out of that, a conflict or a read of what nobody has
 * written, is heard. Each event has a list of the detectors that hear it; an empty one costs a
 * load.
 *
 * How it reports: event.h. event_here() makes an event at the running thread's access, event_note()
 * keeps it, and event_stop() does so and ends the launch, or the thread, before a store that must
 * not be made. What is costly to find out, it finds out if event_is_wanted(). */
#ifndef ENGINE_WATCH_DETECTOR_H
#define ENGINE_WATCH_DETECTOR_H
#include "event.h"

/* Any function may be null. Those with a `w` run on a worker, for the block that it runs; the
 * others on the host's thread. */
struct detector {
    size_t worker_bytes; /* of its state for each worker, zero at first: detector_state() */

    /* --- the run and the host --- */
    void (*observes)(struct observer *o); /* the program begins: adds to what the runtime reports */
    /* From here on while the wrapper runs. */
    void (*host_access)(const struct access *access); /* a load or store of the host's code */
    /* Into device memory; `from` null: by cudaMemset. */
    void (*copied)(const char *to, const char *from, size_t bytes);
    void (*freed)(const struct region *r); /* is about to be */
    void (*call_failed)(cudaError_t error);
    void (*error_asked)(bool forgotten); /* by cudaPeekAtLastError(), or cudaGetLastError() */
    void (*launch_refused)(const struct launch *launch);
    void (*fault)(const struct fault *fault); /* that the runtime sees, and no detector did */
    void (*run_ended)(void);
    /* What is a mistake only where nothing else is found: if there is one of that kind, it sets
     * event->kind, and what it knows. */
    void (*left)(enum finding_kind kind, struct event *event);

    /* --- launches, blocks, threads --- */
    void (*launch_begins)(const struct launch *launch);
    void (*launch_ended)(const struct launch *launch);
    void (*block_comes)(struct watch *w); /* before that: recorders ask for its accesses */
    void (*block_begins)(struct watch *w);
    void (*block_ended)(struct watch *w);
    /* The running thread waits at a barrier; or one has returned. */
    void (*thread_waits)(struct watch *w, unsigned thread, bool returned);
    void (*interval_ends)(struct watch *w); /* a barrier opens, or the block ends */
    void (*barrier_opens)(struct watch *w); /* behind that */
    void (*host_call)(struct watch *w, const char *function, const void *code);

    /* --- accesses to memory --- */
    /* Two accesses to shared memory that are not ordered, one of which is a write, and not both of
     * which are strong. The earlier one may be a copy that is pending: epoch_is_pending(). */
    void (*shared_conflict)(struct watch *w, uintptr_t address, epoch now, bool now_writes,
                            epoch earlier, bool earlier_writes);
    void (*global_conflict)(struct watch *w, const struct access *access,
                            const struct stamp *earlier, bool earlier_writes);
    /* A plain store, in an interval in which it has kept a race: watch.follows. */
    void (*stored_after_race)(struct watch *w, const struct access *access);
    /* The running thread has made a compare-and-swap. */
    void (*compared)(struct watch *w, const struct access *access);
    /* A read of what nobody has written. */
    void (*shared_unwritten)(struct watch *w, size_t word, epoch reader);
    void (*global_unwritten)(struct watch *w, const struct access *access);
    /* The first write to a word of shared memory. */
    void (*shared_written)(struct watch *w, size_t word, epoch writer);
    /* It is misaligned, writes an input or what belongs to the program that runs the kernel
     * (FINDING_TAMPERING), uses freed memory, or reads what the host's code has stored in a
     * variable of the device's. */
    void (*forbidden)(struct watch *w, enum finding_kind kind, const struct access *access);
    /* Not, or not all, in an array or allocation, a shared array, or a variable. */
    void (*outside)(struct watch *w, const struct access *access);
    void (*on_stack)(struct watch *w, const struct access *access); /* of any thread */

    /* --- accesses, for recorders (record/), whatever comes of them --- */
    /* To memory that a GPU has: all of those that SLOW_RECORDER or SLOW_GLOBAL_RECORDER, set at
     * block_comes, asks for, and others of the block. */
    void (*accessed)(struct watch *w, const struct access *access);
    /* The running thread reads what a lane of its warp has brought to a warp operation. */
    void (*received)(struct watch *w, const struct access *access);
    void (*copy_arrived)(struct watch *w, const struct access *access);

    /* --- what the compiler says --- */
    /* An index is outside of an array of `type` ("float [16]"). */
    void (*bad_index)(struct watch *w, const char *file, int line, int column, const char *type,
                      long index);
    /* An access while a detector has asked for all of them: SLOW_INDEX. */
    void (*access)(struct watch *w, const struct access *access);
    /* This one leaves an object that the compiler knows: a local or constant array, or a variable
     * of kernel.cu. */
    void (*outside_object)(struct watch *w, const struct access *access, const char *file,
                           int line);
    /* While a detector has asked for it (SLOW_AUDIT): what the running thread is going to access.
     */
    void (*announced)(struct watch *w, uintptr_t address, size_t size);
};

/* From now on it hears what happens. Before the first launch, once for each. */
void detector_attach(const struct detector *detector);
/* detectors.c: all that are in the table. */
void detectors_attach(void);

/* Its state for the worker whose watch this is. */
void *detector_state(const struct detector *self, const struct watch *w);
/* Of all detectors, for one worker. */
size_t detector_worker_bytes(void);

/* Those that hear an event, by the place of its function in the structure; null behind the last. */
enum {
    DETECTORS = 32, /* at most */
    DETECTOR_EVENTS = sizeof(struct detector) / sizeof(void (*)(void))
};
extern const struct detector *detectors_heard[DETECTOR_EVENTS][DETECTORS + 1];

#define HEAR(event, ...)                                                                           \
    for (const struct detector **each =                                                            \
             detectors_heard[offsetof(struct detector, event) / sizeof(void (*)(void))];           \
         *each; ++each)                                                                            \
    (*each)->event(__VA_ARGS__)

/* --- host.c: the host's side of a run, what the wrapper does with the CUDA runtime ------------ */

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

/* --- detectors/unannounced.c ------------------------------------------------------------------ */

/* In this process nothing is audited: its runs show what is known, and decide nothing. */
void audit_nothing(void);

/* --- detectors/race.c ------------------------------------------------------------------------- */

/* By number: a barrier that opened to threads while others, of the same block, had returned since
 * the last one. They may have returned early, which is no mistake. Null: there are no more. */
const struct event *divergence_skipped(int number);

#endif
