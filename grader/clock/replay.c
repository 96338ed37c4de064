/* Recordings carried out: see recording.h. */
#include "../../engine/report/text/numbers.h"
#include "recording.h"
#include "timer.h"
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a step needs at the time it is timed, found before. */
struct ready {
    CUfunction function;  /* STEP_LAUNCH */
    CUdeviceptr to, from; /* the others */
    unsigned char *bytes; /* STEP_LAUNCH, STEP_WRITE, STEP_VARIABLE: with addresses put in */
    size_t size;
};

struct replay {
    const void *image;
    const struct recording *recording;
    int architecture; /* of this GPU: 90 */
    CUdeviceptr buffers[RECORDING_BUFFERS];
    struct ready ready[RECORDING_STEPS];
    CUmodule module;
    struct timer *timer;
};

static const char *driver_says(CUresult result) {
    const char *text = NULL;
    if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text) return "unknown error";
    return text;
}

static bool machine(CUresult result, const char *what, struct judgement *j) {
    if (result == CUDA_SUCCESS) return true;
    return judge(j, STATE_MACHINE, "%s: %s", what, driver_says(result));
}

static bool runtime(cudaError_t error, enum state state, const char *what, struct judgement *j) {
    return error == cudaSuccess || judge(j, state, "%s: %s", what, cudaGetErrorString(error));
}

/* ---- making one ----------------------------------------------------------------------------- */

/* Whole words, so that all of it can be poisoned. */
static size_t room_for(uint64_t bytes) { return round_up((size_t)bytes, sizeof(uint32_t)); }

static bool allocate_buffers(struct replay *r, struct judgement *j) {
    for (int i = 0; i < (int)r->recording->buffer_count; i++) {
        const uint64_t bytes = r->recording->bytes[i];
        const CUresult result = cuMemAlloc(&r->buffers[i], room_for(bytes));
        if (result == CUDA_SUCCESS) continue;
        if (i < lab_arrays(&lab) || result != CUDA_ERROR_OUT_OF_MEMORY)
            return machine(result, "memory for the arrays", j);
        return judge(j, STATE_REFUSED,
                     "it allocates more memory than this GPU has (%" PRIu64 " bytes)", bytes);
    }
    return true;
}

static bool prepare_bytes(struct replay *r, const struct step *step, struct ready *ready) {
    ready->size = step->data.count;
    ready->bytes = malloc(ready->size + 1);
    if (!ready->bytes) return false;
    memcpy(ready->bytes, r->recording->data + step->data.begin, ready->size);
    for (uint32_t i = 0; i < step->pointers.count; i++) {
        const struct pointer *p = &r->recording->pointers[step->pointers.begin + i];
        const CUdeviceptr to = r->buffers[p->buffer] + p->offset;
        memcpy(ready->bytes + p->at, &to, sizeof to);
    }
    return true;
}

static bool prepare_steps(struct replay *r, struct judgement *j) {
    for (uint32_t i = 0; i < r->recording->count; i++) {
        const struct step *step = &r->recording->steps[i];
        struct ready *ready = &r->ready[i];
        if (!prepare_bytes(r, step, ready)) return judge(j, STATE_MACHINE, "out of memory");
        if (step->kind == STEP_LAUNCH || step->kind == STEP_VARIABLE) continue;
        ready->to = r->buffers[step->to.buffer] + step->to.offset;
        if (step->kind == STEP_COPY)
            ready->from = r->buffers[step->from.buffer] + step->from.offset;
    }
    return true;
}

static bool ask_architecture(struct replay *r, struct judgement *j) {
    int major = 0, minor = 0;
    CUresult result = cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
    r->architecture = 10 * major + minor;
    return machine(result, "asking the GPU", j);
}

/* The runtime's context, as timer.h is written for the runtime. */
static bool start_device(struct judgement *j) {
    cudaError_t error = cudaSetDeviceFlags(cudaDeviceScheduleSpin); /* being woken takes time */
    if (error == cudaSuccess) error = cudaSetDevice(0);
    if (error == cudaSuccess) error = cudaFree(NULL);
    return runtime(error, STATE_MACHINE, "no GPU for the kernels", j);
}

static bool set_up(struct replay *r, struct judgement *j) {
    return start_device(j) && ask_architecture(r, j) && allocate_buffers(r, j) &&
           prepare_steps(r, j) && runtime(timer_new(&r->timer), STATE_MACHINE, "the clock", j);
}

/* The process ends with it: nothing is ever freed. */
struct replay *replay_new(const void *image, const struct recording *recording,
                          struct judgement *j) {
    static struct replay r;
    r.image = image;
    r.recording = recording;
    return set_up(&r, j) ? &r : NULL;
}

/* ---- kernels and variables ------------------------------------------------------------------ */

static bool refused(CUresult result, const char *what, const char *name, struct judgement *j) {
    if (result == CUDA_SUCCESS) return true;
    return judge(j, STATE_REFUSED, "%s " NAME ": %s", what, name, driver_says(result));
}

