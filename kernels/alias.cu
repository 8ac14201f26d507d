// Kernels that use one memory by two addresses: the cases that the CUDA programming guide tells apart.
//
// README.md beside this file describes every entry. Buffers are words of 64 bits, and word `i` of what a kernel writes is
// `value + i`. No pointer is `__restrict__`: two of them lead to the same memory.

typedef unsigned int u32;
typedef unsigned long long u64;

// Threads in the grid, and this thread's number among them. Only x is used.
static __device__ __forceinline__ u64 grid_threads() { return (u64)gridDim.x * blockDim.x; }
static __device__ __forceinline__ u64 grid_thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

// How many words a thread found to be those of `value`, and how many those of `before`.
struct Seen {
  u64 value;
  u64 before;
  u64 fresh = 0;
  u64 old = 0;

  __device__ __forceinline__ Seen(u64 value, u64 before) : value(value), before(before) {}

  __device__ __forceinline__ void word(u64 found, u64 index) {
    fresh += found == value + index;
    old += found == before + index;
  }

  __device__ __forceinline__ void publish(u64 *seen) const {
    atomicAdd(&seen[0], fresh);
    atomicAdd(&seen[1], old);
  }
};

// Waits until a word is not 0, but at most for so many nanoseconds. Whether it is.
static __device__ __forceinline__ bool await(const u32 *word, u64 nanoseconds) {
  u64 begun, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begun));
  do {
    u32 found;
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(found) : "l"(word) : "memory");
    if (found != 0) return true;
    __nanosleep(1000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begun < nanoseconds);
  return false;
}

static __device__ __forceinline__ void tell(u32 *word) {
  asm volatile("st.release.sys.u32 [%0], 1;" : : "l"(word) : "memory");
}

// Each thread writes words by one address and reads them by the other.
template <bool fenced>
static __device__ __forceinline__ void write_and_read(u64 *a, const u64 *b, u64 words, u64 value, u64 before, u64 *seen) {
  Seen found(value, before);
  for (u64 i = grid_thread(); i < words; i += grid_threads()) {
    a[i] = value + i;
    if (fenced) asm volatile("fence.proxy.alias;" : : : "memory");
    found.word(b[i], i);
  }
  found.publish(seen);
}

static __device__ __forceinline__ void read(const u64 *b, u64 words, u64 value, u64 before, u64 *seen) {
  Seen found(value, before);
  for (u64 i = grid_thread(); i < words; i += grid_threads()) found.word(b[i], i);
  found.publish(seen);
}

extern "C" __global__ void foo(u64 *a, const u64 *b, u64 words, u64 value, u64 before, u64 *seen) {
  write_and_read<false>(a, b, words, value, before, seen);
}

extern "C" __global__ void foo_fenced(u64 *a, const u64 *b, u64 words, u64 value, u64 before, u64 *seen) {
  write_and_read<true>(a, b, words, value, before, seen);
}

extern "C" __global__ void foo1(u64 *a, u64 words, u64 value) {
  for (u64 i = grid_thread(); i < words; i += grid_threads()) a[i] = value + i;
}

extern "C" __global__ void foo2(const u64 *b, u64 words, u64 value, u64 before, u64 *seen) {
  read(b, words, value, before, seen);
}

// One block. Tells `flags[0]` that it runs, and reads once `flags[1]` is told.
extern "C" __global__ void early_reader(const u64 *b, u64 words, u64 value, u64 before, u64 *seen, u32 *flags, u64 most_ns) {
  __shared__ bool told;
  if (threadIdx.x == 0) {
    tell(&flags[0]);
    told = await(&flags[1], most_ns);
  }
  __syncthreads();
  if (told) read(b, words, value, before, seen);
}

// One thread. Waits for `flags[0]` and tells `flags[2]` if that came in time.
extern "C" __global__ void await_reader(u32 *flags, u64 most_ns) {
  if (await(&flags[0], most_ns)) tell(&flags[2]);
}
