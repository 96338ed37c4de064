/* What texts of another process may hold: no control character, no quote that a shell or a page
 * takes for one of its own, nothing outside of ASCII. */
#ifndef ENGINE_REPORT_CHARACTERS_H
#define ENGINE_REPORT_CHARACTERS_H

/* Of a word; of a name, of a function or a file as well; of a condition or an index. */
extern const char characters_of_words[], characters_of_names[], characters_of_conditions[];

#endif