/* Query the kernel for its parameters' sizes: with fewer bytes than it takes, the driver would read
 * past the end of the recorded ones. */
static bool parameters_fit(CUfunction function, size_t size, const char *name,
                           struct judgement *j) {
#if CUDA_VERSION >= 12040
    size_t needed = 0, offset, bytes;
    CUresult result;
    for (size_t i = 0; (result = cuFuncGetParamInfo(function, i, &offset, &bytes)) == CUDA_SUCCESS;
         i++)
        if (offset + bytes > needed) needed = offset + bytes;
    if (result != CUDA_ERROR_INVALID_VALUE) return machine(result, "a kernel's parameters", j);
    return size == needed ||
           judge(j, STATE_REFUSED, NAME " takes %zu bytes of parameters, and %zu were recorded",
                 name, needed, size);
#else
    (void)function, (void)size, (void)name;
    return judge(j, STATE_MACHINE, "kernels are timed with CUDA 12.4 or newer");
#endif
}

/* As the submission itself had to by cudaFuncSetAttribute, or its launch would have failed. */
static bool set_attributes(CUfunction function, const struct symbol *kernel, struct judgement *j) {
    const int free_shared = 48 << 10; /* what each kernel may use without asking */
    int fixed = 0;
    if (!refused(cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
                 "shared memory of", kernel->name, j))
        return false;
    if ((int64_t)fixed + kernel->shared > free_shared &&
        !refused(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    (int)kernel->shared),
                 "dynamic shared memory of", kernel->name, j))
        return false;
    return kernel->carveout < 0 ||
           refused(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                      kernel->carveout),
                   "the carveout of", kernel->name, j);
}

static bool foreign(const struct replay *r, struct judgement *j) {
    return judge(j, STATE_MACHINE,
                 "the kernels were not compiled for this GPU, which is sm_%d; what the driver "
                 "translates is not what was compiled",
                 r->architecture);
}

/* Code of an older GPU of the same generation would run, too, and be slower. */
static bool is_native(const struct replay *r, CUfunction function, struct judgement *j) {
    int binary = 0, ptx = 0;
    if (!machine(cuFuncGetAttribute(&binary, CU_FUNC_ATTRIBUTE_BINARY_VERSION, function),
                 "a kernel's architecture", j) ||
        !machine(cuFuncGetAttribute(&ptx, CU_FUNC_ATTRIBUTE_PTX_VERSION, function),
                 "a kernel's architecture", j))
        return false;
    return (binary == r->architecture && ptx == r->architecture) || foreign(r, j);
}

static bool find_kernel(struct replay *r, const struct step *step, struct ready *ready,
                        struct judgement *j) {
    const struct symbol *kernel = &r->recording->symbols[step->symbol];
    return refused(cuModuleGetFunction(&ready->function, r->module, kernel->name),
                   "there is no kernel", kernel->name, j) &&
           is_native(r, ready->function, j) && set_attributes(ready->function, kernel, j) &&
           parameters_fit(ready->function, ready->size, kernel->name, j);
}

static bool find_variable(struct replay *r, const struct step *step, struct ready *ready,
                          struct judgement *j) {
    CUdeviceptr begin;
    size_t bytes;
    const char *name = r->recording->symbols[step->symbol].name;
    if (!refused(cuModuleGetGlobal(&begin, &bytes, r->module, name), "there is no variable", name,
                 j))
        return false;
    if (step->to.offset > bytes || step->data.count > bytes - step->to.offset)
        return judge(j, STATE_REFUSED, "a copy does not stay inside of the variable " NAME, name);
    ready->to = begin + step->to.offset;
    return true;
}

static bool find_all(struct replay *r, struct judgement *j) {
    for (uint32_t i = 0; i < r->recording->count; i++) {
        const struct step *step = &r->recording->steps[i];
        if (step->kind == STEP_VARIABLE && !find_variable(r, step, &r->ready[i], j)) return false;
        if (step->kind == STEP_LAUNCH && !find_kernel(r, step, &r->ready[i], j)) return false;
    }
    return true;
}

/* What the driver says where there is no machine code for this GPU, and it may not make any. */
static bool nothing_native(CUresult result) {
    return result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_PTX ||
           result == CUDA_ERROR_JIT_COMPILER_NOT_FOUND ||
           result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
           result == CUDA_ERROR_JIT_COMPILATION_DISABLED;
}

static bool load(struct replay *r, struct judgement *j) {
    const CUresult result = cuModuleLoadData(&r->module, r->image);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return judge(j, STATE_REFUSED, "its __device__ variables do not fit into memory");
    if (nothing_native(result)) return foreign(r, j);
    if (result != CUDA_SUCCESS)
        return judge(j, STATE_REFUSED, "the driver does not load its kernels: %s",
                     driver_says(result));
    return find_all(r, j);
}

/* ---- data ----------------------------------------------------------------------------------- */

