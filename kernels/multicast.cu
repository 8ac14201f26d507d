// Kernels that reach memory of several devices through multicast addresses.
//
// README.md beside this file describes every entry and how multicast.ptx is built from here. Only `multimem` instructions
// may access a multicast address: the language leaves undefined what anything else does there.

typedef unsigned int u32;
typedef unsigned long long u64;

// Threads in the grid, and this thread's number among them. Only x is used.
static __device__ __forceinline__ u64 grid_threads() { return (u64)gridDim.x * blockDim.x; }
static __device__ __forceinline__ u64 grid_thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

// Stores a word over and over in the `n` bytes at `team`, in every copy.
extern "C" __global__ void multicast_fill(u64 *team, u64 n, u64 word) {
  for (u64 i = grid_thread(); i < n / 8; i += grid_threads())
    asm volatile("multimem.st.relaxed.sys.global.u64 [%0], %1;" ::"l"(team + i), "l"(word) : "memory");
}

// Adds up, word by word, what all copies of the `n` bytes at `team` hold.
extern "C" __global__ void multicast_sum(const u64 *team, u64 *sum, u64 n) {
  for (u64 i = grid_thread(); i < n / 8; i += grid_threads()) {
    u64 word;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u64 %0, [%1];" : "=l"(word) : "l"(team + i) : "memory");
    sum[i] = word;
  }
}

// A norm of parts that the devices of a team hold, the same one on each of them. One thread on each device runs it; it waits
// until all have come. The counter is 0 before, and another barrier has to follow before it is used again.
//
// The kernel of the CUDA programming guide, section "Use Multicast Mappings". `_mc` are multicast addresses, `_uc` is the
// address by which this device alone reaches its copy.
extern "C" __global__ void all_reduce_norm_barrier(float *l2_norm, float *partial_l2_norm_mc, u32 *arrival_counter_uc,
                                                   u32 *arrival_counter_mc, u32 expected_count) {
  if (grid_threads() != 1) __trap();
  // This device has come: counted in every copy. What was written before is seen by whoever sees the count.
  asm volatile("multimem.red.release.sys.global.add.u32 [%0], 1;" ::"l"(arrival_counter_mc) : "memory");
  // The counter is written by one address and read by another.
  asm volatile("fence.proxy.alias;" ::: "memory");
  u32 arrived;
  do {
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(arrived) : "l"(arrival_counter_uc) : "memory");
  } while (arrived < expected_count);
  float sum;
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.f32 %0, [%1];"
               : "=f"(sum)
               : "l"(partial_l2_norm_mc)
               : "memory");
  *l2_norm = sqrtf(sum);
}
