/* A barrier that orders nothing: without it, the intervals before and after it would be one, and in
 * that, too, no word is accessed by two threads of which one stores.
 *
 * Of a line, all barriers are left out at once: those of all iterations of a loop. Nothing is
 * claimed where a larger product could need the barrier: the loop over phases must have gone round
 * several times, and the barrier be in it or in no loop. */
#include "../../cuda/runtime/runtime.h" /* struct place */
#include "../../report/text/source.h"
#include "../../report/text/text.h"
#include "../../watch/launches.h"
#include "../../watch/record/record.h"
#include "../../watch/shadow/shadow.h"
#include "../explain.h"
#include "../outcome.h"
#include <stdlib.h>
#include <string.h>

enum {
    LOCATIONS = 16, /* of barriers in the program */
    ROUNDS = 3      /* of the loop over phases, at least: its first and its last may be special */
};

/* Where the program has barriers. A compiler may make several of one: they are a group, by the
 * first of them. */
struct locations {
    const void *code[LOCATIONS];
    struct place place[LOCATIONS];
    int group[LOCATIONS];
    int count;
};

/* --- which barriers there are ----------------------------------------------------------------- */

static int location_of(const struct locations *l, const void *code) {
    int i = 0;
    while (i < l->count && l->code[i] != code) i++;
    return i;
}

static int group_of(const struct locations *l, const struct trace_barrier *barrier) {
    return l->group[location_of(l, barrier->code)];
}

/* False: a line is not known, or there is no room. */
static bool find_locations(const struct trace *t, struct locations *l) {
    l->count = 0;
    for (size_t i = 0; i < t->barrier_count; i++) {
        const int at = location_of(l, t->barrier[i].code);
        if (at < l->count) continue;
        if (at == LOCATIONS) return false;
        l->count++;
        l->code[at] = t->barrier[i].code;
        l->place[at] = place_before(l->code[at]);
        l->group[at] = 0;
        if (!l->place[at].line) return false;
        while (!place_same_line(&l->place[l->group[at]], &l->place[at])) l->group[at]++;
    }
    return true;
}

/* --- conflicts -------------------------------------------------------------------------------- */

/* A word, as far as the block and its intervals up to the next barrier have accessed it. */
struct word {
    uint32_t span; /* 0: not yet */
    uint16_t thread;
    bool several, written; /* threads */
};

/* Those of each array, of which none has more than `most` in the trace. */
struct words {
    struct word *word;
    size_t most;
    uint32_t span; /* the last one; no two have the same number */
};

/* Those are never written. */
static bool is_of_an_input(const struct trace_access *a) {
    const struct engine_array *array = a->array < TRACE_SHARED ? region_array(a->array) : NULL;
    return array && array->role == ROLE_INPUT;
}

static bool make_words(const struct trace *t, struct words *words) {
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (a->offset < 0) return false;
        if ((size_t)a->offset + a->elements > words->most)
            words->most = (size_t)a->offset + a->elements;
    }
    words->word = calloc(TRACE_ARRAYS * words->most + 1, sizeof *words->word);
    return words->word;
}

/* Whether this access and earlier ones of the span are a conflict. */
static bool conflicts(struct words *words, const struct trace_access *a) {
    for (int i = 0; i < a->elements; i++) {
        struct word *w = &words->word[a->array * words->most + (size_t)a->offset + (size_t)i];
        if (w->span != words->span) *w = (struct word){.span = words->span, .thread = a->thread};
        w->several = w->several || w->thread != a->thread;
        w->written = w->written || a->write;
        if (w->several && w->written) return true;
    }
    return false;
}

/* Whether some threads conflict when no barrier of this group is there. */
static bool is_needed(const struct trace *t, const struct locations *l, int group,
                      struct words *words) {
    size_t next = 0; /* barrier */
    int block = -1;
    words->span++;
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        words->span += a->block != block;
        block = a->block;
        while (next < t->barrier_count &&
               (t->barrier[next].block < a->block ||
                (t->barrier[next].block == a->block && t->barrier[next].interval < a->interval)))
            words->span += group_of(l, &t->barrier[next++]) != group;
        if (!is_of_an_input(a) && conflicts(words, a)) return true;
    }
    return false;
}

/* --- what may be claimed ---------------------------------------------------------------------- */

/* The most intervals of one block in which it loads elements of inputs. */
static int rounds_of(const struct trace *t) {
    int most = 0, rounds = 0, block = -1;
    uint32_t last = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (!is_of_an_input(a)) continue;
        rounds = a->block != block ? 1 : rounds + (a->interval != last);
        block = a->block;
        last = a->interval;
        if (rounds > most) most = rounds;
    }
    return most;
}

/* The most that one block has waited in this group. */
static int times_of(const struct trace *t, const struct locations *l, int group) {
    int most = 0, times = 0, block = -1;
    for (size_t i = 0; i < t->barrier_count; i++) {
        if (t->barrier[i].block != block) times = 0;
        block = t->barrier[i].block;
        times += group_of(l, &t->barrier[i]) == group;
        if (times > most) most = times;
    }
    return most;
}

/* Whether the line has __syncthreads(), and not by a macro or one of its relatives, which give each
 * thread a result. */
static bool has_syncthreads(const char *text, int line) {
    static const char name[] = "__syncthreads";
    char copy[240] = "";
    const char *begin = text_line(text, line);
    if (!begin) return false;
    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(begin, "\n"), begin);
    const char *call = strstr(copy, name);
    if (!call) return false;
    call += strlen(name);
    return call[strspn(call, " ")] == '(' && !strstr(call, name);
}

/* In a kernel's own text, in no loop or in one that has gone round. */
static bool is_plain(const struct trace *t, const struct locations *l, int group) {
    static struct structure s;
    const struct place *place = &l->place[group];
    if (!source_is(place->file) || !has_syncthreads(source_text(), place->line) ||
        !structure_read(&s, source_text()))
        return false;
    const struct construct *function = structure_around(&s, CONSTRUCT_FUNCTION, place->line);
    const struct construct *loop = structure_around(&s, CONSTRUCT_LOOP, place->line);
    return function && function->kernel &&
           (!loop || (loop == structure_outermost(&s, CONSTRUCT_LOOP, place->line, 0) &&
                      times_of(t, l, group) >= ROUNDS));
}

const void *remark_unneeded_barrier(void) {
    static struct locations l;
    const struct trace *t = trace_shown(), *const * traces;
    struct words words = {0};
    int at = 0, launches = trace_launches(&traces);
    /* Another launch may have the same barriers, also one of which nothing is kept. */
    if (launches_noted() > (uint64_t)launches) return NULL;
    for (int i = 0; i < launches; i++)
        if (traces[i] != t && traces[i]->barrier_count) return NULL;
    if (!t->plain || !t->complete || !t->ended || !t->barrier_count) return NULL;
    if (rounds_of(t) < ROUNDS || !find_locations(t, &l) || !make_words(t, &words)) return NULL;
    while (at < l.count &&
           (l.group[at] != at || is_needed(t, &l, at, &words) || !is_plain(t, &l, at)))
        at++;
    free(words.word);
    return at < l.count ? l.code[at] : NULL;
}
