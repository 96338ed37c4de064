/* Reads what compute-sanitizer prints (CUDA 11.8 and later).
 *
 * Its text, and not its XML file, because the text comes out while the program runs: lines that the
 * watched process writes in between say which shape a record belongs to. Each of its own lines has
 * a prefix; a record is one line close to the prefix and those indented below it:
 *
 *     ========= Invalid __global__ read of size 4 bytes
 *     =========     at mysgemm(int, int, int, ...)+0x2e0 in /home/me/lab/kernel.cu:26
 *     =========     by thread (0,2,0) in block (2,2,0)
 *     =========     Access to 0x7fb61e801210 is out of bounds
 *     =========     and is 1 bytes after the nearest allocation at 0x7fb61e800000 of size 4,624
 * bytes
 *     =========     Saved host backtrace up to driver entry point at kernel launch time
 *     =========         Host Frame: basicSgemm(int, ...) in /home/me/lab/kernel.cu:43 [0xb984] in
 * ...
 *     =========
 */
#define _GNU_SOURCE
#include "sanitizer.h"
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "=========";
enum { MOST_RECORDS = 1000 };

/* --- pieces of a line ------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static void copy(char *to, size_t bytes, const char *from, size_t length) {
    if (length >= bytes) length = bytes - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

/* "4,624 bytes" -> 4624 */
static uint64_t number(const char *text) {
    uint64_t value = 0;
    for (; (*text >= '0' && *text <= '9') || *text == ','; text++)
        if (*text != ',') value = value * 10 + (uint64_t)(*text - '0');
    return value;
}

static bool index_after(const char *text, const char *word, struct finding_index *index) {
    const char *at = strstr(text, word);
    return at && sscanf(at + strlen(word), " (%u,%u,%u)", &index->x, &index->y, &index->z) == 3;
}

/* Code that a student did not write: CUDA's headers. */
static bool is_foreign(const char *file) {
    return begins(file, "/usr/") || strstr(file, "/targets/") || strstr(file, "_runtime");
}

/* Where the file's name begins: behind " in ", which comes behind the offset if there is one, else
 * behind the parameters, else behind the name. */
static const char *find_file(const char *text) {
    const char *offset = strstr(text, "+0x"), *in;
    if (offset) {
        offset += strlen("+0x");
        offset += strspn(offset, "0123456789abcdefABCDEF");
        return begins(offset, " in ") ? offset + strlen(" in ") : NULL;
    }
    if ((in = strstr(text, ") in "))) return in + strlen(") in ");
    in = strchr(text, '(') ? NULL : strstr(text, " in ");
    return in ? in + strlen(" in ") : NULL;
}

/* "mysgemm(int, const float *)+0x2e0 in /lab/kernel.cu:26", where the tail may be missing, or
 * followed by more: " [0xb984] in program". */
static void read_place(const char *text, struct record_party *party) {
    const char *end = strstr(text, " [0x"), *file;
    size_t length = end ? (size_t)(end - text) : strlen(text);
    const char *colon = memrchr(text, ':', length);
    if (begins(text, "void ")) text += strlen("void "); /* of a template */
    file = find_file(text);
    copy(party->function, sizeof party->function, text, strcspn(text, "(+< "));
    if (!file || !colon || colon < file || atoi(colon + 1) <= 0) return;
    copy(party->file, sizeof party->file, file, (size_t)(colon - file));
    party->line = atoi(colon + 1);
}

/* --- lines of a record ------------------------------------------------------------------------ */

/* The line that does it, or, if that stands in a header of CUDA's, the one that called it. */
static void read_at(struct sanitizer_record *r, const char *text) {
    struct record_party party = {.line = 0};
    read_place(text, &party);
    bool better = !r->party[0].function[0] ||
                  (party.line && (!r->party[0].line || is_foreign(r->party[0].file)));
    if (!better) return;
    party.thread_known = r->party[0].thread_known;
    party.thread = r->party[0].thread;
    r->party[0] = party;
}

static void read_host_frame(struct sanitizer_record *r, const char *text) {
    struct record_party party = {.line = 0};
    read_place(text, &party);
    if (r->host.line || is_foreign(party.file)) return;
    if (party.line && strcmp(party.function, "main") != 0) r->host = party;
    if (strcmp(party.function, "basicSgemm") == 0) r->host = party;
}

/* "Write Thread (1,4,0) at mysgemm(...)+0x3a0 in kernel.cu:25". Of an asynchronous copy it is a
 * line of CUDA's header, which tells a student nothing, and nobody says who called. */
