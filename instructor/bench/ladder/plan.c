/* plan.c: what is to be measured. */
#include "ladder.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Powers of two; one that is none; two that just miss whole tiles and have rows that no vector load
 * can take. */
const char published_shapes[] = "34 34 34  512 512 512  1000 500 700  1024 1024 1024 "
                                "1023 1025 1027  2048 2048 2048  4096 4096 4096 "
                                "4095 4097 4093  8192 8192 8192";

/* The next number of a text. False: what stands there is no number from 1 on; *word is what does.
 */
static bool next_number(const char **text, int *number, char word[NAME_SIZE]) {
    char *end;
    while (isspace((unsigned char)**text)) ++*text;
    int length = (int)strcspn(*text, " \t\n");
    snprintf(word, NAME_SIZE, "%.*s", length, *text);
    errno = 0;
    long value = strtol(*text, &end, 10);
    bool right = !errno && end == *text + length && isdigit((unsigned char)**text) && value > 0 &&
                 value <= INT_MAX;
    *number = (int)value;
    *text += length;
    return right;
}

static int count_words(const char *text) {
    int count = 0;
    for (bool inside = false; *text; ++text) {
        bool blank = isspace((unsigned char)*text);
        count += !blank && !inside;
        inside = !blank;
    }
    return count;
}

/* Kernels count elements in int. */
static bool countable(const struct shape *s) {
    const int64_t m = s->m, n = s->n, k = s->k;
    return m * k <= INT_MAX && k * n <= INT_MAX && m * n <= INT_MAX;
}

static bool parse(const char *text, struct shape *shapes, int count, char message[TEXT_SIZE]) {
    char word[NAME_SIZE];
    for (int i = 0; i < count; i++) {
        struct shape *s = &shapes[i];
        int *sizes[] = {&s->m, &s->k, &s->n};
        for (int j = 0; j < LENGTH(sizes); j++) {
            if (next_number(&text, sizes[j], word)) continue;
            snprintf(message, TEXT_SIZE, "SHAPES: '%s' is no size; sizes are whole numbers from 1",
                     word);
            return false;
        }
        s->flops = 2.0 * s->m * s->n * s->k;
        if (countable(s)) continue;
        snprintf(message, TEXT_SIZE,
                 "SHAPES: %s: a matrix of more than %d elements, which kernels cannot count in int",
                 shape_text(s).text, INT_MAX);
        return false;
    }
    return true;
}

struct shape *shapes_parse(const char *text, int *count, char message[TEXT_SIZE]) {
    int words = count_words(text);
    *count = words / 3;
    if (words == 0 || words % 3 != 0) {
        snprintf(message, TEXT_SIZE, "SHAPES holds %d number%s; it takes three a shape, m k n",
                 words, words == 1 ? "" : "s");
        return NULL;
    }
    struct shape *shapes = calloc((size_t)*count, sizeof *shapes);
    if (!shapes) {
        snprintf(message, TEXT_SIZE, "out of memory");
        return NULL;
    }
    if (parse(text, shapes, *count, message)) return shapes;
    free(shapes);
    return NULL;
}

/* Odd, so that the median is one of them. The naive kernel takes 0.2 s at 8192. */
int samples_for(const struct shape *shape) {
    static const double fast = 2.0 * 1500 * 1500 * 1500, slow = 2.0 * 5000 * 5000 * 5000;
    return shape->flops <= fast ? 31 : shape->flops <= slow ? 21 : 11;
}

double intensity_read(const char *path) {
    enum { HEAD_LINES = 40 };
    char line[256];
    double intensity = 0;
    FILE *file = fopen(path, "r");
    for (int i = 0; file && i < HEAD_LINES && fgets(line, sizeof line, file); i++) {
        const char *found = strstr(line, "intensity:");
        if (found && sscanf(found, "intensity: %lf", &intensity) == 1) break;
    }
    if (file) fclose(file);
    return intensity > 0 ? intensity : 0;
}

struct shape_text shape_text(const struct shape *shape) {
    struct shape_text text;
    snprintf(text.text, sizeof text.text, "%d x %d x %d", shape->m, shape->k, shape->n);
    return text;
}
