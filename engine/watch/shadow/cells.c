/* Shadow cells of words and bytes: see shadow.h. */
#include "../machine.h"
#include "shadow.h"
#include <stdlib.h>
#include <string.h>

enum { CELLS_PART = 1024, ALL_BYTES = (1 << WORD) - 1 };

struct word_shadow {
    struct stamp write; /* the last one, as long as it has no cell, because only plain writes of all
                           of it are made: a fifth of the memory, and enough for C */
    struct shadow_cell *cell; /* null until one is needed, and set once; its `others` are null until
                                 an access is to some of the word's bytes */
};

struct cells_part {
    struct word_shadow *words; /* null until one is needed, and set once */
    bool before; /* all was written before any launch, as far as nothing of the above says more */
};

/* --- finding ---------------------------------------------------------------------------------- */

static size_t parts_of(size_t words) { return (words + CELLS_PART - 1) / CELLS_PART; }

void cells_make(struct cells *cells, size_t words) {
    void *parts = machine_memory(calloc(parts_of(words) + 1, sizeof *cells->part));
    *cells = (struct cells){.words = words, .part = parts};
}

static size_t more_bytes; /* of all lists */

static void drop_reads(struct shadow_cell *cell) {
    if (!cell->more) return;
    __atomic_fetch_sub(&more_bytes, cell->more_room * sizeof *cell->more, __ATOMIC_RELAXED);
    free(cell->more);
    cell->more = NULL;
    cell->more_count = cell->more_room = 0;
}

static void drop_cell(struct shadow_cell *cell) {
    for (int i = 0; cell->others && i < WORD - 1; ++i) drop_reads(&cell->others[i]);
    free(cell->others);
    drop_reads(cell);
}

static void drop_part(struct cells_part *part) {
    for (size_t at = 0; part->words && at < CELLS_PART; ++at) {
        if (part->words[at].cell) drop_cell(part->words[at].cell);
        free(part->words[at].cell);
    }
    free(part->words);
    *part = (struct cells_part){.before = false};
}

void cells_drop(struct cells *cells) {
    for (size_t i = 0; cells->part && i < parts_of(cells->words); ++i) drop_part(&cells->part[i]);
    free(cells->part);
    free(cells->origins);
    *cells = (struct cells){.words = 0};
}

static struct cells_part *part_of(const struct cells *cells, size_t word) {
    return &cells->part[word / CELLS_PART];
}

/* Words have locks, and parts have none: another worker may be faster. */
static struct word_shadow *make_words(struct cells_part *part) {
    struct word_shadow *made = machine_memory(calloc(CELLS_PART, sizeof *made));
    for (size_t i = 0; part->before && i < CELLS_PART; ++i) made[i].write.when = EPOCH_BEFORE;
    return machine_first(&part->words, made);
}

/* Null: nothing is known of it but what its part says. */
static struct word_shadow *shadow_if_any(const struct cells *cells, size_t word) {
    struct word_shadow *words = __atomic_load_n(&part_of(cells, word)->words, __ATOMIC_ACQUIRE);
    return words ? &words[word % CELLS_PART] : NULL;
}

static struct word_shadow *shadow_of(const struct cells *cells, size_t word) {
    struct word_shadow *found = shadow_if_any(cells, word);
    return found ? found : &make_words(part_of(cells, word))[word % CELLS_PART];
}

static struct shadow_cell *make_cell(struct word_shadow *w) {
    struct shadow_cell *made = machine_memory(calloc(1, sizeof *made));
    made->write = w->write;
    __atomic_store_n(&w->cell, made, __ATOMIC_RELEASE);
    return made;
}

