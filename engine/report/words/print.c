/* Findings on a terminal and in JSON, and the lab's words beside them: see print.h. */
#define _GNU_SOURCE /* fileno */
#include "print.h"
#include "../text/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void finding_explain(const struct finding *f, const struct explained *explained,
                     struct finding_words *w) {
    finding_say(f, w);
    if (explained->text[0]) APPEND(w->detail, "%s%s", w->detail[0] ? "\n" : "", explained->text);
    if (explained->hint[0]) snprintf(w->hint, sizeof w->hint, "%s", explained->hint);
}

/* --- on a terminal ---------------------------------------------------------------------------- */

const char print_red[] = "\33[1;31m", print_bold[] = "\33[1m";

void print_headline(FILE *out, const char *file, int line, const char *style, const char *what) {
    bool color = use_color(out);
    const char *begin = color ? style : "", *end = color ? "\33[0m" : "";
    const int column = line ? fprintf(out, "%s:%d: ", file, line)
                            : fprintf(out, "%s: ", file[0] ? file : "kernel.cu");
    fputs(begin, out);
    if (isatty(fileno(out)))
        print_wrapped(column, 4, what, out);
    else
        fputs(what, out); /* for editors, one line */
    fprintf(out, "%s\n", end);
}

void print_indented(FILE *out, const char *lines) {
    while (*lines) {
        print_paragraph("    ", "", lines, out);
        lines += strcspn(lines, "\n");
        lines += *lines == '\n';
    }
}

void print_launch(FILE *out, const struct finding_launch *launch) {
    char text[LAUNCH_TEXT];
    finding_launch_say(launch, text, sizeof text);
    print_indented(out, text);
}

void print_index(FILE *out, struct finding_index i) {
    fprintf(out, i.z ? "(%u,%u,%u)" : "(%u,%u)", i.x, i.y, i.z);
}

/* --- in JSON ---------------------------------------------------------------------------------- */

void json_index(struct json *json, const char *name, struct finding_index i, bool known) {
    if (known)
        json_value(json, name, "[%u, %u, %u]", i.x, i.y, i.z);
    else
        json_text(json, name, NULL);
}

static void json_party(struct json *json, const struct finding_party *p) {
    static const char *const accesses[] = {NULL, "read", "write"};
    json_text(json, "file", p->file);
    json_value(json, "line", "%d", p->line);
    json_text(json, "function", p->function);
    json_text(json, "access", accesses[p->access]);
    json_index(json, "thread", p->thread, p->in_kernel);
    json_index(json, "block", p->block, p->in_kernel);
}

void json_words(struct json *json, const struct finding *f, const struct finding_words *words) {
    json_text(json, "kind", finding_text(f->kind)->kind);
    json_text(json, "what", words->what);
    json_text_lines(json, "detail", words->detail);
    json_text(json, "hint", words->hint);
}

void json_said(struct json *json, const char *name, const char *file, int line,
               const struct finding_words *words) {
    json_text(json, "name", name);
    json_text(json, "file", file);
    json_value(json, "line", "%d", line);
    json_text(json, "what", words->what);
    json_text_lines(json, "detail", words->detail);
}

void json_parties(struct json *json, const struct finding *f) {
    char element[ELEMENT_TEXT];
    finding_element(f, element, sizeof element);
    json_party(json, &f->at);
    json_text(json, "variable", f->object.name);
    json_text(json, "element", element);
    if (!f->other.known) {
        json_text(json, "other", NULL);
        return;
    }
    json_open(json, "other", '{');
    json_party(json, &f->other);
    json_close(json, '}');
}

void json_launch(struct json *json, const struct finding_launch *l) {
    char text[LAUNCH_TEXT];
    if (!l->kernel[0]) {
        json_text(json, "launch", NULL);
        return;
    }
    finding_launch_say(l, text, sizeof text);
    json_open(json, "launch", '{');
    json_text(json, "kernel", l->kernel);
    json_unsigned(json, "number", l->number);
    json_unsigned(json, "of", l->of);
    json_extent(json, "grid", l->grid);
    json_extent(json, "block", l->block);
    json_value(json, "shared_bytes", "%" PRIu64, l->shared_bytes);
    json_text(json, "file", l->file);
    json_value(json, "line", "%d", l->line);
    json_text(json, "text", text);
    json_close(json, '}');
}
