/* Describes sets of threads: see threads.h.
 *
 * A condition is looked for in each coordinate alone: the set of its values that occur. Where the
 * threads are all those whose coordinates have such values, their conditions are joined by "and";
 * where that is true of the other threads of the block, the opposites are joined by "or". */
#include "threads.h"
#include "../device.h"
#include "../text/text.h"
#include <stdio.h>
#include <string.h>

_Static_assert((int)FINDING_THREADS == MAX_BLOCK_THREADS, "a set has room for every thread");

enum { AXES = 3 };
typedef char axis_names[AXES][40];

/* The values of one coordinate. */
struct values {
    unsigned size; /* of the block in this direction */
    struct threads has;
};

/* --- sets ------------------------------------------------------------------------------------- */

unsigned threads_count(const struct threads *set) {
    unsigned count = 0;
    for (unsigned i = 0; i < MAX_BLOCK_THREADS / 64; ++i)
        count += (unsigned)__builtin_popcountll(set->bits[i]);
    return count;
}

unsigned threads_first(const struct threads *set) {
    for (unsigned i = 0; i < MAX_BLOCK_THREADS / 64; ++i)
        if (set->bits[i]) return i * 64 + (unsigned)__builtin_ctzll(set->bits[i]);
    return 0;
}

/* Those of a block of `count` threads that are not in the set. */
static struct threads others_than(const struct threads *set, unsigned count) {
    struct threads others = {{0}};
    for (unsigned i = 0; i < count; ++i)
        if (!threads_has(set, i)) threads_add(&others, i);
    return others;
}

static unsigned block_count(struct finding_index block) { return block.x * block.y * block.z; }

static void coordinates_of_index(unsigned at[AXES], unsigned linear, struct finding_index block) {
    at[0] = linear % block.x;
    at[1] = linear / block.x % block.y;
    at[2] = linear / block.x / block.y;
}

/* --- conditions on one coordinate ------------------------------------------------------------- */

/* Where the values are those with a certain remainder; or all others. */
static bool write_remainder(char *text, size_t bytes, const struct values *v, const char *name) {
    for (unsigned divisor = 2; divisor <= v->size / 2; ++divisor)
        for (int others = 0; others < 2; ++others)
            for (unsigned remainder = 0, i; remainder < divisor; ++remainder) {
                for (i = 0; i < v->size; ++i)
                    if (threads_has(&v->has, i) == (others == (i % divisor == remainder))) break;
                if (i < v->size) continue;
                append(text, bytes, "%s %% %u %s %u", name, divisor, others ? "!=" : "=",
                       remainder);
                return true;
            }
    return false;
}

/* False: there is no condition that is simple enough, or none is needed. */
static bool write_values(char *text, size_t bytes, const struct values *v, const char *name) {
    const struct threads missing = others_than(&v->has, v->size);
    const unsigned count = threads_count(&v->has), first = threads_first(&v->has);
    unsigned last = first;
    if (count == 0 || count == v->size) return false;
    for (unsigned i = first; i < v->size; ++i)
        if (threads_has(&v->has, i)) last = i;
    if (count == 1)
        append(text, bytes, "%s = %u", name, first);
    else if (first == 0 && last == count - 1)
        append(text, bytes, "%s < %u", name, count);
    else if (last == v->size - 1 && last - first == count - 1)
        append(text, bytes, "%s >= %u", name, first);
    else if (last - first == count - 1)
        append(text, bytes, "%s from %u to %u", name, first, last);
    else if (count == v->size - 1)
        append(text, bytes, "%s != %u", name, threads_first(&missing));
    else
        return !strchr(name, ' ') && write_remainder(text, bytes, v, name); /* no x / 16 % 2 */
    return true;
}

/* --- conditions on all coordinates ------------------------------------------------------------ */

/* The values of each coordinate that occur. False: some thread that has such values in all of them
 * is not in the set. */
