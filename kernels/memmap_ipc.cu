// Kernels that fill device memory and check it where it lies.
//
// README.md beside this file describes every entry, the pattern and how memmap_ipc.ptx is built from here.
// Sizes and offsets are 64 bits wide everywhere. No pointer is `__restrict__`: that would allow loads through the
// non-coherent cache, which is wrong for memory that another device or process may have written.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// Independent 16-byte accesses that a thread has in flight in one step of its loop. Three are the most with which
// `verify_pattern` keeps within 32 registers, the limit that NVIDIA's sample sets: with four it spills, and reaches 69 % of
// the memory's speed on an H200 instead of 98 %.
#ifndef FILL_UNROLL
#define FILL_UNROLL 4
#endif
#ifndef VERIFY_UNROLL
#define VERIFY_UNROLL 3
#endif

// How 16 bytes reach memory and come back. `-DSTORE16=__stcs` and `-DLOAD16=__ldcs` try a cache hint.
#ifndef STORE16
#define STORE16(address, value) (*(address) = (value))
#endif
#ifndef LOAD16
#define LOAD16(address) (*(address))
#endif

// Threads in the grid, and this thread's number among them. Only x is used.
static __device__ __forceinline__ u64 grid_threads() { return (u64)gridDim.x * blockDim.x; }
static __device__ __forceinline__ u64 grid_thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

// Where the accesses of one step of a thread lie: the first vector, and the distance from each to the next. A block
// takes a piece without holes, so that what it does at once falls into few DRAM pages. `-DSPREAD` tries the other
// order, where the whole grid takes such a piece and the accesses of one thread lie a grid apart.
#ifndef SPREAD
static __device__ __forceinline__ u64 first_vector(u32 unroll) {
  return (u64)blockIdx.x * blockDim.x * unroll + threadIdx.x;
}
static __device__ __forceinline__ u64 vector_distance() { return blockDim.x; }
#else
static __device__ __forceinline__ u64 first_vector(u32) { return grid_thread(); }
static __device__ __forceinline__ u64 vector_distance() { return grid_threads(); }
#endif

// A bijection of 64-bit words. Shifts by 32 cost one instruction here: they only name the other register.
static __device__ __forceinline__ u64 finalise(u64 z) {
  z ^= z >> 32;
  z *= 0xD6E8FEB86659FD93ull;
  z ^= z >> 32;
  z *= 0xD6E8FEB86659FD93ull;
  return z ^ (z >> 32);
}

static __device__ __forceinline__ u64 pattern_key(u32 worker, u32 step) {
  return finalise(((u64)worker << 32 | step) + 0x9E3779B97F4A7C15ull);
}

// What a buffer holds: the 16 bytes at vector `i`, and the byte at offset `o`.
struct Repeated {
  u32 word;
  __device__ __forceinline__ explicit Repeated(u8 value) : word(value * 0x01010101u) {}
  __device__ __forceinline__ ulonglong2 vector(u64) const {
    u64 both = (u64)word << 32 | word;
    return make_ulonglong2(both, both);
  }
  __device__ __forceinline__ u8 byte(u64) const { return (u8)word; }
};

struct Pattern {
  u64 key;
  __device__ __forceinline__ Pattern(u32 worker, u32 step) : key(pattern_key(worker, step)) {}
  __device__ __forceinline__ u64 word(u64 index) const { return finalise(key + index); }
  __device__ __forceinline__ ulonglong2 vector(u64 i) const { return make_ulonglong2(word(2 * i), word(2 * i + 1)); }
  __device__ __forceinline__ u8 byte(u64 o) const { return (u8)(word(o / 8) >> (o % 8 * 8)); }
};

// Writes `n` bytes at `ptr`, which is a multiple of 16.
template <typename Content>
static __device__ __forceinline__ void fill(u8 *ptr, u64 n, Content content) {
  ulonglong2 *vectors = (ulonglong2 *)ptr;
  u64 count = n / 16;
  u64 apart = vector_distance();
  for (u64 i = first_vector(FILL_UNROLL); i < count; i += grid_threads() * FILL_UNROLL) {
    if (i + (FILL_UNROLL - 1) * apart < count) {
#pragma unroll
      for (u32 k = 0; k < FILL_UNROLL; k++) STORE16(&vectors[i + k * apart], content.vector(i + k * apart));
    } else {
#pragma unroll 1
      for (u64 j = i; j < count; j += apart) vectors[j] = content.vector(j);
    }
  }
  for (u64 o = count * 16 + grid_thread(); o < n; o += grid_threads()) ptr[o] = content.byte(o);
}

