/* A profiling library: counts calls and bytes from every PE to every PE, and at shmem_finalize writes
 * them as a table (matrix.csv) and as a picture (matrix.png; MATRIX_OUT names another stem).
 *
 * Like every profiling library it defines shmem_X, counts, and calls pshmem_X. Link it before
 * the OpenSHMEM library, or start any program with oshrun -x LD_PRELOAD=.../libshmem-matrix.so ./program */
#include "matrix.h"
#include "png.h"

#include <pshmem.h>
#include <stdio.h>
#include <stdlib.h>

struct cell {
    long calls, bytes;
};

static struct cell *row; /* mine: one cell for each target */

static void make_row(void)
{
    struct cell *fresh = calloc((size_t)pshmem_n_pes(), sizeof *fresh), *none = 0;
    if (!__atomic_compare_exchange_n(&row, &none, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        free(fresh); /* another thread was first */
}

void matrix_count(int pe, size_t bytes)
{
    if (!__atomic_load_n(&row, __ATOMIC_ACQUIRE))
        make_row();
    if (pe < 0 || pe >= pshmem_n_pes())
        return; /* the library will say so */
    __atomic_fetch_add(&row[pe].calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&row[pe].bytes, (long)bytes, __ATOMIC_RELAXED);
}

int matrix_world(shmem_ctx_t ctx, int pe)
{
    shmem_team_t team;
    return pshmem_ctx_get_team(ctx, &team) ? -1 : pshmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
}

static void write_table(const struct cell *all, int npes, const char *stem)
{
    char name[512];
    snprintf(name, sizeof name, "%s.csv", stem);
    FILE *file = fopen(name, "w");
    if (!file) {
        perror(name);
        return;
    }
    fputs("from,to,calls,bytes\n", file);
    for (int i = 0; i < npes * npes; i++)
        if (all[i].calls)
            fprintf(file, "%d,%d,%ld,%ld\n", i / npes, i % npes, all[i].calls, all[i].bytes);
    fclose(file);
}

/* White is nothing, dark is the most; rows send, columns receive. */
static void write_picture(const struct cell *all, int npes, const char *stem)
{
    int scale = npes >= 256 ? 2 : 512 / npes;
    long most = 1;
    for (int i = 0; i < npes * npes; i++)
        most = all[i].bytes > most ? all[i].bytes : most;
    unsigned char *grey = malloc((size_t)npes * npes * scale * scale);
    for (int y = 0; grey && y < npes * scale; y++)
        for (int x = 0; x < npes * scale; x++) {
            long bytes = all[y / scale * npes + x / scale].bytes;
            int edge = scale > 8 && (x % scale == 0 || y % scale == 0);
            grey[(size_t)y * npes * scale + x] = (unsigned char)(edge    ? 200
                                                                 : bytes ? 220 - 220 * ((double)bytes / most)
                                                                         : 255);
        }
    char name[512];
    snprintf(name, sizeof name, "%s.png", stem);
    if (!grey || png_write(name, grey, npes * scale, npes * scale) != 0)
        perror(name);
    free(grey);
}

void shmem_finalize(void)
{
    int me = pshmem_my_pe(), npes = pshmem_n_pes();
    struct cell *all = pshmem_calloc((size_t)npes * npes, sizeof *all);
    if (!row)
        make_row();
    if (all) {
        pshmem_putmem(&all[me * npes], row, (size_t)npes * sizeof *row, 0);
        pshmem_barrier_all();
        const char *stem = getenv("MATRIX_OUT") ? getenv("MATRIX_OUT") : "matrix";
        if (me == 0) {
            write_table(all, npes, stem);
            write_picture(all, npes, stem);
            fprintf(stderr, "communication matrix: %s.png, %s.csv\n", stem, stem);
        }
        pshmem_free(all);
    }
    pshmem_finalize();
}
