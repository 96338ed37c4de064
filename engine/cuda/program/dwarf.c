/* DWARF versions 4 and 5, chapter 7: units, abbreviations, attributes. Every read is checked
 * against the end of its section; whatever does not fit ends the visit. */
#include "program.h"
#include <string.h>

enum attribute {
    AT_LOCATION = 0x02,
    AT_NAME = 0x03,
    AT_BYTE_SIZE = 0x0b,
    AT_UPPER_BOUND = 0x2f,
    AT_ABSTRACT_ORIGIN = 0x31,
    AT_ARTIFICIAL = 0x34,
    AT_COUNT = 0x37,
    AT_ENCODING = 0x3e,
    AT_SPECIFICATION = 0x47,
    AT_TYPE = 0x49,
    AT_LINKAGE_NAME = 0x6e
};

/* A part of a section that is read from the front. Past its end, reads give 0 and `bad` is set. */
struct reader {
    const unsigned char *at, *end;
    bool bad;
};

static struct reader reader_of(const struct image_section *section, uint64_t offset) {
    const unsigned char *bytes = (const unsigned char *)section->bytes;
    struct reader r = {bytes + section->size, bytes + section->size, offset > section->size};
    if (!r.bad) r.at = bytes + offset;
    return r;
}

static uint64_t read_fixed(struct reader *r, size_t bytes) {
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < bytes) {
        r->bad = true;
        return 0;
    }
    if (bytes <= sizeof value) memcpy(&value, r->at, bytes); /* both machines are little-endian */
    r->at += bytes;
    return value;
}

/* LEB128: seven bits a byte, the lowest first; of a signed one the sign is not extended. */
static uint64_t read_leb(struct reader *r) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = (unsigned char)read_fixed(r, 1);
        if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
}

static const char *read_string(struct reader *r) {
    const char *text = (const char *)r->at;
    size_t left = (size_t)(r->end - r->at);
    const unsigned char *zero = left ? memchr(r->at, 0, left) : NULL;
    r->bad |= !zero;
    r->at = zero ? zero + 1 : r->end;
    return zero ? text : NULL;
}

/* --- values of attributes --------------------------------------------------------------------- */

struct unit {
    struct image_section info, abbrev, str, line_str;
    size_t begin;   /* of the unit, in info */
    size_t offset;  /* bytes of an offset into a section: 4, or 8 in the 64-bit format */
    size_t address; /* bytes of an address */
    struct reader entries;
};

struct value {
    uint64_t number;     /* of a constant; of a reference, in info */
    const char *text;    /* of a string */
    struct reader block; /* of an expression */
    bool is_constant;
};

static const char *string_at(const struct image_section *section, uint64_t offset) {
    struct reader r = reader_of(section, offset);
    return r.bad ? NULL : read_string(&r);
}

static struct value block_of(struct reader *r, uint64_t bytes) {
    struct value value = {.block = {r->at, r->at, false}};
    read_fixed(r, (size_t)bytes);
    if (!r->bad) value.block.end = r->at;
    return value;
}

/* Bytes of the forms whose size is fixed and whose value is of no interest here (addresses, indices
 * and signatures); 0: another form. */
static size_t size_to_skip(const struct unit *u, uint64_t form) {
    switch (form) {
    case 0x01: return u->address; /* addr */
    case 0x25:
    case 0x29: return 1; /* strx1, addrx1 */
    case 0x26:
    case 0x2a: return 2; /* strx2, addrx2 */
    case 0x27:
    case 0x2b: return 3; /* strx3, addrx3 */
    case 0x28:
    case 0x2c:
    case 0x1c: return 4; /* strx4, addrx4, ref_sup4 */
    case 0x20:
    case 0x24: return 8;  /* ref_sig8, ref_sup8 */
    case 0x1e: return 16; /* data16 */
    case 0x17:
    case 0x1d:
    case 0x1f20:
    case 0x1f21: return u->offset; /* sec_offset and others */
    default: return 0;
    }
}

