/* Debug information: the entries of a file's first compilation unit. In a program that is
 * kernel.cu's, because its object is linked first; an object has no other. */
#ifndef ENGINE_CUDA_PROGRAM_DWARF_H
#define ENGINE_CUDA_PROGRAM_DWARF_H
#include "image.h"
#include <stddef.h>

/* Tags that are visited; values of DWARF 5, table 7.3. */
enum dwarf_tag {
    DWARF_ARRAY = 0x01,
    DWARF_CLASS = 0x02,
    DWARF_PARAMETER = 0x05,
    DWARF_POINTER = 0x0f,
    DWARF_REFERENCE = 0x10,
    DWARF_STRUCTURE = 0x13,
    DWARF_TYPEDEF = 0x16,
    DWARF_UNION = 0x17,
    DWARF_SUBRANGE = 0x21,
    DWARF_BASE = 0x24,
    DWARF_CONST = 0x26,
    DWARF_FUNCTION = 0x2e,
    DWARF_VARIABLE = 0x34,
    DWARF_VOLATILE = 0x35
};

struct dwarf_entry {
    enum dwarf_tag tag;
    size_t at;                       /* where the entry is; what type and origin refer to */
    size_t type, origin;             /* origin: the entry that this one completes; 0: none */
    const char *name, *linkage_name; /* in the file; null: none */
    long tls_offset;                 /* in thread-local storage; -1: not there, or not known */
    size_t count;                    /* of a subrange; 0: not known */
    size_t bytes;                    /* of a type; 0: not known */
    size_t encoding;                 /* of a base type: table 7.11; 0: not known */
    bool artificial;                 /* the compiler's, not the source's */
};

/* .debug_info and .debug_abbrev, and the strings of .debug_str and .debug_line_str; those that a
 * file does not have are empty. */
struct dwarf_sections {
    struct image_section info, abbrev, str, line_str;
};

/* Calls `visit` for each entry with one of the tags, in the order of the file. Does nothing where
 * there is no debug information, or none of version 4 or 5. */
void dwarf_visit(const struct dwarf_sections *sections,
                 void (*visit)(const struct dwarf_entry *entry, void *data), void *data);

#endif
