/* `make messages`: all that `make check` can say of a finding, to be read as a book. Each kind once
 * for each access and each form of the memory that it may be about, and with each fact, and each
 * two facts, that a finding may state beside them; what is the same is printed once. The words of
 * causes are in tables: engine/form/cause_sentences.def, and a lab's sentences.def. */
#define _POSIX_C_SOURCE 200809L
#include "../../engine/finding.h"
#include "../../engine/report/record/slots.h"
#include "../../engine/report/words/threads.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static struct finding example(enum finding_kind kind) {
    struct finding f = {.kind = kind,
                        .at = {.known = true,
                               .in_kernel = true,
                               .file = "kernel.cu",
                               .line = 12,
                               .thread = {1, 2, 0}},
                        .other = {.known = true,
                                  .in_kernel = true,
                                  .file = "kernel.cu",
                                  .line = 14,
                                  .thread = {3, 2, 0}},
                        .block_size = {16, 16, 1},
                        .grid_size = {3, 2, 1},
                        .phase = 1,
                        .phases = 3,
                        .named = "float [16][16]"};
    f.object = (struct finding_object){.name = "A_s",
                                       .dimensions = 2,
                                       .extent = {35, 20},
                                       .index = {35, 3},
                                       .byte = 8,
                                       .bytes = 64,
                                       .element_bytes = 4,
                                       .file = "kernel.cu",
                                       .line = 7};
    for (unsigned i = 0; i < 256; i++)
        threads_add(i < 32 ? &f.waiting : i < 64 ? &f.elsewhere : &f.returned, i);
    return f;
}

static int64_t value_of(int slot) {
    const double seconds = 2.5;
    int64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    if (!slot) return 0;
    return slot_type((enum slot_name)slot) == SLOT_TYPE_REAL ? bits : 3;
}

static void with_facts(struct finding *f) {
    for (int one = SLOT_NONE; one < SLOTS; one++)
        for (int two = 0; two <= one; two++) {
            memset(f->slot, 0, sizeof f->slot);
            if (one) slot_set(f->slot, (enum slot_name)one, value_of(one));
            if (two && two != one) slot_set(f->slot, (enum slot_name)two, value_of(two));
            say(f);
        }
}

int main(void) {
    for (int kind = 1; kind < FINDING_KINDS; kind++) {
        printf("\n=== %s\n", finding_text((enum finding_kind)kind)->kind);
        for (int form = 0; form < OBJECT_FORMS; form++)
            for (int access = FINDING_READ; access <= FINDING_WRITE; access++) {
                struct finding f = example((enum finding_kind)kind);
                f.object.form = (enum finding_object_form)form;
                f.at.access = (enum finding_access)access;
                f.other.access = FINDING_WRITE;
                if (form == OBJECT_ELEMENT)
                    with_facts(&f);
                else
                    say(&f);
            }
    }
}
