/* A barrier that orders nothing: without it, the intervals before and after it would be one, and in
 * that, too, no word is accessed by two threads of which one stores.
 *
 * Of a line, all barriers are left out at once: those of all iterations of a loop. Nothing is
 * claimed where a larger product could need the barrier: the loop over phases must have gone round
 * several times, and the barrier be in it or in no loop. */
#include "../../report/text/source.h"
#include "../../watch/launches.h"
#include "../../watch/shadow/regions.h"
#include "../outline.h"
#include "remark_rules.h"
#include <stdlib.h>
#include <string.h>

enum {
    LOCATIONS = 16, /* of barriers in the program */
    ROUNDS = 3      /* of the loop over phases, at least: its first and its last may be special */
};

struct locations {
    const void *code[LOCATIONS];
    struct place place[LOCATIONS];
    int group[LOCATIONS]; /* the first location in the same line */
    bool needed[LOCATIONS];
    int count;
};

/* --- which barriers there are ----------------------------------------------------------------- */

/* -1: no room. */
static int location_of(struct locations *l, const void *code) {
    for (int i = 0; i < l->count; i++)
        if (l->code[i] == code) return i;
    if (l->count == LOCATIONS) return -1;
    l->code[l->count] = code;
    l->group[l->count] = l->count;
    return l->count++;
}

static bool find_locations(const struct trace *t, struct locations *l) {
    for (size_t i = 0; i < t->barrier_count; i++)
        if (location_of(l, t->barrier[i].code) < 0) return false;
    return true;
}

/* A compiler may make several barriers of one. False: a line is not known. */
static bool group_by_line(struct locations *l) {
    for (int i = 0; i < l->count; i++) {
        l->place[i] = place_before(l->code[i]);
        if (!l->place[i].line) return false;
        l->group[i] = 0;
        while (!place_same_line(&l->place[l->group[i]], &l->place[i])) l->group[i]++;
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

/* The words of each array in the trace begin at `first`. */
struct words {
    struct word *word;
    size_t count;
    int64_t lowest[TRACE_ARRAYS], first[TRACE_ARRAYS];
};

/* Those are never written. */
static bool is_of_an_input(const struct trace_access *a) {
    const struct engine_array *array = a->array < TRACE_SHARED ? region_array(a->array) : NULL;
    return array && array->role == ROLE_INPUT;
}

static bool make_words(const struct trace *t, struct words *words) {
    int64_t highest[TRACE_ARRAYS] = {0};
    bool any[TRACE_ARRAYS] = {false};
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        const int64_t end = a->offset + a->elements;
        if (!any[a->array] || a->offset < words->lowest[a->array])
            words->lowest[a->array] = a->offset;
        if (!any[a->array] || end > highest[a->array]) highest[a->array] = end;
        any[a->array] = true;
    }
    for (int i = 0; i < TRACE_ARRAYS; i++) {
        words->first[i] = (int64_t)words->count;
        words->count += (size_t)(highest[i] - words->lowest[i]);
    }
    words->word = malloc((words->count + 1) * sizeof *words->word);
    return words->word;
}

/* Whether this access and earlier ones of the span are a conflict. */
static bool conflicts(struct words *words, const struct trace_access *a, uint32_t span) {
    for (int i = 0; i < a->elements; i++) {
        const int64_t offset = a->offset - words->lowest[a->array] + i;
        struct word *w = &words->word[words->first[a->array] + offset];
        if (w->span != span) *w = (struct word){.span = span, .thread = a->thread};
        w->several = w->several || w->thread != a->thread;
        w->written = w->written || a->write;
        if (w->several && w->written) return true;
    }
    return false;
}

/* Whether some threads conflict when no barrier of this group is there. */
static bool is_needed(const struct trace *t, struct locations *l, int group, struct words *words) {
    size_t next = 0; /* barrier */
    uint32_t span = 1;
    int block = -1;
    memset(words->word, 0, words->count * sizeof *words->word);
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (a->block != block) span++;
        block = a->block;
        while (next < t->barrier_count &&
               (t->barrier[next].block < a->block ||
                (t->barrier[next].block == a->block && t->barrier[next].interval < a->interval)))
            span += l->group[location_of(l, t->barrier[next++].code)] != group;
        if (!is_of_an_input(a) && conflicts(words, a, span)) return true;
    }
    return false;
}

