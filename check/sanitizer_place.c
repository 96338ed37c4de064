/* From code addresses to a line of the submission, on a GPU too: as the CPU backend finds it. */
#include "../emulator/checker/finding.h"
#include "../emulator/runtime/runtime.h"
#include <stdio.h>

void watched_place(void *const *addresses, int count, struct finding_party *party);
void watched_place(void *const *addresses, int count, struct finding_party *party) {
    struct place place = place_find(addresses, count);
    *party = (struct finding_party){.known = true, .line = place.line};
    snprintf(party->file, sizeof party->file, "%.*s", (int)sizeof party->file - 1, place.file);
    snprintf(party->function, sizeof party->function, "%.*s", (int)sizeof party->function - 1,
             place.function);
}
