/* What a finding says: a function of its record. One function for each kind whose words depend on
 * more than the kind; what depends on that alone is in findings.def. */
#define _GNU_SOURCE /* strsignal */
#include "../device.h"
#include "../launch.h"
#include "say.h"
#include "vocabulary.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_write(const struct finding *f) { return f->at.access == FINDING_WRITE; }

static const char *load_or_store(const struct finding *f) { return is_write(f) ? "store" : "load"; }

static bool is_same_block(const struct finding *f) {
    return memcmp(&f->at.block, &f->other.block, sizeof f->at.block) == 0;
}

/* --- races on global memory ------------------------------------------------------------------- */

/* Of which it can be asked whose it is: "C[3][7]", or "it". */
static struct phrase owned(const struct finding *f) {
    const enum finding_object_form form = f->object.form;
    struct phrase it = {"it"};
    return form == OBJECT_ELEMENT || form == OBJECT_ARRAY || form == OBJECT_POINTED_TO
               ? finding_element_of(f)
               : it;
}

static void say_global_race(const struct finding *f, struct finding_words *w) {
    const bool blocks = !is_same_block(f);
    const struct phrase place = finding_at(f->other.file, f->other.line);
    WHAT("race %s on %s", blocks ? "between blocks" : "between threads",
         f->object.name[0] ? f->object.name : "global memory");
    if (blocks)
        DETAIL("thread %s of block %s %s %s, and thread %s of block %s %s it%s", AT,
               finding_block(f, &f->at).text, finding_verb(&f->at), ELEMENT, OTHER,
               finding_block(f, &f->other).text, finding_verb(&f->other), place.text);
    else
        DETAIL("thread %s %s %s, and thread %s of the same block %s it%s", AT, finding_verb(&f->at),
               ELEMENT, OTHER, finding_verb(&f->other), place.text);
    if (HAS(SYNCHRONIZES))
        HINT("an atomic operation or a flag orders only accesses to its own address; to order "
             "others, one thread needs a __threadfence() before it and the other one after it");
    else if (blocks)
        HINT("blocks run in any order, and no barrier synchronizes them: which block does %s "
             "belong to?",
             owned(f).text);
    else
        HINT("which thread does %s belong to?", owned(f).text);
}

/* --- out of bounds ---------------------------------------------------------------------------- */

/* An index that was computed in an int, and did not fit. */
static void say_overflow(const struct finding *f, struct finding_words *w) {
    if (!HAS(WRAPPED)) return;
    if (GET(WRAPPED) == WRAPPED_ELEMENTS)
        DETAIL("\nthe index into %s is 2^32 elements too small", f->named);
    else
        DETAIL("\nthe offset into %s is 2^32 bytes too small", f->named);
    HINT("an int holds no number above 2^31 - 1: was this one computed in an int?");
}

/* How large an allocation with a name is. */
static void say_size(const struct finding *f, struct finding_words *w) {
    const struct finding_object *o = &f->object;
    if (o->form != OBJECT_POINTED_TO && o->form != OBJECT_ALLOCATION) return;
    const bool whole = o->element_bytes && o->bytes % o->element_bytes == 0;
    const int64_t count = whole ? o->bytes / o->element_bytes : o->bytes;
    DETAIL(", but %s has %s %s%s", o->name, COUNT(count), whole ? "element" : "byte",
           plural((uint64_t)count));
}

static void say_outside_of_arrays(const struct finding *f, struct finding_words *w) {
    enum { NULL_PAGE = 4096 };
    const uint64_t address = (uint64_t)GET(ADDRESS);
    WHAT("out-of-bounds %s: the address is outside every allocation", load_or_store(f));
    if (address < NULL_PAGE) {
        DETAIL("thread %s dereferences a null pointer", AT);
        HINT("where did this pointer get its value?");
    } else if (HAS(FAR)) {
        DETAIL("thread %s %s address %#" PRIx64 ", far from every allocation", AT,
               finding_verb(&f->at), address);
        say_overflow(f, w);
        if (!w->hint[0]) HINT("is the index negative, or of a type that is too small?");
    } else {
        DETAIL("thread %s %s %s", AT, finding_verb(&f->at), ELEMENT);
        say_size(f, w);
    }
}

static int64_t elements_of(int dimensions, const int64_t *extent) {
    int64_t elements = 1;
    for (int i = 0; i < dimensions; i++) elements *= extent[i];
    return elements;
}