/* Reads one attribute's value; `implicit` is the constant that its abbreviation holds. */
static struct value read_value(const struct unit *u, struct reader *r, uint64_t form,
                               uint64_t implicit) {
    size_t skipped = size_to_skip(u, form);
    struct value constant = {.is_constant = true}, reference = {.is_constant = false};
    if (skipped) {
        read_fixed(r, skipped);
        return reference;
    }
    switch (form) {
    case 0x0c: /* flag */
    case 0x0b: constant.number = read_fixed(r, 1); return constant;
    case 0x05: constant.number = read_fixed(r, 2); return constant;
    case 0x06: constant.number = read_fixed(r, 4); return constant;
    case 0x07: constant.number = read_fixed(r, 8); return constant;
    case 0x0d:
    case 0x0f: constant.number = read_leb(r); return constant; /* sdata, udata */
    case 0x21: constant.number = implicit; return constant;
    case 0x11: reference.number = u->begin + read_fixed(r, 1); return reference;
    case 0x12: reference.number = u->begin + read_fixed(r, 2); return reference;
    case 0x13: reference.number = u->begin + read_fixed(r, 4); return reference;
    case 0x14: reference.number = u->begin + read_fixed(r, 8); return reference;
    case 0x15: reference.number = u->begin + read_leb(r); return reference;
    case 0x10: reference.number = read_fixed(r, u->offset); return reference; /* ref_addr */
    case 0x08: return (struct value){.text = read_string(r)};
    case 0x0e: return (struct value){.text = string_at(&u->str, read_fixed(r, u->offset))};
    case 0x1f: return (struct value){.text = string_at(&u->line_str, read_fixed(r, u->offset))};
    case 0x0a: return block_of(r, read_fixed(r, 1));
    case 0x03: return block_of(r, read_fixed(r, 2));
    case 0x04: return block_of(r, read_fixed(r, 4));
    case 0x09:
    case 0x18: return block_of(r, read_leb(r));      /* block, exprloc */
    case 0x19: constant.number = 1; return constant; /* flag_present: no bytes */
    case 0x1a:
    case 0x1b:
    case 0x22:
    case 0x23:
    case 0x1f01:
    case 0x1f02: /* indices */ read_leb(r); return reference;
    case 0x16: { /* indirect: the form precedes the value */
        uint64_t real = read_leb(r);
        if (real != form) return read_value(u, r, real, 0);
        break;
    }
    }
    r->bad = true;
    return reference;
}

/* The offset of "push a constant, add the thread's base": DWARF 5, 2.5.1.3, and GNU's older word
 * for it. -1: the expression is another one. */