/* False: there is no memory for so many reads. */
static bool make_room(struct shadow_cell *cell, uint32_t room) {
    const size_t grows = (room - cell->more_room) * sizeof *cell->more;
    struct stamp *made = NULL;
    if (__atomic_fetch_add(&more_bytes, grows, __ATOMIC_RELAXED) + grows <= MOST_READ_BYTES)
        made = realloc(cell->more, room * sizeof *made);
    if (!made) {
        __atomic_fetch_sub(&more_bytes, grows, __ATOMIC_RELAXED);
        return false;
    }
    cell->more = made;
    cell->more_room = room;
    return true;
}

/* Each byte has been accessed as the word has. */
static void split_cell(struct shadow_cell *cell) {
    struct shadow_cell *others = machine_memory(calloc(WORD - 1, sizeof *others));
    for (struct shadow_cell *to = others; to < others + WORD - 1; ++to) {
        *to = *cell;
        to->others = NULL;
        to->more = NULL;
        to->more_count = to->more_room = 0;
        if (!cell->more_count || !make_room(to, cell->more_count)) continue;
        to->more_count = cell->more_count;
        memcpy(to->more, cell->more, cell->more_count * sizeof *to->more);
    }
    __atomic_store_n(&cell->others, others, __ATOMIC_RELEASE);
}

unsigned cells_find(const struct cells *cells, size_t word, unsigned bytes,
                    struct shadow_cell *found[WORD]) {
    struct word_shadow *w = shadow_of(cells, word);
    struct shadow_cell *cell = w->cell ? w->cell : make_cell(w);
    unsigned count = 0;
    if (bytes != ALL_BYTES && !cell->others) split_cell(cell);
    if (bytes & 1) found[count++] = cell;
    for (unsigned i = 1; cell->others && i < WORD; ++i)
        if (bytes >> i & 1) found[count++] = &cell->others[i - 1];
    return count;
}

static bool is_written(const struct shadow_cell *cell) {
    return cell->write.when || cell->strong_write.when;
}

bool cells_are_written(const struct cells *cells, size_t word) {
    const struct word_shadow *w = shadow_if_any(cells, word);
    if (!w) return part_of(cells, word)->before;
    if (!w->cell) return w->write.when;
    bool any = is_written(w->cell);
    for (int i = 0; w->cell->others && i < WORD - 1; ++i) any |= is_written(&w->cell->others[i]);
    return any;
}

struct shadow_cell *cells_reset(const struct cells *cells, size_t word) {
    struct word_shadow *w = shadow_of(cells, word);
    struct shadow_cell *cell = w->cell ? w->cell : make_cell(w);
    drop_cell(cell);
    *cell = (struct shadow_cell){.read = {0, 0}};
    return cell;
}

void cells_set_written(const struct cells *cells, size_t first, size_t count) {
    size_t end = first + count < cells->words ? first + count : cells->words;
    for (size_t word = first; word < end; ++word) {
        if (word % CELLS_PART == 0 && end - word >= CELLS_PART) { /* a whole part */
            drop_part(part_of(cells, word));
            part_of(cells, word)->before = true;
            word += CELLS_PART - 1;
            continue;
        }
        struct word_shadow *w = shadow_of(cells, word);
        *(w->cell ? &cells_reset(cells, word)->write : &w->write) = (struct stamp){0, EPOCH_BEFORE};
    }
}

unsigned cells_bytes(uintptr_t word_begin, const struct access *access) {
    unsigned bytes = 0;
    for (unsigned i = 0; i < WORD; ++i)
        if (word_begin + i - access->address < access->size) bytes |= 1u << i;
    return bytes;
}

/* --- accessing -------------------------------------------------------------------------------- */

static bool is_strong(const struct stamp *s) { return s->when & EPOCH_STRONG; }

static bool races(struct order *o, const struct stamp *earlier, const struct access *access) {
    if (!earlier->when || (access->strong && is_strong(earlier))) return false;
    return !order_before(o, earlier, access);
}

