/* OpenSHMEM and CUDA on the host's side: the symmetric heap is registered with CUDA, so that copies between a GPU and the heap need no
 * other buffer. The program finds CUDA when it starts, and runs without. docs/guide/hybrids.md explains it. */
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20, TO_DEVICE = 1, TO_HOST = 2 };

static struct {
    int (*host_register)(void *, size_t, unsigned), (*host_unregister)(void *);
    int (*set_device)(int), (*malloc)(void **, size_t), (*free)(void *);
    int (*memcpy)(void *, const void *, size_t, int);
} cuda;

static int find_cuda(void)
{
    void *library = dlopen("libcudart.so", RTLD_NOW);
    if (!library)
        return 0;
    *(void **)&cuda.host_register = dlsym(library, "cudaHostRegister");
    *(void **)&cuda.host_unregister = dlsym(library, "cudaHostUnregister");
    *(void **)&cuda.set_device = dlsym(library, "cudaSetDevice");
    *(void **)&cuda.malloc = dlsym(library, "cudaMalloc");
    *(void **)&cuda.free = dlsym(library, "cudaFree");
    *(void **)&cuda.memcpy = dlsym(library, "cudaMemcpy");
    return cuda.host_register && cuda.host_unregister && cuda.set_device && cuda.malloc && cuda.free && cuda.memcpy;
}

int main(void)
{
    shmem_init();
    const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    char *inbox = shmem_malloc(BYTES), *outbox = shmem_malloc(BYTES);
    void *device = 0;
    const int gpu = find_cuda() && cuda.set_device(0) == 0 && cuda.host_register(inbox, BYTES, 0) == 0 &&
                    cuda.host_register(outbox, BYTES, 0) == 0 && cuda.malloc(&device, BYTES) == 0;
    memset(outbox, me + 1, BYTES);
    shmem_putmem(inbox, outbox, BYTES, next);
    shmem_barrier_all();
    if (gpu) { /* through the device and back */
        cuda.memcpy(device, inbox, BYTES, TO_DEVICE);
        cuda.memcpy(outbox, device, BYTES, TO_HOST);
    } else {
        memcpy(outbox, inbox, BYTES);
    }
    printf("PE %d: %d in every byte\n", me, memcmp(outbox, outbox + 1, BYTES - 1) == 0 ? outbox[0] : -1);
    if (gpu) {
        cuda.free(device);
        cuda.host_unregister(inbox);
        cuda.host_unregister(outbox);
    }
    shmem_finalize();
    return 0;
}
