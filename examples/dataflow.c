/* Longest common subsequence of two texts, by a dataflow runtime on uccs.h (dataflow/runtime.h) beside OpenSHMEM in one process.
 * The table is cut into tiles. A tile is a task: it needs the last row of the tile above it and the last column of the tile to
 * its left, so tiles run in a wave, and processes that run out of tiles steal some. The texts lie in OpenSHMEM's symmetric heap,
 * a piece at each PE: a task gets the letters it needs from wherever they are, while messages of the runtime come and go on the
 * same network, served by the same thread. PE 0 compares the result with a plain loop.
 *   oshcc dataflow.c -o dataflow && oshrun -n 4 ./dataflow
 *
 * The tests run it so:
 *   prints: PASS
 *   case: poll
 *   case: thread
 *   env: LATERAL_PROGRESS=thread
 */
#include <shmem.h>

#include "dataflow/net_uccs.h"
#include "dataflow/runtime.h"

enum { TILE = 64, TILES = 24, LENGTH = TILE * TILES };

/* What a tile hands on: the values along its last row and its last column; [0] is the value before their first cell. */
struct edges {
    int row[TILE + 1], column[TILE + 1];
};

static char *texts[2]; /* symmetric: PE p has the letters [p * share, (p + 1) * share) */
static int share;

static char letter_of(int text, int at)
{
    return (char)('a' + ((unsigned)at * (text ? 2246822519u : 2654435761u) >> 15) % 4);
}

static void get_letters(int text, int from, char *letters)
{
    for (int at = 0, n; at < TILE; at += n) {
        const int pe = (from + at) / share, offset = (from + at) % share;
        n = TILE - at < share - offset ? TILE - at : share - offset;
        shmem_getmem(letters + at, texts[text] + offset, (size_t)n, pe);
    }
}

static uint64_t key_of(int i, int j)
{
    return (uint64_t)i * TILES + (uint64_t)j;
}

static int home_of(uint64_t key)
{
    return (int)(key / TILES) % net_size; /* rows are dealt out in turn */
}

/* above[j] and left[i] are the neighbours' values; null: zeros. */
static void fill_tile(const char *down, const char *along, const int *above, const int *left, struct edges *edges)
{
    int row[TILE + 1], before[TILE + 1];
    for (int j = 0; j <= TILE; j++)
        before[j] = above ? above[j] : 0;
    edges->column[0] = before[TILE];
    for (int i = 1; i <= TILE; i++) {
        row[0] = left ? left[i] : 0;
        for (int j = 1; j <= TILE; j++) {
            const int most = before[j] > row[j - 1] ? before[j] : row[j - 1];
            row[j] = down[i - 1] == along[j - 1] ? before[j - 1] + 1 : most;
        }
        edges->column[i] = row[TILE];
        memcpy(before, row, sizeof row);
    }
    memcpy(edges->row, before, sizeof before);
}

static void tile(uint64_t key, void *output, const void *const *inputs)
{
    const int i = (int)(key / TILES), j = (int)(key % TILES);
    const struct edges *above = i ? inputs[0] : NULL, *left = j ? inputs[i > 0] : NULL;
    char down[TILE], along[TILE];
    get_letters(0, i * TILE, down);
    get_letters(1, j * TILE, along);
    fill_tile(down, along, above ? above->row : NULL, left ? left->column : NULL, output);
}

static int plain_loop(void)
{
    static int row[LENGTH + 1];
    for (int i = 1; i <= LENGTH; i++) {
        int corner = 0; /* the value above and to the left */
        for (int j = 1; j <= LENGTH; j++) {
            const int above = row[j], most = above > row[j - 1] ? above : row[j - 1];
            row[j] = letter_of(0, i - 1) == letter_of(1, j - 1) ? corner + 1 : most;
            corner = above;
        }
    }
    return row[LENGTH];
}

static void make_texts(int me, int npes)
{
    share = (LENGTH + npes - 1) / npes;
    for (int text = 0; text < 2; text++) {
        texts[text] = shmem_malloc((size_t)share);
        for (int at = 0; at < share; at++)
            texts[text][at] = letter_of(text, me * share + at);
    }
    shmem_barrier_all();
}

static int longest(void)
{
    static const df_kernel kernels[] = {tile};
    static int result; /* symmetric, as globals are */
    df_start(kernels, home_of);
    for (int i = 0; i < TILES; i++)
        for (int j = 0; j < TILES; j++) {
            const uint64_t up = i ? key_of(i - 1, j) : 0, left = j ? key_of(i, j - 1) : 0;
            df_task(0, key_of(i, j), sizeof(struct edges), (uint32_t)((i > 0) + (j > 0)),
                    (const uint64_t[]){i ? up : left, left});
        }
    df_run();
    if (home_of(key_of(TILES - 1, TILES - 1)) == net_me)
        shmem_int_p(&result, ((const struct edges *)df_value(key_of(TILES - 1, TILES - 1)))->row[TILE], 0);
    df_end();
    shmem_barrier_all();
    return result;
}

int main(void)
{
    static long ran, all_ran, stolen, all_stolen;
    shmem_init();
    net_check(uccs_init(), "uccs_init");
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    make_texts(me, npes);
    const int length = longest();
    ran = (long)df.ran;
    stolen = (long)df.stolen;
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_ran, &ran, 1);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_stolen, &stolen, 1);
    bool right = true;
    if (me == 0) {
        right = length == plain_loop() && all_ran == TILES * TILES;
        printf("longest common subsequence of two texts of %d letters: %d; %ld tasks, %ld of them stolen\n%s\n", LENGTH,
               length, all_ran, all_stolen, right ? "PASS" : "FAIL");
    }
    shmem_free(texts[1]);
    shmem_free(texts[0]);
    net_check(uccs_finalize(), "uccs_finalize");
    shmem_finalize();
    return !right;
}
