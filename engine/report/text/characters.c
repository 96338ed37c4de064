/* See characters.h. */
#include "characters.h"

#define WORDS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
#define NAMES WORDS ":<>(),.*&/~- []+"

const char characters_of_words[] = WORDS;
const char characters_of_names[] = NAMES;
const char characters_of_conditions[] = NAMES "=!%|^?'\"";