/* A 16-bit index that goes on after 32767 is -32768: as a row, or as an element. */
static void ask_about_short(const struct finding *f, struct finding_words *w) {
    enum { FIRST = -32768 };
    const struct finding_object *o = &f->object;
    const int64_t rows = o->extent[0], elements = elements_of(o->dimensions, o->extent),
                  element = GET(ELEMENT);
    const bool as_row = o->dimensions > 1 && rows > -FIRST && element / (elements / rows) >= FIRST;
    const bool as_element = elements > -FIRST && element >= FIRST;
    if (as_row || as_element)
        HINT("is an index of a 16-bit type? After 32,767 a short is -32,768, and %s has %s %s",
             o->name, COUNT(as_row ? rows : elements), as_row ? "rows" : "elements");
}

/* "C has 4 rows and 8 columns" */
static void say_extents(const struct finding *f, struct finding_words *w) {
    const struct finding_object *o = &f->object;
    const int64_t *extent = o->extent;
    if (o->dimensions == 1)
        DETAIL("%s has %s element%s", o->name, COUNT(extent[0]), plural((uint64_t)extent[0]));
    else if (o->dimensions == 2)
        DETAIL("%s has %s row%s and %s column%s", o->name, COUNT(extent[0]),
               plural((uint64_t)extent[0]), COUNT(extent[1]), plural((uint64_t)extent[1]));
    else
        DETAIL("%s has %" PRId64 " x %" PRId64 " x %" PRId64 " elements", o->name, extent[0],
               extent[1], extent[2]);
}

/* The element whose address it is, if the array has that. */
static void say_next_row(const struct finding *f, struct finding_words *w) {
    struct finding at = {.object = f->object};
    int64_t element = GET(ELEMENT);
    if (element >= elements_of(f->object.dimensions, f->object.extent)) return;
    for (int i = f->object.dimensions - 1; i >= 0; i--) {
        at.object.index[i] = element % f->object.extent[i];
        element /= f->object.extent[i];
    }
    DETAIL("\nits address is that of %s, in the next row", finding_element_of(&at).text);
}

static void say_out_of_bounds(const struct finding *f, struct finding_words *w) {
    const struct finding_object *o = &f->object;
    if (o->form != OBJECT_ARRAY) {
        say_outside_of_arrays(f, w);
        return;
    }
    const int64_t element = GET(ELEMENT);
    const bool before = element < 0, column = HAS(LAST_COLUMN);
    const bool reaches_out = !before && element < elements_of(o->dimensions, o->extent) && !column;
    WHAT("%s %s %s", is_write(f) ? "store to" : "load from", o->name,
         before                              ? "before its beginning"
         : column                            ? "beyond its last column"
         : reaches_out || o->dimensions != 2 ? "beyond its end"
                                             : "beyond its last row");
    DETAIL("thread %s %s ", AT, finding_verb(&f->at));
    if (reaches_out) DETAIL("%" PRId64 " bytes starting at %s, ", GET(BYTES), ELEMENT);
    if (!reaches_out) DETAIL("%s, ", ELEMENT);
    DETAIL("but ");
    say_extents(f, w);
    if (column) say_next_row(f, w);
    if (before) say_overflow(f, w);
    if (before && !w->hint[0]) ask_about_short(f, w);
    if (w->hint[0]) return;
    if (is_write(f))
        HINT("at the edge some threads have no element of %s: does a guard stop them?", o->name);
    else
        HINT("at the edge of %s some threads have no element to load: does a guard stop them?",
             o->name);
}

/* 16 of "float [16][17]" */
static long first_extent(const char *type) {
    long extent = 0;
    const char *open = strchr(type, '[');
    if (open) sscanf(open, "[%9ld", &extent);
    return extent;
}

static void say_bad_index(const struct finding *f, struct finding_words *w) {
    const bool local = f->kind == FINDING_LOCAL_OUT_OF_BOUNDS;
    const struct phrase element = finding_element_of(f);
    HINT("%s", finding_text(FINDING_LOCAL_OUT_OF_BOUNDS)->hint);
    if (!HAS(INDEX)) {
        WHAT("a pointer or an index leaves a local array");
        DETAIL("thread %s uses it", AT);
        return;
    }
    WHAT("index %" PRId64 " into a %s array whose indices are 0 to %ld", GET(INDEX),
         local ? "local" : "shared", first_extent(f->named) - 1);
    if (local || !element.text[0])
        DETAIL("thread %s indexes an array of type %s", AT, f->named);
    else
        DETAIL("thread %s %s %s, which %s", AT, finding_verb(&f->at), element.text,
               HAS(OTHER_ROW) ? "is in another row of the array" : "is outside the array");
}

