/* ./sgemm-check's driving and reading of compute-sanitizer, without a GPU: what would watch a
 * kernel only writes down what the first lines of a recording say. See ../test_check_cuda.py. */
#define _GNU_SOURCE
#include "../../check/sanitizer.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const check_backend = "cuda";

static struct watched *state;

static void add_block(uint64_t begin, uint64_t bytes, char matrix, bool freed) {
    state->blocks[state->block_count++] =
        (struct gpu_block){.begin = begin, .bytes = bytes, .matrix = matrix, .freed = freed};
}

/* "matrices 0x10 0x20 0x30", "freed 0x10 4624", "left 0x10 4624", "launch 3 3 1 16 16 1 0",
 * "pending cudaErrorX", "map ...", "crash", "leaves", "hangs", "dies at once", "no GPU" */
static void obey(const char *line, FILE *maps) {
    uint64_t a, b, c;
    struct gpu_launch l = {.shape = 0};
    if (sscanf(line, "matrices %" SCNx64 " %" SCNx64 " %" SCNx64, &a, &b, &c) == 3) {
        add_block(a, 34 * 34 * 4, 'A', false);
        add_block(b, 34 * 34 * 4, 'B', false);
        add_block(c, 34 * 34 * 4, 'C', false);
    } else if (sscanf(line, "freed %" SCNx64 " %" SCNu64, &a, &b) == 2)
        add_block(a, b, 0, true);
    else if (sscanf(line, "left %" SCNx64 " %" SCNu64, &a, &b) == 2)
        add_block(a, b, 0, false);
    else if (sscanf(line, "launch %u %u %u %u %u %u %" SCNu64, &l.grid.x, &l.grid.y, &l.grid.z,
                    &l.block.x, &l.block.y, &l.block.z, &l.shared_bytes) == 7)
        state->launches[state->launch_count++] = l;
    else if (strncmp(line, "map ", 4) == 0)
        fputs(line + 4, maps);
    else
        sscanf(line, "pending %95s", state->pending);
}

static int watch(const char *directory) {
    char path[600], *lines = getenv("REPLAY_STATE");
    snprintf(path, sizeof path, "%s/" WATCHED_STATE, directory);
    int file = open(path, O_RDWR);
    state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (state == MAP_FAILED) return EXIT_MACHINE;
    state->pid = getpid();
    snprintf(state->file, sizeof state->file, "/lab/kernel.cu");
    if (strstr(lines, "no GPU")) {
        snprintf(state->machine_fault, sizeof state->machine_fault, "cudaMalloc failed: no device");
        return EXIT_MACHINE;
    }
    if (strstr(lines, "dies at once")) return EXIT_MACHINE;
    snprintf(path, sizeof path, "%s/" WATCHED_MAPS, directory);
    FILE *maps = fopen(path, "w");
    state->started = true;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        if (strcmp(line, "leaves") == 0 || strcmp(line, "hangs") == 0) {
            state->began = clock_seconds();
            state->in_wrapper = true;
            if (line[0] == 'h') sleep(1000);
            return EXIT_PASSED;
        }
        obey(line, maps);
    }
    fclose(maps);
    state->ended = true;
    return EXIT_PASSED;
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "--watched") == 0) return watch(argv[2]);
    struct shape shapes[] = {{34, 34, 34}, {35, 20, 70}};
    struct check_options o = {.shapes = shapes, .shape_count = 2, .calls = 1};
    struct outcome outcome = {.shape = shapes[0]};
    o.run.timeout = argc > 1 ? atof(argv[1]) : 1;
    enum exit_status status = EXIT_PASSED;
    if (sanitizer_check(&o, &outcome)) status = EXIT_WRONG;
    if (outcome.machine_fault[0]) status = EXIT_MACHINE;
    if (status == EXIT_WRONG) print_finding(stderr, &outcome.finding, outcome.shape);
    print_json(stdout, &o, &outcome, status == EXIT_MACHINE ? 0 : 1, status,
               status == EXIT_MACHINE ? outcome.machine_fault : NULL);
    return status;
}
