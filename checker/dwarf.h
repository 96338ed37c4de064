/* The program's debug information, as far as shared variables need it: the entries of its first
 * compilation unit, which is kernel.cu's because its object is linked first. */
#ifndef CHECKER_DWARF_H
#define CHECKER_DWARF_H
#include <stddef.h>

/* Tags that are visited; values of DWARF 5, table 7.3. */
enum dwarf_tag {
    DWARF_ARRAY = 0x01,
    DWARF_REFERENCE = 0x10,
    DWARF_TYPEDEF = 0x16,
    DWARF_SUBRANGE = 0x21,
    DWARF_CONST = 0x26,
    DWARF_VARIABLE = 0x34,
    DWARF_VOLATILE = 0x35
};

struct dwarf_entry {
    enum dwarf_tag tag;
    size_t at;                       /* where the entry is; what type and origin refer to */
    size_t type, origin;             /* origin: the entry that this one completes; 0: none */
    const char *name, *linkage_name; /* in the program's file; null: none */
    long tls_offset;                 /* in thread-local storage; -1: not there, or not known */
    size_t count;                    /* of a subrange; 0: not known */
};

/* Calls `visit` for each entry with one of the tags, in the order of the file. Does nothing where
 * there is no debug information, or none of version 4 or 5. */
void dwarf_visit(void (*visit)(const struct dwarf_entry *entry, void *data), void *data);

#endif
