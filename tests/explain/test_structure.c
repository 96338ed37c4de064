/* Tests of engine/explain/outline.c: loops, ifs, functions and barriers are found at their lines,
 * in the ways people write them. */
#include "../../engine/explain/outline.c"

#include "../check.h"
#include <stdlib.h>

static struct structure s;

/* Reads a text whose lines end in \n. */
static void read_lines(const char *text) { CHECK_THAT(structure_read(&s, text), "%s", text); }

static void check_construct(enum construct_kind kind, int line, int first, int last) {
    const struct construct *c = structure_around(&s, kind, line);
    CHECK_THAT(!c == !first, "line %d: %s", line, c ? "one found" : "none found");
    if (!first) return;
    CHECK_INT(c->first, first);
    CHECK_INT(c->last, last);
}

TEST(a_tiled_kernel) {
    read_lines("#define TILE 16\n"                                             /* 1 */
               "__global__ void mysgemm(int m, const float *A)\n"              /* 2 */
               "{\n"                                                           /* 3 */
               "    __shared__ float A_s[TILE][TILE];\n"                       /* 4 */
               "    for (int p = 0; p < (k - 1) / TILE + 1; ++p) {\n"          /* 5 */
               "        A_s[ty][tx] = row < m ? A[row * k + col] : 0.0f;\n"    /* 6 */
               "        __syncthreads(); // } a comment\n"                     /* 7 */
               "#pragma unroll\n"                                              /* 8 */
               "        for (int i = 0; i < TILE; ++i)\n"                      /* 9 */
               "            sum += A_s[ty][i] * B_s[i][tx];\n"                 /* 10 */
               "        if (p > 0)\n"                                          /* 11 */
               "            __syncthreads();\n"                                /* 12 */
               "    }\n"                                                       /* 13 */
               "    if (row < m && col < n) C[row * n + col] = sum;\n"         /* 14 */
               "}\n"                                                           /* 15 */
               "void basicSgemm(int m) { mysgemm<<<dim3(1, 1), 256>>>(m); }"); /* 16 */
    check_construct(CONSTRUCT_LOOP, 4, 0, 0);
    check_construct(CONSTRUCT_LOOP, 5, 5, 13);
    check_construct(CONSTRUCT_LOOP, 10, 9, 10);
    check_construct(CONSTRUCT_LOOP, 12, 5, 13);
    check_construct(CONSTRUCT_LOOP, 14, 0, 0);
    check_construct(CONSTRUCT_IF, 6, 0, 0);
    check_construct(CONSTRUCT_IF, 12, 11, 12);
    check_construct(CONSTRUCT_IF, 14, 14, 14);
    check_construct(CONSTRUCT_FUNCTION, 10, 2, 15);
    CHECK(structure_around(&s, CONSTRUCT_FUNCTION, 10)->kernel);
    CHECK(!structure_around(&s, CONSTRUCT_FUNCTION, 16)->kernel);
    CHECK_INT(structure_innermost(&s, CONSTRUCT_LOOP, 10, 9, 0)->first, 9);
    CHECK_INT(structure_innermost(&s, CONSTRUCT_LOOP, 10, 12, 0)->first, 5);
    CHECK(!structure_innermost(&s, CONSTRUCT_LOOP, 10, 14, 0));
    CHECK_INT(s.barriers, 2);
    CHECK_INT(structure_barrier_between(&s, 6, 10), 7);
    CHECK_INT(structure_barrier_between(&s, 8, 11), 0);
    CHECK_INT(structure_outermost(&s, CONSTRUCT_LOOP, 10, 14)->first, 5);
    CHECK_INT(structure_innermost(&s, CONSTRUCT_LOOP, 10, 10, 14)->first, 9);
    CHECK_INT(structure_outermost(&s, CONSTRUCT_LOOP, 10, 6)->first, 9);
    CHECK(!structure_outermost(&s, CONSTRUCT_LOOP, 6, 10));
}

static int cut_off(const char *text) {
    read_lines(text);
    int line = 0;
    for (int i = 0; i < s.count; i++)
        if (s.constructs[i].cut_off) line = s.constructs[i].cut_off;
    return line;
}

