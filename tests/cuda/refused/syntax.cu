/* Launches, kernels and shared variables as CUDA's syntax does not have them, and missing braces:
 * what the rewriter refuses. */

// ==== launch_with_two_brackets: two angle brackets on each side
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    dim3 grid(1), block(16);
    mysgemm<<grid, block>>(C); // refused: three angle brackets
}

// ==== launch_of_template_with_two_brackets
template <int tile> __global__ void mysgemm(float *C) { C[threadIdx.x] = tile; }
void basicSgemm(float *C) {
    if (C)
        mysgemm<4><<1, 16>>(C); // refused: three angle brackets
}

// ==== launch_opens_with_two_brackets: it closes with three
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<1, 16>>>(C); // refused: three angle brackets
}

// ==== launch_closes_with_two_brackets: it opens with three
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16>>(C); // refused: not closed by >>>
}

// ==== launch_in_front_of_the_name: the brackets are before the name of the kernel
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    <<<1, 16>>>mysgemm(C); // refused: not closed by >>>(arguments)
}

// ==== launch_without_arguments
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16>>>; // refused: not closed by >>>(arguments)
}

// ==== launch_with_five_values: one too many between the brackets
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16, 0, 0, 1>>>(C); // refused: a launch has two to four values
}

// ==== no_global: the kernel has no __global__
void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16>>>(C); // refused: a host function call cannot be configured
}

// ==== device_for_global: the kernel is __device__ instead of __global__
__device__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16>>>(C); // refused: a __device__ function call cannot be configured
}

// ==== kernel_declared_with_float: declared, though not defined, with that return type
__global__ float mysgemm(float *C); // refused: must return void
__global__ void other(float *C) { C[threadIdx.x] = 1.0f; }

// ==== kernel_returns_behind_arrow: its return type is behind the parameters
__global__ auto mysgemm(float *C) -> float // refused: must return void
{
    return C[threadIdx.x];
}

// ==== kernel_returns_pointer
__global__ void *mysgemm(float *C) // refused: must return void
{
    C[threadIdx.x] = 1.0f;
    return C;
}

// ==== kernel_template_returns_bool
template <int tile> static __global__ bool mysgemm(float *C) // refused: must return void
{
    C[threadIdx.x] = tile;
    return true;
}
void basicSgemm(float *C) { mysgemm<16><<<1, 16>>>(C); }

// ==== kernel_with_ellipsis
__global__ void mysgemm(float *C, ...) // refused: a variable number of arguments (...)
{
    C[threadIdx.x] = 1.0f;
}

// ==== kernel_with_ellipsis_without_comma
__global__ void mysgemm(float *C, int n...) // refused: a variable number of arguments (...)
{
    C[threadIdx.x] = n;
}

// ==== kernel_template_with_ellipsis: behind a pack
template <class... T> __global__ void mysgemm(float *C, T... more, ...) // refused: a variable number of arguments (...)
{
    C[threadIdx.x] = sizeof...(more);
}

// ==== shared_initializer
__global__ void mysgemm(float *C) {
    __shared__ float sum = 0; // refused: cannot have an initializer
    C[threadIdx.x] = sum;
}

// ==== shared_initializer_at_file_scope
__shared__ float tile[16];
__shared__ float sum = 1; // refused: cannot have an initializer
__global__ void mysgemm(float *C) { C[threadIdx.x] = tile[threadIdx.x] + sum; }

// ==== shared_initializer_braces
__global__ void mysgemm(float *C) {
    __shared__ float tile[16]{}; // refused: cannot have an initializer
    C[threadIdx.x] = tile[threadIdx.x];
}

// ==== shared_initializer_constructor: which is to be called with an argument
struct tile {
    float corner;
    __device__ tile(float x) { corner = x; }
};
__global__ void mysgemm(float *C) {
    __shared__ tile A_s(1.0f); // refused: cannot have an initializer
    C[threadIdx.x] = A_s.corner;
}

// ==== shared_initializer_second: of two variables
__global__ void mysgemm(float *C) {
    __shared__ float tile[16], sum = 2; // refused: cannot have an initializer
    C[threadIdx.x] = tile[threadIdx.x] + sum;
}

// ==== brace_missing_in_kernel: the wrapper with its launch begins inside it
__global__ void mysgemm(float *C)
{
    for (int i = 0; i < 16; ++i) {
        C[i] = i;
}
void basicSgemm(float *C) { // refused: begins inside mysgemm, whose { in line 2 is still open
    mysgemm<<<1, 1>>>(C);
}

// ==== brace_missing_before_extern_c: in the kernel, and extern "C" follows
__global__ void mysgemm(float *C) {
    if (threadIdx.x < 8) {
        C[threadIdx.x] = 1.0f;
}
extern "C" void basicSgemm(float *C) { // refused: begins inside mysgemm, whose { in line 1
    mysgemm<<<1, 16>>>(C);
}

// ==== brace_missing_in_helper: the kernel begins inside it
__device__ float at_least_zero(float x) {
    if (x < 0) {
        return 0;
    return x;
}
__global__ void mysgemm(float *C) { // refused: begins inside at_least_zero, whose { in line 1
    C[threadIdx.x] = at_least_zero(C[threadIdx.x]);
}

// ==== brace_missing_in_wrapper: a function follows it
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    if (C) {
        mysgemm<<<1, 16>>>(C);
}
static int divide_up(int a, int b) { // refused: begins inside basicSgemm, whose { in line 2
    return (a + b - 1) / b;
}

// ==== shared_in_host
void basicSgemm(float *C) {
    __shared__ float tile[16]; // refused: a __shared__ variable declaration is not allowed inside a host function
    tile[0] = *C;
}

// ==== shared_in_both: in a __host__ __device__ function
__host__ __device__ int one() {
    __shared__ int value; // refused: a __shared__ variable declaration is not allowed inside a host function
    value = 1;
    return value;
}
__global__ void mysgemm(float *C) { C[0] = one(); }

// ==== shuffle_without_mask: as before Volta
__global__ void mysgemm(float *C) {
    C[threadIdx.x] = __shfl_down(C[threadIdx.x], 1); // refused: is for GPUs before Volta
}

// ==== thread_local_tile: in place of a shared one
__global__ void mysgemm(float *C) {
    static thread_local float tile[16]; // refused: cannot use thread_local specifier
    C[threadIdx.x] = tile[threadIdx.x];
}

// ==== thread_local_tile_of_helper: which host code can call, too
__host__ __device__ float *tile() {
    static thread_local float values[16]; // refused: cannot use thread_local specifier
    return values;
}
__global__ void mysgemm(float *C) { C[threadIdx.x] = tile()[threadIdx.x]; }

// ==== thread_local_device_variable
__device__ thread_local float tile[16]; // refused: cannot use thread_local specifier
__global__ void mysgemm(float *C) { C[threadIdx.x] = tile[threadIdx.x]; }

// ==== computed_goto
__global__ void mysgemm(float *C) {
    void *where = &&store; goto *where; // refused: address of label extension is not supported
store:
    C[threadIdx.x] = 1.0f;
}
