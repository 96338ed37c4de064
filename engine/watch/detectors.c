/* The table of the detectors: each is `detector_NAME` in a file of detectors/. Of those that
 * hear an event, the first one here comes first. To measure what the watch itself costs, leave
 * the table empty. */
#include "detector.h"

#define TABLE(DETECTOR)                                                                            \
    DETECTOR(unannounced)                                                                          \
    DETECTOR(stack)                                                                                \
    DETECTOR(index)                                                                                \
    DETECTOR(bounds)                                                                               \
    DETECTOR(forbidden)                                                                            \
    DETECTOR(uninitialized)                                                                        \
    DETECTOR(race)                                                                                 \
    DETECTOR(divergence)                                                                           \
    DETECTOR(host_call)                                                                            \
    DETECTOR(limits)                                                                               \
    DETECTOR(calls)                                                                                \
    DETECTOR(leak)

#define DECLARE(name) extern const struct detector detector_##name;
#define ATTACH(name) detector_attach(&detector_##name);
TABLE(DECLARE)

void detectors_attach(void) { TABLE(ATTACH) }
