/* See command.h. */
#include "command.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

void command_add(struct command *c, const char *format, ...) {
    va_list arguments;
    assert(c->count < COMMAND_WORDS);
    va_start(arguments, format);
    vsnprintf(c->word[c->count++], COMMAND_BYTES, format, arguments);
    va_end(arguments);
}

void command_add_shape(struct command *c, const struct shape *shape) {
    for (int i = 0, param; (param = lab_typed(&lab, i)) >= 0; i++)
        command_add(c, "%lld", (long long)shape->of[param]);
}

char **command_words(struct command *c) {
    for (int i = 0; i < c->count; i++) c->words[i] = c->word[i];
    c->words[c->count] = NULL;
    return c->words;
}