static bool is_product(struct values axes[AXES], const struct threads *set,
                       struct finding_index block) {
    unsigned product = 1;
    const unsigned sizes[AXES] = {block.x, block.y, block.z};
    for (unsigned axis = 0; axis < AXES; ++axis) axes[axis] = (struct values){.size = sizes[axis]};
    for (unsigned i = 0; i < block_count(block); ++i) {
        unsigned at[AXES];
        if (!threads_has(set, i)) continue;
        coordinates_of_index(at, i, block);
        for (unsigned axis = 0; axis < AXES; ++axis) threads_add(&axes[axis].has, at[axis]);
    }
    for (unsigned axis = 0; axis < AXES; ++axis) product *= threads_count(&axes[axis].has);
    return product == threads_count(set);
}

static bool write_product(char *text, size_t bytes, const struct threads *set,
                          struct finding_index block, axis_names names, bool opposite) {
    struct values axes[AXES];
    bool any = false;
    text[0] = '\0';
    if (!is_product(axes, set, block)) return false;
    for (unsigned axis = 0; axis < AXES; ++axis) {
        struct values *v = &axes[axis];
        if (threads_count(&v->has) == v->size) continue;
        if (any) append(text, bytes, opposite ? " or " : " and ");
        if (opposite) v->has = others_than(&v->has, v->size);
        if (!write_values(text, bytes, v, names[axis])) {
            text[0] = '\0';
            return false;
        }
        any = true;
    }
    return any;
}

/* The condition, or its opposite for the others. */
static bool write_either(char *text, size_t bytes, const struct threads *set,
                         struct finding_index block, axis_names names) {
    const struct threads others = others_than(set, block_count(block));
    return write_product(text, bytes, set, block, names, false) ||
           write_product(text, bytes, &others, block, names, true);
}

/* A block in one row may compute a grid of w columns, whose rows and columns are quotients and
 * remainders. */
static bool write_as_grid(char *text, size_t bytes, const struct threads *set, unsigned count) {
    for (unsigned width = 2; width <= count / 2; width *= 2) {
        const struct finding_index grid = {width, count / width, 1};
        axis_names names;
        if (count % width) continue;
        snprintf(names[0], sizeof names[0], "threadIdx.x %% %u", width);
        snprintf(names[1], sizeof names[1], "threadIdx.x / %u", width);
        if (write_either(text, bytes, set, grid, names)) return true;
    }
    return false;
}

bool threads_condition(char *text, size_t bytes, const struct threads *set,
                       struct finding_index block) {
    axis_names names = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
    const unsigned count = threads_count(set), all = block_count(block);
    text[0] = '\0';
    if (count == 0 || count == all) return false;
    if (write_either(text, bytes, set, block, names)) return true;
    return block.x == all && write_as_grid(text, bytes, set, all);
}

static void write_thread(char *text, size_t bytes, unsigned linear, struct finding_index block) {
    unsigned at[AXES];
    coordinates_of_index(at, linear, block);
    append(text, bytes, block.z > 1 ? "(%u,%u,%u)" : "(%u,%u)", at[0], at[1], at[2]);
}

void threads_describe(char *text, size_t bytes, const struct threads *set,
                      struct finding_index block) {
    const unsigned count = threads_count(set), first = threads_first(set);
    char condition[160];
    text[0] = '\0';
    if (count == 0) {
        append(text, bytes, "no thread");
    } else if (count == 1) {
        append(text, bytes, "thread ");
        write_thread(text, bytes, first, block);
    } else if (count == block_count(block)) {
        append(text, bytes, "all %u threads", count);
    } else if (threads_condition(condition, sizeof condition, set, block)) {
        append(text, bytes, "the %u threads with %s", count, condition);
    } else {
        append(text, bytes, "%u threads, such as ", count);
        write_thread(text, bytes, first, block);
        append(text, bytes, ",");
    }
}
