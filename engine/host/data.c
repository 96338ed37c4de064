/* A case's arrays on the host: see host.h. */
#include "../report/element_type.h"
#include "host.h"
#include <stdlib.h>
#include <string.h>

/* Through memcpy: an assignment of floats may turn a signaling NaN into a quiet one. */
static void set_words(unsigned char *bytes, size_t count, uint32_t word) {
    size_t i = 0;
    for (; i + sizeof word <= count; i += sizeof word) memcpy(bytes + i, &word, sizeof word);
    memcpy(bytes + i, &word, count - i);
}

static struct host_data allocate(const struct lab_case *which, struct host_layout layout) {
    struct host_data d = {.which = *which, .layout = layout};
    d.memory = aligned_alloc(256, layout.all);
    for (int i = 0; d.memory && i < layout.arrays; i++)
        d.elements[i] = d.memory + layout.offset[i] + layout.guard[i];
    return d;
}

struct host_data data_new(const struct lab_case *which, bool guards) {
    struct host_data d = allocate(which, host_layout_of(&lab, &which->shape, guards));
    const struct host_layout *l = &d.layout;
    if (!d.memory) return d;
    for (int i = 0; i < l->arrays; i++) {
        unsigned char *buffer = d.memory + l->offset[i];
        const size_t after = l->guard[i] + l->bytes[i];
        set_words(buffer, l->guard[i], GUARD_BITS);
        if (!role_has_values(lab.arrays[i].role)) /* the others are filled below */
            set_words(buffer + l->guard[i], l->bytes[i], POISON_BITS);
        set_words(buffer + after, l->buffer[i] - after, GUARD_BITS);
    }
    lab_truth.fill(which, d.elements);
    return d;
}

struct host_data data_room_for(const struct lab_case *which) {
    return allocate(which, host_layout_of(&lab, &which->shape, false));
}

struct host_data data_room(const struct host_data *like) {
    return allocate(&like->which, like->layout);
}

void data_free(struct host_data *data) {
    free(data->memory);
    *data = (struct host_data){0};
}

void data_judged(const struct host_data *sent, const struct host_data *back,
                 const void *arrays[LAB_ARRAYS]) {
    for (int i = 0; i < sent->layout.arrays; i++)
        arrays[i] = lab.arrays[i].role == ROLE_INPUT ? sent->elements[i] : back->elements[i];
}

static uint64_t words_other_than(const unsigned char *bytes, size_t count, uint32_t word) {
    uint64_t other = 0;
    for (size_t i = 0; i + sizeof word <= count; i += sizeof word)
        other += memcmp(bytes + i, &word, sizeof word) != 0;
    return other;
}

struct damage data_damage(const struct host_data *sent, const struct host_data *back, int array) {
    const struct host_layout *l = &sent->layout;
    const unsigned char *buffer = back->memory + l->offset[array];
    const unsigned char *now = back->elements[array], *then = sent->elements[array];
    const size_t element = element_type_bytes(lab.arrays[array].element);
    struct damage damage = {0};
    damage.before = words_other_than(buffer, l->guard[array], GUARD_BITS);
    damage.after = words_other_than(now + l->bytes[array], l->guard[array], GUARD_BITS);
    if (lab.arrays[array].role != ROLE_INPUT || memcmp(now, then, l->bytes[array]) == 0)
        return damage;
    for (size_t i = 0; i < l->bytes[array]; i += element)
        damage.elements += memcmp(now + i, then + i, element) != 0;
    return damage;
}
