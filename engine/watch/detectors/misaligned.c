/* A vector at an address that is not a multiple of its size: a GPU stops, and so does the launch.
 */
#include "../detector.h"

static void found(struct watch *w, const struct access *access) {
    event_stop(w, FINDING_MISALIGNED, access, cudaErrorMisalignedAddress);
}

const struct detector detector_misaligned = {.name = "misaligned", .misaligned = found};
