/* The limits of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per
 * Compute Capability"), checked against an H200. */
#ifndef ENGINE_REPORT_LIMITS_H
#define ENGINE_REPORT_LIMITS_H

enum {
    WARP_SIZE = 32,
    MAX_BLOCK_THREADS = 1024,
    MAX_BLOCK_X = 1024,
    MAX_BLOCK_Y = 1024,
    MAX_BLOCK_Z = 64,
    MAX_GRID_X = 2147483647,
    MAX_GRID_Y = 65535,
    MAX_GRID_Z = 65535,
    SHARED_PER_BLOCK = 48 * 1024 /* bytes, without asking */
};

#endif
