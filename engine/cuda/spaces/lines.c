#include "spaces.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The table is a program for a machine with these registers. */
struct machine {
    const struct elf_file *object;
    struct dwarf_reader r;
    const unsigned char *begin;
    const unsigned char *directories, *files; /* lists of the header */
    unsigned opcode_base, line_range, unit;   /* unit: bytes of an instruction, at least */
    int line_base;
    unsigned lengths[256]; /* operands of each standard opcode */
    unsigned section, file, line;
    size_t address;
};

struct search {
    unsigned section;
    size_t offset;
    bool open; /* the row before is of this section, and not behind the place */
    unsigned row_file, row_line, file, line;
};

static int64_t signed_leb(struct dwarf_reader *r) {
    const unsigned char *begin = r->at;
    const uint64_t value = dwarf_leb(r);
    const long bits = 7 * (r->at - begin);
    const bool negative = bits > 0 && bits < 64 && value >> (bits - 1);
    return (int64_t)(negative ? value | ~(uint64_t)0 << bits : value);
}

/* A row of the table: the instructions from here to the next row are of this line. */
static void add_row(const struct machine *m, struct search *s, bool ends) {
    if (s->open && m->section == s->section && m->address > s->offset) {
        s->file = s->row_file;
        s->line = s->row_line;
        s->open = false;
    }
    if (m->section != s->section || m->address > s->offset) return;
    s->open = !ends;
    s->row_file = m->file;
    s->row_line = m->line;
}

/* DW_LNE_set_address has a relocation, which says of which section the address is. */
static void set_address(struct machine *m) {
    const struct elf_file *o = m->object;
    struct reference r = {.section = elf_find_section(o, ".debug_line")};
    while (object_next(o, &r)) {
        if (r.offset != (size_t)(m->r.at - m->begin)) continue;
        m->section = o->symbols[r.symbol].st_shndx;
        m->address = o->symbols[r.symbol].st_value + (size_t)r.addend;
    }
}

static void restart(struct machine *m) {
    m->section = 0;
    m->address = 0;
    m->file = m->line = 1;
}

static void extended(struct machine *m, struct search *s) {
    uint64_t length = dwarf_leb(&m->r);
    const unsigned char *next = m->r.at + length;
    if (m->r.bad || length == 0 || length > (uint64_t)(m->r.end - m->r.at)) {
        m->r.bad = true;
        return;
    }
    switch (dwarf_fixed(&m->r, 1)) {
    case 1: /* end_sequence */
        add_row(m, s, true);
        restart(m);
        break;
    case 2: set_address(m); break;
    }
    m->r.at = next;
}

static void standard(struct machine *m, struct search *s, unsigned opcode) {
    switch (opcode) {
    case 1: add_row(m, s, false); break;                     /* copy */
    case 2: m->address += dwarf_leb(&m->r) * m->unit; break; /* advance_pc */
    case 3: m->line += (unsigned)signed_leb(&m->r); break;   /* advance_line */
    case 4: m->file = (unsigned)dwarf_leb(&m->r); break;     /* set_file */
    case 8:                                                  /* const_add_pc */
        m->address += (255 - m->opcode_base) / m->line_range * m->unit;
        break;
    case 9: m->address += dwarf_fixed(&m->r, 2); break; /* fixed_advance_pc */
    default:
        for (unsigned i = 0; i < m->lengths[opcode]; i++) dwarf_leb(&m->r);
    }
}

static void special(struct machine *m, struct search *s, unsigned opcode) {
    unsigned adjusted = opcode - m->opcode_base;
    m->address += adjusted / m->line_range * m->unit;
    m->line += (unsigned)(m->line_base + (int)(adjusted % m->line_range));
    add_row(m, s, false);
}

/* The header of the only unit. False: it is of another version, or damaged. */
static bool read_header(struct machine *m) {
    uint64_t length = dwarf_fixed(&m->r, 4);
    if (m->r.bad || length > (uint64_t)(m->r.end - m->r.at)) return false;
    m->r.end = m->r.at + length;
    uint64_t version = dwarf_fixed(&m->r, 2), header = dwarf_fixed(&m->r, 4);
    const unsigned char *program = m->r.at + header;
    if (version < 2 || version > 4 || header > (uint64_t)(m->r.end - m->r.at)) return false;
    m->unit = (unsigned)dwarf_fixed(&m->r, 1);
    if (version == 4) dwarf_fixed(&m->r, 1); /* operations of an instruction: one */
    dwarf_fixed(&m->r, 1);                   /* whether a row begins a statement at first */
    m->line_base = (signed char)dwarf_fixed(&m->r, 1);
    m->line_range = (unsigned)dwarf_fixed(&m->r, 1);
    m->opcode_base = (unsigned)dwarf_fixed(&m->r, 1);
    if (!m->line_range || !m->opcode_base) return false;
    for (unsigned i = 1; i < m->opcode_base; i++) m->lengths[i] = (unsigned)dwarf_fixed(&m->r, 1);
    m->directories = m->r.at;
    while (!m->r.bad && *dwarf_string(&m->r)) continue;
    m->files = m->r.at;
    m->r.at = program;
    return !m->r.bad;
}

static const char *directory(struct machine m, uint64_t number) {
    m.r.at = m.directories;
    for (uint64_t i = 1; !m.r.bad; i++) {
        const char *name = dwarf_string(&m.r);
        if (!*name || i == number) return name;
    }
    return "";
}

/* The name of a file: of directory 0, which is the compiler's own, as it is. */
static void write_file(struct machine m, unsigned number, struct source_line *found) {
    m.r.at = m.files;
    for (unsigned i = 1; !m.r.bad; i++) {
        const char *name = dwarf_string(&m.r);
        uint64_t of = dwarf_leb(&m.r);
        dwarf_leb(&m.r); /* time and size */
        dwarf_leb(&m.r);
        if (!*name) return;
        if (i != number) continue;
        const char *in = of && *name != '/' ? directory(m, of) : "";
        snprintf(found->file, sizeof found->file, "%s%s%s", in, *in ? "/" : "", name);
        return;
    }
}

struct source_line lines_find(const struct elf_file *o, unsigned section, size_t offset) {
    struct source_line found = {.line = 0};
    struct image_section table = elf_bytes(o, elf_find_section(o, ".debug_line"));
    const unsigned char *begin = (const void *)table.bytes;
    struct machine m = {.object = o, .r = {begin, begin + table.size, false}, .begin = begin};
    struct search s = {.section = section, .offset = offset};
    if (!table.size || !read_header(&m)) return found;
    restart(&m);
    while (m.r.at < m.r.end && !m.r.bad) {
        unsigned opcode = (unsigned)dwarf_fixed(&m.r, 1);
        if (opcode >= m.opcode_base)
            special(&m, &s, opcode);
        else if (opcode == 0)
            extended(&m, &s);
        else
            standard(&m, &s, opcode);
    }
    found.line = s.line;
    write_file(m, s.file, &found);
    return found;
}