TEST(a_body_that_is_cut_off) {
    CHECK_INT(cut_off("void f() {\n    for (;;);\n        x++;\n}"), 3);
    CHECK_INT(cut_off("void f() {\n    for (;;); {\n        x++;\n    }\n}"), 2);
    CHECK_INT(cut_off("void f() {\n    while (a(b));\n    {\n        x++;\n    }\n}"), 3);
    CHECK_INT(cut_off("void f() {\n    if (a) ;\n\n        x++;\n}"), 4);
    CHECK_INT(cut_off("void f() {\n    for (;;)\n        if (a);\n            x++;\n}"), 4);
}

/* A function of k with this body has a loop that compares this variable, which it declares or not,
 * with itself; "": none. */
static void check_itself(const char *body, const char *variable, bool declares_it) {
    char text[200];
    const struct construct *found = NULL;
    snprintf(text, sizeof text, "void f(int k) { %s }", body);
    read_lines(text);
    for (int i = s.count - 1; i >= 0; i--)
        if (s.constructs[i].itself[0]) found = &s.constructs[i];
    CHECK_STRING(found ? found->itself : "", variable);
    CHECK(!found || found->declares_it == declares_it);
}

TEST(a_loop_that_compares_a_variable_with_itself) {
    check_itself("for (int k = 0; k < k; k++) x++;", "k", true);
    check_itself("for (i = k; k > k; i--) x++;", "k", false);
    check_itself("for (; k < k;) { while (a) b; }", "k", false);
    check_itself("while (k < k) x++;", "k", false);
    check_itself("for (int i = 0; i < k; i++) x++;", "", true);
    check_itself("for (int i = 0; i < i + k; i++) x++;", "", true);
    check_itself("for (int i = 0; i < i && k; i++) x++;", "", true);
    check_itself("for (int i : k) while (x != x) if (k < k) y++;", "", true);
    check_itself("while (kk < k) while (a.k < k) while (0 < 0) x++;", "", true);
    check_itself("do x++; while (k < k);", "", true);
}

TEST(a_body_that_is_meant_to_be_empty) {
    CHECK_INT(cut_off("void f() {\n    for (;;);\n    x++;\n}"), 0);
    CHECK_INT(cut_off("void f() {\n    while (a)\n        ;\n    x++;\n}"), 0);
    CHECK_INT(cut_off("void f() {\n    do x++; while (a);\n        y++;\n}"), 0);
    CHECK_INT(cut_off("void f() {\n    if (a);\n    else\n        x++;\n}"), 0);
    CHECK_INT(cut_off("void f() {\n    if (a) while (b); }"), 0);
    CHECK_INT(cut_off("void f() {\n    for (;;) {};\n        x++;\n}"), 0);
}

TEST(other_ways_to_loop_and_branch) {
    read_lines("template <int T> void k(int n) {\n" /* 1 */
               "    do {\n"                         /* 2 */
               "        while (x[n--])\n"           /* 3 */
               "            ;\n"                    /* 4 */
               "    } while (n > 0);\n"             /* 5 */
               "    if constexpr (T > 1) {\n"       /* 6 */
               "        n = 1;\n"                   /* 7 */
               "    } else if (n)\n"                /* 8 */
               "        f();\n"                     /* 9 */
               "    else {\n"                       /* 10 */
               "        __syncthreads_or(n);\n"     /* 11 */
               "    }\n"                            /* 12 */
               "    switch (n) {\n"                 /* 13 */
               "    case 1: for (;;) break;\n"      /* 14 */
               "    default: n = 2;\n"              /* 15 */
               "    }\n"                            /* 16 */
               "}\n");                              /* 17 */
    check_construct(CONSTRUCT_LOOP, 5, 2, 5);
    check_construct(CONSTRUCT_LOOP, 4, 3, 4);
    check_construct(CONSTRUCT_LOOP, 7, 0, 0);
    check_construct(CONSTRUCT_LOOP, 15, 0, 0);
    check_construct(CONSTRUCT_IF, 7, 6, 12);
    check_construct(CONSTRUCT_IF, 9, 8, 12);
    check_construct(CONSTRUCT_IF, 11, 8, 12);
    check_construct(CONSTRUCT_FUNCTION, 16, 1, 17);
    CHECK_INT(structure_barrier_between(&s, 1, 17), 11);
}

