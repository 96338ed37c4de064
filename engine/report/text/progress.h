/* How far a long computation is. */
#ifndef ENGINE_REPORT_PROGRESS_H
#define ENGINE_REPORT_PROGRESS_H

/* Called now and then by one thread while it works; fraction goes from 0 to 1. */
struct progress {
    void (*show)(void *context, double fraction);
    void *context;
};

#endif
