/* Marks of words and bytes: see cells.h. */
#include "cells.h"
#include <stdlib.h>

enum { MARKS_PART = 1024, ALL_BYTES = (1 << WORD) - 1 };
enum state { ONLY_WRITTEN, WHOLE, SPLIT };

/* Each pointer is null until it is needed, and set once. */
struct marks_part {
    struct stamp (*writes)[MARKS_PART]; /* of words that are ONLY_WRITTEN */
    struct mark (*whole)[MARKS_PART];   /* of words that are WHOLE; SPLIT: the first byte's */
    struct mark (*others)[MARKS_PART][WORD - 1]; /* the others' */
    char (*state)[MARKS_PART];                   /* null: all are ONLY_WRITTEN */
    bool before; /* all was written before any launch, as far as nothing of the above says more */
};

/* --- finding ---------------------------------------------------------------------------------- */

static size_t parts_of(size_t words) { return (words + MARKS_PART - 1) / MARKS_PART; }

bool marks_make(struct marks *marks, size_t words) {
    *marks = (struct marks){words, calloc(parts_of(words) + 1, sizeof *marks->part)};
    return marks->part != NULL;
}

static void drop_part(struct marks_part *part) {
    free(part->writes);
    free(part->whole);
    free(part->others);
    free(part->state);
    *part = (struct marks_part){.before = false};
}

void marks_drop(struct marks *marks) {
    for (size_t i = 0; marks->part && i < parts_of(marks->words); ++i) drop_part(&marks->part[i]);
    free(marks->part);
    *marks = (struct marks){0, NULL};
}

static struct marks_part *part_of(const struct marks *marks, size_t word) {
    return &marks->part[word / MARKS_PART];
}

static void *take(size_t bytes) {
    void *taken = calloc(1, bytes);
    if (!taken) watch_machine_fault("out of memory for watching memory");
    return taken;
}

/* Words have locks, and parts have none: another worker may be faster. */
#define PUBLISH(place, made)                                                                       \
    do {                                                                                           \
        __typeof__(place) none = NULL, mine = (made);                                              \
        if (!__atomic_compare_exchange_n(&(place), &none, mine, false, __ATOMIC_ACQ_REL,           \
                                         __ATOMIC_ACQUIRE))                                        \
            free(mine);                                                                            \
    } while (0)
#define IS_THERE(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)

static void make_writes(struct marks_part *part) {
    struct stamp(*writes)[MARKS_PART] = take(sizeof *writes);
    for (size_t i = 0; part->before && i < MARKS_PART; ++i) (*writes)[i].when = RECORD_BEFORE;
    PUBLISH(part->writes, writes);
}

static enum state state_of(const struct marks_part *part, size_t at) {
    return IS_THERE(part->state) ? (enum state)(*part->state)[at] : ONLY_WRITTEN;
}

struct stamp *marks_write(const struct marks *marks, size_t word) {
    struct marks_part *part = part_of(marks, word);
    if (state_of(part, word % MARKS_PART) != ONLY_WRITTEN) return NULL;
    if (!IS_THERE(part->writes)) make_writes(part);
    return &(*part->writes)[word % MARKS_PART];
}

static void make_whole(struct marks_part *part, size_t at) {
    if (!IS_THERE(part->writes)) make_writes(part);
    if (!IS_THERE(part->whole)) PUBLISH(part->whole, take(sizeof *part->whole));
    if (!IS_THERE(part->state)) PUBLISH(part->state, take(sizeof *part->state));
    (*part->whole)[at] = (struct mark){.write = (*part->writes)[at]};
    (*part->state)[at] = WHOLE;
}

/* Each byte has been accessed as the word has. */
static void split(struct marks_part *part, size_t at) {
    if (!IS_THERE(part->others)) PUBLISH(part->others, take(sizeof *part->others));
    for (int i = 0; i < WORD - 1; ++i) (*part->others)[at][i] = (*part->whole)[at];
    (*part->state)[at] = SPLIT;
}

unsigned marks_find(const struct marks *marks, size_t word, unsigned bytes,
                    struct mark *found[WORD]) {
    struct marks_part *part = part_of(marks, word);
    const size_t at = word % MARKS_PART;
    unsigned count = 0;
    if (state_of(part, at) == ONLY_WRITTEN) make_whole(part, at);
    if (bytes != ALL_BYTES && state_of(part, at) == WHOLE) split(part, at);
    if (bytes & 1) found[count++] = &(*part->whole)[at];
    for (unsigned i = 1; state_of(part, at) == SPLIT && i < WORD; ++i)
        if (bytes >> i & 1) found[count++] = &(*part->others)[at][i - 1];
    return count;
}

static bool is_written(const struct mark *mark) {
    return mark->write.when || mark->strong_write.when;
}

bool marks_are_written(const struct marks *marks, size_t word) {
    const struct marks_part *part = part_of(marks, word);
    const size_t at = word % MARKS_PART;
    struct mark *mark[WORD];
    if (state_of(part, at) == ONLY_WRITTEN)
        return IS_THERE(part->writes) ? (*part->writes)[at].when : part->before;
    for (unsigned i = marks_find(marks, word, ALL_BYTES, mark); i-- > 0;)
        if (is_written(mark[i])) return true;
    return false;
}