static void say_shared_bounds(const struct finding *f, struct finding_words *w) {
    enum { FLOAT = 4 };
    const int64_t bytes = GET(DYNAMIC_BYTES);
    if (HAS(INDEX)) {
        say_bad_index(f, w);
        return;
    }
    if (!HAS(DYNAMIC_BYTES)) {
        WHAT("%s outside a shared array", load_or_store(f));
        DETAIL("thread %s %s %s, which is outside the array", AT, finding_verb(&f->at), ELEMENT);
        return;
    }
    WHAT("%s outside dynamic shared memory", load_or_store(f));
    DETAIL("thread %s %s %s, but the launch asked for %s bytes, %s floats", AT,
           finding_verb(&f->at), ELEMENT, COUNT(bytes), COUNT(bytes / FLOAT));
    HINT("the third value in <<<...>>> is the dynamic shared memory of a block, in bytes");
}

/* --- values and pointers ---------------------------------------------------------------------- */

/* "A_s" of A_s[3][7]; "buffers[1]" of buffers[1][3][7]: the rows and columns of the last two
 * dimensions. */
static struct phrase table_of(const struct finding *f) {
    struct finding table = {.object = f->object};
    table.object.dimensions = f->object.dimensions > 2 ? f->object.dimensions - 2 : 0;
    return finding_element_of(&table);
}

static void say_unstored(const struct finding *f, struct finding_words *w) {
    const struct phrase table = table_of(f);
    const int64_t what = GET(UNSTORED), first = GET(UNSTORED_FIRST), last = GET(UNSTORED_LAST);
    const char *each = what == UNSTORED_COLUMNS   ? "column"
                       : f->object.dimensions > 1 ? "row"
                                                  : "element";
    switch (what) {
    case UNSTORED_ALL:
        DETAIL("\nno thread of the block has stored any element of %s", table.text);
        break;
    case UNSTORED_ROWS:
    case UNSTORED_COLUMNS:
        if (first == last)
            DETAIL("\n%s %" PRId64 " of %s has not been stored", each, first, table.text);
        else
            DETAIL("\n%ss %" PRId64 " to %" PRId64 " of %s have not been stored", each, first, last,
                   table.text);
        break;
    case UNSTORED_SOME:
        DETAIL("\n%s of the %s elements of %s %s not been stored", COUNT(first), COUNT(last),
               table.text, first == 1 ? "has" : "have");
        break;
    default: break;
    }
}

static void say_uninitialized_shared(const struct finding *f, struct finding_words *w) {
    DETAIL("thread %s reads %s, which no thread has written", AT, ELEMENT);
    say_unstored(f, w);
}

static void say_uninitialized_global(const struct finding *f, struct finding_words *w) {
    const char *name = f->object.name[0] ? f->object.name : "memory from cudaMalloc";
    WHAT("%s is read before it is written", name);
    DETAIL("thread %s %s %s, which holds no value yet", AT, HAS(ATOMIC) ? "adds to" : "reads",
           ELEMENT);
    HINT("what does %s hold before the kernel runs?", name);
}

static void say_input_written(const struct finding *f, struct finding_words *w) {
    const char *name = f->object.name;
    if (HAS(COUNT)) {
        WHAT("%s element%s of %s changed, although it is an input", COUNT(GET(COUNT)),
             plural((uint64_t)GET(COUNT)), name);
        return;
    }
    WHAT("%s is written, although it is an input", name);
    if (f->at.in_kernel)
        DETAIL("thread %s writes %s", AT, ELEMENT);
    else
        DETAIL("a copy or cudaMemset writes it, starting at %s", ELEMENT);
}

static void say_freed(const struct finding *f, struct finding_words *w) {
    if (f->at.in_kernel) DETAIL("thread %s %s it", AT, finding_verb(&f->at));
}