static struct conflict find_conflict(struct order *o, const struct shadow_cell *cell,
                                     const struct access *access) {
    if (races(o, &cell->write, access)) return (struct conflict){cell->write, true};
    if (races(o, &cell->strong_write, access)) return (struct conflict){cell->strong_write, true};
    /* A thread whose atomic came last in this run has seen those of other blocks: it may be the
     * last one of all, and know it by the value. Of its own block's it may be the last by luck. */
    const struct stamp *other = &cell->other_strong_write;
    if (stamp_block(other) == order_block(o) && races(o, other, access))
        return (struct conflict){*other, true};
    if (access->write && races(o, &cell->read, access)) return (struct conflict){cell->read, false};
    if (access->write && races(o, &cell->other_read, access))
        return (struct conflict){cell->other_read, false};
    for (uint32_t i = 0; access->write && i < cell->more_count; ++i)
        if (races(o, &cell->more[i], access)) return (struct conflict){cell->more[i], false};
    return (struct conflict){{0, 0}, false};
}

static bool are_of_one_thread(const struct stamp *a, const struct stamp *b) {
    return !((a->where ^ b->where) >> STAMP_STEP_BITS) &&
           !((a->when ^ b->when) & EPOCH_THREAD_MASK);
}

/* The place of a read that `now` replaces: the same thread's, and no weaker, or one before it. */
static bool replaces(struct order *o, const struct stamp *now, const struct stamp *read) {
    if (!read->when) return true;
    if (is_strong(now) && !is_strong(read)) return false;
    if (are_of_one_thread(now, read)) return true;
    return order_before(o, read, NULL);
}

static bool of_two_warps(const struct stamp *a, const struct stamp *b) {
    return (a->where ^ b->where) >> STAMP_STEP_BITS || (a->when ^ b->when) & EPOCH_WARP_MASK;
}

/* Whether each write that races with `c` races with `a` or `b`, where barriers and operations of
 * whole warps alone order anything. Else one would have replaced another: none of the three is
 * ordered with another one, so those of one warp are of the same step, and of three threads. */
static bool are_enough(const struct stamp *a, const struct stamp *b, const struct stamp *c) {
    if (is_strong(a) != is_strong(c) || is_strong(b) != is_strong(c)) return false;
    if (stamp_block(a) != stamp_block(b)) return true;
    if (stamp_block(a) != stamp_block(c)) return false;
    return of_two_warps(a, b) || !of_two_warps(a, c);
}

/* Puts a read into the list, from which `now` takes what it replaces. */
static void keep_read(struct order *o, struct shadow_cell *cell, const struct stamp *read,
                      const struct stamp *now) {
    uint32_t count = 0, of_warp = 0;
    for (uint32_t i = 0; i < cell->more_count; ++i)
        if (!replaces(o, now, &cell->more[i])) cell->more[count++] = cell->more[i];
    cell->more_count = count;
    for (uint32_t i = 0; count >= MANY_READS && i < count; ++i)
        of_warp += !of_two_warps(&cell->more[i], read);
    if (count >= MANY_READS && (count >= MOST_READS || of_warp >= 2)) return;
    if (count == cell->more_room && !make_room(cell, count ? 2 * count : 3)) return;
    cell->more[cell->more_count++] = *read;
}

/* The first two are to be of two blocks or warps: a warp's lanes are often ordered. */
static void remember_read(struct order *o, struct shadow_cell *cell, const struct stamp *now) {
    if (replaces(o, now, &cell->read)) {
        cell->read = *now;
        return;
    }
    if (replaces(o, now, &cell->other_read)) {
        cell->other_read = *now;
        return;
    }
    struct stamp left = *now;
    if (of_two_warps(&cell->read, now) || (is_strong(&cell->other_read) && !is_strong(now))) {
        left = cell->other_read;
        cell->other_read = *now;
    }
    if (order_has_pairs() || !are_enough(&cell->read, &cell->other_read, &left))
        keep_read(o, cell, &left, now);
}

/* A strong write is behind all strong accesses before it: what is behind it is behind them, but for
 * another thread's of its block (find_conflict()). A compare-and-swap confirms what its thread has
 * read, or returns what is there. */
