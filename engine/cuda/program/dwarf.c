/* DWARF versions 4 and 5, in the 32-bit format, chapter 7: units, abbreviations, attributes. Every
 * read is checked against the end of its section; whatever does not fit ends the visit. */
#include "program.h"

/* A part of a section that is read from the front. Past its end, reads give 0, or "", and `bad`
 * is set. */
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
    return zero ? text : "";
}

/* --- values of attributes --------------------------------------------------------------------- */

struct unit {
    struct image_section info, str, line_str;
    size_t address; /* bytes of an address */
    struct reader entries;
};

struct value {
    uint64_t number;     /* of a constant; of a reference, in .debug_info */
    const char *text;    /* of a string */
    struct reader block; /* of an expression */
    bool is_constant;
};

/* What of a value is of interest here: an address or an index is skipped. */
enum { UNKNOWN, SKIPPED, CONSTANT, IMPLICIT, PRESENT, REFERENCE, BLOCK, STRING, STR, LINE_STR };
enum { OFFSET = 4, ADDRESS = 100, LEB };

/* Forms by their numbers (7.5.6), but for those of one vendor's, with the bytes of a value, of an
 * offset in a section of strings, or of the length in front of a block. */
static const struct form {
    unsigned char kind, bytes;
} forms[] = {[0x01] = {SKIPPED, ADDRESS}, [0x03] = {BLOCK, 2},         [0x04] = {BLOCK, 4},
             [0x05] = {CONSTANT, 2},      [0x06] = {CONSTANT, 4},      [0x07] = {CONSTANT, 8},
             [0x08] = {STRING, 0},        [0x09] = {BLOCK, LEB},       [0x0a] = {BLOCK, 1},
             [0x0b] = {CONSTANT, 1},      [0x0c] = {CONSTANT, 1},      [0x0d] = {CONSTANT, LEB},
             [0x0e] = {STR, OFFSET},      [0x0f] = {CONSTANT, LEB},    [0x10] = {REFERENCE, OFFSET},
             [0x11] = {REFERENCE, 1},     [0x12] = {REFERENCE, 2},     [0x13] = {REFERENCE, 4},
             [0x14] = {REFERENCE, 8},     [0x15] = {REFERENCE, LEB},   [0x17] = {SKIPPED, OFFSET},
             [0x18] = {BLOCK, LEB},       [0x19] = {PRESENT, 0},       [0x1a] = {SKIPPED, LEB},
             [0x1b] = {SKIPPED, LEB},     [0x1c] = {SKIPPED, 4},       [0x1d] = {SKIPPED, OFFSET},
             [0x1e] = {SKIPPED, 16},      [0x1f] = {LINE_STR, OFFSET}, [0x20] = {SKIPPED, 8},
             [0x21] = {IMPLICIT, 0},      [0x22] = {SKIPPED, LEB},     [0x23] = {SKIPPED, LEB},
             [0x24] = {SKIPPED, 8},       [0x25] = {SKIPPED, 1},       [0x26] = {SKIPPED, 2},
             [0x27] = {SKIPPED, 3},       [0x28] = {SKIPPED, 4},       [0x29] = {SKIPPED, 1},
             [0x2a] = {SKIPPED, 2},       [0x2b] = {SKIPPED, 3},       [0x2c] = {SKIPPED, 4}};

static const char *string_at(const struct image_section *section, uint64_t offset) {
    struct reader r = reader_of(section, offset);
    return r.bad ? NULL : read_string(&r);
}

static uint64_t read_number(const struct unit *u, struct reader *r, size_t bytes) {
    switch (bytes) {
    case LEB: return read_leb(r);
    case ADDRESS: return read_fixed(r, u->address);
    default: return read_fixed(r, bytes);
    }
}

