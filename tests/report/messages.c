/* `make messages`: all that `make check` can say of a finding, to be read as a book. Each kind once
 * for each access and each form of the memory that it may be about, and with each fact, and each
 * two facts, that a finding may state beside them; what is the same is printed once. The words of
 * causes are in tables: engine/form/causes.def, and a lab's causes.def. */
#define _POSIX_C_SOURCE 200809L
#include "../../engine/report/device.h"
#include "example.h"
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 16, LONGEST = sizeof(struct finding_words) + 8 };

static char *said[MOST];
static int count;

static bool is_new(const char *text) {
    for (int i = 0; i < count; i++)
        if (strcmp(said[i], text) == 0) return false;
    if (count == MOST) return false;
    said[count] = strdup(text);
    return said[count++] != NULL;
}

static void print(const char *text) {
    fputs("    ", stdout);
    for (; *text; text++) {
        putchar(*text);
        if (*text == '\n') fputs("    ", stdout);
    }
    putchar('\n');
}

/* Headline, hint and details are looked at one by one: a new one is printed. */
static void say(const struct finding *given) {
    struct finding f = *given;
    struct finding_words words;
    char hint[sizeof words.hint + 8];
    if (!finding_check(&f)) return;
    finding_say(&f, &words);
    if (is_new(words.what)) printf("\n%s\n", words.what);
    if (words.detail[0] && is_new(words.detail)) print(words.detail);
    snprintf(hint, sizeof hint, "hint: %s", words.hint);
    if (words.hint[0] && is_new(hint)) print(hint);
}

/* What a fact has beside it, and nobody asks for alone. */
static const struct beside {
    enum slot_name fact, slot;
    int64_t value;
} beside[] = {{SLOT_BARRIER_AFTER, SLOT_BARRIER_BEFORE, 22},
              {SLOT_UNSTORED, SLOT_UNSTORED_FIRST, 14},
              {SLOT_UNSTORED, SLOT_UNSTORED_LAST, 15},
              {SLOT_ROW_WORDS, SLOT_WORD, 34},
              {SLOT_FAULT, SLOT_BLOCKS, 312},
              {SLOT_FAULT, SLOT_OF, 6400},
              {SLOT_COUNT, SLOT_OF, 256},
              {SLOT_ROW_FIRST, SLOT_ROW_LAST, 34},
              {SLOT_ROW_FIRST, SLOT_COLUMN_FIRST, 16},
              {SLOT_ROW_FIRST, SLOT_COLUMN_LAST, 19}};

static bool is_beside(int slot) {
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if ((int)beside[i].slot == slot) return true;
    return false;
}

static int64_t value_of(int slot, int variant) {
    const double number = 2.5;
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    switch (slot_type((enum slot_name)slot)) {
    case SLOT_TYPE_FLAG: return 1;
    case SLOT_TYPE_REAL: return bits;
    case SLOT_TYPE_UNSTORED:
    case SLOT_TYPE_WRAPPED:
    case SLOT_TYPE_FAULT: return variant; /* say() leaves out what is none */
    default: return 3;
    }
}

static void set(struct finding *f, int slot, int variant) {
    if (!slot) return;
    slot_set(f->slot, (enum slot_name)slot, value_of(slot, variant));
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
        if ((int)beside[i].fact == slot) slot_set(f->slot, beside[i].slot, beside[i].value);
}

static bool has_variants(int slot) { return slot && value_of(slot, 1) != value_of(slot, 2); }

static void with_facts(struct finding *f) {
    for (int one = SLOT_NONE; one < SLOTS; one++)
        for (int two = 0; two <= one; two++) {
            if (is_beside(one) || is_beside(two)) continue;
            const int variants = has_variants(one) || has_variants(two) ? FAULTS : 1;
            for (int variant = 1; variant <= variants; variant++) {
                memset(f->slot, 0, sizeof f->slot);
                set(f, one, variant);
                if (two != one) set(f, two, variant);
                say(f);
            }
        }
}

static void with_accesses(struct finding *f) {
    for (int access = FINDING_READ; access <= FINDING_WRITE; access++)
        for (unsigned block = 0; block < 2; block++) {
            f->at.access = (enum finding_access)access;
            f->other.access = FINDING_WRITE;
            f->other.block.x = block;
            if (f->object.form == OBJECT_ELEMENT || f->object.form == OBJECT_ARRAY)
                with_facts(f);
            else
                say(f);
        }
}

int main(void) {
    for (int kind = 1; kind < FINDING_KINDS; kind++) {
        const struct finding_kind_text *text = finding_text((enum finding_kind)kind);
        printf("\n=== %s\n", text->kind);
        for (int form = 0; form < OBJECT_FORMS; form++) {
            struct finding f = example((enum finding_kind)kind);
            f.object.form = (enum finding_object_form)form;
            if (form > OBJECT_VARIABLE || text->memory == FINDING_MEMORY_NONE) with_accesses(&f);
        }
    }
}
