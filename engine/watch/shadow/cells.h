/* Shadow cells: what is remembered of the accesses to a word of global memory, and to one of shared
 * memory that more than plain accesses are made to: in one cell, or in one for each byte once a
 * part of the word has been accessed alone. */
#ifndef ENGINE_WATCH_SHADOW_CELLS_H
#define ENGINE_WATCH_SHADOW_CELLS_H
#include "order.h"

/* Empty ones have when = 0. A plain write leaves nothing else: what comes later and races with an
 * access before it races with it, too. */
struct shadow_cell {
    struct stamp write, strong_write; /* the last one */
    struct stamp other_strong_write;  /* before that, by another thread of its block */
    struct stamp read, other_read;    /* two that are not ordered; of two blocks or warps, if any */
    struct stamp *more;               /* others that matter beside these */
    uint32_t more_count, more_room;
    struct shadow_cell
        *others; /* of a word's first byte: those of the others, once they are apart */
};

/* Of reads that are not ordered, those that a later write may race with alone: it may be ordered
 * behind all others. Where fences or warp operations order single threads (order_has_pairs()), that
 * is each of them; else two are enough, nearly always.
 *
 * MANY_READS of a word are kept, and beyond that two of each warp, up to MOST_READS. What comes
 * then, or when the lists of all words have MOST_READ_BYTES, is lost: a write that is ordered
 * behind all that are kept, and not behind a lost one, is not reported. */
enum { MANY_READS = 16, MOST_READS = 96, MOST_READ_BYTES = 64 << 20 };

/* The cells of an array of words; made as words are accessed. */
struct cells {
    size_t words;
    struct cells_part *part;
    uint16_t *origins; /* record/reuse.c's, of each word; null: none yet */
};

void cells_make(struct cells *cells, size_t words);
void cells_drop(struct cells *cells);

/* The cells of a word that such an access is to: `bytes` has a bit for each. Returns how many. From
 * here on the caller holds a lock of the word's. */
unsigned cells_find(const struct cells *cells, size_t word, unsigned bytes,
                    struct shadow_cell *found[WORD]);
/* Where the last write of a word is kept, as long as nothing but plain writes of all of it are
 * made: a fifth of the memory, and enough for C. Null: find its cells. */
struct stamp *cells_write(const struct cells *cells, size_t word);
/* Whether a plain read of a word would add nothing: it was written before this launch, and threads
 * of two blocks have read it; or MANY_READS, where threads are ordered in pairs. Without a lock:
 * whoever writes it now races with those. */
bool cells_know_reads(const struct order *o, const struct cells *cells, size_t word);
/* Whether any part of a word has been written. */
bool cells_are_written(const struct cells *cells, size_t word);
/* The one cell of a word, whole again, and empty. */
struct shadow_cell *cells_reset(const struct cells *cells, size_t word);
/* Words that were written before any launch. */
void cells_set_written(const struct cells *cells, size_t first, size_t count);
/* Bytes of a word that an access is to. */
unsigned cells_bytes(uintptr_t word_begin, const struct access *access);

/* An earlier access that an access races with. */
struct conflict {
    struct stamp with; /* when = 0: with none */
    bool write;
};

/* Remembers the running thread's access, and says what it races with. */
struct conflict cell_access(struct order *o, struct shadow_cell *cell, const struct access *access,
                            const struct stamp *now);
/* The same for a plain write to a word of which the last write is all that is kept. */
struct conflict cell_write(struct order *o, struct stamp *write, const struct access *access,
                           const struct stamp *now);
#endif
