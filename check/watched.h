/* What run.cu and watched.cu share, in the build for a GPU. */
#ifndef CHECK_WATCHED_H
#define CHECK_WATCHED_H
#include "check.h"

/* Launches since the program began. */
int watched_launches(void);

/* Names the three matrices, for messages. */
void watched_matrices(const float *A, const float *B, const float *C);

/* From now on a crash while *inside is true becomes a finding, and ends the process. */
void watched_crashes(struct shape shape, bool *inside, void (*end)(const struct finding *));

/* sanitizer_place.c: the innermost of these code addresses that is the submission's. */
extern "C" void watched_place(void *const *addresses, int count, struct finding_party *party);

#endif
