/* Steps: see walk.h. */
#include "../../cuda/runtime/runtime.h" /* place_before() */
#include "../../report/text/source.h"
#include "walk.h"
#include <stdlib.h>

/* --- instructions ----------------------------------------------------------------------------- */

int walk_line(const void *code) {
    const struct place place = place_before(code);
    return source_is(place.file) ? place.line : 0;
}

static bool find_sites(struct walk_steps *s) {
    for (size_t i = 0; i < s->accesses; i++) {
        const struct trace_access *a = &s->trace->access[i];
        int at = 0;
        for (; at < s->site_count; at++) {
            const struct trace_access *b = s->site[at].first;
            if (a->code == b->code && a->array == b->array && a->write == b->write &&
                a->elements == b->elements)
                break;
        }
        s->site_of[i] = at;
        if (at < s->site_count) continue;
        struct walk_site *more = realloc(s->site, (size_t)(at + 1) * sizeof *more);
        if (!more) return false;
        s->site = more;
        s->site[s->site_count++] = (struct walk_site){a, walk_line(a->code)};
    }
    return true;
}

/* --- visits ----------------------------------------------------------------------------------- */

static void order_by_thread(struct walk_steps *s) {
    size_t begin[MAX_BLOCK_THREADS + 1] = {0};
    const struct trace_access *a = s->trace->access;
    for (size_t i = 0; i < s->accesses; i++) begin[a[i].thread + 1]++;
    for (int t = 0; t < MAX_BLOCK_THREADS; t++) begin[t + 1] += begin[t];
    for (size_t i = 0; i < s->accesses; i++) s->by_thread[begin[a[i].thread]++] = i;
}

/* Whether the access belongs to the visit, which a loop that comes back to a line ends. */
static bool continues(const struct walk_steps *s, const struct walk_visit *visit, size_t access) {
    const struct trace_access *a = &s->trace->access[access];
    const struct walk_site *site = &s->site[s->site_of[access]];
    if (visit->thread != a->thread || visit->interval != a->interval || visit->line != site->line)
        return false;
    for (size_t i = 0; i < visit->count; i++)
        if (s->site_of[s->by_thread[visit->first + i]] == s->site_of[access]) return false;
    return true;
}

/* How often the thread came by the line before, in the interval: its visits are the last ones. */
static int occurrence_of(const struct walk_steps *s, const struct walk_visit *made) {
    for (size_t i = s->visit_count; i-- > 0;) {
        const struct walk_visit *before = &s->visit[i];
        if (before->thread != made->thread || before->interval != made->interval) return 0;
        if (before->line == made->line) return before->occurrence + 1;
    }
    return 0;
}

static void make_visits(struct walk_steps *s) {
    for (size_t i = 0; i < s->accesses; i++) {
        struct walk_visit *last = s->visit_count ? &s->visit[s->visit_count - 1] : NULL;
        const size_t access = s->by_thread[i];
        if (last && continues(s, last, access)) {
            last->count++;
            continue;
        }
        struct walk_visit made = {.thread = s->trace->access[access].thread,
                                  .interval = s->trace->access[access].interval,
                                  .line = s->site[s->site_of[access]].line,
                                  .first = i,
                                  .count = 1};
        made.occurrence = occurrence_of(s, &made);
        s->visit[s->visit_count++] = made;
    }
}

/* --- the order of visits ---------------------------------------------------------------------- */

/* The visits of a line with one occurrence in one interval, by whichever threads make it. */
struct slot {
    int line;
    size_t left; /* visits that have not been ordered yet */
    size_t next; /* those of them that are their threads' next ones */
};

struct ordering {
    const struct walk_visit *visit; /* by thread */
    size_t count;
    struct slot *slot;
    size_t slot_count;
    size_t next[MAX_BLOCK_THREADS], end[MAX_BLOCK_THREADS]; /* visits of each thread */
    struct walk_visit *ordered;
    size_t ordered_count;
};

