/* Stores to variables of the program that runs the kernel: by a kernel, or by the wrapper. */
#include "../../cuda/program/extents.h"
#include "../detector.h"
#include "../host.h"
#include "../shadow/regions.h"

static void by_kernel(struct watch *w, const struct access *access) {
    event_stop(w, FINDING_TAMPERING, access, cudaErrorIllegalAddress);
}

static void by_host(const struct access *access) {
    if (access->write && !region_find(access->address) && program_holds(access->address) &&
        program_is_foreign(access->address))
        host_stop_at(FINDING_TAMPERING, access);
}

const struct detector detector_tampering = {
    .name = "tampering", .foreign_written = by_kernel, .host_access = by_host};
