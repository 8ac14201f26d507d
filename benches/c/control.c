/* The calls in the life of one allocation, timed from C: what `peermap bench --suite control` measures, without any of our code.
 *
 * Same calls, same order, same clock as `crates/bench/src/control/lifecycle.rs`, in a process that was set up as there: each device
 * (eight at most) has a context, that of the first one is current. The functions are looked up in the driver library by the names
 * that peermap uses, so that neither side calls a newer version of one.
 *
 * nvcc -O2 -o control control.c -ldl && ./control SIZE_IN_MIB WARM_UP SAMPLES
 *
 * Prints every sample, in nanoseconds, for `peermap import samples`.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLS 9
#define MOST_DEVICES 8

static const char *const names[CALLS] = {
    "cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess", "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle", "cuMemUnmap", "cuMemAddressFree", "cuMemRelease",
};

static struct {
    CUresult (*init)(unsigned);
    CUresult (*device_get_count)(int *);
    CUresult (*device_get)(CUdevice *, int);
    CUresult (*ctx_create)(CUcontext *, unsigned, CUdevice);
    CUresult (*ctx_set_current)(CUcontext);
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

static void load(void) {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "control.c: %s\n", dlerror());
        exit(1);
    }
    cu.init = function("cuInit");
    cu.device_get_count = function("cuDeviceGetCount");
    cu.device_get = function("cuDeviceGet");
    cu.ctx_create = function("cuCtxCreate_v2");
    cu.ctx_set_current = function("cuCtxSetCurrent");
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

/* A context on each device, that of the first one current. */
static CUdevice set_up(void) {
    CUdevice devices[MOST_DEVICES];
    CUcontext contexts[MOST_DEVICES];
    int count;
    OK(cu.init(0));
    OK(cu.device_get_count(&count));
    if (count < 1) {
        fprintf(stderr, "control.c: there is no device\n");
        exit(1);
    }
    for (int ordinal = 0; ordinal < count && ordinal < MOST_DEVICES; ordinal++) {
        OK(cu.device_get(&devices[ordinal], ordinal));
        OK(cu.ctx_create(&contexts[ordinal], 0, devices[ordinal]));
    }
    OK(cu.ctx_set_current(contexts[0]));
    return devices[0];
}

static void round_of(double *sample, size_t size, const CUmemAllocationProp *prop, const CUmemAccessDesc *access) {
    const CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle handle, imported;
    CUdeviceptr ptr;
    int descriptor = -1;
    TIMED(0, cu.mem_create(&handle, size, prop, 0));
    TIMED(1, cu.mem_address_reserve(&ptr, size, 0, 0, 0));
    TIMED(2, cu.mem_map(ptr, size, 0, handle, 0));
    TIMED(3, cu.mem_set_access(ptr, size, access, 1));
    TIMED(4, cu.mem_export(&descriptor, handle, type, 0));
    TIMED(5, cu.mem_import(&imported, (void *)(size_t)descriptor, type));
    OK(cu.mem_release(imported));
    TIMED(6, cu.mem_unmap(ptr, size));
    TIMED(7, cu.mem_address_free(ptr, size));
    close(descriptor);
    TIMED(8, cu.mem_release(handle));
}

static void print(double (*samples)[CALLS], long count, size_t mebibytes) {
    int is_gibibytes = mebibytes % 1024 == 0;
    printf("{\"benchmarks\": [");
    for (int call = 0; call < CALLS; call++) {
        printf("%s\n{\"suite\": \"control\", \"name\": \"%s\", \"parameters\": {\"memory\": \"own\", \"size\": \"%zu %s\"}, ",
               call ? "," : "", names[call], is_gibibytes ? mebibytes / 1024 : mebibytes, is_gibibytes ? "GiB" : "MiB");
        printf("\"unit\": \"ns\", \"samples\": [");
        for (long index = 0; index < count; index++) printf("%s%.0f", index ? ", " : "", samples[index][call]);
        printf("]}");
    }
    printf("\n]}\n");
}

int main(int count, char **arguments) {
    long numbers[3] = {0, 0, 0};
    for (int index = 0; index < 3 && index + 1 < count; index++) numbers[index] = strtol(arguments[index + 1], NULL, 10);
    if (count != 4 || numbers[0] < 1 || numbers[1] < 0 || numbers[2] < 1) {
        fprintf(stderr, "usage: control SIZE_IN_MIB WARM_UP SAMPLES\n");
        return 2;
    }
    size_t size = (size_t)numbers[0] << 20;
    double(*samples)[CALLS] = calloc((size_t)numbers[2], sizeof *samples);
    if (!samples) {
        fprintf(stderr, "control.c: there is no memory for %ld samples\n", numbers[2]);
        return 1;
    }
    load();
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = set_up();
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    double unused[CALLS];
    for (long round = 0; round < numbers[1]; round++) round_of(unused, size, &prop, &access);
    for (long round = 0; round < numbers[2]; round++) round_of(samples[round], size, &prop, &access);
    print(samples, numbers[2], (size_t)numbers[0]);
    return 0;
}
