/* Classes whose functions are for the device, or are made by the compiler for all who need them. */
struct Counter {
    int value;
    __device__ Counter() : value(1) {}
    __device__ explicit Counter(int v) : value(v) {}
    __device__ ~Counter() { value = 0; }
    __device__ Counter(const Counter &other) = default;
    __device__ Counter &operator+=(int by) {
        value += by;
        return *this;
    }
    __device__ operator int() const { return value; }
    static __device__ int one() { return 1; }
    friend __device__ Counter operator+(const Counter &a, const Counter &b) {
        return Counter(a.value + b.value);
    }
};

struct Holder { /* all that is implicit calls Counter's */
    Counter counter;
    int start = 2;
};

struct Defaulted {
    int start = 3;
    Defaulted() = default;
    Defaulted(const Defaulted &) = default;
    Defaulted &operator=(const Defaulted &) = default;
    ~Defaulted() = default;
};

struct Both {
    float x, y;
    __host__ __device__ Both(float x_, float y_) : x(x_), y(y_) {}
    __host__ __device__ float sum() const;
    float for_host() const { return x; }
};
__host__ __device__ float Both::sum() const { return x + y; }

template <class T> class Row {
    T *data;
    int width;

  public:
    __host__ __device__ Row(T *d, int w) : data(d), width(w) {}
    __host__ __device__ T &operator[](int i) { return data[i]; }
    __device__ T first();
};
template <class T> __device__ T Row<T>::first() { return data[0]; }

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const { return 0; }
};
struct Square : Shape {
    float side = 2;
    __device__ float area() const override { return side * side; }
};

struct Plain {
    float a, b;
    int c[3];
};

struct Base {
    int b;
    __device__ Base(int v) : b(v) {}
};
struct Derived : Base {
    using Base::Base;
};

__global__ void use(float *p, Plain plain) {
    Counter a, b(2), c = a + b;
    c += Counter::one();
    Holder h, h2 = h;
    h = h2;
    Defaulted d, d2 = d;
    d2 = d;
    Both both(1, 2);
    Row<float> row(p, 4);
    Square square;
    const Shape &shape = square;
    Plain other = plain;
    Derived derived(3);
    struct Local {
        int q = 4;
        __device__ int get() const { return q; }
    } local;
    row[0] = (int)c + (int)h.counter + d2.start + both.sum() + row.first();
    row[1] = shape.area() + other.c[1] + derived.b + local.get();
}

int main() {
    float *p;
    cudaMalloc(&p, 4 * sizeof *p);
    Both both(1, 2);
    Row<float> row(p, 4);
    use<<<1, 1>>>(p, Plain{both.sum() + both.for_host(), 1, {1, 2, 3}});
    return cudaDeviceSynchronize() != cudaSuccess;
}
