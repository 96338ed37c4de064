#include "spaces.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The table is a program for a machine with these registers. Past the end of its bytes, reads give
 * 0 and `bad` is set. */
struct machine {
    const struct object *object;
    const unsigned char *begin, *at, *end;
    const unsigned char *directories, *files; /* lists of the header */
    bool bad;
    unsigned opcode_base, line_range, unit; /* unit: bytes of an instruction, at least */
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

static uint64_t fixed(struct machine *m, size_t bytes) {
    uint64_t value = 0;
    if ((size_t)(m->end - m->at) < bytes) {
        m->bad = true;
        return 0;
    }
    if (bytes <= sizeof value) memcpy(&value, m->at, bytes);
    m->at += bytes;
    return value;
}

static uint64_t leb(struct machine *m, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte;
    do {
        byte = (unsigned char)fixed(m, 1);
        if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
        shift += 7;
    } while (byte >= 128);
    if (is_signed && (byte & 64) && shift < 64) value |= ~(uint64_t)0 << shift;
    return value;
}

static const char *string(struct machine *m) {
    const char *text = (const char *)m->at;
    const unsigned char *zero = m->bad ? NULL : memchr(m->at, 0, (size_t)(m->end - m->at));
    m->bad = m->bad || !zero;
    m->at = zero ? zero + 1 : m->end;
    return zero ? text : "";
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
static void find_section(const struct reference *r, void *data) {
    struct machine *m = data;
    if (r->offset != (size_t)(m->at - m->begin)) return;
    const Elf64_Sym *symbol = &m->object->symbols[r->symbol];
    m->section = symbol->st_shndx;
    m->address = symbol->st_value + (size_t)r->addend;
}

static void restart(struct machine *m) {
    m->section = 0;
    m->address = 0;
    m->file = m->line = 1;
}

static void extended(struct machine *m, struct search *s) {
    uint64_t length = leb(m, false);
    const unsigned char *next = m->at + length;
    if (m->bad || length == 0 || length > (uint64_t)(m->end - m->at)) {
        m->bad = true;
        return;
    }
    switch (fixed(m, 1)) {
    case 1: /* end_sequence */
        add_row(m, s, true);
        restart(m);
        break;
    case 2: /* set_address */
        object_visit(m->object, object_find_section(m->object, ".debug_line"), find_section, m);
        break;
    }
    m->at = next;
}

static void standard(struct machine *m, struct search *s, unsigned opcode) {
    switch (opcode) {
    case 1: add_row(m, s, false); break;                  /* copy */
    case 2: m->address += leb(m, false) * m->unit; break; /* advance_pc */
    case 3: m->line += (unsigned)leb(m, true); break;     /* advance_line */
    case 4: m->file = (unsigned)leb(m, false); break;     /* set_file */
    case 8:                                               /* const_add_pc */
        m->address += (255 - m->opcode_base) / m->line_range * m->unit;
        break;
    case 9: m->address += fixed(m, 2); break; /* fixed_advance_pc */
    default:
        for (unsigned i = 0; i < m->lengths[opcode]; i++) leb(m, false);
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
    uint64_t length = fixed(m, 4);
    if (m->bad || length > (uint64_t)(m->end - m->at)) return false;
    m->end = m->at + length;
    uint64_t version = fixed(m, 2), header = fixed(m, 4);
    const unsigned char *program = m->at + header;
    if (version < 2 || version > 4 || header > (uint64_t)(m->end - m->at)) return false;
    m->unit = (unsigned)fixed(m, 1);
    if (version == 4) fixed(m, 1); /* operations of an instruction: one */
    fixed(m, 1);                   /* whether a row begins a statement at first */
    m->line_base = (signed char)fixed(m, 1);
    m->line_range = (unsigned)fixed(m, 1);
    m->opcode_base = (unsigned)fixed(m, 1);
    if (!m->line_range || !m->opcode_base) return false;
    for (unsigned i = 1; i < m->opcode_base; i++) m->lengths[i] = (unsigned)fixed(m, 1);
    m->directories = m->at;
    while (!m->bad && *string(m)) continue;
    m->files = m->at;
    m->at = program;
    return !m->bad;
}

static const char *directory(struct machine m, uint64_t number) {
    m.at = m.directories;
    for (uint64_t i = 1; !m.bad; i++) {
        const char *name = string(&m);
        if (!*name || i == number) return name;
    }
    return "";
}

/* The name of a file: of directory 0, which is the compiler's own, as it is. */
static void write_file(struct machine m, unsigned number, struct source_line *found) {
    m.at = m.files;
    for (unsigned i = 1; !m.bad; i++) {
        const char *name = string(&m);
        uint64_t of = leb(&m, false);
        leb(&m, false); /* time and size */
        leb(&m, false);
        if (!*name) return;
        if (i != number) continue;
        const char *in = of && *name != '/' ? directory(m, of) : "";
        snprintf(found->file, sizeof found->file, "%s%s%s", in, *in ? "/" : "", name);
        return;
    }
}

struct source_line lines_find(const struct object *o, unsigned section, size_t offset) {
    struct source_line found = {.line = 0};
    unsigned table = object_find_section(o, ".debug_line");
    struct image_section bytes = object_bytes(o, table);
    struct machine m = {.object = o, .begin = (const void *)bytes.bytes};
    struct search s = {.section = section, .offset = offset};
    if (!table || !bytes.size) return found;
    m.at = m.begin;
    m.end = m.begin + bytes.size;
    if (!read_header(&m)) return found;
    restart(&m);
    while (m.at < m.end && !m.bad) {
        unsigned opcode = (unsigned)fixed(&m, 1);
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