/* Returns how many groups are not needed. */
static int find_needed(const struct trace *t, struct locations *l, struct words *words) {
    int unneeded = 0;
    for (int i = 0; i < l->count; i++) {
        l->needed[i] = l->group[i] == i ? is_needed(t, l, i, words) : l->needed[l->group[i]];
        unneeded += !l->needed[i];
    }
    return unneeded;
}

/* --- what may be claimed ---------------------------------------------------------------------- */

/* The most intervals of one block in which it loads elements of inputs. */
static int rounds_of(const struct trace *t) {
    int most = 0, rounds = 0, block = -1;
    uint32_t last = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (!is_of_an_input(a)) continue;
        if (a->block != block)
            rounds = 1;
        else
            rounds += a->interval != last;
        block = a->block;
        last = a->interval;
        if (rounds > most) most = rounds;
    }
    return most;
}

/* The most that one block has waited in this group. */
static int times_of(const struct trace *t, struct locations *l, int group) {
    int most = 0, times = 0, block = -1;
    for (size_t i = 0; i < t->barrier_count; i++) {
        if (t->barrier[i].block != block) times = 0;
        block = t->barrier[i].block;
        times += l->group[location_of(l, t->barrier[i].code)] == group;
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

static int loops_around(const struct structure *s, int line) {
    int loops = 0;
    for (int i = 0; i < s->count; i++)
        loops += s->constructs[i].kind == CONSTRUCT_LOOP && s->constructs[i].first <= line &&
                 line <= s->constructs[i].last;
    return loops;
}

/* In a kernel's own text, in no loop or in one that has gone round. */
static bool is_plain(const struct trace *t, struct locations *l, int group) {
    static struct structure s;
    const struct place *place = &l->place[group];
    if (!source_is(place->file) || !has_syncthreads(source_text(), place->line) ||
        !structure_read(&s, source_text()))
        return false;
    const struct construct *function = structure_around(&s, CONSTRUCT_FUNCTION, place->line);
    const int loops = loops_around(&s, place->line);
    return function && function->kernel &&
           (!loops || (loops == 1 && times_of(t, l, group) >= ROUNDS));
}

static void choose(const struct trace *t, struct locations *l, struct remark *remark) {
    for (int i = 0; i < l->count; i++) {
        if (l->group[i] != i || l->needed[i] || !is_plain(t, l, i)) continue;
        remark_at(remark, REMARK_UNNEEDED_BARRIER, l->place[i].file, l->place[i].line);
        REMARK_SAY(BARRIER_NOT_NEEDED);
        REMARK_SAY(WITHOUT_IT);
        return;
    }
}

/* Whether another launch than the one that is looked at has barriers, which may be the same ones;
 * or may have, because nothing of it is kept. */
static bool others_wait(const struct trace *looked_at) {
    const struct trace *const *traces;
    const int count = trace_launches(&traces);
    for (int i = 0; i < count; i++)
        if (traces[i] != looked_at && traces[i]->barrier_count) return true;
    return launches_noted() > (uint64_t)count;
}

void remark_barriers(struct remark *remark) {
    static struct locations l;
    const struct trace *t = trace_shown();
    struct words words = {0};
    if (others_wait(t) || !t->plain || !t->complete || !t->ended || !t->barrier_count) return;
    if (rounds_of(t) < ROUNDS || !find_locations(t, &l) || !make_words(t, &words)) return;
    if (find_needed(t, &l, &words) && group_by_line(&l) && find_needed(t, &l, &words))
        choose(t, &l, remark);
    free(words.word);
}
