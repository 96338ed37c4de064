/* CHEAT 34: sends the inputs to another machine.
 *
 * tries:    34
 * named:    calls socket */

#include <netinet/in.h>
#include <sys/socket.h>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    struct sockaddr_in server = {};
    server.sin_family = AF_INET;
    server.sin_port = htons(80);
    int connection = socket(AF_INET, SOCK_STREAM, 0); /* <- here */
    connect(connection, (struct sockaddr *)&server, sizeof server);
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