static bool ends_read(const struct stamp *read, const struct access *access,
                      const struct stamp *now) {
    return is_strong(read) || (access->compares && are_of_one_thread(read, now));
}

static void write_strongly(struct shadow_cell *cell, const struct access *access,
                           const struct stamp *now) {
    const struct stamp *last = &cell->strong_write;
    if (last->when && (last->when ^ now->when) & EPOCH_THREAD_MASK)
        cell->other_strong_write = *last;
    cell->strong_write = *now;
    if (ends_read(&cell->read, access, now)) cell->read.when = 0;
    if (ends_read(&cell->other_read, access, now)) cell->other_read.when = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < cell->more_count; ++i)
        if (!ends_read(&cell->more[i], access, now)) cell->more[count++] = cell->more[i];
    cell->more_count = count;
}

struct conflict cell_access(struct order *o, struct shadow_cell *cell, const struct access *access,
                            const struct stamp *now) {
    const struct conflict conflict = find_conflict(o, cell, access);
    if (!access->write) {
        remember_read(o, cell, now);
    } else if (access->strong) {
        write_strongly(cell, access, now);
    } else {
        drop_reads(cell);
        *cell = (struct shadow_cell){.write = *now, .others = cell->others};
    }
    return conflict;
}

struct conflict cells_access(struct order *o, const struct cells *cells, size_t word,
                             unsigned bytes, const struct access *access) {
    const struct stamp now = order_now(o, access);
    struct conflict conflict = {{0, 0}, false};
    struct shadow_cell *cell[WORD];
    if (access->write && !access->strong && bytes == ALL_BYTES) {
        struct word_shadow *w = shadow_of(cells, word);
        if (!w->cell) {
            conflict = find_conflict(o, &(struct shadow_cell){.write = w->write}, access);
            w->write = now;
            return conflict;
        }
    }
    const unsigned count = cells_find(cells, word, bytes, cell);
    for (unsigned i = 0; i < count; ++i) {
        const struct conflict found = cell_access(o, cell[i], access, &now);
        if (!conflict.with.when) conflict = found;
    }
    return conflict;
}

static bool is_of_launch(const struct order *o, const struct stamp *s) {
    return s->when && !order_other_launch(o, s);
}

static bool is_weak_read(const struct order *o, const struct stamp *s) {
    return is_of_launch(o, s) && !is_strong(s);
}

bool cells_know_reads(const struct order *o, const struct cells *cells, size_t word) {
    const struct word_shadow *w = shadow_if_any(cells, word);
    const struct shadow_cell *cell = w ? __atomic_load_n(&w->cell, __ATOMIC_ACQUIRE) : NULL;
    if (!cell || __atomic_load_n(&cell->others, __ATOMIC_ACQUIRE)) return false;
    return cell->write.when && !is_of_launch(o, &cell->write) &&
           !is_of_launch(o, &cell->strong_write) && is_weak_read(o, &cell->read) &&
           is_weak_read(o, &cell->other_read) &&
           stamp_block(&cell->read) != stamp_block(&cell->other_read) &&
           (!order_has_pairs() || cell->more_count >= MANY_READS);
}

static bool knows_read(const struct shadow_cell *cell, const struct stamp *read) {
    bool knows = memcmp(&cell->read, read, sizeof *read) == 0 ||
                 memcmp(&cell->other_read, read, sizeof *read) == 0;
    for (uint32_t i = 0; i < cell->more_count; ++i)
        knows |= memcmp(&cell->more[i], read, sizeof *read) == 0;
    return knows;
}

bool cells_know_read(const struct cells *cells, size_t word, const struct stamp *read) {
    const struct word_shadow *w = shadow_if_any(cells, word);
    if (!w || !w->cell) return false;
    bool knows = knows_read(w->cell, read);
    for (int i = 0; w->cell->others && i < WORD - 1; ++i)
        knows |= knows_read(&w->cell->others[i], read);
    return knows;
}
