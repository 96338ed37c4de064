/* Host code that has taken over its process; test_host_process.py links it into a checked worker.
 * Prints what it reaches of the device's process, and what it gets from it. */
#define _GNU_SOURCE
#include "../../../grader/worker/calls.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

extern char kernel_data_ends;
static int calls = -1, answers = -1;

void reach(void);
void forge(void *variable, void *C, void *kernel);

void reach(void) {
    static const char *const files[] = {"mem", "fd/3", "fd/4", "fd/5"};
    char path[100];
    for (unsigned i = 0; i < sizeof files / sizeof *files; ++i) {
        snprintf(path, sizeof path, "/proc/%d/%s", (int)getppid(), files[i]);
        if (open(path, O_RDWR) >= 0) printf("opens %s\n", files[i]);
    }
    if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0) puts("traces");
    for (int i = STDERR_FILENO + 1; i < 256; ++i) {
        struct stat about;
        if (fstat(i, &about) != 0) continue;
        if (!S_ISFIFO(about.st_mode)) printf("has descriptor %d\n", i);
        *((fcntl(i, F_GETFL) & O_ACCMODE) == O_RDONLY ? &answers : &calls) = i;
    }
}

static void ask(const char *what, cudaError_t expected, struct call call, const void *bytes,
                size_t count) {
    struct answer answer;
    call.bytes = count;
    if (!call_send(calls, &call, sizeof call) || !call_send(calls, bytes, count) ||
        !call_receive(answers, &answer, sizeof answer))
        abort();
    if (answer.error != expected || answer.bytes) printf("%s: %d\n", what, answer.error);
}

void forge(void *variable, void *C, void *kernel) {
    float words[4] = {0};
    void *arguments[8] = {kernel};
    const struct call frames = {.kind = CALL_ERROR, .frame_count = 1, .frames = {words}};
    struct call copy = {.kind = CALL_COPY};
    struct call symbol = {CALL_COPY_TO_SYMBOL, variable, words, .width = sizeof words};
    struct call launch = {.kind = CALL_LAUNCH};

    ask("error", cudaSuccess, frames, NULL, 0);
    ask("copies to a variable", cudaSuccess, symbol, words, sizeof words);
    ask("copies less", cudaErrorInvalidSymbol, symbol, words, 4);
    symbol.width = 1 << 20;
    ask("copies more", cudaErrorInvalidSymbol, symbol, words, sizeof words);
    symbol.to = &kernel_data_ends + 64;
    symbol.width = 4;
    ask("copies to the checker", cudaErrorInvalidSymbol, symbol, words, 4);

    copy.to = variable, copy.from = words;
    copy.to_pitch = copy.from_pitch = copy.width = 4, copy.height = 1;
    copy.copy_kind = cudaMemcpyHostToHost;
    ask("copies on the host", cudaErrorInvalidValue, copy, words, 4);
    copy.to = C, copy.copy_kind = cudaMemcpyHostToDevice, copy.height = 2;
    ask("copies more rows", cudaErrorInvalidValue, copy, words, 4);
    copy.to = variable, copy.from = C, copy.copy_kind = cudaMemcpyDeviceToHost;
    copy.width = (size_t)1 << 62, copy.height = 8;
    ask("copies without end", cudaErrorInvalidValue, copy, NULL, 0);

    launch.launch.kernel = kernel;
    launch.launch.grid = launch.launch.block = (struct uint3){1, 1, 1};
    launch.launch.thread = (void (*)(const void *))((char *)kernel + 4);
    ask("launches what is inside a function", cudaErrorInvalidDeviceFunction, launch, arguments,
        sizeof arguments);
    launch.launch.thread = (void (*)(const void *))kernel;
    ask("launches without arguments", cudaErrorInvalidDeviceFunction, launch, arguments, 4);
    arguments[0] = (void *)forge;
    ask("launches another kernel", cudaErrorInvalidDeviceFunction, launch, arguments,
        sizeof arguments);
    launch.launch.kernel = (void *)forge;
    ask("launches the runtime", cudaErrorInvalidDeviceFunction, launch, arguments,
        sizeof arguments);
    launch.kind = (enum call_kind)99;
    ask("calls what there is not", cudaErrorInvalidValue, launch, NULL, 0);
    cudaGetLastError();
}
