/* The words of a command line, for another program of the lab's. */
#ifndef ENGINE_HOST_COMMAND_H
#define ENGINE_HOST_COMMAND_H
#include "../../lab.h"

enum { COMMAND_WORDS = 8 + LAB_PARAMS, COMMAND_BYTES = 64 };

/* Zeroed, it has none. Words are cut at 63 bytes. */
struct command {
    int count;
    char word[COMMAND_WORDS][COMMAND_BYTES];
    char *words[COMMAND_WORDS + 1];
};

void command_add(struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The values of the parameters, in the order in which they are typed. */
void command_add_shape(struct command *command, const struct shape *shape);

/* For exec: ends with null, and lives as long as the command. */
char **command_words(struct command *command);

#endif
