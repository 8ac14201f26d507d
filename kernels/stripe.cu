// Kernels that add vectors which lie on several devices.
//
// README.md beside this file describes every entry. Vectors are words of 64 bits. Each kernel works on the words from `first` up to
// `end`; what they hold follows from their place in the whole vector, so that swapped stripes show.

typedef unsigned long long u64;

// Threads in the grid, and this thread's number among them. Only x is used.
static __device__ __forceinline__ u64 grid_threads() { return (u64)gridDim.x * blockDim.x; }
static __device__ __forceinline__ u64 grid_thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

// What the two vectors hold at a place, in a run of this seed.
static __device__ __forceinline__ u64 left(u64 index, u64 seed) { return (index + seed) * 0x9E3779B97F4A7C15ull; }
static __device__ __forceinline__ u64 right(u64 index, u64 seed) { return (index ^ seed) * 0xD6E8FEB86659FD93ull; }

// Notes that a word is not what it should be.
static __device__ __forceinline__ void note(u64 *result, u64 index) {
  atomicAdd(&result[0], 1ull);
  atomicMin(&result[1], index);
}

extern "C" __global__ void prepare(u64 *a, u64 *b, u64 first, u64 end, u64 seed) {
  for (u64 i = first + grid_thread(); i < end; i += grid_threads()) {
    a[i] = left(i, seed);
    b[i] = right(i, seed);
  }
}

extern "C" __global__ void add(const u64 *a, const u64 *b, u64 *c, u64 first, u64 end) {
  for (u64 i = first + grid_thread(); i < end; i += grid_threads()) c[i] = a[i] + b[i];
}

extern "C" __global__ void verify_prepared(const u64 *a, const u64 *b, u64 first, u64 end, u64 seed, u64 *result) {
  for (u64 i = first + grid_thread(); i < end; i += grid_threads()) {
    if (a[i] != left(i, seed) || b[i] != right(i, seed)) note(result, i);
  }
}

extern "C" __global__ void verify_sum(const u64 *c, u64 first, u64 end, u64 seed, u64 *result) {
  for (u64 i = first + grid_thread(); i < end; i += grid_threads()) {
    if (c[i] != left(i, seed) + right(i, seed)) note(result, i);
  }
}
