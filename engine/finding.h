/* A finding: one mistake of a program, as a record.
 *
 * Made where the program ran (explain/diagnosis.c), or by the comparison of C with the reference.
 * It says which kind of mistake, who made it and where, to what memory, and a few typed facts, its
 * slots. It holds no sentence: words are a function of it (finding_say), made in the process that
 * prints them. So nothing that comes from a submission's process is text, but for names, and those
 * only if finding_check() takes them for names.
 *
 * Plain data without pointers, of one layout for one build: processes of one build pass it on as
 * bytes. To programs of other languages it goes as JSON. */
#ifndef ENGINE_FINDING_H
#define ENGINE_FINDING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum finding_kind {
    FINDING_NONE,
#define FINDING(name, ...) FINDING_##name,
#include "report/record/findings.def"
#undef FINDING
    FINDING_KINDS
};

enum slot_name {
    SLOT_NONE,
#define SLOT(name, ...) SLOT_##name,
#include "report/record/slots.def"
#undef SLOT
    SLOTS
};

enum {
    FINDING_NAME = 64,      /* bytes of a variable's name, with its end */
    FINDING_SYMBOL = 128,   /* of a function's */
    FINDING_FILE = 512,     /* of a file's */
    FINDING_DIMENSIONS = 4, /* of an array */
    FINDING_THREADS = 1024, /* of a block */
    FINDING_SLOTS = 12      /* facts of one finding */
};

/* Where the address of a finding is; none: it has no address, or it says nothing. */
enum finding_memory { FINDING_MEMORY_NONE, FINDING_MEMORY_SHARED, FINDING_MEMORY_GLOBAL };

/* Whether a run is asked for the mistake behind it: explain/outcome.h, host/check/programs.c. */
enum finding_cause { FINDING_CAUSE_NEVER, FINDING_CAUSE_LOCAL, FINDING_CAUSE_MAYBE };

/* What depends on the kind alone: see findings.def. */
struct finding_kind_text {
    const char *kind; /* "shared-race" */
    enum finding_memory memory;
    enum finding_cause cause;
    bool may_be_right; /* a GPU may compute the correct result all the same */
    const char *headline, *hint;
};

/* x, y, z, as CUDA counts. */
struct finding_index {
    uint32_t x, y, z;
};

/* A set of threads of one block: a bit for each, by its linear index. */
struct threads {
    uint64_t bits[FINDING_THREADS / 64];
};

enum finding_access { FINDING_NO_ACCESS, FINDING_READ, FINDING_WRITE };

/* One access, or one thread that waits somewhere. */
struct finding_party {
    bool known, in_kernel; /* in_kernel: thread and block say something */
    char file[FINDING_FILE];
    int32_t line; /* 0: unknown */
    char function[FINDING_SYMBOL];
    struct finding_index thread, block;
    enum finding_access access;
};

/* How the memory that a finding is about is called. */
enum finding_object_form {
    OBJECT_UNKNOWN,
    OBJECT_VARIABLE,   /* a name, and not which of its elements */
    OBJECT_ELEMENT,    /* A_s[3][7]; of no dimensions: a variable */
    OBJECT_ARRAY,      /* likewise, of an array of the run, whose extents are known */
    OBJECT_PART,       /* a byte of a variable whose elements are not known */
    OBJECT_DYNAMIC,    /* a byte of dynamic shared memory */
    OBJECT_SHARED,     /* shared memory, somewhere */
    OBJECT_ALLOCATED,  /* a byte of what was allocated in a line */
    OBJECT_ALLOCATION, /* a byte of an allocation that has a name */
    OBJECT_POINTED_TO, /* d_in[3]: an element of one */
    OBJECT_FORMS
};

struct finding_object {
    enum finding_object_form form;
    char name[FINDING_NAME]; /* empty: unknown */
    int32_t dimensions;
    int64_t extent[FINDING_DIMENSIONS]; /* of OBJECT_ARRAY */
    int64_t index[FINDING_DIMENSIONS];  /* of the element that was meant; it may lie outside */
    int64_t byte, bytes;                /* which byte, of how many in all */
    int64_t element_bytes;              /* of an allocation; 0: unknown */
    bool several;                       /* allocations have that name */
    char file[FINDING_FILE];            /* where it was allocated */
    int32_t line;                       /* 0: unknown */
};

/* What a kernel is launched with; extents in the order x, y, z. */
struct finding_launch {
    char kernel[FINDING_SYMBOL]; /* its name; empty: there is no launch to show */
    uint32_t grid[3], block[3];
    uint64_t shared_bytes; /* dynamic, for each block */
    uint64_t static_bytes; /* likewise, where that is known; else 0 */
    char file[FINDING_FILE];
    int32_t line;        /* of <<<...>>>; 0: unknown */
    uint64_t number, of; /* which launch of the run, from 1; of how many */
    /* The run's first output, beside which it is shown; an empty name: none. */
    char output[FINDING_NAME];
    int32_t dimensions;
    int64_t extent[FINDING_DIMENSIONS];
};

