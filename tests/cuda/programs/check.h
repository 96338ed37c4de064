/* What the programs beside it check with. A program prints nothing and returns 0 when CUDA does
 * what the program says; else it prints file:line, what was wrong, expected and got, and returns 1.
 *
 *     int main() {
 *         int *x = visible<int>(100);
 *         RUN(kernel<<<1, 100>>>(x));
 *         EXPECT(x[5], 25);
 *         return verdict();
 *     }
 */
#ifndef CHECK_H
#define CHECK_H
#include <cuda_runtime.h>
#include <initializer_list>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After so many failures the rest would only be more of the same. */
enum { MOST_FAILURES = 20 };
static int failures;

static inline void show(cudaError_t error) { fprintf(stderr, "%s", cudaGetErrorName(error)); }
static inline void show(bool value) { fprintf(stderr, value ? "true" : "false"); }
static inline void show(int value) { fprintf(stderr, "%d", value); }
static inline void show(unsigned value) { fprintf(stderr, "%u (0x%x)", value, value); }
static inline void show(long value) { fprintf(stderr, "%ld", value); }
static inline void show(unsigned long value) { fprintf(stderr, "%lu", value); }
static inline void show(long long value) { fprintf(stderr, "%lld", value); }
static inline void show(unsigned long long value) { fprintf(stderr, "%llu", value); }
static inline void show(double value) { fprintf(stderr, "%.17g", value); }
static inline void show(const char *text) { fprintf(stderr, "\"%s\"", text); }
static inline void show(const void *pointer) { fprintf(stderr, "%p", pointer); }

/* Both sides have one type: a program writes 3u or 3.0f where it compares with such a value. */
template <class T> static bool same(T got, T expected) { return got == expected; }
static inline bool same(const char *got, const char *expected) {
    return strcmp(got, expected) == 0;
}

/* Kept out of line: a program checks in a hundred places, and compiling them takes the time. */
#define OUT_OF_LINE __attribute__((noinline, unused))

OUT_OF_LINE static void fail(const char *file, int line, const char *what) {
    if (failures++ == MOST_FAILURES) {
        fprintf(stderr, "... and more\n");
        exit(1);
    }
    fprintf(stderr, "%s:%d: %s", file, line, what);
}

template <class T>
OUT_OF_LINE static void expect(const char *file, int line, const char *what, T got, T expected) {
    if (same(got, expected)) return;
    fail(file, line, what);
    fprintf(stderr, ": expected ");
    show(expected);
    fprintf(stderr, ", got ");
    show(got);
    fprintf(stderr, "\n");
}

OUT_OF_LINE static void check(const char *file, int line, const char *what, bool holds) {
    if (holds) return;
    fail(file, line, what);
    fprintf(stderr, ": does not hold\n");
}

/* The first elements, with their type whatever that of the numbers is. */
template <class T> struct as_it_is { typedef T type; };
template <class T>
OUT_OF_LINE static void expect_each(const char *file, int line, const char *what, const T *got,
                                    std::initializer_list<typename as_it_is<T>::type> expected) {
    char element[200];
    int i = 0;
    for (T value : expected) {
        snprintf(element, sizeof element, "element %d of %s", i, what);
        expect(file, line, element, got[i++], value);
    }
}

#define EXPECT(got, expected) expect(__FILE__, __LINE__, #got, got, expected)
#define EXPECT_EACH(got, ...) expect_each(__FILE__, __LINE__, #got, got, {__VA_ARGS__})
#define CHECK(condition) check(__FILE__, __LINE__, #condition, condition)
#define OK(call) EXPECT(call, cudaSuccess)

/* It returns this error, and leaves it for cudaGetLastError(). */
#define FAILS(call, error) fails(__FILE__, __LINE__, #call, call, error)
OUT_OF_LINE static void fails(const char *file, int line, const char *what, cudaError_t got,
                              cudaError_t error) {
    expect(file, line, what, got, error);
    expect(file, line, "cudaGetLastError()", cudaGetLastError(), error);
}

/* What a launch with an impossible grid or block gives: CUDA 13 has changed it (seen on an H200).
 */
#if CUDART_VERSION < 13000
#define IMPOSSIBLE_CONFIGURATION cudaErrorInvalidConfiguration
#else
#define IMPOSSIBLE_CONFIGURATION cudaErrorInvalidValue
#endif

/* This launch and those before it, if there are any, were possible and ran to their end. */
#define RUN(...)                                                                                   \
    do {                                                                                           \
        __VA_ARGS__;                                                                               \
        finish(__FILE__, __LINE__);                                                                \
    } while (0)
OUT_OF_LINE static void finish(const char *file, int line) {
    expect(file, line, "cudaGetLastError()", cudaGetLastError(), cudaSuccess);
    expect(file, line, "cudaDeviceSynchronize()", cudaDeviceSynchronize(), cudaSuccess);
}

/* In a kernel: the first elements become these. */
template <class T, class... Values> __device__ void store(T *out, Values... values) {
    ((*out++ = values), ...);
}

static inline int verdict() { return failures != 0; }

/* n elements that host and kernels see, all zero. Never freed: the programs are short. */
template <class T> OUT_OF_LINE static T *visible(size_t n) {
    T *data = NULL;
    if (cudaMallocManaged(&data, n * sizeof(T)) != cudaSuccess) {
        fprintf(stderr, "cannot allocate %zu bytes\n", n * sizeof(T));
        exit(1);
    }
    memset((void *)data, 0, n * sizeof(T));
    return data;
}

/* What the program writes to a file descriptor (1 or 2) between begin() and end(). */
struct capture {
    int descriptor, before;
    FILE *file;
    char text[8192];

    void begin(int fd) {
        fflush(NULL);
        descriptor = fd;
        before = dup(fd);
        file = tmpfile();
        dup2(fileno(file), fd);
    }
    void end() {
        fflush(NULL);
        dup2(before, descriptor);
        close(before);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
};
#endif