static long tls_offset_of(struct reader block) {
    uint64_t offset = 0;
    switch (read_fixed(&block, 1)) {
    case 0x0c: offset = read_fixed(&block, 4); break; /* const4u */
    case 0x0e:
    case 0x03: offset = read_fixed(&block, 8); break; /* const8u, addr */
    default: return -1;
    }
    uint64_t last = read_fixed(&block, 1);
    return !block.bad && (last == 0x9b || last == 0xe0) ? (long)offset : -1;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* The abbreviation with this code: a reader behind it, and its tag. */
static struct reader find_abbreviation(struct reader r, uint64_t code, uint64_t *tag) {
    while (!r.bad) {
        uint64_t own = read_leb(&r);
        *tag = read_leb(&r);
        read_fixed(&r, 1); /* whether it has children: where they end does not matter here */
        if (own == code || own == 0) {
            r.bad |= own == 0;
            return r;
        }
        for (uint64_t name = 1, form = 1; (name || form) && !r.bad;) {
            name = read_leb(&r);
            form = read_leb(&r);
            if (form == 0x21) read_leb(&r);
        }
    }
    return r;
}

static void take(struct dwarf_entry *entry, uint64_t attribute, const struct value *value) {
    switch (attribute) {
    case AT_NAME: entry->name = value->text; break;
    case AT_LINKAGE_NAME: entry->linkage_name = value->text; break;
    case AT_TYPE: entry->type = value->number; break;
    case AT_ARTIFICIAL: entry->artificial = value->number != 0; break;
    case AT_ABSTRACT_ORIGIN:
    case AT_SPECIFICATION: entry->origin = value->number; break;
    case AT_LOCATION: entry->tls_offset = tls_offset_of(value->block); break;
    case AT_BYTE_SIZE:
        if (value->is_constant) entry->bytes = value->number;
        break;
    case AT_COUNT:
        if (value->is_constant) entry->count = value->number;
        break;
    case AT_ENCODING: entry->encoding = value->number; break;
    case AT_UPPER_BOUND:
        if (value->is_constant) entry->count = value->number + 1;
        break;
    }
}

static bool is_wanted(uint64_t tag) {
    return tag == DWARF_ARRAY || tag == DWARF_REFERENCE || tag == DWARF_TYPEDEF ||
           tag == DWARF_SUBRANGE || tag == DWARF_CONST || tag == DWARF_VARIABLE ||
           tag == DWARF_VOLATILE || tag == DWARF_CLASS || tag == DWARF_STRUCTURE ||
           tag == DWARF_UNION || tag == DWARF_FUNCTION || tag == DWARF_POINTER ||
           tag == DWARF_BASE || tag == DWARF_PARAMETER;
}

static void visit_entries(struct unit *u, struct reader abbreviations,
                          void (*visit)(const struct dwarf_entry *, void *), void *data) {
    struct reader *r = &u->entries;
    while (r->at < r->end && !r->bad) {
        struct dwarf_entry entry = {.tls_offset = -1};
        uint64_t tag = 0;
        entry.at = (size_t)(r->at - (const unsigned char *)u->info.bytes);
        uint64_t code = read_leb(r);
        if (code == 0) continue; /* the end of a list of children */
        struct reader form = find_abbreviation(abbreviations, code, &tag);
        while (!form.bad && !r->bad) {
            uint64_t attribute = read_leb(&form), kind = read_leb(&form);
            uint64_t implicit = kind == 0x21 ? read_leb(&form) : 0;
            if (!attribute && !kind) break;
            struct value value = read_value(u, r, kind, implicit);
            take(&entry, attribute, &value);
        }
        if (form.bad || r->bad) return;
        entry.tag = (enum dwarf_tag)tag;
        if (is_wanted(tag)) visit(&entry, data);
    }
}

/* The head of the first unit (7.5.1); sets where its abbreviations are. False: not of a version or
 * kind that is known. */
static bool read_head(struct unit *u, uint64_t *abbreviations) {
    struct reader r = reader_of(&u->info, 0);
    uint64_t length = read_fixed(&r, 4);
    u->offset = 4;
    if (length == 0xffffffff) {
        length = read_fixed(&r, 8);
        u->offset = 8;
    }
    if (r.bad || length > (uint64_t)(r.end - r.at)) return false;
    r.end = r.at + length;
    uint64_t version = read_fixed(&r, 2);
    if (version == 5) {
        if (read_fixed(&r, 1) != 1) return false; /* not a compilation unit */
        u->address = (size_t)read_fixed(&r, 1);
        *abbreviations = read_fixed(&r, u->offset);
    } else {
        *abbreviations = read_fixed(&r, u->offset);
        u->address = (size_t)read_fixed(&r, 1);
    }
    u->entries = r;
    return (version == 4 || version == 5) && !r.bad;
}

void dwarf_visit(const struct dwarf_sections *sections,
                 void (*visit)(const struct dwarf_entry *entry, void *data), void *data) {
    struct unit u = {.info = sections->info,
                     .abbrev = sections->abbrev,
                     .str = sections->str,
                     .line_str = sections->line_str};
    uint64_t abbreviations = 0;
    if (u.info.size && u.abbrev.size && read_head(&u, &abbreviations))
        visit_entries(&u, reader_of(&u.abbrev, abbreviations), visit, data);
}
