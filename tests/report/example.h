/* A finding of this kind, in which everything that any kind looks at is set. */
#ifndef EXAMPLE_H
#define EXAMPLE_H
#include "../../engine/finding.h"
#include "../../engine/report/words/threads.h"
#include <string.h>

static struct finding example(enum finding_kind kind) {
    struct finding f = {.kind = kind, .phase = 1, .phases = 3, .named = "float [16][16]"};
    f.at = (struct finding_party){
        .known = true, .in_kernel = true, .file = "kernel.cu", .line = 12, .thread = {1, 2, 0}};
    f.other = f.at;
    f.other.line = 14;
    f.other.thread = (struct finding_index){3, 2, 0};
    f.at.access = FINDING_READ;
    f.other.access = FINDING_WRITE;
    strcpy(f.at.function, "mysgemm");
    f.block_size = (struct finding_index){16, 16, 1};
    f.grid_size = (struct finding_index){3, 2, 1};
    f.object = (struct finding_object){.form = OBJECT_ARRAY,
                                       .name = "A_s",
                                       .file = "kernel.cu",
                                       .line = 7,
                                       .dimensions = 2,
                                       .extent = {35, 20},
                                       .index = {35, 3},
                                       .byte = 8,
                                       .bytes = 64,
                                       .element_bytes = 4};
    f.launch = (struct finding_launch){.kernel = "mysgemm",
                                       .file = "kernel.cu",
                                       .line = 40,
                                       .grid = {3, 2, 1},
                                       .block = {16, 16, 1},
                                       .number = 2,
                                       .of = 3,
                                       .output = "C",
                                       .dimensions = 2,
                                       .extent = {35, 20}};
    for (unsigned i = 0; i < 256; i++)
        threads_add(i < 32 ? &f.waiting : i < 64 ? &f.elsewhere : &f.returned, i);
    return f;
}
#endif
