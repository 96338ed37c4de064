/* The detectors that there are. */
#ifndef ENGINE_WATCH_DETECTORS_H
#define ENGINE_WATCH_DETECTORS_H

/* From the program's beginning on they hear what happens. */
void detectors_attach(void);

#endif