TEST(functions_structs_and_lambdas) {
    read_lines("extern \"C\" {\n"                                    /* 1 */
               "struct tile { float of[2] = {1, 2}; };\n"            /* 2 */
               "__device__ auto load(const float *p) -> float4 {\n"  /* 3 */
               "    return float4{p[0], p[1], 0, 0};\n"              /* 4 */
               "}\n"                                                 /* 5 */
               "__global__ void __launch_bounds__(256) kernel() {\n" /* 6 */
               "    float sums[2][2] = {{0, 0}, {0}};\n"             /* 7 */
               "    auto store = [&](int i) {\n"                     /* 8 */
               "        sums[0][i] = 1'000;\n"                       /* 9 */
               "    };\n"                                            /* 10 */
               "    each(2, [&](int i) {\n"                          /* 11 */
               "        store(i);\n"                                 /* 12 */
               "    });\n"                                           /* 13 */
               "    char c = '}'; const char *t = \"{ \\\" (\";\n"   /* 14 */
               "}\n"                                                 /* 15 */
               "}\n");                                               /* 16 */
    check_construct(CONSTRUCT_FUNCTION, 2, 0, 0);
    check_construct(CONSTRUCT_FUNCTION, 4, 3, 5);
    check_construct(CONSTRUCT_FUNCTION, 7, 6, 15);
    check_construct(CONSTRUCT_FUNCTION, 9, 8, 10);
    CHECK(!structure_around(&s, CONSTRUCT_FUNCTION, 9)->kernel);
    CHECK(structure_around(&s, CONSTRUCT_FUNCTION, 7)->kernel);
    check_construct(CONSTRUCT_FUNCTION, 12, 11, 13);
    check_construct(CONSTRUCT_FUNCTION, 14, 6, 15);
}

static const struct construct *function_at(int line) {
    return structure_around(&s, CONSTRUCT_FUNCTION, line);
}

TEST(calls_of_functions) {
    read_lines("#define LOAD(x) fetch(x)\n"                          /* 1 */
               "__device__ void load(float *s) { s[0] = 1; }\n"      /* 2 */
               "__device__ void fetch(int i) { s[i] = 1; }\n"        /* 3 */
               "template <int T = 4>\n"                              /* 4 */
               "__device__ void multiply(float *s) {\n"              /* 5 */
               "    load(s + 1);\n"                                  /* 6 */
               "}\n"                                                 /* 7 */
               "__global__ void __launch_bounds__(256) f(int m) {\n" /* 8 */
               "    auto store = [&](int i) {\n"                     /* 9 */
               "        s[i] = 1;\n"                                 /* 10 */
               "    };\n"                                            /* 11 */
               "    load(s); // load(s)\n"                           /* 12 */
               "    store(1); LOAD(1);\n"                            /* 13 */
               "    multiply<8>(s);\n"                               /* 14 */
               "    load(s); fetch(1);\n"                            /* 15 */
               "}\n");                                               /* 16 */
    const struct construct *f = function_at(12);
    CHECK_INT(structure_line_in(&s, f, 13), 13);
    CHECK_INT(structure_line_in(&s, f, 5), 14);
    CHECK_INT(structure_line_in(&s, f, 10), 13);
    CHECK_INT(structure_line_in(&s, f, 2), 0);
    CHECK_INT(structure_line_in(&s, f, 3), 0);
    CHECK_INT(structure_line_in(&s, f, 1), 0);
    CHECK_INT(structure_line_in(&s, function_at(5), 2), 6);
    CHECK_INT(structure_next_call(&s, f, 2, 0), 12);
    CHECK_INT(structure_next_call(&s, f, 2, 12), 15);
    CHECK_INT(structure_next_call(&s, f, 2, 15), 0);
    read_lines("void f(int i) { i++; }\nvoid f(float x) { x++; }\nvoid g() { f(1); }\n");
    CHECK_INT(structure_line_in(&s, function_at(3), 1), 0);
}