struct mark *marks_reset(const struct marks *marks, size_t word) {
    struct marks_part *part = part_of(marks, word);
    const size_t at = word % MARKS_PART;
    make_whole(part, at);
    (*part->whole)[at] = (struct mark){.write = {0, 0}};
    return &(*part->whole)[at];
}

static void set_written(const struct marks *marks, size_t word) {
    struct stamp *write = marks_write(marks, word);
    if (!write) write = &marks_reset(marks, word)->write;
    *write = (struct stamp){0, RECORD_BEFORE};
}

void marks_set_written(const struct marks *marks, size_t first, size_t count) {
    size_t end = first + count < marks->words ? first + count : marks->words;
    for (size_t word = first; word < end;) {
        const bool whole = word % MARKS_PART == 0 && end - word >= MARKS_PART;
        if (whole) drop_part(part_of(marks, word));
        if (whole)
            part_of(marks, word)->before = true;
        else
            set_written(marks, word);
        word += whole ? MARKS_PART : 1;
    }
}

unsigned marks_bytes(uintptr_t word_begin, const struct access *access) {
    unsigned bytes = 0;
    for (unsigned i = 0; i < WORD; ++i)
        if (word_begin + i - access->address < access->size) bytes |= 1u << i;
    return bytes;
}

/* --- accessing -------------------------------------------------------------------------------- */

static bool is_strong(const struct stamp *s) { return s->when & RECORD_STRONG; }

static bool races(const struct watch *w, const struct stamp *earlier, const struct access *access) {
    if (!earlier->when || (access->strong && is_strong(earlier))) return false;
    return !order_before(w, earlier, access);
}

/* A thread whose atomic came last in this run has seen those of other blocks: it may be the last
 * one of all, and know it by the value. Of its own block's threads it may be the last by luck. */
static bool other_races(const struct watch *w, const struct mark *mark,
                        const struct access *access) {
    const struct stamp *other = &mark->other_strong_write;
    return stamp_block(other) == w->block && races(w, other, access);
}

static struct conflict find_conflict(const struct watch *w, const struct mark *mark,
                                     const struct access *access) {
    if (races(w, &mark->write, access)) return (struct conflict){mark->write, true};
    if (races(w, &mark->strong_write, access)) return (struct conflict){mark->strong_write, true};
    if (other_races(w, mark, access)) return (struct conflict){mark->other_strong_write, true};
    if (access->write && races(w, &mark->read, access)) return (struct conflict){mark->read, false};
    if (access->write && races(w, &mark->other_read, access))
        return (struct conflict){mark->other_read, false};
    return (struct conflict){{0, 0}, false};
}

/* The place of a read that `now` replaces: the same thread's, and no weaker, or one before it. */
static bool replaces(const struct watch *w, const struct stamp *now, const struct stamp *read) {
    const uint64_t other = (now->where ^ read->where) >> STAMP_STEP_BITS;
    if (!read->when) return true;
    if (is_strong(now) && !is_strong(read)) return false;
    if (!other && !((now->when ^ read->when) & RECORD_THREAD_MASK)) return true;
    return order_before(w, read, NULL);
}

/* Of more than two, one in the warp of the first makes room: a warp's lanes are often ordered. */
static void remember_read(const struct watch *w, struct mark *mark, const struct stamp *now) {
    if (replaces(w, now, &mark->read))
        mark->read = *now;
    else if (replaces(w, now, &mark->other_read) || is_strong(&mark->other_read) ||
             (now->where ^ mark->read.where) >> STAMP_STEP_BITS ||
             (now->when ^ mark->read.when) & RECORD_WARP_MASK)
        mark->other_read = *now;
}

/* It is behind all strong accesses before it: what is behind it is behind them, but for those of
 * `other_races`. */
static void write_strongly(struct mark *mark, const struct stamp *now) {
    const struct stamp *last = &mark->strong_write;
    if (last->when && (last->when ^ now->when) & RECORD_THREAD_MASK)
        mark->other_strong_write = *last;
    mark->strong_write = *now;
    if (is_strong(&mark->read)) mark->read.when = 0;
    if (is_strong(&mark->other_read)) mark->other_read.when = 0;
}

struct conflict mark_access(const struct watch *w, struct mark *mark, const struct access *access,
                            const struct stamp *now) {
    const struct conflict conflict = find_conflict(w, mark, access);
    if (!access->write)
        remember_read(w, mark, now);
    else if (access->strong)
        write_strongly(mark, now);
    else
        *mark = (struct mark){.write = *now};
    return conflict;
}

struct conflict mark_write(const struct watch *w, struct stamp *write, const struct access *access,
                           const struct stamp *now) {
    struct mark mark = {.write = *write};
    const struct conflict conflict = find_conflict(w, &mark, access);
    *write = *now;
    return conflict;
}

static bool is_of_launch(const struct watch *w, const struct stamp *s) {
    return s->when && !order_other_launch(w, s);
}

bool marks_know_reads(const struct watch *w, const struct marks *marks, size_t word) {
    const struct marks_part *part = part_of(marks, word);
    if (state_of(part, word % MARKS_PART) != WHOLE) return false;
    const struct mark *mark = &(*part->whole)[word % MARKS_PART];
    return mark->write.when && !is_of_launch(w, &mark->write) &&
           !is_of_launch(w, &mark->strong_write) && is_of_launch(w, &mark->read) &&
           is_of_launch(w, &mark->other_read) &&
           stamp_block(&mark->read) != stamp_block(&mark->other_read);
}
