/* The model: what a kernel would take for a problem. plan() counts waves of blocks, what a block
 * does, the bytes that have to move and the sums that have to be added up; a kernel's Cost says
 * what each of them takes. The constants are fitted: instructor/bench/fit.py. */
#pragma once
#include "sharing.cuh"

#define RIM 4                 /* most rows or columns that are left to blocks of their own, */
#define RIM_MOST_K 256        /* by tiles that can do without; */
#define MOST_OF_RIM 256       /* sums of such a block */
#define RIM_COST 1.0          /* microseconds, */
#define RIM_COST_OF_K 0.012   /* and for each k of a block, */
#define RIM_TILE 1024         /* but beside tiles this small, a block counts as one of theirs */
#define MOST_ROWS (8 * 65000) /* of C that one launch does */
#define ANY 0x7fffffff
#define FILLING (-1)

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
    double read_again; /* by the rim's blocks, in megabytes, */
    double rim_k;      /* and their values of k, where they do not count as a tile's */
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

/* Not of 64 bits, or the choice takes twice as long. */
static int ceiling(unsigned a, unsigned b) { return (int)((a + b - 1) / b); }

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

static double megabytes(const Problem &p)
{
    return 4e-6 * ((double)p.m * p.k + (double)p.k * p.n + (double)p.m * p.n);
}

static double cost_of(const Cost &cost, const Plan &plan, const Problem &p)
{
    const double moved = megabytes(p) + plan.read_again;
    const double waiting = plan.waves * plan.chunks * cost.chunk;
    const double busy = plan.loads * plan.chunks * cost.busy;
    const double computing = fmax(waiting, busy);
    return cost.rest + plan.waves * cost.wave + fmax(computing, moved * cost.megabyte) +
           (plan.share == 1 ? 0 : cost.sum + plan.share * cost.part) +
           (plan.rim > 0 ? RIM_COST + RIM_COST_OF_K * plan.rim_k : 0);
}

/* Leaves up to RIM rows and columns to blocks of their own. Where k is long, small tiles that load
 * vectors rather stick out over C's edge: a rim's blocks load no vectors. */
static void set_tiles(Plan &plan, const Kernel &kernel, const Problem &p, int share)
{
    const int rows = p.m % kernel.rows, cols = p.n % kernel.cols;
    const bool fast = kernel.wide && kernel.rows * kernel.cols <= 2 * RIM_TILE;
    const bool rims = kernel.rims && (!fast || (share == 1 && p.k <= RIM_MOST_K));
    plan.tiles_m = ceiling(p.m, kernel.rows);
    plan.tiles_n = ceiling(p.n, kernel.cols);
    if (rims && p.n > kernel.cols && cols > 0 && cols <= RIM) {
        --plan.tiles_n;
        plan.rim += ceiling(p.m, kernel.threads / 4);
        plan.read_again += 4e-6 * p.m * p.k;
    }
    if (rims && p.m > kernel.rows && rows > 0 && rows <= RIM) {
        --plan.tiles_m;
        plan.rim += ceiling(min(p.n, plan.tiles_n * kernel.cols), 32);
        plan.read_again += 4e-6 * p.k * p.n;
    }
}

/* How the kernel would do it with so many blocks a tile; 0: the grid's steps shared out evenly;
 * FILLING: with as many as fill the GPU once. The cost is infinite where that cannot be: sums would
 * have no room, or a block less than a step. */
static Plan plan(const Kernel &kernel, const Problem &p, int processors, int share)
{
    Plan made = {};
    made.processors = processors;
    made.cost = INFINITY;
    set_tiles(made, kernel, p, share);
    const int all = ceiling(p.k, kernel.depth), tiles = made.tiles_m * made.tiles_n;
    const double tile = (double)kernel.rows * kernel.cols;
    const bool is_small = tile <= RIM_TILE;
    const int loads = tiles + (is_small ? made.rim : 0); /* of one block a tile */
    if (share == FILLING)
        share = min(max(processors * kernel.resident / loads, 1), FAN * FAN);
    if (share == 0) {
        made.chunks = all;
        made.waves = made.loads = (double)tiles / processors;
        if ((double)(tiles % processors) * all < processors ||
            2 * processors * tile > PARTS_FLOATS)
            return made;
    } else {
        made.chunks = ceiling(all, share);
        made.share = ceiling(all, made.chunks);
        const double blocks = (double)tiles * made.share, rims = (double)made.rim * made.share;
        if (made.share > 1 && (blocks * tile + rims * MOST_OF_RIM > kernel.room ||
                               blocks + rims > MOST_PARTS))
            return made;
        made.loads = ceiling(loads * made.share, processors);
        made.waves = ceiling(loads * made.share, processors * kernel.resident);
    }
    made.rim_k = is_small ? 0 : (double)p.k / max(made.share, 1);
    made.cost = cost_of(kernel.cost, made, p);
    return made;
}

/* A kernel for C of few rows or columns has to have some use for them. */
static bool has_use(const Kernel &kernel, const Problem &p)
{
    const bool few_rows = kernel.most_m > 1 && kernel.most_m < ANY;
    const bool few_cols = kernel.most_n > 1 && kernel.most_n < 4;
    return (!few_rows || p.m > kernel.most_m / 4) && (!few_cols || p.n > kernel.most_n / 2);
}

static bool fits(const Kernel &kernel, const Problem &p)
{
    return (!kernel.wide || is_wide(p)) && (!kernel.wide_k || is_wide_k(p)) &&
           (!kernel.aligned || is_aligned(p)) && has_use(kernel, p) && p.m <= kernel.most_m &&
           p.n <= kernel.most_n && p.k <= kernel.most_k &&
           (!kernel.whole || (p.m >= kernel.rows && p.n >= kernel.cols)) &&
           ceiling(p.m, kernel.rows) <= MOST_ROWS / 8;
}

/* What it takes at least, with k shared or not: a kernel whose least is more than what another one
 * takes needs no plan, and most are such. */
static double least_of(const Kernel &kernel, const Problem &p, int processors)
{
    const Cost &cost = kernel.cost;
    const int rows = max(p.m - RIM, 1), cols = max(p.n - RIM, 1); /* without a rim */
    const double chunks = (double)ceiling(rows, kernel.rows) * ceiling(cols, kernel.cols) *
                          ceiling(p.k, kernel.depth) / processors;
    const double computing = chunks * fmax(cost.chunk / kernel.resident, cost.busy);
    return cost.rest + (kernel.streams ? 0 : cost.wave) +
           fmax(computing, megabytes(p) * cost.megabyte);
}