static void say_device_pointer(const struct finding *f, struct finding_words *w) {
    const struct phrase element = finding_element_of(f);
    DETAIL("it %s %s, which is in the GPU's memory", finding_verb(&f->at),
           element.text[0] ? element.text : "an address");
}

static void say_device_variable(const struct finding *f, struct finding_words *w) {
    (void)f;
    DETAIL("on a GPU it would read another copy, which no kernel writes");
}

static void say_host_pointer(const struct finding *f, struct finding_words *w) {
    DETAIL("thread %s %s host memory", AT, finding_verb(&f->at));
}

/* Where it is in an array that begins at a multiple of the vector's size: whether it is the row
 * that begins elsewhere, or the column. */
static void say_alignment(const struct finding *f, struct finding_words *w, int64_t floats) {
    const char *name = f->object.name;
    const int64_t cols = GET(ROW_WORDS), row = GET(WORD) / cols, col = GET(WORD) % cols;
    if (row * cols % floats)
        DETAIL("\nrow %" PRId64 " of %s begins at element %" PRId64
               ", which is not a multiple of %" PRId64 ": %s has %" PRId64 " column%s",
               row, name, row * cols, floats, name, cols, plural((uint64_t)cols));
    else if (col % floats)
        DETAIL("\nrow %" PRId64 " of %s begins at a multiple of %" PRId64 ", but column %" PRId64
               " is not one",
               row, name, floats, col);
}

static void say_misaligned(const struct finding *f, struct finding_words *w) {
    enum { USUAL = 16, FLOAT = 4 };
    const int64_t bytes = HAS(BYTES) ? GET(BYTES) : USUAL;
    const struct phrase element = finding_element_of(f);
    WHAT("misaligned %s of %" PRId64 " bytes", load_or_store(f), bytes);
    DETAIL("thread %s %s %" PRId64 " bytes ", AT, finding_verb(&f->at), bytes);
    if (element.text[0])
        DETAIL("starting at %s, whose address is not a multiple of %" PRId64, element.text, bytes);
    else
        DETAIL("at an address that is not a multiple of %" PRId64, bytes);
    if (HAS(ROW_WORDS) && bytes >= FLOAT) say_alignment(f, w, bytes / FLOAT);
}

/* --- the launch and the wrapper --------------------------------------------------------------- */

static void say_bad_launch(const struct finding *f, struct finding_words *w) {
    struct finding_launch launch = f->launch;
    char text[MESSAGE_SIZE];
    launch.static_bytes = (uint64_t)GET(STATIC_BYTES);
    const char *hint = launch_refusal(&launch, &launch_usual_limits, text);
    if (hint)
        DETAIL("%s\n", text);
    else
        DETAIL("a block asks for %s bytes of dynamic shared memory, more than cudaFuncSetAttribute "
               "has allowed\n",
               COUNT(f->launch.shared_bytes));
    DETAIL(HAS(CHECKED) ? "the wrapper called cudaGetLastError() and went on"
                        : "the error was not checked: call cudaGetLastError() after the launch");
    HINT("%s", hint ? hint : "set the attribute to at least the third value in <<<...>>>");
}

static void say_failed_call(const struct finding *f, struct finding_words *w) {
    const int error = (int)GET(ERROR);
    WHAT("%s failed: %s (%s)", f->named[0] ? f->named : "a call of the CUDA runtime",
         cuda_error_text(error), cuda_error_name(error));
    DETAIL(HAS(CHECKED) ? "the wrapper called cudaGetLastError() and went on"
                        : "the error was still pending when the wrapper returned");
}

static void say_leak(const struct finding *f, struct finding_words *w) {
    if (GET(COUNT) == 1)
        DETAIL("%s bytes, allocated here", COUNT(GET(BYTES)));
    else
        DETAIL("%s allocations, %s bytes in all; the first was made here", COUNT(GET(COUNT)),
               COUNT(GET(BYTES)));
}

static void say_fault(const struct finding *f, struct finding_words *w) {
    say_what_ended_it(f, w);
    if (f->at.in_kernel) DETAIL("thread %s was running here", AT);
}

static void say_host_fault(const struct finding *f, struct finding_words *w) {
    if (HAS(FAULT))
        say_fault(f, w);
    else if (HAS(SIGNAL))
        WHAT("%s crashed: %s", f->named, strsignal((int)GET(SIGNAL)));
    else
        WHAT("%s ended the program instead of returning", f->named);
}

