struct Pair {
    int first;
    double second;
    char tail[7];
};

__constant__ float scale[4] = {1.0f, 0.5f, 0.25f, 0.125f};
__device__ int calls;

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ __noinline__ Pair moved(Pair pair, int by) {
    pair.first += by;
    pair.second *= by;
    pair.tail[by & 3] = static_cast<char>(by);
    return pair;
}
__device__ int plus(int a) { return a + 1; }
__device__ int minus(int a) { return a - 1; }
__device__ int (*steps[2])(int) = {plus, minus};

extern "C" __global__ void everything(Pair* pairs, Pair given, float* sums, int n) {
    extern __shared__ float shared[];
    int thread = threadIdx.x;
    int kept[8];
    for (int i = 0; i < 8; i++) kept[i] = i * n;
    switch (pairs[thread].first) {
        case 0: n = n * 3; break;
        case 1: n = n / 7; break;
        case 2: n = n % 5; break;
        case 3: n = factorial(n); break;
        case 4: n = steps[n & 1](n); break;
        case 5: n = kept[n & 7]; break;
        default: n = ~n;
    }
    shared[thread] = sums[thread] * scale[thread & 3];
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (thread < step) shared[thread] += shared[thread + step];
        __syncthreads();
    }
    if (thread == 0) {
        atomicAdd(&calls, 1);
        sums[blockIdx.x] = shared[0];
    }
    pairs[thread] = moved(given, n + __shfl_xor_sync(~0u, n, 1));
}