static int compare_slots(const void *a, const void *b) {
    const struct walk_visit *x = *(const struct walk_visit *const *)a,
                            *y = *(const struct walk_visit *const *)b;
    if (x->interval != y->interval) return x->interval < y->interval ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->occurrence > y->occurrence) - (x->occurrence < y->occurrence);
}

static bool make_slots(struct ordering *o, struct walk_visit *visits) {
    struct walk_visit **sorted = malloc((o->count + 1) * sizeof *sorted);
    o->slot = malloc((o->count + 1) * sizeof *o->slot);
    if (!sorted || !o->slot) {
        free(sorted);
        return false;
    }
    for (size_t i = 0; i < o->count; i++) sorted[i] = &visits[i];
    qsort(sorted, o->count, sizeof(struct walk_visit *), compare_slots);
    for (size_t i = 0; i < o->count; i++) {
        struct walk_visit *v = sorted[i];
        if (!i || compare_slots(&sorted[i - 1], &sorted[i]) != 0)
            o->slot[o->slot_count++] = (struct slot){.line = v->line};
        v->slot = o->slot_count - 1;
        o->slot[v->slot].left++;
    }
    free(sorted);
    return true;
}

static const struct walk_visit *next_of(const struct ordering *o, int thread, uint32_t interval) {
    const size_t next = o->next[thread];
    const bool any = next < o->end[thread] && o->visit[next].interval == interval;
    return any ? &o->visit[next] : NULL;
}

/* For which all threads that are still to come by are there; the first line of those. Where there
 * is none (threads take_slot lines in different orders), the one with most threads. */
static struct slot *next_slot(struct ordering *o, uint32_t interval) {
    struct slot *best = NULL;
    bool best_ready = false;
    for (int t = 0; t < MAX_BLOCK_THREADS; t++) {
        const struct walk_visit *v = next_of(o, t, interval);
        if (!v) continue;
        struct slot *slot = &o->slot[v->slot];
        const bool ready = slot->next == slot->left;
        const bool better =
            !best || (ready && !best_ready) ||
            (ready == best_ready && (ready ? slot->line < best->line : slot->next > best->next));
        if (!better) continue;
        best = slot;
        best_ready = ready;
    }
    return best;
}

static void order_by_line(struct ordering *o, uint32_t interval) {
    struct slot *slot;
    for (int t = 0; t < MAX_BLOCK_THREADS; t++) {
        const struct walk_visit *v = next_of(o, t, interval);
        if (v) o->slot[v->slot].next++;
    }
    while ((slot = next_slot(o, interval)))
        for (int t = 0; t < MAX_BLOCK_THREADS; t++) {
            const struct walk_visit *v = next_of(o, t, interval);
            if (!v || &o->slot[v->slot] != slot) continue;
            o->ordered[o->ordered_count++] = *v;
            o->next[t]++;
            slot->left--, slot->next--;
            v = next_of(o, t, interval);
            if (v) o->slot[v->slot].next++;
        }
}

/* As the accesses ran that they begin with. */
static void order_as_run(struct ordering *o, const struct walk_steps *s, uint32_t interval) {
    for (size_t i = 0; i < s->accesses; i++) {
        const int thread = s->trace->access[i].thread;
        const struct walk_visit *v = next_of(o, thread, interval);
        if (!v || s->by_thread[v->first] != i) continue;
        o->ordered[o->ordered_count++] = *v;
        o->next[thread]++;
    }
}

