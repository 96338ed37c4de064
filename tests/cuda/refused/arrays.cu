/* Arrays whose length is known when the kernel runs: of mysgemm, where they are in no function. */

// ==== array_of_parameter_length
    float terms[n]; // refused: expression must have a constant value
    terms[0] = C[0];
    C[0] = terms[0];

// ==== array_of_block_length
    float terms[blockDim.x]; // refused: expression must have a constant value
    terms[0] = C[0];
    C[0] = terms[0];

// ==== array_of_variable_length: which has the same value each time
    int count = 4;
    float terms[count]; // refused: expression must have a constant value
    terms[0] = C[0];
    C[0] = terms[0];

// ==== rows_of_parameter_length: a pointer to them
    float (*rows)[n] = (float (*)[n])C; // refused: expression must have a constant value
    rows[1][0] = 1.0f;

// ==== array_in_helper: which host code can call, too
__host__ __device__ float helper(int n) {
    float terms[n]; // refused: expression must have a constant value
    terms[0] = 1.0f;
    return terms[0];
}
__global__ void mysgemm(float *C) { C[0] = helper(4); }

// ==== array_in_lambda
    auto first = [](int count) {
        float terms[count]; // refused: expression must have a constant value
        terms[0] = 1.0f;
        return terms[0];
    };
    C[0] = first(n);
