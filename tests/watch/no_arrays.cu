// A host that names no arrays to the engine: roles are unknown, and what is seen is what the memory
// itself says. Prints the finding: kind, line, element.
#include "engine/engine.h"
#include <cuda_runtime.h>
#include <stdio.h>
#include <unistd.h>

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C);

static void say(const struct finding *f) {
    const struct finding_kind_text *text = finding_text(f->kind);
    char element[ELEMENT_TEXT], launch[LAUNCH_TEXT];
    finding_element(f, element, sizeof element);
    finding_launch_say(&f->launch, launch, sizeof launch);
    printf("%s %d %s\n%s\n", text ? text->kind : "none", f->at.line, element, launch);
    fflush(stdout);
}

static void stopped(const struct engine_result *result) {
    say(&result->finding);
    _exit(1);
}

int main() {
    const int size = 34;
    static float host[34 * 34];
    struct engine_run run = {};
    struct engine_result result;
    float *memory[3];
    run.stopped = stopped;
    run.limits.alone_threads = UINT64_MAX; // the same block is the first one each time
    engine_begin(&run);
    for (int i = 0; i < 3; i++) {
        cudaMalloc(&memory[i], sizeof host);
        cudaMemcpy(memory[i], host, sizeof host, cudaMemcpyHostToDevice);
    }
    basicSgemm(size, size, size, memory[0], memory[1], memory[2]);
    cudaDeviceSynchronize();
    engine_end(&result);
    say(&result.finding);
    for (float *each : memory) cudaFree(each);
    return result.launches == 1 ? 0 : 3;
}
