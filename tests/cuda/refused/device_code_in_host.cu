/* What belongs to the device, in host code: of basicSgemm, where it is in no function. */

// ==== device_called_by_host
__device__ int blocks(int size) { return (size + 15) / 16; }
    grid->x = blocks(n); // refused: calling a __device__ function (blocks) from a __host__ function (basicSgemm)

// ==== device_called_by_both: by a __host__ __device__ function
__device__ int add(int a, int b) { return a + b; }
__host__ __device__ int blocks(int size) {
    return add(size, 15) / 16; // refused: calling a __device__ function (add) from a __host__ __device__ function (blocks)
}
void basicSgemm(int n, dim3 *grid) { grid->x = blocks(n); }

// ==== device_member_called_by_host
struct Size {
    int value;
    __device__ int blocks() const { return (value + 15) / 16; }
};
    grid->x = Size{n}.blocks(); // refused: calling a __device__ function (Size::blocks)

// ==== host_lambda_calls_device
__device__ int blocks(int size) { return (size + 15) / 16; }
    auto count = [](int size) {
        return blocks(size); // refused: calling a __device__ function (blocks)
    };
    grid->x = count(n);

// ==== atomic_in_host
    atomicAdd(&n, 1); // refused: calling a __device__ function (atomicAdd)

// ==== barrier_in_host
    __syncthreads(); // refused: calling a __device__ function (__syncthreads())

// ==== intrinsic_in_host
    grid->z = __popc(1); // refused: calling a __device__ function (__popc)
