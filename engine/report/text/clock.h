/* Time on the wall. */
#ifndef ENGINE_REPORT_TEXT_CLOCK_H
#define ENGINE_REPORT_TEXT_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds from some fixed moment; only differences mean something. */
double clock_seconds(void);

#ifdef __cplusplus
}
#endif
#endif
