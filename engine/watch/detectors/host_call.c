/* A kernel calls what only host code may: guard/ has found it, and ends the launch. */
#include "../../cuda/program/kernel_name.h"
#include "../detector.h"
#include <string.h>

/* "std::vector<int>::at" becomes "std::vector::at"; the < of an operator stays. */
static void drop_template_arguments(char *name) {
    char *to = name;
    int depth = 0;
    for (const char *from = name; *from; ++from) {
        if (!depth && strncmp(from, "operator", 8) == 0) {
            memmove(to, from, strlen(from) + 1);
            return;
        }
        depth += *from == '<';
        if (!depth) *to++ = *from;
        depth -= *from == '>';
    }
    *to = '\0';
}

static void host_call(struct watch *w, const char *function, const void *code) {
    const struct access access = {.code = code};
    struct event event = event_here(w, FINDING_HOST_FUNCTION, &access);
    kernel_name(function, event.called, sizeof event.called);
    drop_template_arguments(event.called);
    event_note(&event);
}

const struct detector detector_host_call = {.name = "host_call", .host_call = host_call};
