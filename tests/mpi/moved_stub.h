/* The layer's pieces of memory, and pages that move, compiled into a test: the substrate is a file of memory for each object, whose place
 * the test chooses. */
#ifndef MPI_TEST_MOVED_STUB_H
#define MPI_TEST_MOVED_STUB_H
#define MPI_REAL_H /* the layer's calls of MPI_Alloc_mem have names of their own here */
#define LMPI_EXPORT static __attribute__((unused))
#define LMPI_NAME(name) _Static_assert(1, "")
#include "check.h"

#include <pthread.h>
#include <sys/syscall.h>

static int locks_held;
static int maps_left = -1; /* all go well */

static int maps_fail(long number)
{
    return number == SYS_mremap && maps_left >= 0 && maps_left-- == 0;
}
/* The layer's lock is taken and given back in turn. */
#define pthread_mutex_lock(mutex) (CHECK_EQ(locks_held++, 0), pthread_mutex_lock(mutex))
#define pthread_mutex_unlock(mutex) (CHECK_EQ(--locks_held, 0), pthread_mutex_unlock(mutex))
#define syscall(number, ...) (maps_fail(number) ? -1 : (syscall)(number, __VA_ARGS__))
#define MPI_Alloc_mem layer_alloc
#define MPI_Free_mem layer_free

static int real_alloc(MPI_Aint size, MPI_Info info, void *base);
static int real_free(void *base);
static struct {
    int (*Alloc_mem)(MPI_Aint, MPI_Info, void *);
    int (*Free_mem)(void *);
} lmpi_real = {real_alloc, real_free};

#include "../../src/mpi/adopt.c"
#include "../../src/mpi/memory.c"
#include "../../src/mpi/touched.c"

#include <sys/wait.h>

enum { OFF = 192 }; /* of an object's bytes in its first page */

struct uccs_region {
    char *map;
    size_t length;
    int file;
};
struct lmpi_life lmpi_life;
static bool taken = true; /* every thread takes SIGSEGV */
static bool no_object;
static char *next_map_at; /* where the next object lies; null: anywhere */
static int objects, reals;
static size_t page;

bool lmpi_faults_taken(void)
{
    return taken;
}

static size_t pages_in(size_t bytes)
{
    return (bytes + page - 1) / page * page;
}

int uccs_memory_allocate(uccs_context_t context, size_t length, uccs_memory_t *memory)
{
    struct uccs_region *made = calloc(1, sizeof *made);
    (void)context;
    if (no_object) {
        free(made);
        return UCCS_ERR_NO_MEMORY;
    }
    made->file = memfd_create("object", 0);
    made->length = length;
    CHECK(made->file >= 0 && ftruncate(made->file, (off_t)pages_in(length + OFF)) == 0);
    made->map = mmap(next_map_at, pages_in(length + OFF), PROT_READ | PROT_WRITE,
                     MAP_SHARED | (next_map_at ? MAP_FIXED : 0), made->file, 0);
    CHECK(made->map != MAP_FAILED);
    *memory = made;
    objects++;
    return UCCS_OK;
}

int uccs_memory_query(uccs_memory_t memory, struct uccs_memory_attr *attr)
{
    *attr = (struct uccs_memory_attr){.address = memory->map + (next_map_at ? 0 : OFF), .length = memory->length};
    return UCCS_OK;
}

int uccs_memory_release(uccs_memory_t memory)
{
    munmap(memory->map, pages_in(memory->length + OFF));
    close(memory->file);
    free(memory);
    objects--;
    return UCCS_OK;
}

static int real_alloc(MPI_Aint size, MPI_Info info, void *base)
{
    (void)size, (void)info, (void)base;
    reals++;
    return MPI_SUCCESS;
}

static int real_free(void *base)
{
    (void)base;
    reals++;
    return MPI_ERR_BASE;
}

/* A call without a result, which a report names when it does not end. */
#define RETURNS(call) CHECK_EQ(((call), 0), 0)

static char *room(size_t pages_of_room)
{
    char *made = mmap(0, (pages_of_room + 2) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(made != MAP_FAILED);
    munmap(made, page); /* no other map begins or ends here */
    munmap(made + (pages_of_room + 1) * page, page);
    return made + page;
}

static void fill(char *at, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)(i * 7 + i / page + (size_t)seed);
}

static bool is_filled(const char *at, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != (char)(i * 7 + i / page + (size_t)seed))
            return false;
    return true;
}

static inline void begin(void)
{
    check_start(MPI_THREAD_SINGLE);
    page = (size_t)sysconf(_SC_PAGESIZE);
}

#endif