static void read_racer(struct sanitizer_record *r, const char *text) {
    struct record_party *party = &r->party[r->party[0].function[0] != '\0'];
    const char *at = strstr(text, " at ");
    if (!at || r->party[1].function[0]) return;
    read_place(at + 4, party);
    if (is_foreign(party->file)) {
        party->line = 0;
        party->file[0] = '\0';
    }
    party->thread_known = index_after(text, "Thread", &party->thread);
    copy(party->access, sizeof party->access, begins(text, "Write") ? "write" : "read", 5);
}

static void read_address(struct sanitizer_record *r, const char *text) {
    const char *at = strstr(text, "0x");
    if (!at || r->has_address) return;
    r->address = strtoull(at, NULL, 16);
    r->has_address = true;
    copy(r->access, sizeof r->access, text, strlen(text));
}

static void read_detail(struct sanitizer_record *r, const char *text) {
    if (begins(text, "at "))
        read_at(r, text + 3);
    else if (begins(text, "Device Frame:"))
        read_at(r, text + strlen("Device Frame:") + (text[strlen("Device Frame:")] == ' '));
    else if (begins(text, "Host Frame:"))
        read_host_frame(r, text + strlen("Host Frame:") + (text[strlen("Host Frame:")] == ' '));
    else if (begins(text, "Write Thread") || begins(text, "Read Thread"))
        read_racer(r, text);
    else if (begins(text, "by thread")) {
        r->party[0].thread_known = index_after(text, "thread", &r->party[0].thread);
        r->in_kernel = index_after(text, "block", &r->block);
    } else if (begins(text, "Access to") || begins(text, "Address"))
        read_address(r, text);
}

/* --- the log ---------------------------------------------------------------------------------- */

/* "ERROR SUMMARY: 3 errors", "RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)" */
static void read_summary(struct sanitizer_log *log, const char *text) {
    if (strstr(text, "not printed") || begins(text, "LEAK")) return;
    const char *open = strchr(text, '('), *comma = open ? strstr(open, ", ") : NULL;
    log->summary = true;
    if (comma)
        log->counted += number(open + 1) + number(comma + 2);
    else
        log->counted += number(strchr(text, ':') + 2);
}

/* What it says about itself, or about the program as a whole. */
static bool is_complaint(const char *text) {
    static const char *const words[] = {
        "Error: ",   "Internal", "Target application doesn't", "Device not supported",
        "Unable to", "Failed to"};
    if (strstr(text, "hazard detected") || strstr(text, "Race reported")) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins(text, words[i])) return true;
    return false;
}

static bool is_remark(const char *text) {
    return begins(text, "COMPUTE-SANITIZER") || begins(text, "Target application returned") ||
           (begins(text, "Warning: ") && !strstr(text, "hazard"));
}

static struct sanitizer_record *new_record(struct sanitizer_log *log, const char *text, int shape) {
    if (log->count == MOST_RECORDS) return NULL;
    struct sanitizer_record *r = &log->records[log->count++];
    *r = (struct sanitizer_record){.shape = shape, .warning = begins(text, "Warning: ")};
    copy(r->head, sizeof r->head, text, strlen(text));
    if (strstr(text, "hazard detected")) r->in_kernel = index_after(text, "block", &r->block);
    if (strstr(text, " at 0x") || strstr(text, "__shared__ 0x")) read_address(r, text);
    return r;
}

static void read_line(struct sanitizer_log *log, char *line, int *shape,
                      struct sanitizer_record **record) {
    line[strcspn(line, "\r\n")] = '\0';
    if (begins(line, "@ shape ")) *shape = atoi(line + strlen("@ shape "));
    if (!begins(line, prefix)) {
        if (line[0] && !begins(line, "@") && !log->count && !log->complaint[0])
            copy(log->complaint, sizeof log->complaint, line, strlen(line));
        return;
    }
    const char *text = line + strlen(prefix);
    size_t indent = strspn(text, " ");
    text += indent;
    if (!*text)
        *record = NULL;
    else if (indent > 1) {
        if (*record) read_detail(*record, text);
    } else if (strstr(text, "SUMMARY:"))
        read_summary(log, text);
    else if (is_complaint(text))
        copy(log->complaint, sizeof log->complaint, text, strlen(text));
    else if (!is_remark(text))
        *record = new_record(log, text, *shape);
}

bool log_read(const char *path, struct sanitizer_log *log) {
    FILE *file = fopen(path, "r");
    struct sanitizer_record *record = NULL;
    char *line = NULL;
    size_t room = 0;
    int shape = 0;
    *log = (struct sanitizer_log){.records = malloc(MOST_RECORDS * sizeof *log->records)};
    while (file && log->records && getline(&line, &room, file) > 0)
        read_line(log, line, &shape, &record);
    free(line);
    if (file) fclose(file);
    return file && log->records;
}

void log_free(struct sanitizer_log *log) {
    free(log->records);
    *log = (struct sanitizer_log){0};
}
