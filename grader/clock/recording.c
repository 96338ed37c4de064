/* The recording's two halves: a writer, and a reader that trusts nothing. recording.h describes
 * its content and the text. */
#include "recording.h"
#include "../../engine/report/text/numbers.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A number in a struct step: where, how long, and the largest that is read. */
struct field {
    size_t at, bytes;
    uint64_t most;
};

#define NUMBER(member, most)                                                                       \
    { offsetof(struct step, member), sizeof((struct step){0}.member), most }
#define BUFFER(area) NUMBER(area.buffer, INT32_MAX)
#define OFFSET(area) NUMBER(area.offset, UINT64_MAX)
#define AREA(area) BUFFER(area), OFFSET(area), NUMBER(area.pitch, UINT64_MAX)
#define WIDTH NUMBER(width, UINT64_MAX)
#define HEIGHT NUMBER(height, UINT64_MAX)
#define EXTENTS(member)                                                                            \
    NUMBER(member[0], UINT32_MAX), NUMBER(member[1], UINT32_MAX), NUMBER(member[2], UINT32_MAX)

/* The words of each kind of line: its own, a name, numbers, data. */
static const struct form {
    const char *word;
    bool has_name, has_data;
    struct field fields[9]; /* 0 bytes: unused */
} forms[STEP_KINDS] = {
    [STEP_ALLOCATE] = {"allocate", false, false, {BUFFER(to), WIDTH}},
    [STEP_SET] = {"set", false, false, {AREA(to), WIDTH, HEIGHT, NUMBER(value, 255)}},
    [STEP_COPY] = {"copy", false, false, {AREA(to), AREA(from), WIDTH, HEIGHT}},
    [STEP_WRITE] = {"write", false, true, {BUFFER(to), OFFSET(to)}},
    [STEP_VARIABLE] = {"variable", true, true, {OFFSET(to)}},
    [STEP_CARVEOUT] = {"carveout", true, false, {NUMBER(value, 100)}},
    [STEP_LAUNCH] = {"launch",
                     true,
                     true,
                     {EXTENTS(grid), EXTENTS(block), NUMBER(shared, UINT32_MAX)}},
};