static bool order_visits(struct walk_steps *s, uint32_t as_run) {
    static struct ordering o;
    o = (struct ordering){.visit = s->visit, .count = s->visit_count};
    o.ordered = malloc((o.count + 1) * sizeof *o.ordered);
    if (!o.ordered || !make_slots(&o, s->visit)) {
        free(o.ordered);
        return false;
    }
    for (size_t i = o.count; i-- > 0;) {
        const int thread = s->visit[i].thread;
        if (!o.end[thread]) o.end[thread] = i + 1;
        o.next[thread] = i;
    }
    const uint32_t last = s->accesses ? s->trace->access[s->accesses - 1].interval : 0;
    for (uint32_t i = 0; i <= last; i++)
        if (i < as_run)
            order_by_line(&o, i);
        else
            order_as_run(&o, s, i);
    free(o.slot);
    free(s->visit);
    s->visit = o.ordered;
    return true;
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool joins(const struct walk_step *step, const struct walk_steps *s, size_t visit) {
    const struct walk_visit *first = &s->visit[step->first], *v = &s->visit[visit];
    return step->warp == v->thread / WARP_SIZE && first->slot == v->slot &&
           v->thread > s->visit[visit - 1].thread;
}

static void add_barrier(struct walk_steps *s, size_t number) {
    const struct trace_barrier *b = &s->trace->barrier[number];
    s->step[s->step_count++] = (struct walk_step){
        .line = walk_line(b->code), .interval = b->interval, .warp = -1, .first = number};
}

static bool make_steps(struct walk_steps *s, uint32_t as_run) {
    const struct trace *t = s->trace;
    const bool whole = s->accesses == t->count;
    size_t barrier = 0;
    s->step = malloc((s->visit_count + t->barrier_count + 1) * sizeof *s->step);
    if (!s->step) return false;
    s->as_run_from = SIZE_MAX;
    for (size_t i = 0; i < s->visit_count; i++) {
        const struct walk_visit *v = &s->visit[i];
        while (barrier < t->barrier_count && t->barrier[barrier].interval < v->interval)
            add_barrier(s, barrier++);
        struct walk_step *last = s->step_count ? &s->step[s->step_count - 1] : NULL;
        if (last && last->warp >= 0 && v->interval < as_run && joins(last, s, i)) {
            last->count++;
            continue;
        }
        if (v->interval >= as_run && s->as_run_from == SIZE_MAX) s->as_run_from = s->step_count;
        s->step[s->step_count++] =
            (struct walk_step){v->line, v->interval, v->thread / WARP_SIZE, i, 1};
    }
    while (whole && barrier < t->barrier_count) add_barrier(s, barrier++);
    if (s->as_run_from == SIZE_MAX) s->as_run_from = s->step_count;
    return true;
}

bool walk_steps_make(const struct trace *trace, size_t most, uint32_t as_run,
                     struct walk_steps *s) {
    size_t count = 0;
    while (count < trace->count && count < most && trace->access[count].interval <= as_run) count++;
    *s = (struct walk_steps){.trace = trace, .accesses = count};
    s->site_of = malloc((count + 1) * sizeof *s->site_of);
    s->by_thread = malloc((count + 1) * sizeof *s->by_thread);
    s->visit = malloc((count + 1) * sizeof *s->visit);
    if (s->site_of && s->by_thread && s->visit && find_sites(s)) {
        order_by_thread(s);
        make_visits(s);
        if (order_visits(s, as_run) && make_steps(s, as_run)) return true;
    }
    walk_steps_free(s);
    return false;
}

void walk_steps_free(struct walk_steps *s) {
    free(s->site);
    free(s->site_of);
    free(s->by_thread);
    free(s->visit);
    free(s->step);
    *s = (struct walk_steps){0};
}

void walk_steps_cut(struct walk_steps *s, size_t step_count) {
    while (s->step_count > step_count) {
        const struct walk_step *step = &s->step[--s->step_count];
        for (size_t v = step->first; step->warp >= 0 && v < step->first + step->count; v++)
            s->accesses -= s->visit[v].count;
    }
}

size_t walk_steps_find(const struct walk_steps *s, size_t access) {
    for (size_t i = 0; i < s->step_count; i++) {
        const struct walk_step *step = &s->step[i];
        for (size_t v = step->first; step->warp >= 0 && v < step->first + step->count; v++)
            for (size_t a = 0; a < s->visit[v].count; a++)
                if (s->by_thread[s->visit[v].first + a] == access) return i;
    }
    return s->step_count;
}
