/* The host's own loads and stores of what is the device's. */
#include "../../cuda/program/extents.h"
#include "../detector.h"
#include "../host.h"
#include "../shadow/regions.h"

static void accessed(const struct access *access) {
    const struct region *r = region_find(access->address);
    if (r && r->on_device && !r->freed) host_stop_at(FINDING_DEVICE_POINTER_ON_HOST, access);
    if (!r && !access->write && program_holds(access->address) &&
        program_kernel_wrote(access->address))
        host_stop_at(FINDING_DEVICE_VARIABLE_ON_HOST, access);
}

const struct detector detector_host_memory = {.name = "host_memory", .host_access = accessed};
