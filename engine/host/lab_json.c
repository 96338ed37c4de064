/* build/lab: a lab's description for programs that are not C.
 *
 *     lab              as JSON: struct lab
 *     lab --shell      as variables of a shell: wrapper, kernel, parameters, types
 *     lab SIZES        as JSON, what a run of this shape takes
 *
 * The members are those of struct lab (lab.h); "findings": of each kind, its headline and hint. */
#define _GNU_SOURCE /* open_memstream */
#include "../lab.h"
#include "../report/text/json.h"
#include <string.h>

enum { LAB_SCHEMA = 1 };

static const char *const roles[] = {[ROLE_SCRATCH] = "scratch",
                                    [ROLE_INPUT] = "input",
                                    [ROLE_OUTPUT] = "output",
                                    [ROLE_IN_OUT] = "in-out"};

static const struct lab_param *param_named(const char *name) {
    const int i = lab_param(&lab, name);
    return i < 0 ? NULL : &lab.params[i];
}

static const struct lab_array *array_named(const char *name) {
    for (int i = 0; i < lab_arrays(&lab); i++)
        if (strcmp(lab.arrays[i].name, name) == 0) return &lab.arrays[i];
    return NULL;
}

/* "alpha", of "float alpha" too. */
static const char *argument_name(const char *argument) {
    const char *blank = strrchr(argument, ' ');
    return blank ? blank + 1 : argument;
}

/* "int m, const float *A": the wrapper's parameters as they are declared. */
static void print_parameters(FILE *out) {
    for (int i = 0; i < LAB_ARGUMENTS && lab.arguments[i]; i++) {
        const struct lab_param *param = param_named(lab.arguments[i]);
        const struct lab_array *array = array_named(lab.arguments[i]);
        if (i) fputs(", ", out);
        if (param) fprintf(out, "%s %s", param->type, param->name);
        if (array)
            fprintf(out, "%s%s *%s", array->role == ROLE_INPUT ? "const " : "", array->type,
                    array->name);
        if (!param && !array) fputs(lab.arguments[i], out);
    }
}

/* "int, float const*": their types, as c++filt prints them. */
static void print_types(FILE *out) {
    for (int i = 0; i < LAB_ARGUMENTS && lab.arguments[i]; i++) {
        const struct lab_param *param = param_named(lab.arguments[i]);
        const struct lab_array *array = array_named(lab.arguments[i]);
        if (i) fputs(", ", out);
        if (param) fputs(param->type, out);
        if (array) fprintf(out, "%s%s*", array->type, array->role == ROLE_INPUT ? " const" : "");
        if (!param && !array)
            fprintf(out, "%.*s", (int)strcspn(lab.arguments[i], " "), lab.arguments[i]);
    }
}

static void print_shell(FILE *out) {
    fprintf(out, "kernel='%s'\nwrapper='%s'\nparameters='(", lab.kernel ? lab.kernel : "",
            lab.wrapper);
    print_parameters(out);
    fputs(")'\ntypes='(", out);
    print_types(out);
    fputs(")'\n", out);
}

static void json_params(struct json *json) {
    json_open(json, "params", '[');
    for (int i = 0; i < lab_params(&lab); i++) {
        const struct lab_param *p = &lab.params[i];
        json_open(json, NULL, '{');
        json_text(json, "name", p->name);
        json_text(json, "type", p->type);
        json_value(json, "least", "%lld", (long long)p->least);
        json_value(json, "most", "%lld", (long long)p->most);
        json_value(json, "usual", "%lld", (long long)p->usual);
        json_text(json, "what", p->what);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* "m", "rows+1", "1" */
static void json_extent_of(struct json *json, const struct lab_extent *e) {
    char text[64];
    if (e->param < 0)
        snprintf(text, sizeof text, "%d", e->plus);
    else if (e->plus)
        snprintf(text, sizeof text, "%s%+d", lab.params[e->param].name, e->plus);
    else
        snprintf(text, sizeof text, "%s", lab.params[e->param].name);
    json_text(json, NULL, text);
}

static void json_arrays(struct json *json) {
    json_open(json, "arrays", '[');
    for (int i = 0; i < lab_arrays(&lab); i++) {
        const struct lab_array *a = &lab.arrays[i];
        json_open(json, NULL, '{');
        json_text(json, "name", a->name);
        json_text(json, "element", element_type_name(a->element));
        json_unsigned(json, "bytes", element_type_bytes(a->element));
        json_text(json, "role", roles[a->role]);
        json_open(json, "extent", '[');
        for (int d = 0; d < a->dimensions; d++) json_extent_of(json, &a->extent[d]);
        json_close(json, ']');
        json_close(json, '}');
    }
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
    for (int i = 0; i < LAB_ARGUMENTS && lab.arguments[i]; i++)
        json_text(json, NULL, argument_name(lab.arguments[i]));
    json_close(json, ']');
    json_list(json, "command_line", lab.command_line, LAB_PARAMS);
    json_list(json, "comparisons", lab_truth.comparisons, LAB_COMPARISONS);
    json_list(json, "criteria", lab.criteria, LAB_CRITERIA);
}

static void json_fills(struct json *json) {
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
    char *parameters = NULL;
    size_t length;
    FILE *text = open_memstream(&parameters, &length);
    if (text) print_parameters(text);
    struct json json = {.out = out};
    json_open(&json, NULL, '{');
    json_value(&json, "schema", "%d", LAB_SCHEMA);
    json_text(&json, "lab", lab.name);
    json_text(&json, "title", lab.title);
    json_text(&json, "kernel", lab.kernel);
    json_text(&json, "wrapper", lab.wrapper);
    json_text(&json, "version", lab.version);
    json_text(&json, "beside", lab.beside ? lab.beside : "a copy");
    if (text && fclose(text) == 0) json_text(&json, "parameters", parameters);
    json_params(&json);
    json_arrays(&json);
    json_names(&json);
    json_fills(&json);
    json_findings(&json);
    json_close(&json, '}');
    fputc('\n', out);
}

static void print_shape(FILE *out, const struct shape *shape) {
    struct json json = {.out = out};
    uint64_t bytes = 0;
    json_open(&json, NULL, '{');
    json_open(&json, "elements", '{');
    for (int i = 0; i < lab_arrays(&lab); i++) {
        const uint64_t elements = (uint64_t)lab_elements(&lab.arrays[i], shape);
        bytes += elements * element_type_bytes(lab.arrays[i].element);
        json_unsigned(&json, lab.arrays[i].name, elements);
    }
    json_close(&json, '}');
    json_unsigned(&json, "bytes", bytes);
    json_unsigned(&json, "outputs", lab_outputs(&lab, shape));
    json_real(&json, "operations", truth_operations(shape));
    json_real(&json, "naive_loads", truth_naive_loads(shape));
    json_real(&json, "least_loads", (double)lab_least_loads(&lab, shape));
    json_real(&json, "seconds", truth_seconds(shape));
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