TEST(where_a_function_is_left) {
    read_lines("__global__ void f(int m) {\n"           /* 1 */
               "    auto one = [](int i) {\n"           /* 2 */
               "        return i;\n"                    /* 3 */
               "    };\n"                               /* 4 */
               "    int returned = one(1); // return\n" /* 5 */
               "    if (m > 1)\n"                       /* 6 */
               "        return;\n"                      /* 7 */
               "    m++;\n"                             /* 8 */
               "}\n");                                  /* 9 */
    CHECK(!structure_leaves(&s, function_at(5), 1, 6));
    CHECK(structure_leaves(&s, function_at(5), 1, 7));
    CHECK(!structure_leaves(&s, function_at(5), 8, 9));
    CHECK(structure_leaves(&s, function_at(3), 1, 9));
    static const char *const others[] = {"#define G \\\n  if (m) return\n",
                                         "#include \"guards.h\"\n", "  # define G goto end\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s__global__ void f(int m) { G; m++; }\n", others[i]);
        read_lines(text);
        CHECK_THAT(structure_leaves(&s, &s.constructs[0], 1, 9), "%s", text);
    }
    read_lines("#include <math.h>\n#define N 1 // no macro\n__global__ void f() { asm(\"\"); }\n");
    CHECK(structure_leaves(&s, &s.constructs[0], 1, 9));
    read_lines("#include <math.h>\n#define N 1\n__global__ void f() { a = 1; }\n");
    CHECK(!structure_leaves(&s, &s.constructs[0], 1, 9));
}

TEST(which_lines_assign_to_an_element) {
    static const char *const does[] = {"s[t] = 1", "s[t][s[i]] += 1", "s[t]++", "s[t] /= 2"};
    static const char *const does_not[] = {"a = s[t]",  "s[t] == 1", "s[t] <= 1", "b[s[t]] = 1",
                                           "ss[t] = 1", "s[t] - 1",  "s = 1"};
    char text[100];
    for (size_t i = 0; i < sizeof does / sizeof *does; i++) {
        snprintf(text, sizeof text, "void f() {\n%s;\na = s[t];\n}\n", does[i]);
        read_lines(text);
        CHECK_THAT(structure_store(&s, function_at(2), "s") == 2, "%s", text);
    }
    for (size_t i = 0; i < sizeof does_not / sizeof *does_not; i++) {
        snprintf(text, sizeof text, "void f() {\n%s;\n}\n", does_not[i]);
        read_lines(text);
        CHECK_THAT(structure_store(&s, function_at(2), "s") == 0, "%s", text);
    }
}

TEST(what_cannot_be_read_is_not_guessed) {
    static const char *const texts[] = {
        "void f() {",
        "void f() { } }",
        "void f() { g( }",
        "void f() { for (int i = 0; { } }",
        "#if 1\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\n",
        "void f() { do x(); }",

    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_THAT(!structure_read(&s, texts[i]), "read: %s", texts[i]);
        CHECK_INT(s.count + s.barriers, 0);
    }
    const char *const fine[] = {
        "", "\n\n", "// a comment", "/* one without an end", "int x;;", "#define f(x) {\\\n }\n"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        CHECK_THAT(structure_read(&s, fine[i]), "not read: %s", fine[i]);
}

static void check_repeated(const char *part, int count) {
    char *text = malloc((size_t)count * strlen(part) + 1), *end = text;
    CHECK(text);
    for (int i = 0; i < count; i++, end += strlen(part)) strcpy(end, part);
    *end = '\0';
    CHECK(!structure_read(&s, text));
    free(text);
}

TEST(too_much_of_something) {
    check_repeated("if (1) ", 100000);
    check_repeated("for (;;) ;", CONSTRUCTS + 1);
    check_repeated("__syncthreads();", BARRIERS + 1);
}
