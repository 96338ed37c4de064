/* The recording's two halves: a writer, and a reader that believes nothing. recording.h describes
 * what is in it, docs/clock.md the text. */
#include "recording.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[STEP_KINDS] = {"allocate", "free",     "set",      "copy",
                                              "write",    "variable", "carveout", "launch"};

/* ---- writing -------------------------------------------------------------------------------- */

/* After each line the file is whole: whoever ends the process leaves what was recorded by then. */
static void end_line(FILE *out) {
    fputc('\n', out);
    fflush(out);
}

static void write_number(FILE *out, uint64_t number) { fprintf(out, " %" PRIu64, number); }

static void write_area(FILE *out, const struct area *area) {
    fprintf(out, " %d", area->buffer);
    write_number(out, area->offset);
    write_number(out, area->pitch);
}

static void write_data(FILE *out, const struct data *data) {
    fputs(data->size ? " " : " -", out);
    for (uint32_t i = 0; i < data->size; i++) fprintf(out, "%02x", data->bytes[i]);
    for (int i = 0; i < data->pointer_count; i++) {
        const struct pointer *p = &data->pointers[i];
        fprintf(out, " %" PRIu32 "=%d+%" PRIu64, p->at, p->buffer, p->offset);
    }
}

void recording_begin(FILE *out, int m, int n, int k) {
    fprintf(out, RECORDING_FIRST_LINE "\nproduct %d %d %d", m, k, n);
    end_line(out);
}

void recording_step(FILE *out, const struct step *step) {
    fputs(words[step->kind], out);
    switch (step->kind) {
    case STEP_ALLOCATE:
        fprintf(out, " %d", step->to.buffer);
        write_number(out, step->width);
        break;
    case STEP_FREE: fprintf(out, " %d", step->to.buffer); break;
    case STEP_SET:
    case STEP_COPY:
        write_area(out, &step->to);
        if (step->kind == STEP_COPY) write_area(out, &step->from);
        write_number(out, step->width);
        write_number(out, step->height);
        if (step->kind == STEP_SET) fprintf(out, " %d", step->value);
        break;
    case STEP_WRITE:
        fprintf(out, " %d", step->to.buffer);
        write_number(out, step->to.offset);
        write_data(out, &step->data);
        break;
    case STEP_VARIABLE:
        fprintf(out, " %s", step->name);
        write_number(out, step->to.offset);
        write_data(out, &step->data);
        break;
    case STEP_CARVEOUT: fprintf(out, " %s %d", step->name, step->value); break;
    case STEP_LAUNCH:
        fprintf(out, " %s", step->name);
        for (int i = 0; i < 3; i++) write_number(out, step->grid[i]);
        for (int i = 0; i < 3; i++) write_number(out, step->block[i]);
        write_number(out, step->shared);
        write_data(out, &step->data);
        break;
    case STEP_KINDS: break;
    }
    end_line(out);
}

void recording_end(FILE *out) {
    fputs("end", out);
    end_line(out);
}

void recording_stop(FILE *out, enum state state, const char *reason) {
    fprintf(out, "stopped %s %s", state_name(state), reason);
    end_line(out);
}

/* ---- reading: words and numbers ------------------------------------------------------------- */

