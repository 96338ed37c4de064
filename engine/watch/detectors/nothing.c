/* A detector that hears everything and says nothing: alone in the table, it shows what the watch
 * itself costs. */
#include "../detector.h"

static void observes(struct observer *o) { (void)o; }
static void of_host(const struct access *access) { (void)access; }
static void copied(const char *to, const char *from, size_t bytes) {
    (void)to, (void)from, (void)bytes;
}
static void failed(cudaError_t error) { (void)error; }
static void asked(bool forgotten) { (void)forgotten; }
static void of_launch(const struct launch *launch) { (void)launch; }
static void fault(const struct fault *fault) { (void)fault; }
static void ended(void) {}
static void left(enum finding_kind kind, struct event *event) { (void)kind, (void)event; }
static void of_block(struct watch *w) { (void)w; }
static void waits(struct watch *w, unsigned thread, bool returned) {
    (void)w, (void)thread, (void)returned;
}
static void calls(struct watch *w, const char *function, const void *code) {
    (void)w, (void)function, (void)code;
}
static void accesses(struct watch *w, const struct access *access) { (void)w, (void)access; }
static void shared_conflict(struct watch *w, uintptr_t address, epoch now, bool now_writes,
                            epoch earlier, bool earlier_writes) {
    (void)w, (void)address, (void)now, (void)now_writes, (void)earlier, (void)earlier_writes;
}
static void global_conflict(struct watch *w, const struct access *access,
                            const struct stamp *earlier, bool earlier_writes) {
    (void)w, (void)access, (void)earlier, (void)earlier_writes;
}
static void of_word(struct watch *w, size_t word, epoch now) { (void)w, (void)word, (void)now; }
static void index_is_bad(struct watch *w, const char *file, int line, const char *type,
                         long index) {
    (void)w, (void)file, (void)line, (void)type, (void)index;
}
static void leaves_object(struct watch *w, const struct access *access, const char *file,
                          int line) {
    (void)w, (void)access, (void)file, (void)line;
}
static void announced(struct watch *w, uintptr_t address, size_t size) {
    (void)w, (void)address, (void)size;
}

const struct detector detector_nothing = {.name = "nothing",
                                          .observes = observes,
                                          .host_access = of_host,
                                          .copied = copied,
                                          .call_failed = failed,
                                          .error_asked = asked,
                                          .launch_refused = of_launch,
                                          .fault = fault,
                                          .run_ended = ended,
                                          .left = left,
                                          .launch_begins = of_launch,
                                          .launch_ended = of_launch,
                                          .block_begins = of_block,
                                          .block_ended = of_block,
                                          .thread_waits = waits,
                                          .interval_ends = of_block,
                                          .barrier_opens = of_block,
                                          .host_call = calls,
                                          .shared_conflict = shared_conflict,
                                          .global_conflict = global_conflict,
                                          .shared_unwritten = of_word,
                                          .global_unwritten = accesses,
                                          .shared_written = of_word,
                                          .misaligned = accesses,
                                          .input_written = accesses,
                                          .used_freed = accesses,
                                          .outside = accesses,
                                          .foreign_written = accesses,
                                          .on_stack = accesses,
                                          .bad_index = index_is_bad,
                                          .access = accesses,
                                          .outside_object = leaves_object,
                                          .announced = announced};
