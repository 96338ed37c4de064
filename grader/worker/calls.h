/* What passes between the host's process and the device's: a call, what it takes of the host's
 * memory, the answer, and what it brings there. The device's process believes nothing of a call: it
 * checks what a call says as a GPU's driver would. */
#ifndef WORKER_CALLS_H
#define WORKER_CALLS_H
#include "../../engine/cuda/runtime/runtime.h"

enum call_kind {
    CALL_ALLOCATE,
    CALL_RELEASE,
    CALL_COPY,
    CALL_SET,
    CALL_COPY_TO_SYMBOL,
    CALL_SET_ATTRIBUTE,
    CALL_LAUNCH,
    CALL_ERROR
};

enum { CALL_FRAMES = 16 };

struct call {
    enum call_kind kind;
    int frame_count;
    void *frames[CALL_FRAMES]; /* who calls, from the innermost on */
    union {
        struct {
            size_t bytes;
        } allocate;
        struct {
            void *pointer;
        } release;
        struct {
            char *to;
            const char *from;
            size_t to_pitch, from_pitch, width, height;
            enum cudaMemcpyKind kind;
        } copy;
        struct {
            void *pointer;
            size_t pitch, width, height;
            int value;
        } set;
        struct {
            void *to;
            const void *from;
            size_t bytes;
        } symbol;
        struct {
            const void *kernel;
            enum cudaFuncAttribute attribute;
            int value;
        } attribute;
        struct launch launch;
        struct {
            enum error_call call;
            cudaError_t error;
        } error;
    };
    size_t bytes; /* of the host's memory, which follow */
};

struct answer {
    cudaError_t error;
    void *pointer;
    size_t bytes; /* for the host's memory, which follow */
};

/* All of them. False: the other process has ended. */
bool call_send(int pipe, const void *bytes, size_t count);
bool call_receive(int pipe, void *bytes, size_t count);

/* In the host's process: makes all calls of the device go through these pipes. */
void host_calls_begin(int calls, int answers);

/* In the device's process: answers one. False: the host's process has ended, or lies. */
bool device_answer(int calls, int answers);

#endif
