/* The recording's two halves: a writer, and a reader that trusts nothing. See recording.h. */
#define _GNU_SOURCE
#include "recording.h"
#include "../../engine/host/host.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct step) % 8 == 0 && sizeof(struct pointer) == 16, "no pointer is torn");

/* ---- writing -------------------------------------------------------------------------------- */

struct recording *recording_begin(int file, const struct shape *shape) {
    const struct host_layout layout = host_layout_of(&lab, shape, false);
    struct recording *r;
    if (ftruncate(file, sizeof *r) != 0) return NULL;
    r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (r == MAP_FAILED) return NULL;
    for (int i = 0; i < layout.arrays; i++) r->bytes[r->buffer_count++] = layout.bytes[i];
    r->magic = RECORDING_MAGIC;
    return r;
}

int recording_symbol(struct recording *r, const char *name) {
    const uint32_t count = r->symbol_count;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(r->symbols[i].name, name) == 0) return (int)i;
    if (count == RECORDING_SYMBOLS || strlen(name) >= RECORDING_NAME) return -1;
    strcpy(r->symbols[count].name, name);
    r->symbols[count].carveout = -1;
    return (int)r->symbol_count++;
}

bool recording_add(struct recording *r, const struct step *step, const struct data *data) {
    if (r->count == RECORDING_STEPS || data->size > RECORDING_DATA - r->data_count ||
        data->pointer_count > RECORDING_POINTERS - r->pointer_count)
        return false;
    struct step *to = &r->steps[r->count++];
    *to = *step;
    to->data = (struct part){r->data_count, data->size};
    to->pointers = (struct part){r->pointer_count, data->pointer_count};
    if (data->size) memcpy(r->data + r->data_count, data->bytes, data->size);
    if (data->pointer_count)
        memcpy(r->pointers + r->pointer_count, data->pointers,
               data->pointer_count * sizeof *data->pointers);
    r->data_count += data->size;
    r->pointer_count += data->pointer_count;
    return true;
}

void recording_stop(struct recording *r, enum state state, const char *reason) {
    strncpy(r->reason, reason, REASON_SIZE - 1);
    r->state = state;
    r->end = RECORDING_STOPPED;
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_part(const struct part *part, uint32_t room) {
    return part->begin <= room && part->count <= room - part->begin;
}

/* As compilers mangle it. */
static bool is_name(const char name[RECORDING_NAME]) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.";
    const size_t length = strnlen(name, RECORDING_NAME);
    return length > 0 && length < RECORDING_NAME && strspn(name, allowed) == length;
}

static bool are_symbols(const struct recording *r) {
    if (r->symbol_count > RECORDING_SYMBOLS) return false;
    for (uint32_t i = 0; i < r->symbol_count; i++) {
        const struct symbol *s = &r->symbols[i];
        if (!is_name(s->name) || s->shared > INT32_MAX || s->carveout < -1 || s->carveout > 100)
            return false;
    }
    return true;
}

/* First the lab's arrays. */
static bool are_buffers(const struct recording *r, const struct shape *shape) {
    const struct host_layout layout = host_layout_of(&lab, shape, false);
    uint64_t scratch = 0;
    if (r->buffer_count > RECORDING_BUFFERS || r->buffer_count < (uint32_t)layout.arrays)
        return false;
    for (uint32_t i = 0; i < r->buffer_count; i++) {
        const uint64_t bytes = r->bytes[i];
        if (i < (uint32_t)layout.arrays && bytes != layout.bytes[i]) return false;
        if (i < (uint32_t)layout.arrays) continue;
        if (bytes == 0 || bytes > RECORDING_SCRATCH - scratch) return false;
        scratch += bytes;
    }
    return true;
}

static bool is_buffer(const struct recording *r, int buffer) {
    return buffer >= 0 && (uint32_t)buffer < r->buffer_count;
}