/* Inputs, or outputs back. */
static bool copy_arrays(struct replay *r, bool inputs, void *const arrays[LAB_ARRAYS],
                        struct judgement *j) {
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < lab_arrays(&lab) && result == CUDA_SUCCESS; i++) {
        const size_t bytes = (size_t)r->recording->bytes[i];
        if (inputs && role_has_values(lab.arrays[i].role))
            result = cuMemcpyHtoD(r->buffers[i], arrays[i], bytes);
        if (!inputs && role_is_output(lab.arrays[i].role))
            result = cuMemcpyDtoH(arrays[i], r->buffers[i], bytes);
    }
    return machine(result,
                   inputs ? "copying inputs to the kernels" : "copying the result from the kernels",
                   j);
}

/* So that neither outputs nor scratch hold anything of a former run. */
static bool poison(struct replay *r, struct judgement *j) {
    for (int i = 0; i < (int)r->recording->buffer_count; i++)
        if ((i >= lab_arrays(&lab) || !role_has_values(lab.arrays[i].role)) &&
            !machine(poison_device(r->buffers[i], room_for(r->recording->bytes[i])),
                     "poisoning outputs", j))
            return false;
    return machine(cuCtxSynchronize(), "poisoning outputs", j);
}

/* ---- the steps ------------------------------------------------------------------------------ */

static CUresult copy(const struct step *step, const struct ready *ready) {
    if (step->height == 1)
        return cuMemcpyDtoDAsync(ready->to, ready->from, (size_t)step->width, NULL);
    const CUDA_MEMCPY2D rows = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = ready->from,
        .srcPitch = (size_t)step->from.pitch,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = ready->to,
        .dstPitch = (size_t)step->to.pitch,
        .WidthInBytes = (size_t)step->width,
        .Height = (size_t)step->height,
    };
    return cuMemcpy2DAsync(&rows, NULL);
}

static CUresult set(const struct step *step, const struct ready *ready) {
    const unsigned char value = (unsigned char)step->value;
    if (step->height == 1) return cuMemsetD8Async(ready->to, value, (size_t)step->width, NULL);
    return cuMemsetD2D8Async(ready->to, (size_t)step->to.pitch, value, (size_t)step->width,
                             (size_t)step->height, NULL);
}

static CUresult launch(const struct step *s, struct ready *ready) {
    void *parameters[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, ready->bytes, CU_LAUNCH_PARAM_BUFFER_SIZE,
                          &ready->size, CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(ready->function, s->grid[0], s->grid[1], s->grid[2], s->block[0],
                          s->block[1], s->block[2], s->shared, NULL, NULL,
                          ready->size ? parameters : NULL);
}

static bool do_step(struct replay *r, uint32_t i, struct judgement *j) {
    const struct step *step = &r->recording->steps[i];
    struct ready *ready = &r->ready[i];
    const CUresult result = step->kind == STEP_LAUNCH ? launch(step, ready)
                            : step->kind == STEP_COPY ? copy(step, ready)
                            : step->kind == STEP_SET
                                ? set(step, ready)
                                : cuMemcpyHtoDAsync(ready->to, ready->bytes, ready->size, NULL);
    if (result == CUDA_SUCCESS) return true;
    if (step->kind != STEP_LAUNCH)
        return judge(j, STATE_FAULTED, "a copy or cudaMemset failed: %s", driver_says(result));
    return judge(j, STATE_FAULTED, "the launch of " NAME " failed: %s",
                 r->recording->symbols[step->symbol].name, driver_says(result));
}

/* All on the default stream, in the order in which they were recorded. */
static bool do_steps(struct replay *r, struct judgement *j) {
    for (uint32_t i = 0; i < r->recording->count; i++)
        if (!do_step(r, i, j)) return false;
    return true;
}

static bool run(struct replay *r, struct judgement *j) {
    if (!poison(r, j) || !do_steps(r, j)) return false;
    const CUresult result = cuCtxSynchronize();
    return result == CUDA_SUCCESS ||
           judge(j, STATE_FAULTED, "a kernel failed: %s", driver_says(result));
}

/* What timer_start() does is work in this context, to which the GPU has switched by then. */
static bool time_run(struct replay *r, struct times *times, struct judgement *j) {
    return poison(r, j) && runtime(timer_start(r->timer), STATE_MACHINE, "the clock", j) &&
           do_steps(r, j) &&
           runtime(timer_stop(r->timer, times), STATE_FAULTED, "a kernel failed", j);
}

bool replay_do(struct replay *r, enum command command, void *const arrays[LAB_ARRAYS],
               struct times *times, struct judgement *j) {
    switch (command) {
    case WARM_UP: return load(r, j) && run(r, j);
    case GIVE: return copy_arrays(r, true, arrays, j);
    case TIME: return time_run(r, times, j);
    case TAKE:
        return copy_arrays(r, false, arrays, j) &&
               machine(cuModuleUnload(r->module), "unloading the kernels", j);
    }
    return judge(j, STATE_MACHINE, "unknown command");
}
