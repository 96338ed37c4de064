/* Accesses outside of all arrays, allocations and variables. */
#define _GNU_SOURCE
#include "../detector.h"
#include "../host.h"
#include "../shadow/regions.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where the host's process cannot be looked at (Landlock): it forked from this one, so that its
 * memory is what is mapped here, and a heap that has grown from here. */
static bool is_probably_mapped(uintptr_t address) {
    const uintptr_t most_heap = (uintptr_t)64 << 30;
    unsigned char in_memory;
    return address - (uintptr_t)sbrk(0) < most_heap ||
           mincore((void *)(address & -(uintptr_t)sysconf(_SC_PAGESIZE)), 1, &in_memory) == 0;
}

/* Whether the address is mapped into the host's process at all. */
static bool is_mapped(uintptr_t address) {
    unsigned long begin, end;
    char rights[8], path[32];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", host_process());
    FILE *maps = fopen(path, "re");
    if (!maps) return is_probably_mapped(address);
    while (!found && fscanf(maps, "%lx-%lx %7s%*[^\n]", &begin, &end, rights) == 3)
        found = address >= begin && address < end && rights[0] == 'r';
    fclose(maps);
    return found;
}

/* Whether the launch can go on after an access outside of an array: it met no other's memory. */
static bool is_around_an_array(uintptr_t address) {
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        const struct region *r = region_of_array(i);
        if (r && region_reaches(r, address)) return true;
    }
    return false;
}

/* What a store to shared memory would change may be the runtime's own: the launch ends. */
static void outside(struct watch *w, const struct access *access) {
    const uintptr_t address = access->address;
    if (watch_is_shared(w, address))
        event_stop(w, FINDING_SHARED_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
    if (region_find(address)) /* only its end is outside */
        event_stop(w, FINDING_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
    if (is_around_an_array(address)) {
        const struct event event = event_here(w, FINDING_OUT_OF_BOUNDS, access);
        event_note(&event);
        return;
    }
    const bool is_hosts = !memory_is_device((const void *)address) && is_mapped(address);
    event_stop(w, is_hosts ? FINDING_HOST_POINTER_ON_DEVICE : FINDING_OUT_OF_BOUNDS, access,
               cudaErrorIllegalAddress);
}

const struct detector detector_bounds = {.name = "bounds", .outside = outside};