static void say_host_function(const struct finding *f, struct finding_words *w) {
    WHAT("a kernel calls %s, a host function", f->named);
    DETAIL("thread %s calls it", AT);
}

static void ask_about_blocks(const struct finding_launch *l, struct finding_words *w) {
    HINT("%s is ", l->output);
    for (int i = 0; i < l->dimensions; ++i) HINT(i ? " x %" PRId64 : "%" PRId64, l->extent[i]);
    HINT("%s: how many blocks does it need?", l->dimensions == 1 ? " elements long" : "");
}

static bool has_far_more_threads(const struct finding *f) {
    const struct finding_index g = f->grid_size, b = f->block_size;
    const int64_t elements = elements_of(f->launch.dimensions, f->launch.extent);
    return f->launch.output[0] &&
           (uint64_t)g.x * g.y * g.z * b.x * b.y * b.z / 4 > (uint64_t)elements;
}

/* Blocks that end are no endless loop: what takes the time is their number, or what each does. */
static void say_time_limit(const struct finding *f, struct finding_words *w) {
    const struct finding_index g = f->grid_size, b = f->block_size;
    say_what_ended_it(f, w);
    if (f->at.in_kernel) DETAIL("thread %s was running here\n", AT);
    DETAIL("grid %u x %u x %u, block %u x %u x %u", g.x, g.y, g.z, b.x, b.y, b.z);
    if (has_far_more_threads(f))
        ask_about_blocks(&f->launch, w);
    else
        HINT("what does each thread compute more than once?");
}

static void say_foreign_local(const struct finding *f, struct finding_words *w) {
    DETAIL("thread %s %s a local variable that is not its own; on a GPU, each thread finds its own "
           "at that address",
           AT, finding_verb(&f->at));
}

static void say_tampering(const struct finding *f, struct finding_words *w) {
    (void)f;
    DETAIL("the address belongs to a variable that is not kernel.cu's");
}

static void say_no_launch(const struct finding *f, struct finding_words *w) {
    (void)f;
    WHAT("%s launches no kernel", vocabulary()->wrapper);
}

/* --- the result ------------------------------------------------------------------------------- */

/* "all 1156 elements of C are ". */
static void say_how_many(const struct finding *f, struct finding_words *w) {
    const uint64_t count = (uint64_t)GET(COUNT);
    WHAT("%s of %s %s ", how_many(count, (uint64_t)GET(OF)).text, vocabulary()->output,
         is_or_are(count));
}

/* Whether they are a whole rectangle, or row: then its sides say which they are. */
static bool is_whole_box(const struct finding *f) {
    const uint64_t rows =
                       HAS(ROW_FIRST) ? (uint64_t)GET(ROW_LAST) - (uint64_t)GET(ROW_FIRST) + 1 : 1,
                   columns = (uint64_t)GET(COLUMN_LAST) - (uint64_t)GET(COLUMN_FIRST) + 1;
    return (uint64_t)GET(COUNT) == rows * columns;
}

/* "row 3", or "rows 3 to 7" */
static void say_range(struct finding_words *w, const char *one, int64_t first, int64_t last) {
    if (first == last)
        DETAIL("%s %" PRId64, one, first);
    else
        DETAIL("%ss %" PRId64 " to %" PRId64, one, first, last);
}

static void say_unwritten(const struct finding *f, struct finding_words *w) {
    say_how_many(f, w);
    WHAT("never written");
    if (launch_covers(&f->launch))
        HINT("the grid has a thread for each element of %s: which threads do not reach the store, "
             "or store another element?",
             vocabulary()->output);
    if (HAS(EXPLAINED)) return; /* which says it better */
    if (GET(COUNT) == 1)
        DETAIL(HAS(ROW_FIRST) ? "it is in " : "it is ");
    else
        DETAIL(is_whole_box(f) ? "they are all of " : "they lie within ");
    if (HAS(ROW_FIRST)) {
        say_range(w, "row", GET(ROW_FIRST), GET(ROW_LAST));
        say_range(w, ", column", GET(COLUMN_FIRST), GET(COLUMN_LAST));
    } else {
        say_range(w, "element", GET(COLUMN_FIRST), GET(COLUMN_LAST));
    }
}