/* Of the shared array that a word is in, what no thread of the block has stored. Rows and columns
 * are those of its last two dimensions, and around the word; a row is an element where there is
 * one. */
enum finding_unstored {
    UNSTORED_UNKNOWN,
    UNSTORED_ALL,
    UNSTORED_ROWS,
    UNSTORED_COLUMNS,
    UNSTORED_SOME,
    UNSTORED_KINDS
};

/* By 2^32 elements, or bytes: the index, or the offset, was computed in an int. */
enum finding_wrapped { WRAPPED_ELEMENTS = 1, WRAPPED_BYTES };

/* A fact. */
struct finding_slot {
    enum slot_name name;
    int64_t value; /* of a real number: its bits */
};

struct finding {
    enum finding_kind kind;
    struct finding_party at, other;
    struct finding_object object;
    struct finding_launch launch; /* of the kernel in which it happened; or the last one before */
    /* In which it happened; zeros: in no kernel. */
    struct finding_index block_size, grid_size;
    /* Of the block: threads at a barrier, those at another one, those that have returned. */
    struct threads waiting, elsewhere, returned;
    int32_t phase, phases; /* which, from 0, of how many; 0 of 0: not known */
    /* Another name that it is about: of a function that is called, an array, a type, what is
     * asserted. Empty: none. */
    char named[FINDING_SYMBOL];
    struct finding_slot slot[FINDING_SLOTS]; /* the first with SLOT_NONE ends them */
};

/* What it says. */
struct finding_words {
    char what[240];    /* the headline, without place: "race on shared memory" */
    char detail[1600]; /* lines about who did what, separated by \n, not indented */
    char hint[300];    /* one idea, not the solution; it may be empty */
};

#ifdef __cplusplus
extern "C" {
#endif

/* --- report/finding.c ------------------------------------------------------------------------- */

/* Null: there is no such kind, or it is FINDING_NONE. */
const struct finding_kind_text *finding_text(enum finding_kind kind);

/* Of a kernel that goes on until it is stopped. */
bool finding_never_ends(enum finding_kind kind);

/* Sets a fact of a finding that does not have it; there is room for all that one kind has. */
void slot_set(struct finding_slot slot[FINDING_SLOTS], enum slot_name name, int64_t value);
void slot_set_real(struct finding_slot slot[FINDING_SLOTS], enum slot_name name, double value);

bool slot_has(const struct finding_slot slot[FINDING_SLOTS], enum slot_name name);
/* 0: it does not have it. */
int64_t slot_get(const struct finding_slot slot[FINDING_SLOTS], enum slot_name name);
double slot_real(const struct finding_slot slot[FINDING_SLOTS], enum slot_name name);

/* The line behind which a __syncthreads() may be missing; 0: none is known. */
int finding_barrier_after(const struct finding *finding);

/* Which values a slot has: see slots.def. */
enum slot_type {
    SLOT_TYPE_FLAG,
    SLOT_TYPE_LINE,
    SLOT_TYPE_COUNT,
    SLOT_TYPE_SIZE,
    SLOT_TYPE_INTEGER,
    SLOT_TYPE_REAL,
    SLOT_TYPE_UNSTORED,
    SLOT_TYPE_WRAPPED,
    SLOT_TYPE_FAULT
};

/* Of a name between SLOT_NONE and SLOTS. */
enum slot_type slot_type(enum slot_name name);

/* The member "slots": an object, {"barrier_after": 14, "overwritten": true}. */
struct json;
void json_slots(struct json *json, const struct finding_slot slot[FINDING_SLOTS]);

/* --- whether bytes are a record: report/record/finding.c -------------------------------------- */

/* Of a record whose bytes come from another process. True: the functions here may be given it.
 * Names that are none are empty now. False: it was no record, and its kind is FINDING_NONE. */
bool finding_check(struct finding *finding);
/* Of a text: empty now, if it has no end or holds what no line of plain text does. */
void finding_text_check(char *text, size_t bytes);
/* Whether a member is a bool: another process's is any byte. */
bool record_is_bool(const bool *value);
/* As finding_check(); false: it has no kernel now. */
bool finding_launch_check(struct finding_launch *launch);

/* --- report/words.c --------------------------------------------------------------------------- */

void finding_say(const struct finding *finding, struct finding_words *words);
enum { ELEMENT_TEXT = 200, LAUNCH_TEXT = 512 }; /* bytes that they need at most */
/* "A_s[3][7]"; empty: unknown. */
void finding_element(const struct finding *finding, char *text, size_t bytes);
/* In one line, beside the size of the output; empty: there is none. */
void finding_launch_say(const struct finding_launch *launch, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
