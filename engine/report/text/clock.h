/* Time on the wall, and how far a long computation is. */
#ifndef ENGINE_REPORT_TEXT_CLOCK_H
#define ENGINE_REPORT_TEXT_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds from some fixed moment; only differences mean something. */
double clock_seconds(void);

/* Called now and then by one thread while it works; fraction goes from 0 to 1. */
struct progress {
    void (*show)(void *context, double fraction);
    void *context;
};

#ifdef __cplusplus
}
#endif
#endif