// What one thread found so far.
struct Findings {
  u64 bad = 0;
  u64 first = ~0ull;

  // Takes note of the bytes that differ in vector `i`.
  __device__ __forceinline__ void vector(ulonglong2 found, ulonglong2 wanted, u64 i) {
    u64 low = marks(found.x ^ wanted.x);
    u64 high = marks(found.y ^ wanted.y);
    if ((low | high) == 0) return;
    bad += __popcll(low) + __popcll(high);
    note(i * 16 + (low != 0 ? first_mark(low) : 8 + first_mark(high)));
  }

  __device__ __forceinline__ void note(u64 offset) {
    if (offset < first) first = offset;
  }

  // The top bit of each byte that is not zero.
  static __device__ __forceinline__ u64 marks(u64 difference) {
    const u64 low = 0x7F7F7F7F7F7F7F7Full;
    return (((difference & low) + low) | difference) & ~low;
  }

  // The number of the lowest marked byte; there is one.
  static __device__ __forceinline__ u32 first_mark(u64 marks) { return (u32)(__ffsll(marks) - 1) / 8; }

  // At most one addition and one minimum per thread, and none where all is well.
  __device__ __forceinline__ void publish(u64 *result) const {
    if (bad == 0) return;
    atomicAdd(&result[0], bad);
    atomicMin(&result[1], first);
  }
};

// Compares `n` bytes at `ptr`, which is a multiple of 16.
template <typename Content>
static __device__ __forceinline__ void verify(const u8 *ptr, u64 n, Content content, u64 *result) {
  const ulonglong2 *vectors = (const ulonglong2 *)ptr;
  u64 count = n / 16;
  u64 apart = vector_distance();
  Findings findings;
  for (u64 i = first_vector(VERIFY_UNROLL); i < count; i += grid_threads() * VERIFY_UNROLL) {
    if (i + (VERIFY_UNROLL - 1) * apart < count) {
      // All loads are issued before the first value is looked at, and one test covers them together.
      ulonglong2 found[VERIFY_UNROLL];
      u64 differences = 0;
#pragma unroll
      for (u32 k = 0; k < VERIFY_UNROLL; k++) found[k] = LOAD16(&vectors[i + k * apart]);
#pragma unroll
      for (u32 k = 0; k < VERIFY_UNROLL; k++) {
        ulonglong2 wanted = content.vector(i + k * apart);
        differences |= (found[k].x ^ wanted.x) | (found[k].y ^ wanted.y);
      }
      if (differences != 0) {
#pragma unroll
        for (u32 k = 0; k < VERIFY_UNROLL; k++) findings.vector(found[k], content.vector(i + k * apart), i + k * apart);
      }
    } else {
#pragma unroll 1
      for (u64 j = i; j < count; j += apart) findings.vector(vectors[j], content.vector(j), j);
    }
  }
  for (u64 o = count * 16 + grid_thread(); o < n; o += grid_threads()) {
    if (ptr[o] != content.byte(o)) {
      findings.bad += 1;
      findings.note(o);
    }
  }
  findings.publish(result);
}

extern "C" __global__ void fill_byte(u8 *ptr, u64 n, u8 value) {
#pragma unroll 1
  for (u64 o = grid_thread(); o < n; o += grid_threads()) ptr[o] = value;
}

extern "C" __global__ void fill_id(u8 *ptr, u64 n, u8 value) { fill(ptr, n, Repeated(value)); }

extern "C" __global__ void fill_pattern(u8 *ptr, u64 n, u32 worker, u32 step) { fill(ptr, n, Pattern(worker, step)); }

extern "C" __global__ void verify_id(const u8 *ptr, u64 n, u8 value, u64 *result) {
  verify(ptr, n, Repeated(value), result);
}

extern "C" __global__ void verify_pattern(const u8 *ptr, u64 n, u32 worker, u32 step, u64 *result) {
  verify(ptr, n, Pattern(worker, step), result);
}
