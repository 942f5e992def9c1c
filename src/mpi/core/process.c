/* What all files of the layer know of this process (struct lmpi_process), the MPI's own functions, and the endpoints of the context. */
#include "mpi/core/process.h"

#include "mpi/core/real.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct lmpi_process lmpi_process = {.why_not = "MPI_Init has not been called",
                                    .comm = MPI_COMM_NULL,
                                    .self = MPI_COMM_NULL};
static uccs_endpoint_t *endpoints; /* by rank; cas */

#define PAGE 4096 /* at least */

void *lmpi_rows_new(int n, size_t row_bytes)
{
    const size_t bytes = ((size_t)n * row_bytes + 63) & ~(size_t)63;
    if (bytes <= PAGE) {
        void *rows = aligned_alloc(64, bytes);
        return rows ? memset(rows, 0, bytes) : 0;
    }
    void *rows = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (rows == MAP_FAILED)
        return 0;
    madvise(rows, bytes, MADV_NOHUGEPAGE); /* one row would take a huge page */
    return rows;
}

void lmpi_rows_free(void *rows, int n, size_t row_bytes)
{
    const size_t bytes = ((size_t)n * row_bytes + 63) & ~(size_t)63;
    if (bytes <= PAGE)
        free(rows);
    else if (rows)
        munmap(rows, bytes);
}

bool lmpi_endpoints_begin(int ranks)
{
    endpoints = lmpi_rows_new(ranks, sizeof *endpoints);
    return endpoints;
}

void lmpi_endpoints_end(void)
{
    lmpi_rows_free(endpoints, lmpi_process.ranks, sizeof *endpoints);
    endpoints = 0;
}

uccs_endpoint_t lmpi_endpoint(int world_rank)
{
    uccs_endpoint_t seen = __atomic_load_n(&endpoints[world_rank], __ATOMIC_ACQUIRE), made; /* release: the exchange */
    if (seen)
        return seen;
    if (uccs_endpoint_create(lmpi_process.context, UCCS_GROUP_WORLD, world_rank, &made) != UCCS_OK)
        return 0;
    if (__atomic_compare_exchange_n(&endpoints[world_rank], &seen, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    uccs_endpoint_release(made);
    return seen;
}

int lmpi_verbose(void)
{
    const char *wish = getenv("LATERAL_MPI");
    return wish && strcmp(wish, "verbose") == 0;
}

void lmpi_log(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "lateral-mpi: rank %d: %s\n", lmpi_process.rank, text);
}

void lmpi_unreachable(const char *what, int world_rank, int status)
{
    lmpi_log("%s of rank %d cannot be reached: %s", what, world_rank, uccs_status_text(status));
    lmpi_process.aborting = true;
    lmpi_real.Abort(MPI_COMM_WORLD, 1);
}

struct lmpi_real lmpi_real;

static void *find_behind(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "lateral-mpi: the MPI behind this library lacks %s; is it " LMPI_MPI "?\n", name);
        abort();
    }
    return found;
}

/* Before the program's own constructors, which may call MPI. */
__attribute__((constructor(101))) static void find_all(void)
{
#define LMPI_ROW(name) lmpi_real.name = (__typeof__(lmpi_real.name))find_behind("PMPI_" #name);
#include "mpi/core/taken.def"
#undef LMPI_ROW
}
