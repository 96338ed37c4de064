/* Runs the wrapper of the plain build once, as check_run.c does with the checked one, and says
 * which blocks of its launches write to device memory, and whether the result is correct. make
 * check makes this program, and asks it, where a launch has more blocks than can be watched in a
 * moment.
 *
 *     writers HASH FILL SEED SECONDS OUT SIZES...
 *
 * HASH is kernel.cu's, which this program has to be of (check_source_hash()), FILL is a position in
 * lab.fills, SECONDS of processor time are what a block may take, OUT is an open descriptor of a
 * file of the size of struct plain_run, zeroed, and SIZES are the lab's parameters as they are
 * typed. */
#include "check.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void must(bool done) {
    if (!done) _exit(EXIT_MACHINE);
}

static void limit_time(double block_seconds) {
    const struct time_limits limits = {.block_seconds = block_seconds,
                                       .seconds = CHECK_LAUNCH_BLOCKS * block_seconds,
                                       .processor_time = true};
    launch_limit_time(&limits);
    alarm((unsigned)(10 * limits.seconds) + 1); /* a wrapper that does not return */
}

static bool is_correct(const struct host_data *sent, const struct host_arrays *device) {
    struct host_data back = data_room(sent);
    const void *arrays[LAB_ARRAYS];
    struct verdict verdict;
    must(back.memory && !host_bring_back(device, back.memory));
    data_judged(sent, &back, arrays);
    return truth_verify(&sent->which, arrays, &verdict) && verdict.passed;
}

int main(int argc, char **argv) {
    enum { HASH = 1, FILL, SEED, SECONDS, OUT, SIZES };
    struct shape shape;
    if (argc <= SIZES || strtoull(argv[HASH], NULL, 10) != check_source_hash() ||
        !lab_shape_read(&lab, argc - SIZES, argv + SIZES, &shape))
        return EXIT_USAGE;
    const struct lab_case which = {
        .shape = shape, .seed = strtoull(argv[SEED], NULL, 10), .fill = atoi(argv[FILL])};
    struct plain_run *said =
        mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[OUT]), 0);
    must(said != MAP_FAILED);

    struct host_data data = data_new(&which, false);
    must(data.memory != NULL);
    struct host_arrays device = {which.shape, data.layout, HOST_BARE, {0}, {0}};
    must(!host_allocate(&device, NULL) && !host_send(&device, data.memory));

    launch_limit_workers(1); /* of whose blocks it is known which one writes */
    limit_time(strtod(argv[SECONDS], NULL));
    said->writers.sample = which.seed;
    writers_note(&said->writers);
    host_call(&device);
    if (cudaDeviceSynchronize() != cudaSuccess) _exit(EXIT_WRONG);
    said->correct = is_correct(&data, &device);
    said->done = true;
    _exit(EXIT_PASSED);
}
