/* Device memory that is used after cudaFree(). */
#include "../detector.h"
#include "../host.h"
#include "../shadow/regions.h"

static void by_kernel(struct watch *w, const struct access *access) {
    event_stop(w, FINDING_FREED_MEMORY, access, cudaErrorIllegalAddress);
}

static void by_host(const struct access *access) {
    const struct region *r = region_find(access->address);
    if (r && r->on_device && r->freed) host_stop_at(FINDING_FREED_MEMORY, access);
}

const struct detector detector_freed = {
    .name = "freed", .used_freed = by_kernel, .host_access = by_host};
