/* A device function that asks for arguments beyond its parameters and has no ellipsis. */
#include <stdarg.h>

__device__ float sum(int n)
{
    va_list list; va_start(list, n); // refused: va_
    float first = va_arg(list, double);
    va_end(list);
    return first;
}