/* Reads one attribute's value; `implicit` is the constant that its abbreviation holds. */
static struct value read_value(const struct unit *u, struct reader *r, uint64_t form,
                               uint64_t implicit) {
    const struct form f = forms[form < sizeof forms / sizeof *forms ? form : UNKNOWN];
    const uint64_t number = read_number(u, r, f.bytes);
    struct value value = {.block = {r->at, r->at, false}};
    switch (f.kind) {
    case SKIPPED: break;
    case CONSTANT: return (struct value){.number = number, .is_constant = true};
    case IMPLICIT: return (struct value){.number = implicit, .is_constant = true};
    case PRESENT: value.number = 1; break;
    case REFERENCE: value.number = number; break;
    case BLOCK:
        read_fixed(r, (size_t)number);
        if (!r->bad) value.block.end = r->at;
        break;
    case STRING: value.text = read_string(r); break;
    case STR: value.text = string_at(&u->str, number); break;
    case LINE_STR: value.text = string_at(&u->line_str, number); break;
    default: r->bad = true; break;
    }
    return value;
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

/* "addr" alone (2.5.1.1). 0: the expression is another one, such as of a place on a stack. */
static uintptr_t address_of(struct reader block) {
    const uint64_t first = read_fixed(&block, 1), address = read_fixed(&block, 8);
    return first == 0x03 && !block.bad && block.at == block.end ? address : 0;
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

static void take_location(struct dwarf_entry *entry, struct reader block) {
    entry->tls_offset = tls_offset_of(block);
    entry->address = address_of(block);
}

/* By the attributes' numbers (7.5.4). */
static void take(struct dwarf_entry *entry, uint64_t attribute, const struct value *value) {
    const bool is_size = attribute == 0x0b || attribute == 0x2f || attribute == 0x37;
    if (is_size && !value->is_constant) return;
    switch (attribute) {
    case 0x02: take_location(entry, value->block); break;
    case 0x03: entry->name = value->text; break;              /* name */
    case 0x0b: entry->bytes = value->number; break;           /* byte_size */
    case 0x2f: entry->count = value->number + 1; break;       /* upper_bound */
    case 0x31:                                                /* abstract_origin, ... */
    case 0x47: entry->origin = value->number; break;          /* ... specification */
    case 0x34: entry->artificial = value->number != 0; break; /* artificial */
    case 0x37: entry->count = value->number; break;           /* count */
    case 0x3a: entry->file = value->number; break;            /* decl_file */
    case 0x3b: entry->line = value->number; break;            /* decl_line */
    case 0x3e: entry->encoding = value->number; break;        /* encoding */
    case 0x49: entry->type = value->number; break;            /* type */
    case 0x6e: entry->linkage_name = value->text; break;      /* linkage_name */
    }
}

static bool is_wanted(uint64_t tag) {
    return tag == DWARF_ARRAY || tag == DWARF_REFERENCE || tag == DWARF_TYPEDEF ||
           tag == DWARF_SUBRANGE || tag == DWARF_CONST || tag == DWARF_VARIABLE ||
           tag == DWARF_VOLATILE || tag == DWARF_RESTRICT || tag == DWARF_CLASS ||
           tag == DWARF_STRUCTURE || tag == DWARF_UNION || tag == DWARF_FUNCTION ||
           tag == DWARF_POINTER || tag == DWARF_BASE || tag == DWARF_PARAMETER;
}

static bool keep_entry(struct dwarf_entries *entries, const struct dwarf_entry *entry) {
    if (entries->count == entries->room) {
        size_t room = entries->room ? 2 * entries->room : 1024;
        struct dwarf_entry *larger = realloc(entries->list, room * sizeof *larger);
        if (!larger) return false;
        entries->list = larger;
        entries->room = room;
    }
    entries->list[entries->count++] = *entry;
    return true;
}

static void read_entries(struct unit *u, struct reader abbreviations,
                         struct dwarf_entries *entries) {
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
        if (is_wanted(tag) && !keep_entry(entries, &entry)) return;
    }
}

/* The head of the first unit (7.5.1); sets where its abbreviations are. False: not of a version or
 * kind that is known. */
static bool read_head(struct unit *u, uint64_t *abbreviations) {
    struct reader r = reader_of(&u->info, 0);
    uint64_t length = read_fixed(&r, OFFSET);
    if (r.bad || length > (uint64_t)(r.end - r.at)) return false;
    r.end = r.at + length;
    uint64_t version = read_fixed(&r, 2);
    if (version == 5) {
        if (read_fixed(&r, 1) != 1) return false; /* not a compilation unit */
        u->address = (size_t)read_fixed(&r, 1);
        *abbreviations = read_fixed(&r, OFFSET);
    } else {
        *abbreviations = read_fixed(&r, OFFSET);
        u->address = (size_t)read_fixed(&r, 1);
    }
    u->entries = r;
    return (version == 4 || version == 5) && !r.bad;
}

static int by_place_in_file(const void *at, const void *entry) {
    const size_t a = *(const size_t *)at, b = ((const struct dwarf_entry *)entry)->at;
    return (a > b) - (a < b);
}

const struct dwarf_entry *dwarf_entry_at(const struct dwarf_entries *entries, size_t at) {
    if (!at || !entries->count) return NULL;
    return bsearch(&at, entries->list, entries->count, sizeof *entries->list, by_place_in_file);
}

/* Gives entries what they leave to the ones that they complete. */
static void complete(const struct dwarf_entries *entries) {
    for (size_t i = 0; i < entries->count; ++i) {
        struct dwarf_entry *e = &entries->list[i];
        const struct dwarf_entry *origin = dwarf_entry_at(entries, e->origin);
        for (int depth = 0; origin && depth < 4; ++depth) {
            if (!e->name) e->name = origin->name;
            if (!e->type) e->type = origin->type;
            if (!e->file) e->file = origin->file;
            if (!e->line) e->line = origin->line;
            if (e->tls_offset < 0) e->tls_offset = origin->tls_offset;
            e->artificial |= origin->artificial;
            origin = dwarf_entry_at(entries, origin->origin);
        }
    }
}

struct dwarf_entries dwarf_read(struct image_section (*section)(const char *name)) {
    const struct image_section abbrev = section(".debug_abbrev");
    struct unit u = {.info = section(".debug_info"),
                     .str = section(".debug_str"),
                     .line_str = section(".debug_line_str")};
    struct dwarf_entries entries = {NULL, 0, 0};
    uint64_t abbreviations = 0;
    if (u.info.size && abbrev.size && read_head(&u, &abbreviations))
        read_entries(&u, reader_of(&abbrev, abbreviations), &entries);
    complete(&entries);
    return entries;
}
