/* First values of the device's variables that code would have to compute: mysgemm, where that is
 * not said, has the body. */

// ==== device_value_of_a_call
#include <stdlib.h>
__device__ float one = atoi("1"); // refused: dynamic initialization is not supported for a __device__ variable (one)
    C[0] = one;

// ==== constant_value_of_a_function: that is not constexpr
__host__ __device__ int square(int x) { return x * x; }
__constant__ int table[2] = {1, square(2)}; // refused: dynamic initialization is not supported for a __constant__ variable (table)
    C[0] = table[1];

// ==== managed_value_of_a_variable: of the host's
int size = 16;
__managed__ int width = size; // refused: dynamic initialization is not supported for a __managed__ variable (width)
    C[0] = width;

// ==== device_constructor
struct One {
    float value;
    __host__ __device__ One() : value(1.0f) {}
};
__device__ One one; // refused: dynamic initialization is not supported for a __device__ variable (one)
    C[0] = one.value;

// ==== device_constructor_of_zeros: of an array
struct Zero {
    float value;
    __device__ Zero() { value = 0; }
};
__device__ Zero zeros[4]; // refused: dynamic initialization is not supported for a __device__ variable (zeros)
    C[0] = zeros[n].value;

// ==== device_constructor_in_a_member
struct Zero {
    int value;
    __device__ Zero() { value = 0; }
};
struct Pair {
    Zero first, second;
    __device__ Pair() {}
};
__device__ Pair pair; // refused: dynamic initialization is not supported for a __device__ variable (pair)
    C[0] = pair.first.value;

// ==== device_constructor_with_argument: that is not used
struct One {
    float value;
    __device__ One(float x = 1) {}
};
__device__ One one; // refused: dynamic initialization is not supported for a __device__ variable (one)
    C[0] = one.value;

// ==== device_destructor: that does something
struct One {
    float value;
    __host__ __device__ ~One() { value = 0; }
};
__device__ One one; // refused: dynamic initialization is not supported for a __device__ variable (one)
    C[0] = one.value;

// ==== static_in_kernel: with a value that each launch would compute
    static float first = C[1]; // refused: dynamic initialization is not supported for a static variable of device code
    C[0] = first;

// ==== static_const_in_kernel: whose value compilers know
    static const float root = sqrtf(2.0f); // refused: dynamic initialization is not supported for a static variable of device code
    C[0] = root;

// ==== device_value_of_sqrtf: which compilers know
__device__ float root = sqrtf(2.0f); // refused: dynamic initialization is not supported for a __device__ variable (root)
    C[0] = root;

// ==== static_constructor_in_kernel
struct One {
    float value;
    __device__ One() : value(1.0f) {}
};
    static One one; // refused: dynamic initialization is not supported for a static variable of device code
    C[0] = one.value;
