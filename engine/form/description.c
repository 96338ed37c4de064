/* What follows from a lab's description, and what it need not say of its truth: see ../lab.h. */
#include "../lab.h"
#include "../report/text/json.h"
#include "../report/text/numbers.h"
#include "../report/text/text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lab_params(const struct lab *l) {
    int count = 0;
    while (count < LAB_PARAMS && l->params[count].name) count++;
    return count;
}

int lab_arrays(const struct lab *l) {
    int count = 0;
    while (count < LAB_ARRAYS && l->arrays[count].name) count++;
    return count;
}

void lab_extents(const struct lab_array *array, const struct shape *shape,
                 int64_t extent[ENGINE_DIMENSIONS]) {
    for (int i = 0; i < array->dimensions; i++) {
        const struct lab_extent *e = &array->extent[i];
        extent[i] = (e->param < 0 ? 0 : shape->of[e->param]) + e->plus;
    }
}

int64_t lab_elements(const struct lab_array *array, const struct shape *shape) {
    int64_t extent[ENGINE_DIMENSIONS], elements = 1;
    lab_extents(array, shape, extent);
    for (int i = 0; i < array->dimensions; i++) elements *= extent[i];
    return elements;
}

int64_t lab_widest(const struct lab *l, const struct shape *shape) {
    int64_t extent[ENGINE_DIMENSIONS], widest = 1;
    for (int i = 0; i < lab_arrays(l); i++) {
        lab_extents(&l->arrays[i], shape, extent);
        for (int d = 0; d < l->arrays[i].dimensions; d++)
            if (extent[d] > widest) widest = extent[d];
    }
    return widest;
}

struct vocabulary lab_words(const struct lab *l) {
    struct vocabulary words = l->words;
    words.output = l->arrays[lab_first_output(l)].name;
    words.wrapper = l->wrapper;
    return words;
}

/* Of the rows of a table, whose names are so many bytes apart; null ends it. -1: none has it. */
static int row_named(const char *const *first, size_t apart, int rows, const char *name) {
    for (int i = 0; i < rows; i++) {
        const char *const *each = (const void *)((const char *)first + (size_t)i * apart);
        if (!*each) return -1;
        if (!strcmp(*each, name)) return i;
    }
    return -1;
}

int lab_param(const struct lab *l, const char *name) {
    return row_named(&l->params[0].name, sizeof *l->params, LAB_PARAMS, name);
}

int lab_typed(const struct lab *l, int i) {
    return i < LAB_PARAMS && l->command_line[i] ? lab_param(l, l->command_line[i]) : -1;
}

int lab_fill(const struct lab *l, const char *name) {
    return row_named(&l->fills[0].name, sizeof *l->fills, LAB_FILLS, name);
}

int lab_formula(const struct lab *l, const char *name) {
    return row_named(&l->formulas[0].name, sizeof *l->formulas, LAB_FORMULAS, name);
}

struct shape_text lab_shape_text(const struct lab *l, const struct shape *shape) {
    struct shape_text text = {""};
    for (int i = 0, param; (param = lab_typed(l, i)) >= 0; i++)
        APPEND(text.of, "%s%s=%lld", i ? " " : "", l->params[param].name,
               (long long)shape->of[param]);
    return text;
}

struct shape_text lab_shape_words(const struct lab *l, const struct shape *shape) {
    struct shape_text text = {""};
    for (int i = 0, param; (param = lab_typed(l, i)) >= 0; i++)
        APPEND(text.of, "%s%lld", i ? " " : "", (long long)shape->of[param]);
    return text;
}

void json_shape(struct json *json, const struct lab *l, const struct shape *shape) {
    for (int i = 0; i < lab_params(l); i++)
        json_value(json, l->params[i].name, "%lld", (long long)shape->of[i]);
}

/* Elements of all arrays whose role is such a one. */
static uint64_t elements_of(const struct lab *l, const struct shape *shape,
                            bool (*is_such)(enum role role)) {
    uint64_t elements = 0;
    for (int i = 0; i < lab_arrays(l); i++)
        if (is_such(l->arrays[i].role)) elements += (uint64_t)lab_elements(&l->arrays[i], shape);
    return elements;
}

uint64_t lab_outputs(const struct lab *l, const struct shape *shape) {
    return elements_of(l, shape, role_is_output);
}

uint64_t lab_least_loads(const struct lab *l, const struct shape *shape) {
    return elements_of(l, shape, role_has_values);
}

static bool read_size(const struct lab_param *param, const char *word, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(word, &end, 10);
    return !errno && end != word && !*end && *value >= param->least && *value <= param->most;
}

int lab_shape_read(const struct lab *l, int count, char **words, struct shape *shape) {
    int i = 0;
    memset(shape, 0, sizeof *shape);
    for (int param; (param = lab_typed(l, i)) >= 0; i++)
        if (i >= count || !read_size(&l->params[param], words[i], &shape->of[param])) return 0;
    return i;
}

int lab_first_output(const struct lab *l) {
    int i = 0;
    while (i + 1 < lab_arrays(l) && !role_is_output(l->arrays[i].role)) i++;
    return i;
}

/* --- what is usual of a truth ----------------------------------------------------------------- */

double truth_operations(const struct shape *shape) {
    return lab_truth.operations ? lab_truth.operations(shape) : (double)lab_outputs(&lab, shape);
}