struct reader {
    const char *at, *end; /* what of the text is still to be read */
    int line;
    char *reason;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static bool broken(struct reader *r, const char *format,
                                                         ...) {
    if (r->failed) return false; /* the first mistake is the one that is told */
    r->failed = true;
    int length = snprintf(r->reason, REASON_SIZE, "the recording's line %d ", r->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->reason + length, REASON_SIZE - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

struct word {
    const char *text;
    size_t length;
};

static bool at_line_end(const struct reader *r) { return r->at == r->end || *r->at == '\n'; }

/* The next word of this line; of length 0 when there is none. One space lies between two. */
static struct word next_word(struct reader *r) {
    if (!at_line_end(r) && *r->at == ' ') r->at++;
    struct word word = {r->at, 0};
    while (!at_line_end(r) && *r->at != ' ') r->at++;
    word.length = (size_t)(r->at - word.text);
    return word;
}

static bool word_is(struct word word, const char *text) {
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

/* Digits and nothing else, at most `most`. */
static bool parse_number(const char *text, size_t length, uint64_t most, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (*value > (most - digit) / 10 || digit > most) return false;
        *value = *value * 10 + digit;
    }
    return length > 0;
}

static uint64_t read_number(struct reader *r, uint64_t most, const char *what) {
    uint64_t value;
    const struct word word = next_word(r);
    if (parse_number(word.text, word.length, most, &value)) return value;
    broken(r, "lacks a number (%s), or it is too large", what);
    return 0;
}

/* Of a kernel or a variable, as compilers mangle them. */
static char *read_name(struct reader *r) {
    const struct word word = next_word(r);
    bool fine = word.length > 0 && word.length < RECORDING_NAME;
    for (size_t i = 0; fine && i < word.length; i++) {
        const char c = word.text[i];
        fine = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '_' || c == '$' || c == '.';
    }
    if (!fine) {
        broken(r, "lacks a name, or it is none");
        return NULL;
    }
    char *name = malloc(word.length + 1);
    if (!name) {
        broken(r, "finds no memory");
        return NULL;
    }
    memcpy(name, word.text, word.length);
    name[word.length] = '\0';
    return name;
}

/* ---- reading: data and pointers ------------------------------------------------------------- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_bytes(struct reader *r, struct data *data) {
    const struct word word = next_word(r);
    if (word_is(word, "-")) return true;
    if (word.length == 0 || word.length % 2) return broken(r, "lacks its bytes");
    data->bytes = malloc(word.length / 2);
    if (!data->bytes) return broken(r, "finds no memory");
    for (size_t i = 0; i < word.length; i += 2) {
        const int high = hex_digit(word.text[i]), low = hex_digit(word.text[i + 1]);
        if (high < 0 || low < 0) return broken(r, "has bytes that are no hexadecimal digits");
        data->bytes[i / 2] = (unsigned char)(high * 16 + low);
    }
    data->size = (uint32_t)(word.length / 2); /* the text itself is shorter than 4 GiB */
    return true;
}

static size_t length_to(const char *text, const char *end, char stop) {
    const char *found = memchr(text, stop, (size_t)(end - text));
    return found ? (size_t)(found - text) : (size_t)(end - text);
}

/* AT=BUFFER+OFFSET */
static bool parse_pointer(struct word word, struct pointer *pointer) {
    const char *text = word.text, *end = word.text + word.length;
    uint64_t at, buffer;
    size_t length = length_to(text, end, '=');
    if (text + length == end || !parse_number(text, length, UINT32_MAX, &at)) return false;
    text += length + 1;
    length = length_to(text, end, '+');
    if (text + length == end || !parse_number(text, length, INT32_MAX, &buffer)) return false;
    text += length + 1;
    pointer->at = (uint32_t)at;
    pointer->buffer = (int)buffer;
    return parse_number(text, (size_t)(end - text), UINT64_MAX, &pointer->offset);
}

/* In the order of their places, none over another, and all inside. */
static bool read_pointers(struct reader *r, struct data *data) {
    uint64_t free_from = 0;
    if (data->size >= 8 && !at_line_end(r)) {
        data->pointers = malloc(data->size / 8 * sizeof *data->pointers);
        if (!data->pointers) return broken(r, "finds no memory");
    }
    while (!at_line_end(r)) {
        struct pointer pointer;
        if (!parse_pointer(next_word(r), &pointer)) return broken(r, "has a pointer that is none");
        if (pointer.at < free_from || pointer.at + UINT64_C(8) > data->size)
            return broken(r, "has a pointer where there is no room for it");
        free_from = pointer.at + UINT64_C(8);
        memset(data->bytes + pointer.at, 0, 8);
        data->pointers[data->pointer_count++] = pointer;
    }
    return true;
}

static bool read_data(struct reader *r, struct data *data) {
    return read_bytes(r, data) && read_pointers(r, data);
}

/* ---- reading: lines ------------------------------------------------------------------------- */

static int read_buffer(struct reader *r) { return (int)read_number(r, INT32_MAX, "a buffer's"); }

static struct area read_area(struct reader *r) {
    struct area area;
    area.buffer = read_buffer(r);
    area.offset = read_number(r, UINT64_MAX, "an offset");
    area.pitch = read_number(r, UINT64_MAX, "a pitch");
    return area;
}

static void read_launch(struct reader *r, struct step *step) {
    step->name = read_name(r);
    for (int i = 0; i < 3; i++) step->grid[i] = (uint32_t)read_number(r, UINT32_MAX, "the grid's");
    for (int i = 0; i < 3; i++)
        step->block[i] = (uint32_t)read_number(r, UINT32_MAX, "the block's");
    step->shared = (uint32_t)read_number(r, UINT32_MAX, "shared memory");
    read_data(r, &step->data);
}

static void read_step(struct reader *r, struct step *step) {
    switch (step->kind) {
    case STEP_ALLOCATE:
        step->to.buffer = read_buffer(r);
        step->width = read_number(r, UINT64_MAX, "its size");
        break;
    case STEP_FREE: step->to.buffer = read_buffer(r); break;
    case STEP_SET:
    case STEP_COPY:
        step->to = read_area(r);
        if (step->kind == STEP_COPY) step->from = read_area(r);
        step->width = read_number(r, UINT64_MAX, "a width");
        step->height = read_number(r, UINT64_MAX, "a height");
        if (step->kind == STEP_SET) step->value = (int)read_number(r, 255, "a value");
        break;
    case STEP_WRITE:
        step->to.buffer = read_buffer(r);
        step->to.offset = read_number(r, UINT64_MAX, "an offset");
        read_data(r, &step->data);
        break;
    case STEP_VARIABLE:
        step->name = read_name(r);
        step->to.offset = read_number(r, UINT64_MAX, "an offset");
        read_data(r, &step->data);
        break;
    case STEP_CARVEOUT:
        step->name = read_name(r);
        step->value = (int)read_number(r, 100, "a percentage");
        break;
    case STEP_LAUNCH: read_launch(r, step); break;
    case STEP_KINDS: break;
    }
}

/* What is left of the line, shortened. */
static void read_reason(struct reader *r, char reason[REASON_SIZE]) {
    if (!at_line_end(r)) r->at++;
    const size_t length = length_to(r->at, r->end, '\n');
    snprintf(reason, REASON_SIZE, "%.*s", length < REASON_SIZE ? (int)length : REASON_SIZE - 1,
             r->at);
    r->at += length;
}

/* Only what puts a submission at fault may be claimed by a process that it shares. */
static void read_stop(struct reader *r, struct recording *recording) {
    const struct word word = next_word(r);
    const bool known = state_parse(word.text, word.length, &recording->state);
    if (!known || (recording->state != STATE_REFUSED && recording->state != STATE_FAULTED &&
                   recording->state != STATE_TIME_LIMIT)) {
        broken(r, "stops for no known reason");
        return;
    }
    read_reason(r, recording->reason);
    recording->end = RECORDING_STOPPED;
}

static bool end_of_line(struct reader *r) {
    if (r->failed) return false;
    if (r->at == r->end) return broken(r, "is cut off");
    if (*r->at != '\n') return broken(r, "has more words than it should");
    r->at++;
    r->line++;
    return true;
}

static struct step *new_step(struct reader *r, struct recording *recording, int *room) {
    if (recording->count == RECORDING_STEPS) {
        broken(r, "is one step too many (%d)", RECORDING_STEPS);
        return NULL;
    }
    if (recording->count == *room) {
        const int more = *room ? *room * 2 : 8;
        struct step *steps = realloc(recording->steps, (size_t)more * sizeof *steps);
        if (!steps) {
            broken(r, "finds no memory");
            return NULL;
        }
        recording->steps = steps;
        *room = more;
    }
    struct step *step = &recording->steps[recording->count++];
    memset(step, 0, sizeof *step);
    return step;
}

static void read_line(struct reader *r, struct recording *recording, int *room) {
    const struct word word = next_word(r);
    if (word_is(word, "end")) {
        recording->end = RECORDING_ENDED;
        return;
    }
    if (word_is(word, "stopped")) {
        read_stop(r, recording);
        return;
    }
    for (int kind = 0; kind < STEP_KINDS; kind++) {
        if (!word_is(word, words[kind])) continue;
        struct step *step = new_step(r, recording, room);
        if (!step) return;
        step->kind = (enum step_kind)kind;
        read_step(r, step);
        return;
    }
    broken(r, "begins with no known word");
}

static bool read_header(struct reader *r, struct recording *recording) {
    const size_t length = strlen(RECORDING_FIRST_LINE);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, RECORDING_FIRST_LINE, length) != 0)
        return broken(r, "is not '" RECORDING_FIRST_LINE "'");
    r->at += length;
    if (!end_of_line(r)) return false;
    if (!word_is(next_word(r), "product")) return broken(r, "does not say which product");
    recording->m = (int)read_number(r, INT32_MAX, "m");
    recording->k = (int)read_number(r, INT32_MAX, "k");
    recording->n = (int)read_number(r, INT32_MAX, "n");
    return end_of_line(r);
}

struct recording *recording_read(const char *text, size_t size, char reason[REASON_SIZE]) {
    struct reader r = {text, text + size, 1, reason, false};
    struct recording *recording = calloc(1, sizeof *recording);
    int room = 0;
    if (!recording || size > RECORDING_BYTES) {
        snprintf(reason, REASON_SIZE, "the recording is larger than %d bytes", RECORDING_BYTES);
        free(recording);
        return NULL;
    }
    bool fine = size > 0 ? read_header(&r, recording) : broken(&r, "is not there: it is empty");
    while (fine && r.at < r.end) {
        if (recording->end != RECORDING_BROKEN)
            fine = broken(&r, "stands behind the end");
        else {
            read_line(&r, recording, &room);
            fine = end_of_line(&r);
        }
    }
    if (fine) return recording;
    recording_free(recording);
    return NULL;
}

void recording_free(struct recording *recording) {
    if (!recording) return;
    for (int i = 0; i < recording->count; i++) {
        struct step *step = &recording->steps[i];
        free(step->name);
        free(step->data.bytes);
        free(step->data.pointers);
    }
    free(recording->steps);
    free(recording);
}
