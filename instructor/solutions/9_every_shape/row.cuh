/* A row times a matrix. All that takes time is to read B once, 16 bytes a load, and then the way
 * from the last load to C. A block has a strip of B's columns, four of them to each of its lanes,
 * and all of k: the rows of B are shared out to groups of lanes. Where that makes too few blocks,
 * shared_row.cuh is faster.
 *
 * Where n is no multiple of 4, rows begin at four different places of a vector. But every fourth
 * row begins at the same, so each thread keeps to such rows: its vectors begin up to three columns
 * further left, and a strip has four columns less than its lanes read. */
#pragma once
#include "model.cuh"

/* What a thread does. A team is a warp, or a group of lanes that is more; all of a team's rows
 * begin at the same place of a vector. */
struct Lane {
    int log_lanes, width, own;  /* of a strip: columns read, and those that are its own */
    int teams, team, rows, row; /* rows: how many the block has at once; row: this thread's first */
    int x, shift;               /* its vector, and by how much that is further left */

    __device__ Lane(int n, int log_lanes)
        : log_lanes(log_lanes), width(4 << log_lanes), own(n % 4 == 0 ? width : width - 4)
    {
        const int log_team = max(5, log_lanes), log_groups = log_team - log_lanes;
        const int group = (threadIdx.x & ((1 << log_team) - 1)) >> log_lanes;
        teams = blockDim.x >> log_team;
        team = threadIdx.x >> log_team;
        rows = teams << log_groups;
        row = team % 4 + 4 * ((team / 4 << log_groups) + group);
        x = threadIdx.x & ((1 << log_lanes) - 1);
        shift = (team * n) & 3;
    }
};

/* The last vector of the last row would end beyond B, where n is no multiple of 4: its elements one
 * by one. */
__device__ Piece<4> load_end(const Problem &p, int col)
{
    Piece<4> b = {};
#pragma unroll
    for (int w = 0; w < 3; ++w)
        if (col + w < p.n)
            b.of[w] = p.B[(size_t)(p.k - 1) * p.n + col + w];
    return b;
}

/* Four columns of the thread's rows: AHEAD of them from row `first` on, `rows` apart, and then so
 * many again each `apart`. All of those are loaded before the first is used. */
template <int AHEAD>
__device__ Piece<4> add_up_rows(const Problem &p, int col, int first, int rows, int apart)
{
    const int last = p.k - 1, end = col >= p.n ? 0 : col + 4 > p.n ? last : p.k;
    const bool ends = end == last && first <= last && (last - first) % rows == 0 &&
                      (last - first) % apart < AHEAD * rows;
    const Piece<4> b_last = ends ? load_end(p, col) : Piece<4>{};
    const float a_last = ends ? p.A[last] : 0.0f;
    Piece<4> sum = {};

#pragma unroll 1
    for (int i = first; i < end; i += apart) {
        Piece<4> b[AHEAD];
        float a[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
            const unsigned row = i + u * rows < end ? i + u * rows : i;
            b[u] = load_once((const Piece<4> *)(p.B + (size_t)row * (unsigned)p.n + col));
            a[u] = p.A[row];
        }
#pragma unroll
        for (int u = 0; u < AHEAD; ++u)
            if (i + u * rows < end)
                sum.add(b[u], a[u]);
    }
    sum.add(b_last, a_last);
    return sum;
}

/* The block's sum for column threadIdx.x of its own. */
__device__ float add_up_teams(const Problem &p, const Lane &me, Piece<4> sum, float *sums)
{
    float v[4] = {};
#pragma unroll 1
    for (int half = 16; half >> me.log_lanes > 0; half /= 2)
#pragma unroll
        for (int w = 0; w < 4; ++w)
            sum.of[w] += __shfl_xor_sync(0xffffffff, sum.of[w], half);
    if (me.log_lanes >= 5 || threadIdx.x % 32 >> me.log_lanes == 0)
        *(Piece<4> *)(sums + me.team * me.width + 4 * me.x) = sum;
    __syncthreads();
    if ((int)threadIdx.x < me.own)
#pragma unroll 2
        for (int team = 0; team < me.teams; team += 4)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                v[i] += sums[(team + i) * me.width + threadIdx.x + ((i * p.n) & 3)];
    return p.alpha * ((v[0] + v[1]) + (v[2] + v[3]));
}

template <int AHEAD>
__global__ void __launch_bounds__(MOST_THREADS, 1) mysgemm_row(const Problem p, int log_lanes)
{
    __shared__ Piece<4> shared[MOST_THREADS];
    const Lane me(p.n, log_lanes);
    const int col0 = blockIdx.x * me.own, col = col0 + threadIdx.x;

    const Piece<4> of_thread = add_up_rows<AHEAD>(p, col0 + 4 * me.x - me.shift, me.row, me.rows,
                                                  AHEAD * me.rows);
    const float sum = add_up_teams(p, me, of_thread, (float *)shared);
    if ((int)threadIdx.x < me.own && col < p.n)
        store<1>(p, 0, col, {sum});
}

template <int LOG_LANES, int AHEAD>
static void launch_row(const Kernel &kernel, const Problem &p, const Plan &)
{
    const int width = 4 << LOG_LANES, own = p.n % 4 == 0 ? width : width - 4;
    mysgemm_row<AHEAD><<<ceiling(p.n, own), kernel.threads>>>(p, LOG_LANES);
}

/* A block has four teams at least. */
template <int LOG_LANES, int BLOCK, int AHEAD>
static Kernel row(const Cost &cost)
{
    static_assert(BLOCK >= 128 && BLOCK >> LOG_LANES >= 4, "rows of all four kinds");
    const int cols = 4 << LOG_LANES, depth = (BLOCK >> LOG_LANES) * AHEAD;
    Kernel kernel = {1, cols, depth, 1, ANY, ANY, launch_row<LOG_LANES, AHEAD>, cost};
    kernel.aligned = true;
    kernel.splits = false;
    kernel.resident = MOST_THREADS / BLOCK;
    kernel.threads = BLOCK;
    return kernel;
}