static void say_wrong(const struct finding *f, struct finding_words *w) {
    if (HAS(ELSEWHERE)) {
        WHAT("%s is correct in the watched run, but not in ./%s", vocabulary()->output, f->named);
        HINT("both programs are compiled from the same kernel.cu: what does the kernel do that C++ "
             "leaves undefined, such as using a variable without a value, an index outside a local "
             "array, or an int that overflows?");
        return;
    }
    say_how_many(f, w);
    WHAT("wrong");
    if (!HAS(GOT)) return;
    DETAIL("the first: %s", vocabulary()->output);
    if (HAS(ROW_FIRST)) DETAIL("[%" PRId64 "]", GET(ROW_FIRST));
    DETAIL("[%" PRId64 "] is %.9g, and should be %.9g", GET(COLUMN_FIRST), REAL(GOT),
           REAL(EXPECTED));
}

static void say_not_float32(const struct finding *f, struct finding_words *w) {
    WHAT("%s is less precise than float32 arithmetic makes it", vocabulary()->output);
    DETAIL("errors of up to %.0f units in the last place, root mean square %.1f", REAL(MAX_ERROR),
           REAL(RMS_ERROR));
}

/* --- all of them ------------------------------------------------------------------------------ */

static finding_sayer *const say_kind[FINDING_KINDS] = {
    [FINDING_SHARED_RACE] = say_shared_race,
    [FINDING_NO_LAUNCH] = say_no_launch,
    [FINDING_GLOBAL_RACE] = say_global_race,
    [FINDING_DIVERGENT_BARRIER] = say_divergent_barrier,
    [FINDING_EARLY_RETURN] = say_early_return,
    [FINDING_OUT_OF_BOUNDS] = say_out_of_bounds,
    [FINDING_SHARED_OUT_OF_BOUNDS] = say_shared_bounds,
    [FINDING_LOCAL_OUT_OF_BOUNDS] = say_bad_index,
    [FINDING_FOREIGN_LOCAL] = say_foreign_local,
    [FINDING_UNINITIALIZED_SHARED] = say_uninitialized_shared,
    [FINDING_UNINITIALIZED_GLOBAL] = say_uninitialized_global,
    [FINDING_INPUT_WRITTEN] = say_input_written,
    [FINDING_FREED_MEMORY] = say_freed,
    [FINDING_DEVICE_POINTER_ON_HOST] = say_device_pointer,
    [FINDING_DEVICE_VARIABLE_ON_HOST] = say_device_variable,
    [FINDING_HOST_POINTER_ON_DEVICE] = say_host_pointer,
    [FINDING_HOST_FUNCTION] = say_host_function,
    [FINDING_MISALIGNED] = say_misaligned,
    [FINDING_BAD_LAUNCH] = say_bad_launch,
    [FINDING_FAILED_CALL] = say_failed_call,
    [FINDING_LEAK] = say_leak,
    [FINDING_ENDLESS] = say_endless,
    [FINDING_TIME_LIMIT] = say_time_limit,
    [FINDING_DEADLOCK] = say_deadlock,
    [FINDING_KERNEL_FAULT] = say_fault,
    [FINDING_HOST_FAULT] = say_host_fault,
    [FINDING_TAMPERING] = say_tampering,
    [FINDING_UNWRITTEN] = say_unwritten,
    [FINDING_WRONG_RESULT] = say_wrong,
    [FINDING_NOT_FLOAT32] = say_not_float32,
};

void finding_say(const struct finding *f, struct finding_words *w) {
    const struct finding_kind_text *text = finding_text(f->kind);
    memset(w, 0, sizeof *w);
    if (!text) return;
    if (say_kind[f->kind]) say_kind[f->kind](f, w);
    if (!w->what[0]) WHAT("%s", text->headline);
    if (w->hint[0] || HAS(EXPLAINED) || HAS(RETURNS_NOT)) return;
    const char *of_lab = vocabulary()->hints[f->kind];
    HINT("%s", of_lab ? of_lab : text->hint);
}

void finding_launch_say(const struct finding_launch *l, char *text, size_t bytes) {
    char words[LAUNCH_TEXT];
    text[0] = '\0';
    if (!l->kernel[0]) return;
    launch_describe(l, words);
    append(text, bytes, "%s", words);
    if (l->of > 1) append(text, bytes, "; launch %" PRIu64 " of %" PRIu64, l->number, l->of);
}
