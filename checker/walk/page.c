/* The walkthrough's page: page.html, in which marks are replaced by the style, the data and the
 * script, and by the content security policy that allows nothing but those. Nothing else can run or
 * be loaded, whatever a student's text holds. */
#include "walk.h"
#include <string.h>

extern const char walk_template[], walk_template_end[], walk_style[], walk_style_end[],
    walk_script[], walk_script_end[];

struct text {
    const char *begin, *end;
};

static void write_text(FILE *out, struct text text) {
    fwrite(text.begin, 1, (size_t)(text.end - text.begin), out);
}

/* 'sha256-...', in base64 (RFC 4648), as a browser computes it of an element's content. */
static void write_hash(FILE *out, struct text text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char digest[33] = {0}; /* 11 groups of three bytes, the last one a byte short */
    sha256(text.begin, (size_t)(text.end - text.begin), digest);
    fputs("'sha256-", out);
    for (int i = 0; i < 33; i += 3) {
        const unsigned bits = digest[i] * 65536u + digest[i + 1] * 256u + digest[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6)
            fputc(i == 30 && !shift ? '=' : digits[bits >> shift & 63], out);
    }
    fputc('\'', out);
}

static void write_policy(FILE *out, struct text style, struct text script) {
    fputs("default-src 'none'; script-src ", out);
    write_hash(out, script);
    fputs("; style-src ", out);
    write_hash(out, style);
    fputs("; base-uri 'none'; form-action 'none'", out);
}

/* In JSON a "<" is within a string: written like this, no text there can end the script element. */
static void write_json(FILE *out, FILE *data) {
    rewind(data);
    for (int c = getc(data); c != EOF; c = getc(data))
        if (c == '<')
            fputs("\\u003c", out);
        else
            putc(c, out);
}

static void write_data(FILE *out, FILE *data, FILE *indices) {
    write_json(out, data);
    write_json(out, indices);
    fputc('}', out);
}

bool walk_page(FILE *out, FILE *data, FILE *indices) {
    const struct text style = {walk_style, walk_style_end}, script = {walk_script, walk_script_end};
    struct text rest = {walk_template, walk_template_end};
    for (const char *mark; (mark = strchr(rest.begin, '@'));
         rest.begin = strchr(mark + 1, '@') + 1) {
        write_text(out, (struct text){rest.begin, mark});
        if (strncmp(mark, "@CSP@", 5) == 0)
            write_policy(out, style, script);
        else if (strncmp(mark, "@STYLE@", 7) == 0)
            write_text(out, style);
        else if (strncmp(mark, "@SCRIPT@", 8) == 0)
            write_text(out, script);
        else
            write_data(out, data, indices);
    }
    write_text(out, rest);
    return !ferror(out) && fflush(out) == 0;
}
