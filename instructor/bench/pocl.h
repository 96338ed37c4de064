/* pocl.h: the tiled kernel of ../solutions/2_tiled.cu on PoCL, the OpenCL for CPUs, for emulator.cu
 * to compare with.
 *
 * The library is loaded while the program runs and its few functions and constants are declared
 * here, after the OpenCL 1.2 specification, so that nothing has to be installed to build. */
#ifndef BENCH_POCL_H
#define BENCH_POCL_H
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { POCL_TILE = 16 };

static const char pocl_source[] =
    "#define TILE_SIZE 16\n"
    "__kernel __attribute__((reqd_work_group_size(TILE_SIZE, TILE_SIZE, 1)))\n"
    "void mysgemm(int m, int n, int k, __global const float *A, __global const float *B,\n"
    "             __global float *C)\n"
    "{\n"
    "    __local float A_s[TILE_SIZE][TILE_SIZE];\n"
    "    __local float B_s[TILE_SIZE][TILE_SIZE];\n"
    "    int tx = get_local_id(0), ty = get_local_id(1);\n"
    "    int row = get_group_id(1) * TILE_SIZE + ty;\n"
    "    int col = get_group_id(0) * TILE_SIZE + tx;\n"
    "    float sum = 0.0f;\n"
    "    for (int phase = 0; phase < (k + TILE_SIZE - 1) / TILE_SIZE; ++phase) {\n"
    "        int a_col = phase * TILE_SIZE + tx;\n"
    "        int b_row = phase * TILE_SIZE + ty;\n"
    "        A_s[ty][tx] = row < m && a_col < k ? A[row * k + a_col] : 0.0f;\n"
    "        B_s[ty][tx] = b_row < k && col < n ? B[b_row * n + col] : 0.0f;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        for (int i = 0; i < TILE_SIZE; ++i)\n"
    "            sum += A_s[ty][i] * B_s[i][tx];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    if (row < m && col < n)\n"
    "        C[row * n + col] = sum;\n"
    "}\n";

/* --- OpenCL, as far as it is needed here ------------------------------------------------------ */

/* Platforms, devices, contexts, queues, programs, kernels and buffers are opaque pointers. */
typedef void *cl_object;

enum {
    CL_SUCCESS = 0,
    CL_TRUE = 1,
    CL_PLATFORM_VERSION = 0x0901,
    CL_PLATFORM_NAME = 0x0902,
    CL_DEVICE_TYPE_CPU = 1 << 1,
    CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
    CL_MEM_READ_WRITE = 1 << 0,
    CL_MEM_READ_ONLY = 1 << 2,
    CL_MEM_COPY_HOST_PTR = 1 << 5
};

static struct {
    int32_t (*GetPlatformIDs)(uint32_t room, cl_object *platforms, uint32_t *count);
    int32_t (*GetPlatformInfo)(cl_object platform, uint32_t what, size_t room, void *value,
                               size_t *bytes);
    int32_t (*GetDeviceIDs)(cl_object platform, uint64_t type, uint32_t room, cl_object *devices,
                            uint32_t *count);
    int32_t (*GetDeviceInfo)(cl_object device, uint32_t what, size_t room, void *value,
                             size_t *bytes);
    cl_object (*CreateContext)(const intptr_t *properties, uint32_t count, const cl_object *devices,
                               void (*notify)(const char *, const void *, size_t, void *),
                               void *data, int32_t *error);
    cl_object (*CreateCommandQueue)(cl_object context, cl_object device, uint64_t properties,
                                    int32_t *error);
    cl_object (*CreateProgramWithSource)(cl_object context, uint32_t count, const char **strings,
                                         const size_t *lengths, int32_t *error);
    int32_t (*BuildProgram)(cl_object program, uint32_t count, const cl_object *devices,
                            const char *options, void (*notify)(cl_object, void *), void *data);
    cl_object (*CreateKernel)(cl_object program, const char *name, int32_t *error);
    cl_object (*CreateBuffer)(cl_object context, uint64_t flags, size_t bytes, void *host,
                              int32_t *error);
    int32_t (*SetKernelArg)(cl_object kernel, uint32_t index, size_t bytes, const void *value);
    int32_t (*EnqueueNDRangeKernel)(cl_object queue, cl_object kernel, uint32_t dimensions,
                                    const size_t *offset, const size_t *global, const size_t *local,
                                    uint32_t waits, const cl_object *wait, cl_object *event);
    int32_t (*EnqueueReadBuffer)(cl_object queue, cl_object buffer, uint32_t blocking,
                                 size_t offset, size_t bytes, void *host, uint32_t waits,
                                 const cl_object *wait, cl_object *event);
    int32_t (*Finish)(cl_object queue);
} cl;

/* --- what emulator.cu calls ------------------------------------------------------------------- */

struct pocl {
    cl_object queue, kernel, C;
    size_t global[2], bytes_C;
    char version[16];
    uint32_t compute_units;
};