/* Into buffers, their ends included; none over another, and all inside of the data. */
static bool are_pointers(const struct recording *r, const struct step *step) {
    uint64_t free_from = 0;
    if (!is_part(&step->pointers, RECORDING_POINTERS)) return false;
    for (uint32_t i = 0; i < step->pointers.count; i++) {
        const struct pointer *p = &r->pointers[step->pointers.begin + i];
        if (p->at % 8 || p->at < free_from || p->at + UINT64_C(8) > step->data.count ||
            !is_buffer(r, p->buffer) || p->offset > r->bytes[p->buffer])
            return false;
        free_from = p->at + UINT64_C(8);
    }
    return true;
}

/* Whether all that a step refers to is there. Grid, block and the number of parameters are checked
 * by the driver and in replay.c; so is that data fit into a variable, where the kernels are. */
static bool is_whole(const struct recording *r, const struct step *step) {
    const bool named = step->kind == STEP_VARIABLE || step->kind == STEP_LAUNCH;
    return step->kind < STEP_KINDS && (!named || step->symbol < r->symbol_count) &&
           is_part(&step->data, RECORDING_DATA) && are_pointers(r, step) &&
           step->value <= UINT8_MAX;
}

/* Whether height rows of width bytes lie in the buffer. */
static bool is_inside(const struct recording *r, const struct area *area, uint64_t width,
                      uint64_t height) {
    if (!is_buffer(r, area->buffer)) return false;
    const uint64_t bytes = r->bytes[area->buffer];
    if (width == 0 || height == 0 || width > bytes || area->offset > bytes - width) return false;
    if (height == 1) return true;
    return area->pitch >= width && (bytes - width - area->offset) / area->pitch >= height - 1;
}

static bool stays_inside(const struct recording *r, const struct step *step) {
    if (step->kind == STEP_WRITE) return is_inside(r, &step->to, step->data.count, 1);
    if (step->kind != STEP_SET && step->kind != STEP_COPY) return true;
    return is_inside(r, &step->to, step->width, step->height) &&
           (step->kind == STEP_SET || is_inside(r, &step->from, step->width, step->height));
}

/* Only what puts a submission at fault may be claimed by a process that it shares. */
static bool is_end(const struct recording *r) {
    const bool at_fault =
        r->state == STATE_REFUSED || r->state == STATE_FAULTED || r->state == STATE_TIME_LIMIT;
    return r->end < RECORDING_STOPPED ||
           (r->end == RECORDING_STOPPED && at_fault && r->reason[0] && !r->reason[REASON_SIZE - 1]);
}

/* What a submission without malice is refused for: the recorder has said all else. */
static bool check_steps(const struct recording *r, struct judgement *j) {
    for (uint32_t i = 0; i < r->count; i++) {
        j->launches += r->steps[i].kind == STEP_LAUNCH;
        if (!stays_inside(r, &r->steps[i]))
            return judge(j, STATE_REFUSED,
                         "a copy or cudaMemset does not stay inside of one buffer");
    }
    return j->launches > 0 ||
           judge(j, STATE_REFUSED, "it launches no kernel: nothing can be timed");
}

bool recording_check(const struct recording *r, size_t size, const struct shape *shape,
                     struct judgement *j) {
    uint64_t data = 0, written = 0;
    if (size != sizeof *r || r->magic != RECORDING_MAGIC)
        return judge(j, STATE_REFUSED, "there is no recording");
    bool fine = is_end(r) && are_symbols(r) && are_buffers(r, shape) && r->count <= RECORDING_STEPS;
    for (uint32_t i = 0; fine && i < r->count; i++) {
        const struct step *step = &r->steps[i];
        data += step->data.count;
        if (step->kind != STEP_LAUNCH) written += step->data.count;
        fine = is_whole(r, step) && data <= RECORDING_DATA && written <= RECORDING_WRITTEN;
    }
    if (!fine) return judge(j, STATE_REFUSED, "the recording was tampered with");
    if (r->end == RECORDING_STOPPED) return judge(j, (enum state)r->state, "%s", r->reason);
    if (r->end == RECORDING_BROKEN)
        return judge(j, STATE_REFUSED, "%s ended the program instead of returning", lab.wrapper);
    return check_steps(r, j);
}
