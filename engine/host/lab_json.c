/* build/lab: a lab's description for programs that are not C.
 *
 *     lab              as JSON: struct lab
 *     lab --shell      as variables of a shell: wrapper, kernel, parameters, types
 *     lab SIZES        as JSON, what a run of this shape takes
 *
 * The members are those of struct lab (lab.h) that grader/lab.py reads; "findings": of each kind,
 * its headline and hint. */
#include "../lab.h"
#include "../report/text/json.h"
#include <string.h>

static const char *const roles[] = {[ROLE_SCRATCH] = "scratch",
                                    [ROLE_INPUT] = "input",
                                    [ROLE_OUTPUT] = "output",
                                    [ROLE_IN_OUT] = "in-out"};

static const struct lab_array *array_named(const char *name) {
    for (int i = 0; i < lab_arrays(&lab); i++)
        if (strcmp(lab.arrays[i].name, name) == 0) return &lab.arrays[i];
    return NULL;
}

/* The wrapper's parameters. */
struct signature {
    char declared[2000]; /* "int m, const float *A" */
    char types[2000];    /* "int, float const*": as c++filt prints them */
};

static struct signature signature(void) {
    struct signature s = {"", ""};
    for (int i = 0; i < LAB_ARGUMENTS && lab.arguments[i]; i++) {
        const char *argument = lab.arguments[i], *comma = i ? ", " : "";
        const int param = lab_param(&lab, argument);
        const struct lab_array *array = array_named(argument);
        const bool input = array && array->role == ROLE_INPUT;
        APPEND(s.declared, "%s", comma);
        APPEND(s.types, "%s", comma);
        if (param >= 0) {
            APPEND(s.declared, "%s %s", lab.params[param].type, argument);
            APPEND(s.types, "%s", lab.params[param].type);
        } else if (array) {
            APPEND(s.declared, "%s%s *%s", input ? "const " : "", array->type, argument);
            APPEND(s.types, "%s%s*", array->type, input ? " const" : "");
        } else {
            APPEND(s.declared, "%s", argument);
            APPEND(s.types, "%.*s", (int)strcspn(argument, " "), argument);
        }
    }
    return s;
}

static void print_shell(FILE *out) {
    const struct signature s = signature();
    fprintf(out, "kernel='%s'\nwrapper='%s'\nparameters='(%s)'\ntypes='(%s)'\n",
            lab.kernel ? lab.kernel : "", lab.wrapper, s.declared, s.types);
}

static void json_params(struct json *json) {
    json_open(json, "params", '[');
    for (int i = 0; i < lab_params(&lab); i++) {
        const struct lab_param *p = &lab.params[i];
        json_value(json, NULL, "{\"name\": \"%s\", \"least\": %lld, \"most\": %lld}", p->name,
                   (long long)p->least, (long long)p->most);
    }
    json_close(json, ']');
}

static void json_arrays(struct json *json) {
    json_open(json, "arrays", '[');
    for (int i = 0; i < lab_arrays(&lab); i++)
        json_value(json, NULL, "{\"name\": \"%s\", \"role\": \"%s\"}", lab.arrays[i].name,
                   roles[lab.arrays[i].role]);
    json_close(json, ']');
}

/* A list ends with the first name that is null. */
static void json_list(struct json *json, const char *name, const char *const *names, int most) {
    json_open(json, name, '[');
    for (int i = 0; i < most && names[i]; i++) json_text(json, NULL, names[i]);
    json_close(json, ']');
}

static void json_names(struct json *json) {
    json_open(json, "arguments", '[');
    for (int i = 0; i < LAB_ARGUMENTS && lab.arguments[i]; i++) {
        const char *blank = strrchr(lab.arguments[i], ' '); /* "alpha", of "float alpha" too */
        json_text(json, NULL, blank ? blank + 1 : lab.arguments[i]);
    }
    json_close(json, ']');
    json_list(json, "command_line", lab.command_line, LAB_PARAMS);
    json_list(json, "comparisons", lab_truth.comparisons, LAB_COMPARISONS);
    json_list(json, "criteria", lab.criteria, LAB_CRITERIA);
    json_open(json, "fills", '{');
    for (int i = 0; i < LAB_FILLS && lab.fills[i].name; i++)
        json_list(json, lab.fills[i].name, lab.fills[i].comparisons, LAB_COMPARISONS);
    json_close(json, '}');
}

static void json_findings(struct json *json) {
    json_open(json, "findings", '{');
    for (int kind = FINDING_NONE + 1; kind < FINDING_KINDS; kind++) {
        const struct finding_kind_text *text = finding_text((enum finding_kind)kind);
        const char *hint = lab.words.hints[kind];
        json_open(json, text->kind, '{');
        json_text(json, "headline", text->headline);
        json_text(json, "hint", hint ? hint : text->hint);
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void print_json(FILE *out) {
    const struct signature s = signature();
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    json_text(&json, "lab", lab.name);
    json_text(&json, "title", lab.title);
    json_text(&json, "kernel", lab.kernel);
    json_text(&json, "wrapper", lab.wrapper);
    json_text(&json, "version", lab.version);
    json_text(&json, "beside", lab.beside ? lab.beside : "a copy");
    json_text(&json, "parameters", s.declared);
    json_params(&json);
    json_arrays(&json);
    json_names(&json);
    json_findings(&json);
    json_close(&json, '}');
    fputc('\n', out);
}

static void print_shape(FILE *out, const struct shape *shape) {
    struct json json = {.out = out};
    uint64_t bytes = 0;
    json_open(&json, NULL, '{');
    for (int i = 0; i < lab_arrays(&lab); i++)
        bytes += (uint64_t)lab_elements(&lab.arrays[i], shape) *
                 element_type_bytes(lab.arrays[i].element);
    json_unsigned(&json, "bytes", bytes);
    json_unsigned(&json, "outputs", lab_outputs(&lab, shape));
    json_real(&json, "operations", truth_operations(shape));
    json_real(&json, "least_loads", (double)lab_least_loads(&lab, shape));
    json_close(&json, '}');
    fputc('\n', out);
}

int main(int argc, char **argv) {
    struct shape shape;
    char message[MESSAGE_SIZE] = "each size must be a whole number within its limits";
    if (argc == 2 && strcmp(argv[1], "--shell") == 0)
        print_shell(stdout);
    else if (argc == 1)
        print_json(stdout);
    else if (lab_shape_read(&lab, argc - 1, argv + 1, &shape) == argc - 1 &&
             truth_allows(&shape, message))
        print_shape(stdout, &shape);
    else {
        fprintf(stderr, "%s\n", message);
        return 2;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
