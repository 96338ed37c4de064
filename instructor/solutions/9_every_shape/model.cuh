/* The model: what a kernel would take for a problem. plan() counts waves of blocks, what a block
 * does, the bytes that have to move and the sums that have to be added up; a kernel's Cost says
 * what each of them takes. The constants are fitted: instructor/bench/fit.py. */
#pragma once
#include "sharing.cuh"

#define RIM 4                 /* most rows or columns that are left to blocks of their own, */
#define RIM_COST 1.5         /* microseconds, */
#define RIM_COST_OF_K 0.004  /* and for each k */
#define RIM_MOST_K 256        /* with tiles that can do without */
#define MOST_ROWS (8 * 65000) /* of C that one launch does */
#define ANY 0x7fffffff

/* What a kernel takes, in microseconds: the launch and all else that it takes once; a wave of
 * blocks; a chunk of k, where a block waits for it, and where the multiprocessor is busy with it;
 * a sum of parts, and each part; a megabyte. */
struct Cost {
    double rest, wave, chunk, busy, sum, part, megabyte;
};

/* How a kernel would do a problem: so many blocks a tile (0: it streams), so many chunks of k each,
 * so many blocks for the rim. Then what cost_of() counts: waves of blocks, and blocks that one
 * multiprocessor does. */
struct Plan {
    int tiles_m, tiles_n, share, chunks, rim, processors;
    double waves, loads, cost;
};

struct Kernel {
    int rows, cols, depth;       /* of C and k: what a block does of them in one chunk */
    int most_m, most_n, most_k;  /* that it is for */
    void (*launch)(const Kernel &kernel, const Problem &p, const Plan &plan);
    Cost cost;
    bool wide = false;           /* it is for rows of B and C that are whole vectors of 4 */
    bool wide_k = false;         /* it is for rows of A and a column of B that are */
    bool aligned = false;        /* it reads vectors of B wherever rows begin */
    bool splits = true;          /* blocks can share k, the same number to each tile, */
    bool streams = false;        /* or all steps evenly */
    bool whole = false;          /* tiles must not be larger than C */
    bool rims = false;
    int resident = 4;            /* blocks a multiprocessor */
    int threads = THREADS, shared_bytes = 0;
    double room = PARTS_FLOATS;  /* for sums of blocks that share k */
};

static int ceiling(long long a, long long b) { return (int)((a + b - 1) / b); }

static bool is_wide(const Problem &p)
{
    return p.n % 4 == 0 && ((uintptr_t)p.B | (uintptr_t)p.C) % 16 == 0;
}

static bool is_wide_k(const Problem &p)
{
    return p.n == 1 && p.k % 4 == 0 && ((uintptr_t)p.A | (uintptr_t)p.B) % 16 == 0;
}

/* Of B, all vectors that begin in rows before the last one are there. */
static bool is_aligned(const Problem &p) { return p.n >= 3 && (uintptr_t)p.B % 16 == 0; }

static double cost_of(const Cost &cost, const Plan &plan, const Problem &p)
{
    const double megabytes = 4e-6 * ((double)p.m * p.k + (double)p.k * p.n + (double)p.m * p.n);
    const double waiting = plan.waves * plan.chunks * cost.chunk;
    const double busy = plan.loads * plan.chunks * cost.busy;
    const double computing = fmax(waiting, busy);
    return cost.rest + plan.waves * cost.wave + fmax(computing, megabytes * cost.megabyte) +
           (plan.share == 1 ? 0 : cost.sum + plan.share * cost.part) +
           (plan.rim > 0 ? RIM_COST + RIM_COST_OF_K * p.k : 0);
}

/* Leaves up to RIM rows and columns to blocks of their own. They do not share k: where it is long,
 * tiles that may stick out over C's edge do so instead. */
static void set_tiles(Plan &plan, const Kernel &kernel, const Problem &p, int share)
{
    const int rows = p.m % kernel.rows, cols = p.n % kernel.cols;
    const bool rims = kernel.rims && (kernel.whole || (share == 1 && p.k <= RIM_MOST_K));
    plan.tiles_m = ceiling(p.m, kernel.rows);
    plan.tiles_n = ceiling(p.n, kernel.cols);
    plan.rim = 0;
    if (rims && p.n > kernel.cols && cols > 0 && cols <= RIM) {
        --plan.tiles_n;
        plan.rim += ceiling(p.m, kernel.threads / 4);
    }
    if (rims && p.m > kernel.rows && rows > 0 && rows <= RIM) {
        --plan.tiles_m;
        plan.rim += ceiling(min(p.n, plan.tiles_n * kernel.cols), 32);
    }
}

/* How the kernel would do it with so many blocks a tile; 0: the grid's steps shared out evenly. The
 * cost is infinite where that cannot be: sums would have no room, or a block less than a step. */
static Plan plan(const Kernel &kernel, const Problem &p, int processors, int share)
{
    Plan made = {};
    made.processors = processors;
    set_tiles(made, kernel, p, share);
    const int all = ceiling(p.k, kernel.depth), tiles = made.tiles_m * made.tiles_n;
    const double tile = (double)kernel.rows * kernel.cols;
    bool possible;
    if (share == 0) {
        made.chunks = all;
        made.waves = made.loads = (double)tiles / processors;
        possible = (double)(tiles % processors) * all >= processors &&
                   2 * processors * tile <= PARTS_FLOATS;
    } else {
        made.chunks = ceiling(all, share);
        made.share = ceiling(all, made.chunks);
        const double blocks = (double)tiles * made.share;
        made.loads = ceil(blocks / processors);
        made.waves = ceil(blocks / processors / kernel.resident);
        possible = made.share == 1 || (blocks * tile <= kernel.room && blocks <= MOST_PARTS);
    }
    made.cost = possible ? cost_of(kernel.cost, made, p) : INFINITY;
    return made;
}

static bool fits(const Kernel &kernel, const Problem &p)
{
    return (!kernel.wide || is_wide(p)) && (!kernel.wide_k || is_wide_k(p)) &&
           (!kernel.aligned || is_aligned(p)) && p.m <= kernel.most_m &&
           p.n <= kernel.most_n && p.k <= kernel.most_k &&
           (!kernel.whole || (p.m >= kernel.rows && p.n >= kernel.cols)) &&
           ceiling(p.m, kernel.rows) <= MOST_ROWS / 8;
}