static bool pocl_function(void *library, const char *name, void *slot) {
    void *symbol = dlsym(library, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

#define POCL_FUNCTION(name) pocl_function(library, "cl" #name, &cl.name)
static bool pocl_load(void) {
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    return library && POCL_FUNCTION(GetPlatformIDs) && POCL_FUNCTION(GetPlatformInfo) &&
           POCL_FUNCTION(GetDeviceIDs) && POCL_FUNCTION(GetDeviceInfo) &&
           POCL_FUNCTION(CreateContext) && POCL_FUNCTION(CreateCommandQueue) &&
           POCL_FUNCTION(CreateProgramWithSource) && POCL_FUNCTION(BuildProgram) &&
           POCL_FUNCTION(CreateKernel) && POCL_FUNCTION(CreateBuffer) &&
           POCL_FUNCTION(SetKernelArg) && POCL_FUNCTION(EnqueueNDRangeKernel) &&
           POCL_FUNCTION(EnqueueReadBuffer) && POCL_FUNCTION(Finish);
}
#undef POCL_FUNCTION

/* The platform of PoCL among all that are installed; null if it is not. */
static cl_object pocl_platform(void) {
    cl_object platforms[16];
    uint32_t count = 0;
    if (cl.GetPlatformIDs(16, platforms, &count) != CL_SUCCESS) return NULL;
    for (uint32_t i = 0; i < count && i < 16; ++i) {
        char name[128] = "";
        cl.GetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (strstr(name, "Portable Computing Language")) return platforms[i];
    }
    return NULL;
}

/* "OpenCL 3.0 PoCL 3.1+debian  Linux, ..." to "3.1". */
static void pocl_version(cl_object platform, struct pocl *pocl) {
    char text[256] = "";
    cl.GetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text - 1, text, NULL);
    const char *found = strcasestr(text, "pocl ");
    if (!found || sscanf(found + strlen("pocl "), "%15[0-9.]", pocl->version) != 1)
        strcpy(pocl->version, "?");
}

/* Compiles the kernel and copies A and B. Null, or what is in the way in a line. */
static const char *pocl_open(struct pocl *pocl, int m, int n, int k, const float *A,
                             const float *B) {
    cl_object platform, device;
    int32_t error = CL_SUCCESS, built;
    if (!pocl_load() || !(platform = pocl_platform()))
        return "not installed (Debian: pocl-opencl-icd)";
    if (cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL) != CL_SUCCESS)
        return "installed, but it finds no CPU to run on";
    pocl_version(platform, pocl);
    cl.GetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof pocl->compute_units,
                     &pocl->compute_units, NULL);

    cl_object context = cl.CreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (!context) return "installed, but it gives no context";
    const char *source = pocl_source;
    cl_object program = cl.CreateProgramWithSource(context, 1, &source, NULL, &error);
    built = program ? cl.BuildProgram(program, 1, &device, "", NULL, NULL) : error;
    if (built != CL_SUCCESS) return "installed, but it cannot compile the kernel";
    pocl->kernel = cl.CreateKernel(program, "mysgemm", &error);
    pocl->queue = cl.CreateCommandQueue(context, device, 0, &error);

    size_t bytes_A = (size_t)m * (size_t)k * sizeof(float);
    size_t bytes_B = (size_t)k * (size_t)n * sizeof(float);
    uint64_t copied = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    pocl->bytes_C = (size_t)m * (size_t)n * sizeof(float);
    cl_object device_A = cl.CreateBuffer(context, copied, bytes_A, (void *)A, &error);
    cl_object device_B = cl.CreateBuffer(context, copied, bytes_B, (void *)B, &error);
    pocl->C = cl.CreateBuffer(context, CL_MEM_READ_WRITE, pocl->bytes_C, NULL, &error);
    if (!pocl->kernel || !pocl->queue || !device_A || !device_B || !pocl->C)
        return "installed, but short of memory";

    int sizes[] = {m, n, k};
    cl_object matrices[] = {device_A, device_B, pocl->C};
    for (uint32_t i = 0; i < 3; ++i) {
        cl.SetKernelArg(pocl->kernel, i, sizeof sizes[i], &sizes[i]);
        cl.SetKernelArg(pocl->kernel, i + 3, sizeof matrices[i], &matrices[i]);
    }
    pocl->global[0] = (size_t)(n + POCL_TILE - 1) / POCL_TILE * POCL_TILE;
    pocl->global[1] = (size_t)(m + POCL_TILE - 1) / POCL_TILE * POCL_TILE;
    return NULL;
}

/* One launch, from beginning to end. */
static bool pocl_multiply(struct pocl *pocl) {
    const size_t local[] = {POCL_TILE, POCL_TILE};
    return cl.EnqueueNDRangeKernel(pocl->queue, pocl->kernel, 2, NULL, pocl->global, local, 0, NULL,
                                   NULL) == CL_SUCCESS &&
           cl.Finish(pocl->queue) == CL_SUCCESS;
}

static bool pocl_result(struct pocl *pocl, float *C) {
    return cl.EnqueueReadBuffer(pocl->queue, pocl->C, CL_TRUE, 0, pocl->bytes_C, C, 0, NULL,
                                NULL) == CL_SUCCESS;
}
#endif
