/* A finding in JSON: see finding_json.h. */
#include "finding_json.h"
#include <inttypes.h>

static void json_index(struct json *json, const char *name, struct finding_index i, bool known) {
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
