/* The calls in the life of one allocation, timed from C: what `peermap bench --suite control` measures, without any of our code.
 *
 * Build and run on a GPU host: nvcc -O2 -o control control.c -lcuda && ./control SIZE_IN_BYTES ROUNDS
 * Prints the median of each call in nanoseconds.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLS 9

static const char *names[CALLS] = {
    "cuMemCreate", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess", "cuMemExportToShareableHandle",
    "cuMemImportFromShareableHandle", "cuMemUnmap", "cuMemAddressFree", "cuMemRelease",
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void check(CUresult result, int line) {
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "control.c:%d: error %d\n", line, result);
        exit(1);
    }
}

#define OK(call) check((call), __LINE__)
#define TIMED(index, call)                    \
    do {                                      \
        double start = now();                 \
        CUresult result = (call);             \
        samples[index][round] = now() - start; \
        check(result, __LINE__);              \
    } while (0)

static int compare(const void *one, const void *two) {
    double a = *(const double *)one, b = *(const double *)two;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: control SIZE_IN_BYTES ROUNDS\n");
        return 2;
    }
    size_t size = strtoull(arguments[1], NULL, 0);
    int rounds = atoi(arguments[2]);
    double *samples[CALLS];
    for (int call = 0; call < CALLS; call++) samples[call] = calloc(rounds, sizeof(double));
    CUdevice device;
    CUcontext context;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = 0;
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    for (int round = 0; round < rounds; round++) {
        CUmemGenericAllocationHandle handle, imported;
        CUdeviceptr ptr;
        int descriptor = -1;
        TIMED(0, cuMemCreate(&handle, size, &prop, 0));
        TIMED(1, cuMemAddressReserve(&ptr, size, 0, 0, 0));
        TIMED(2, cuMemMap(ptr, size, 0, handle, 0));
        TIMED(3, cuMemSetAccess(ptr, size, &access, 1));
        TIMED(4, cuMemExportToShareableHandle(&descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        TIMED(5, cuMemImportFromShareableHandle(&imported, (void *)(size_t)descriptor,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
        OK(cuMemRelease(imported));
        TIMED(6, cuMemUnmap(ptr, size));
        TIMED(7, cuMemAddressFree(ptr, size));
        close(descriptor);
        TIMED(8, cuMemRelease(handle));
    }
    for (int call = 0; call < CALLS; call++) {
        qsort(samples[call], rounds, sizeof(double), compare);
        printf("%s %zu %.0f\n", names[call], size, samples[call][rounds / 2]);
    }
    return 0;
}
