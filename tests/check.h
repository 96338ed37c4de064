/* check.h: the whole test library. TEST(name) { ... } is a test; its first failed CHECK ends it.
 * Each test_*.c file of the folders below includes this and is a program: without arguments it runs
 * all its tests, --list lists them, NAME... runs those.
 *
 * Output: `ok NAME` or `not ok NAME: FILE:LINE: WHAT` for each, then `N passed, N failed`. */
#ifndef CHECK_H
#define CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CHECK_TESTS = 100 }; /* of one program, at most */

struct check_test {
    const char *name;
    void (*run)(void);
};

static struct check_test check_tests[CHECK_TESTS];
static int check_count;

/* Lists itself before main() begins, so that none can be left out. */
#define TEST(function)                                                                             \
    static void function(void);                                                                    \
    __attribute__((constructor)) static void list_##function(void) {                               \
        check_tests[check_count++] = (struct check_test){#function, function};                     \
    }                                                                                              \
    static void function(void)

static struct {
    jmp_buf out; /* of the test that runs */
    char what[400];
} check_state;

__attribute__((format(printf, 3, 4), noreturn)) static void check_fail(const char *file, int line,
                                                                       const char *format, ...) {
    int length = snprintf(check_state.what, sizeof check_state.what, "%s:%d: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check_state.what + length, sizeof check_state.what - (size_t)length, format,
              arguments);
    va_end(arguments);
    longjmp(check_state.out, 1);
}

/* CHECK(what must hold), CHECK_THAT(what must hold, format, what to say when it does not) */
#define CHECK(condition) ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, "%s", #condition))
#define CHECK_THAT(condition, ...)                                                                 \
    ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, __VA_ARGS__))
#define CHECK_INT(got, expected) check_int(__FILE__, __LINE__, #got, (got), (expected))
#define CHECK_STRING(got, expected) check_string(__FILE__, __LINE__, #got, (got), (expected))

static inline void check_int(const char *file, int line, const char *what, long long got,
                             long long expected) {
    if (got != expected) check_fail(file, line, "%s is %lld, not %lld", what, got, expected);
}

static inline void check_string(const char *file, int line, const char *what, const char *got,
                                const char *expected) {
    if (strcmp(got, expected) != 0)
        check_fail(file, line, "%s is '%s', not '%s'", what, got, expected);
}

static int check_one(const struct check_test *test) {
    if (setjmp(check_state.out)) {
        printf("not ok %s: %s\n", test->name, check_state.what);
        return 1;
    }
    test->run();
    printf("ok %s\n", test->name);
    return 0;
}

int main(int argc, char **argv) {
    int passed = 0, failed = 0;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; i < check_count; i++) puts(check_tests[i].name);
        return 0;
    }
    for (int i = 0; i < check_count; i++) {
        int wanted = argc == 1;
        for (int j = 1; j < argc; j++) wanted |= strcmp(argv[j], check_tests[i].name) == 0;
        if (!wanted) continue;
        int failure = check_one(&check_tests[i]);
        failed += failure;
        passed += !failure;
        fflush(stdout);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0; /* a name that is no test is a failure too */
}

#endif