double truth_naive_loads(const struct shape *shape) {
    return lab_truth.naive_loads ? lab_truth.naive_loads(shape) : 0;
}

double truth_seconds(const struct shape *shape) {
    return lab_truth.seconds ? lab_truth.seconds(shape) : 10 + truth_operations(shape) / 20e6;
}

bool truth_allows(const struct shape *shape, char message[MESSAGE_SIZE]) {
    return !lab_truth.allows || lab_truth.allows(shape, message);
}

/* --- usual shapes ----------------------------------------------------------------------------- */

int64_t lab_prime_from(int64_t number) {
    for (number = number < 2 ? 2 : number;; number++) {
        int64_t divisor = 2;
        while (divisor * divisor <= number && number % divisor) divisor++;
        if (divisor * divisor > number) return number;
    }
}

/* Whole blocks and not; one; a warp, and its neighbors; more than a block's threads; more
 * blocks than a block has threads. */
static const int64_t to_check[] = {100, 1, 33, 64, 31, 1025, 5000, 70000};
enum { BEFORE_MORE_THAN_A_BLOCK = 5 };

/* How many of them: arrays of two dimensions have several blocks early. */
static int usual_checks(void) {
    for (int i = 0; i < lab_arrays(&lab); i++)
        if (lab.arrays[i].dimensions > 1) return BEFORE_MORE_THAN_A_BLOCK;
    return LENGTH(to_check);
}

/* The number-th size for a purpose, of a lab with so many parameters; 0: there are no more. */
static int64_t usual_size(enum lab_purpose purpose, int number, int width, int params) {
    const int64_t tell[] = {lab_prime_from(3 * width), lab_prime_from(2 * width + 1),
                            lab_prime_from(width / 2 + 1)};
    const int64_t one_page = width + width / 4 + 1;
    switch (purpose) {
    case SHAPE_CHECK: return number < usual_checks() ? to_check[number] : 0;
    case SHAPE_TELL: return number < LENGTH(tell) ? tell[number] : 0;
    case SHAPE_COUNT: return number ? 0 : params > 1 ? 64 : 4096;
    case SHAPE_WHOLE: return number ? 0 : 4 * (int64_t)width;
    case SHAPE_PHASES: return number < 2 ? number ? 64 : 8 : 0;
    case SHAPE_PAGE: return number ? 0 : one_page;
    }
    return 0;
}

/* Parameters that differ can be told apart; within their ranges. */
static bool sized_shape(enum lab_purpose purpose, int number, int width, struct shape *shape) {
    const int params = lab_params(&lab);
    const int64_t size = usual_size(purpose, number, width > 1 ? width : 16, params);
    *shape = (struct shape){{0}};
    for (int i = 0; size && i < params; i++) {
        const struct lab_param *p = &lab.params[i];
        const int apart = purpose == SHAPE_CHECK && size % 64 == 0 ? 0 : 3; /* all blocks whole */
        const int64_t wanted =
            purpose == SHAPE_TELL ? lab_prime_from(size + 6 * i) : size + apart * i;
        shape->of[i] = wanted < p->least ? p->least : wanted > p->most ? p->most : wanted;
    }
    return size;
}

/* A run that does more than so many operations is too long for make check. */
static const double most_checked = 3e7;

/* Makes a parameter, or all of them, so large. False: the lab allows no such shape. */
static bool resize(enum lab_purpose purpose, int param, bool all, int64_t size, struct shape *s) {
    char message[MESSAGE_SIZE];
    if (purpose == SHAPE_TELL && lab_prime_from(size) != size) return false;
    for (int i = 0; i < lab_params(&lab); i++) {
        if (all || i == param) s->of[i] = size;
        if (s->of[i] < lab.params[i].least || s->of[i] > lab.params[i].most) return false;
    }
    return truth_allows(s, message);
}

/* Of a shape that lab_truth.allows refuses, one parameter becomes larger, by as little as it takes;
 * or all have one size. */
static bool make_allowed(enum lab_purpose purpose, struct shape *shape) {
    enum { MORE = 4096 };
    char message[MESSAGE_SIZE];
    const struct shape wanted = *shape;
    if (truth_allows(shape, message)) return true;
    for (int all = 0; all < 2; all++)
        for (int more = 0; more < MORE; more++)
            for (int i = 0; i < (all ? 1 : lab_params(&lab)); i++) {
                *shape = wanted;
                if (resize(purpose, i, all, wanted.of[i] + more, shape)) return true;
            }
    return false;
}

/* Shapes that cannot be made so, or take too long, are left out. */
static bool usual_shape(enum lab_purpose purpose, int number, int width, struct shape *shape) {
    for (int i = 0; sized_shape(purpose, i, width, shape); i++)
        if (make_allowed(purpose, shape) &&
            (purpose != SHAPE_CHECK || truth_operations(shape) <= most_checked) && !number--)
            return true;
    return false;
}

bool truth_shape(enum lab_purpose purpose, int number, int width, struct shape *shape) {
    return lab_truth.shape ? lab_truth.shape(purpose, number, width, shape)
                           : usual_shape(purpose, number, width, shape);
}

uint64_t lab_random(uint64_t seed, int stream, uint64_t index) {
    return random64(random64(mix64(seed), (uint64_t)stream), index);
}

float lab_uniform(uint64_t seed, int stream, uint64_t index) {
    return uniform_of(lab_random(seed, stream, index));
}
