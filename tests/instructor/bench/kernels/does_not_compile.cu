/* Does not compile. */

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    undeclared();
}
