/* Phrases that all findings have: who, where, which element, what the runtime says. */
#include "../device.h"
#include "say.h"
#include <inttypes.h>
#include <stdio.h>

static struct phrase coordinates(struct finding_index i, bool three) {
    struct phrase p;
    if (three)
        snprintf(p.text, sizeof p.text, "(%u,%u,%u)", i.x, i.y, i.z);
    else
        snprintf(p.text, sizeof p.text, "(%u,%u)", i.x, i.y);
    return p;
}

struct phrase finding_thread(const struct finding *f, const struct finding_party *party) {
    return coordinates(party->thread, f->block_size.z > 1);
}

struct phrase finding_block(const struct finding *f, const struct finding_party *party) {
    return coordinates(party->block, f->grid_size.z > 1);
}

struct phrase finding_at(const char *file, int line) {
    struct phrase p = {""};
    if (line) snprintf(p.text, sizeof p.text, " at %.100s:%d", file, line);
    return p;
}

const char *finding_verb(const struct finding_party *party) {
    return party->access == FINDING_WRITE ? "writes" : "reads";
}

/* --- which element ---------------------------------------------------------------------------- */

static void append_indices(char *text, size_t bytes, const struct finding_object *o) {
    append(text, bytes, "%s", o->name);
    for (int i = 0; i < o->dimensions; i++) append(text, bytes, "[%" PRId64 "]", o->index[i]);
}

static void append_allocated(char *text, size_t bytes, const struct finding_object *o) {
    append(text, bytes, "byte %" PRId64 " of the %s allocated", o->byte,
           grouped((uint64_t)o->bytes).text);
    append(text, bytes, "%.80s", finding_at(o->file, o->line).text);
}

void finding_element(const struct finding *f, char *text, size_t bytes) {
    const struct finding_object *o = &f->object;
    text[0] = '\0';
    switch (o->form) {
    case OBJECT_UNKNOWN:
    case OBJECT_VARIABLE:
    case OBJECT_FORMS: break;
    case OBJECT_ELEMENT:
    case OBJECT_ARRAY:
    case OBJECT_POINTED_TO: append_indices(text, bytes, o); break;
    case OBJECT_PART:
        append(text, bytes, "%s (byte %" PRId64 " of its %s)", o->name, o->byte,
               grouped((uint64_t)o->bytes).text);
        break;
    case OBJECT_DYNAMIC:
        append(text, bytes, "byte %" PRId64 " of dynamic shared memory", o->byte);
        break;
    case OBJECT_SHARED: append(text, bytes, "shared memory"); break;
    case OBJECT_ALLOCATED: append_allocated(text, bytes, o); break;
    case OBJECT_ALLOCATION: append(text, bytes, "byte %" PRId64 " of %s", o->byte, o->name); break;
    }
    if (o->several) append(text, bytes, " of %s bytes", grouped((uint64_t)o->bytes).text);
}

struct phrase finding_element_of(const struct finding *f) {
    struct phrase p;
    finding_element(f, p.text, sizeof p.text);
    return p;
}

/* --- what the runtime says -------------------------------------------------------------------- */

void say_what_ended_it(const struct finding *f, struct finding_words *w) {
    const struct fault_facts fault = {.code = (enum fault_code)GET(FAULT),
                                      .seconds = REAL(SECONDS),
                                      .blocks = (uint64_t)GET(BLOCKS),
                                      .of = (uint64_t)GET(OF),
                                      .signal = (int)GET(SIGNAL),
                                      .assertion = f->named[0] ? f->named : NULL};
    fault_say(&fault, w->what, sizeof w->what);
}
