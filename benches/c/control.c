/* The calls in the life of one allocation, timed from C: what `peermap bench --suite control` measures, without any of our code.
 *
 * Same calls, same order, same clock as `crates/bench/src/control/lifecycle.rs`. It is a library, so that one process can do a round
 * from C and one from Rust in turns: two processes seldom run at the same speed. The functions are looked up in the driver library by
 * the names that peermap uses, so that neither side calls a newer version of one.
 *
 * nvcc -O2 -shared -Xcompiler -fPIC -o control.so control.c -ldl
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    CUresult (*mem_create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
    CUresult (*mem_address_reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
    CUresult (*mem_map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
    CUresult (*mem_set_access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
    CUresult (*mem_export)(void *, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long);
    CUresult (*mem_import)(CUmemGenericAllocationHandle *, void *, CUmemAllocationHandleType);
    CUresult (*mem_unmap)(CUdeviceptr, size_t);
    CUresult (*mem_address_free)(CUdeviceptr, size_t);
    CUresult (*mem_release)(CUmemGenericAllocationHandle);
} cu;

static void check(CUresult result, int line) {
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "control.c:%d: error %d\n", line, (int)result);
        exit(1);
    }
}

#define OK(call) check((call), __LINE__)

static double nanoseconds(struct timespec from, struct timespec to) {
    return (double)((to.tv_sec - from.tv_sec) * 1000000000LL + (to.tv_nsec - from.tv_nsec));
}

/* Times a call of a round, and checks it when the clock has stopped. */
#define TIMED(index, call)                           \
    do {                                             \
        struct timespec from, to;                    \
        clock_gettime(CLOCK_MONOTONIC, &from);       \
        CUresult result = (call);                    \
        clock_gettime(CLOCK_MONOTONIC, &to);         \
        check(result, __LINE__);                     \
        sample[index] = nanoseconds(from, to);       \
    } while (0)

static void *library;

static void *function(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "control.c: the driver has no %s\n", name);
        exit(1);
    }
    return found;
}

/* Looks the functions up. To be called once, before the first round. */
void control_open(void) {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "control.c: %s\n", dlerror());
        exit(1);
    }
    cu.mem_create = function("cuMemCreate");
    cu.mem_address_reserve = function("cuMemAddressReserve");
    cu.mem_map = function("cuMemMap");
    cu.mem_set_access = function("cuMemSetAccess");
    cu.mem_export = function("cuMemExportToShareableHandle");
    cu.mem_import = function("cuMemImportFromShareableHandle");
    cu.mem_unmap = function("cuMemUnmap");
    cu.mem_address_free = function("cuMemAddressFree");
    cu.mem_release = function("cuMemRelease");
}

/* The calls once, on a device whose context is current. Gives the time of each, in nanoseconds. */
void control_round(double *sample, size_t size, int device) {
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    const CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle handle, imported;
    CUdeviceptr ptr;
    int descriptor = -1;
    TIMED(0, cu.mem_create(&handle, size, &prop, 0));
    TIMED(1, cu.mem_address_reserve(&ptr, size, 0, 0, 0));
    TIMED(2, cu.mem_map(ptr, size, 0, handle, 0));
    TIMED(3, cu.mem_set_access(ptr, size, &access, 1));
    TIMED(4, cu.mem_export(&descriptor, handle, type, 0));
    TIMED(5, cu.mem_import(&imported, (void *)(size_t)descriptor, type));
    OK(cu.mem_release(imported));
    TIMED(6, cu.mem_unmap(ptr, size));
    TIMED(7, cu.mem_address_free(ptr, size));
    close(descriptor);
    TIMED(8, cu.mem_release(handle));
}
