/* Launches. `kernel<<<grid, block, shared, stream>>>(a, b)` reaches the compiler as
 * `kernel->*::emulator::launch_config(grid, block, shared, stream)(a, b)` (see ../rewrite.c): the
 * call binds the arguments, and `->*`, which binds less tightly, joins them to the kernel. So
 * the rewriter need not find where the kernel's name begins, and templates work. Last, what dynamic
 * shared memory becomes. */
#ifndef EMULATOR_LAUNCH_H
#define EMULATOR_LAUNCH_H
#include "cuda_runtime_api.h"

extern "C" {
/* Runs thread(copy) once for each thread of the grid, with a copy of the `bytes` at `data` among
 * its own local variables; kernel names the launched function. Returns when all have run. Errors
 * show in cudaGetLastError and the next synchronization. */
void emulator_launch(const void *kernel, uint3 grid, uint3 block, size_t shared_bytes,
                     void (*thread)(const void *copy), const void *data, size_t bytes);

/* The block's dynamic shared memory, as large as a launch may ask for. */
extern __thread char emulator_dynamic_shared[];
}

namespace emulator {

/* What an extern __shared__ array in a function is bound to: float (&s)[] = dynamic_shared(). */
struct dynamic_shared {
    template <class T> operator T &() const {
        return reinterpret_cast<T &>(emulator_dynamic_shared);
    }
};

/* NULL and 0 reach us as integers; a kernel's pointer parameter takes them as C++ would. */
template <class To> struct convert {
    template <class From> static To from(From value) { return value; }
};
template <class T> struct convert<T *> {
    static T *from(T *value) { return value; }
    static T *from(long value) { return (T *)value; }
    static T *from(int value) { return (T *)(long)value; }
};

template <class... Parameters> struct kernel_call {
    void (*kernel)(Parameters...);
    template <class... Arguments> void operator()(Arguments... arguments) const {
        static_assert(sizeof...(Arguments) == sizeof...(Parameters),
                      "this launch does not pass as many arguments as the kernel has parameters");
        kernel(convert<Parameters>::from(arguments)...);
    }
};

template <class Bound, class... Arguments> struct launch {
    dim3 grid, block;
    size_t shared_bytes;
    Bound bound; /* calls what it is given with the launch's arguments */
};

class launch_config {
  public:
    launch_config(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr)
        : grid_(grid), block_(block), shared_bytes_(shared_bytes) {
        (void)stream;
    }
    /* Its argument, noexcept(kernel(a, b)), is not evaluated: it has the compiler check the
     * launch's arguments as they are written, since a literal 0 converts to a pointer and no other
     * int does. */
    const launch_config &checked(bool) const { return *this; }
    template <class... Arguments> auto operator()(Arguments... arguments) const {
        auto bound = [=](const auto &call) { call(arguments...); };
        return launch<decltype(bound), Arguments...>{grid_, block_, shared_bytes_, bound};
    }

  private:
    dim3 grid_, block_;
    size_t shared_bytes_;
};

/* A GPU is sent the bytes of the arguments; so is each thread here. What runs in it from then on,
 * the copying of arguments that are classes included, is watched like the kernel. */
template <class... Parameters, class Bound, class... Arguments>
void start(void (*kernel)(Parameters...), const launch<Bound, Arguments...> &what) {
    struct closure {
        kernel_call<Parameters...> call;
        Bound bound;
        static void thread(const void *copy) {
            const closure *self = (const closure *)copy;
            self->bound(self->call);
        }
    } data = {{kernel}, what.bound};
    emulator_launch((const void *)kernel, what.grid, what.block, what.shared_bytes, closure::thread,
                    &data, sizeof data);
}

template <class... Parameters, class Bound, class... Arguments>
void operator->*(void (*kernel)(Parameters...), const launch<Bound, Arguments...> &what) {
    start(kernel, what);
}

/* For a name that stands for several kernels, a template without its arguments or overloads: the
 * kernel whose parameters have just the types of the arguments. */
template <class Bound, class... Arguments>
void operator->*(void (*kernel)(Arguments...), const launch<Bound, Arguments...> &what) {
    start(kernel, what);
}

} // namespace emulator
#endif