static bool is_last(const struct form *form, const struct field *field) {
    return field == form->fields + LENGTH(form->fields) || field->bytes == 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Flushed, so that a process that is killed leaves what it had recorded by then. */
static void end_line(FILE *out) {
    fputc('\n', out);
    fflush(out);
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
    const struct form *form = &forms[step->kind];
    fputs(form->word, out);
    if (form->has_name) fprintf(out, " %s", step->name);
    for (const struct field *field = form->fields; !is_last(form, field); field++) {
        uint64_t number = 0; /* of which little-endian machines write the first bytes */
        memcpy(&number, (const char *)step + field->at, field->bytes);
        fprintf(out, " %" PRIu64, number);
    }
    if (form->has_data) write_data(out, &step->data);
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
    char *at;                 /* what is left of the line */
    int line;                 /* its number */
    struct pointer *pointers; /* memory for the next ones */
    char *reason;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static bool broken(struct reader *r, const char *format,
                                                         ...) {
    if (r->failed) return false; /* the first mistake is the one that is reported */
    r->failed = true;
    int length = snprintf(r->reason, REASON_SIZE, "the recording's line %d ", r->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->reason + length, REASON_SIZE - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

/* The line up to the next space, where it is cut; empty at the line's end. */
static char *next_word(struct reader *r) {
    char *word = r->at;
    r->at += strcspn(word, " ");
    if (*r->at) *r->at++ = '\0';
    return word;
}

/* Digits, whose number is at most `most`; *text is then behind them. */
static bool parse_number(const char **text, uint64_t most, uint64_t *value) {
    char *end;
    if (!isdigit((unsigned char)**text)) return false;
    errno = 0;
    *value = strtoull(*text, &end, 10);
    *text = end;
    return !errno && *value <= most;
}

static uint64_t read_number(struct reader *r, uint64_t most) {
    uint64_t value;
    const char *word = next_word(r);
    if (parse_number(&word, most, &value) && !*word) return value;
    broken(r, "lacks a number, or it is too large");
    return 0;
}

/* Of a kernel or a variable, as compilers mangle them. */
static char *read_name(struct reader *r) {
    char *name = next_word(r);
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || (name[length] && strchr("_$.", name[length])))
        length++;
    if (length == 0 || length >= RECORDING_NAME || name[length])
        broken(r, "lacks a name, or has a malformed one");
    return name;
}

/* ---- reading: data and pointers ------------------------------------------------------------- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The bytes take the place of their digits. */
static bool read_bytes(struct reader *r, struct data *data) {
    char *word = next_word(r);
    const size_t length = strlen(word);
    data->bytes = (unsigned char *)word;
    if (strcmp(word, "-") == 0) return true;
    if (length == 0 || length % 2) return broken(r, "lacks its bytes");
    for (size_t i = 0; i < length; i += 2) {
        const int high = hex_digit(word[i]), low = hex_digit(word[i + 1]);
        if (high < 0 || low < 0) return broken(r, "has bytes that are not hexadecimal digits");
        data->bytes[i / 2] = (unsigned char)(high * 16 + low);
    }
    data->size = (uint32_t)(length / 2); /* of a text of at most RECORDING_BYTES */
    return true;
}

/* AT=BUFFER+OFFSET */
static bool parse_pointer(const char *text, struct pointer *pointer) {
    uint64_t at, buffer;
    if (!parse_number(&text, UINT32_MAX, &at) || *text++ != '=' ||
        !parse_number(&text, INT32_MAX, &buffer) || *text++ != '+')
        return false;
    pointer->at = (uint32_t)at;
    pointer->buffer = (int)buffer;
    return parse_number(&text, UINT64_MAX, &pointer->offset) && !*text;
}

/* In the order of their places, none over another, and all inside. */
static bool read_pointers(struct reader *r, struct data *data) {
    uint64_t free_from = 0;
    data->pointers = r->pointers;
    while (*r->at) {
        struct pointer pointer;
        if (!parse_pointer(next_word(r), &pointer)) return broken(r, "has a malformed pointer");
        if (pointer.at < free_from || pointer.at + UINT64_C(8) > data->size)
            return broken(r, "has a pointer where there is no room for it");
        free_from = pointer.at + UINT64_C(8);
        memset(data->bytes + pointer.at, 0, 8);
        *r->pointers++ = pointer;
        data->pointer_count++;
    }
    return true;
}

/* ---- reading: lines ------------------------------------------------------------------------- */

static void read_step(struct reader *r, struct step *step) {
    const struct form *form = &forms[step->kind];
    if (form->has_name) step->name = read_name(r);
    for (const struct field *field = form->fields; !is_last(form, field); field++) {
        const uint64_t number = read_number(r, field->most);
        memcpy((char *)step + field->at, &number, field->bytes);
    }
    if (form->has_data && read_bytes(r, &step->data)) read_pointers(r, &step->data);
}

/* Only what puts a submission at fault may be claimed by a process that it shares. */
static void read_stop(struct reader *r, struct recording *recording) {
    recording->state = state_named(next_word(r));
    if (recording->state != STATE_REFUSED && recording->state != STATE_FAULTED &&
        recording->state != STATE_TIME_LIMIT) {
        broken(r, "stops for no known reason");
        return;
    }
    snprintf(recording->reason, REASON_SIZE, "%s", r->at); /* shortened */
    r->at += strlen(r->at);
    recording->end = RECORDING_STOPPED;
}

static void read_line(struct reader *r, struct recording *recording) {
    const char *word = next_word(r);
    if (recording->end != RECORDING_BROKEN) {
        broken(r, "comes after the end");
    } else if (strcmp(word, "end") == 0) {
        recording->end = RECORDING_ENDED;
    } else if (strcmp(word, "stopped") == 0) {
        read_stop(r, recording);
    } else if (recording->count == RECORDING_STEPS) {
        broken(r, "is one step too many (%d)", RECORDING_STEPS);
    } else {
        struct step *step = &recording->steps[recording->count++];
        while (step->kind < STEP_KINDS && strcmp(word, forms[step->kind].word) != 0) step->kind++;
        if (step->kind == STEP_KINDS)
            broken(r, "begins with no known word");
        else
            read_step(r, step);
    }
}

static void read_product(struct reader *r, struct recording *recording) {
    if (strcmp(next_word(r), "product") != 0) broken(r, "does not say which product");
    recording->m = (int)read_number(r, INT32_MAX);
    recording->k = (int)read_number(r, INT32_MAX);
    recording->n = (int)read_number(r, INT32_MAX);
}

static bool read_lines(struct reader *r, char *text, struct recording *recording) {
    if (!*text) return broken(r, "is missing: it is empty");
    for (; *text && !r->failed; r->line++) {
        char *end = strchr(text, '\n');
        r->at = text;
        if (!end) return broken(r, "is cut off");
        *end = '\0';
        text = end + 1;
        if (r->line == 1 && strcmp(r->at, RECORDING_FIRST_LINE) != 0)
            return broken(r, "is not '" RECORDING_FIRST_LINE "'");
        if (r->line == 1) continue;
        if (r->line == 2)
            read_product(r, recording);
        else
            read_line(r, recording);
        if (*r->at) broken(r, "has more words than it should");
    }
    return !r->failed;
}

struct recording *recording_read(const char *text, size_t size, char reason[REASON_SIZE]) {
    const size_t shortest_pointer = strlen(" 0=0+0");
    if (size > RECORDING_BYTES) {
        snprintf(reason, REASON_SIZE, "the recording is larger than %d bytes", RECORDING_BYTES);
        return NULL;
    }
    struct recording *recording = calloc(1, sizeof *recording);
    if (recording) {
        recording->text = calloc(size + 1, 1);
        recording->steps = calloc(RECORDING_STEPS, sizeof *recording->steps);
        recording->pointers = calloc(size / shortest_pointer + 1, sizeof *recording->pointers);
    }
    if (!recording || !recording->text || !recording->steps || !recording->pointers) {
        snprintf(reason, REASON_SIZE, "there is no memory for the recording");
        recording_free(recording);
        return NULL;
    }
    memcpy(recording->text, text, size);
    struct reader r = {.line = 1, .pointers = recording->pointers, .reason = reason};
    if (strlen(recording->text) < size) broken(&r, "comes before a byte that is not text");
    if (!r.failed && read_lines(&r, recording->text, recording)) return recording;
    recording_free(recording);
    return NULL;
}

void recording_free(struct recording *recording) {
    if (!recording) return;
    free(recording->text);
    free(recording->steps);
    free(recording->pointers);
    free(recording);
}
