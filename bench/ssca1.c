/* SSCA#1, pairwise local alignment of two codon sequences (the application of Boehm et al. 2016). Reports the milliseconds of kernel
 * 1, which finds all good endings, in every mode. It verifies each.
 *
 *   blocking       per cell: 5 gets, 3 puts; barrier_all after each anti-diagonal
 *   nbi            the same with _nbi and a quiet before the gets are used
 *   request        a request for each get and put; waits for the puts at the end of the diagonal
 *   merge          the same with new requests each time, which shmemx_request_merge makes one; the cell waits for its gets,
 *                  the diagonal for its puts
 *   merged         one request for the cell's gets, one for the puts of the diagonal
 *   block          one request for the gets of 64 cells, one for all puts; in place of the barrier a PE counts at
 *                  the PEs that will read its data, and waits for the PEs whose data it reads
 *
 * Where there are no requests and counters, `block` uses _nbi with a quiet, and a flag for each PE in place of a counter.
 *
 *   ssca1 [SCALE] [--quick]        sequences of 2^(SCALE/2) codons and the planted ones; default 18
 *
 * Cell (m, n) lies on diagonal m + n. H, E, F of a diagonal are stored by m, block-distributed like the sequences. The
 * PEs share the cells of a diagonal evenly, so most data lies on other PEs. With G = H(m-1, n-1) + W(m, n): H = max(0,
 * E, F, G), E(m+1, n) = max(E - 2, G - 7), F(m, n+1) = max(F - 2, G - 7). */
#include "bench.h"

#include "ssca1.h"

enum mode { BLOCKING, NBI, REQUEST, MERGE, MERGED, BLOCK };
static const char *const mode_names[] = {"blocking", "nbi", "request", "merge", "merged", "block"};
enum { MODES = 6, GETS = 5, PUTS = 3, CELLS = 64 };

static int runs_here(int mode)
{
    return BENCH_REQUESTS || mode == BLOCKING || mode == NBI || mode == BLOCK;
}

static int length, block;                   /* codons of a sequence, and its codons on one PE */
static int *codons[2];                      /* symmetric blocks: main and match sequence */
static int *row_h[3], *row_e[2], *row_f[2]; /* symmetric blocks of rolling diagonals */
static int *owners, *offsets;               /* of each index; tables keep divisions out of the cells */
static shmemx_request_t requests[GETS];
static shmemx_request_t *put_requests; /* of a diagonal: three for each cell, or one */
static struct endings endings;
static long wrong;
static shmemx_ct_t done_by[SSCA1_MOST_PES]; /* counts the diagonals that each PE has told this PE of */
static long told[SSCA1_MOST_PES];           /* the number of those that this PE has waited for */

struct cell {
    int a, b, h, e, f; /* codons; H of two diagonals ago; gaps */
};

static inline void get(enum mode mode, int *to, const int *array, int index, shmemx_request_t *request)
{
    const int *from = array + offsets[index], pe = owners[index];
    if (mode == BLOCKING)
        shmem_int_get(to, from, 1, pe);
    else if (mode == NBI)
        shmem_int_get_nbi(to, from, 1, pe);
    else
        shmemx_int_get_nbe(to, from, 1, pe, request);
}

static inline void put(enum mode mode, int *array, int index, const int *from, shmemx_request_t *request)
{
    int *to = array + offsets[index], pe = owners[index];
    if (mode == BLOCKING)
        shmem_int_put(to, from, 1, pe);
    else if (mode == NBI)
        shmem_int_put_nbi(to, from, 1, pe);
    else
        shmemx_int_put_nbe(to, from, 1, pe, request);
}

static inline void get_cell(enum mode mode, struct cell *c, int diagonal, int m)
{
    shmemx_request_t *r = requests;
    int n = diagonal - m, each = mode == REQUEST || mode == MERGE;
    c->h = 0;
    c->e = c->f = SSCA1_NO_GAP;
    get(mode, &c->a, codons[0], m, r);
    get(mode, &c->b, codons[1], n, r + each);
    if (m > 0 && n > 0)
        get(mode, &c->h, row_h[(diagonal + 1) % 3], m - 1, r + 2 * each);
    if (m > 0)
        get(mode, &c->e, row_e[diagonal % 2], m, r + 3 * each);
    if (n > 0)
        get(mode, &c->f, row_f[diagonal % 2], m, r + 4 * each);
}

static inline void put_cell(enum mode mode, const struct cell *c, int diagonal, int m, shmemx_request_t *r)
{
    int each = mode == REQUEST || mode == MERGE;
    put(mode, row_h[diagonal % 3], m, &c->h, r);
    if (m + 1 < length)
        put(mode, row_e[(diagonal + 1) % 2], m + 1, &c->e, r + each);
    put(mode, row_f[(diagonal + 1) % 2], m, &c->f, r + 2 * each);
}

static void merge(shmemx_request_t *r, int count)
{
    shmemx_request_t whole = {0};
    shmemx_request_merge(&whole, (size_t)count, r);
    shmemx_request_wait_free(&whole);
}

/* Completes the operations issued with these requests, or without any. */
static inline void complete(enum mode mode, shmemx_request_t *r, int count)
{
    if (mode == MERGE)
        merge(r, count);
    else if (mode == NBI)
        shmem_quiet();
    else if (mode == REQUEST)
        shmemx_request_wait_all(r, (size_t)count, NULL);
    else if (mode > REQUEST)
        shmemx_request_wait(r);
}

static int codon_at(int sequence, int index)
{
    return shmem_int_g(codons[sequence] + offsets[index], owners[index]);
}

/* Keeps an ending if the pair itself is the best way to this cell, the score is good enough, and the next pair does not
 * go on. */
static void maybe_ending(int m, int n, int score, int pair)
{
    if (score <= SSCA1_MIN_SCORE || pair <= 0)
        return;
    if (m + 1 < length && n + 1 < length && ssca1_pair(codon_at(0, m + 1), codon_at(1, n + 1)) > 0)
        return;
    ssca1_keep(&endings, (struct ending){score, m, n});
}

static inline void compute(struct cell *c, int m, int n)
{
    int pair = ssca1_pair(c->a, c->b), g = c->h + pair, best = c->e > c->f ? c->e : c->f;
    best = best > g ? best : g;
    if (best == g)
        maybe_ending(m, n, g, pair);
    c->h = best > 0 ? best : 0;
    c->e = c->e - 2 > g - 7 ? c->e - 2 : g - 7;
    c->f = c->f - 2 > g - 7 ? c->f - 2 : g - 7;
}

/* Gives the cells of a diagonal that a PE computes: m from first to last - 1. */
static void share(int diagonal, int pe, int *first, int *last)
{
    int low = diagonal < length ? 0 : diagonal - length + 1, high = diagonal < length ? diagonal : length - 1;
    long cells = high - low + 1;
    *first = low + (int)(cells * pe / bench.pes);
    *last = low + (int)(cells * (pe + 1) / bench.pes);
}

static inline void cell_by_cell(enum mode mode, int diagonal, int first, int last)
{
    struct cell c;
    for (int m = first; m < last; m++) {
        get_cell(mode, &c, diagonal, m);
        complete(mode, requests, GETS);
        compute(&c, m, diagonal - m);
        put_cell(mode, &c, diagonal, m, put_requests + (mode == REQUEST || mode == MERGE ? PUTS * (m - first) : 0));
    }
}

static void block_of_cells(int diagonal, int first, int last)
{
    struct cell c[CELLS];
    for (int m = first; m < last; m++)
        get_cell(BLOCK, &c[m - first], diagonal, m);
    complete(BLOCK, requests, GETS);
    for (int m = first; m < last; m++) {
        compute(&c[m - first], m, diagonal - m);
        put_cell(BLOCK, &c[m - first], diagonal, m, put_requests);
    }
}

/* Returns 1 if the cells of `pe` on the diagonal touch data that `of` reads or overwrites on the next one, else 0.
 * Neighbouring cells share data. */
static int matters(int diagonal, int pe, int of)
{
    int first, last, next_first, next_last;
    share(diagonal, pe, &first, &last);
    share(diagonal + 1, of, &next_first, &next_last);
    return first < last && next_first < next_last && first <= next_last && last > next_first - 1;
}

/* Waits for neighbours only, in place of a barrier. Data two diagonals old needs no count of its own: the PE that has
 * the cell between has waited for its writer, and is itself waited for. */
static void tell_and_wait(int diagonal)
{
    for (int pe = 0; pe < bench.pes; pe++)
        if (pe != bench.me && matters(diagonal, bench.me, pe))
            shmemx_ct_add(done_by[bench.me], 1, pe);
    for (int pe = 0; pe < bench.pes; pe++)
        if (pe != bench.me && matters(diagonal, pe, bench.me))
            shmemx_ct_wait(done_by[pe], ++told[pe]);
}

static inline void diagonals(enum mode mode)
{
    for (int diagonal = 0; diagonal < 2 * length - 1; diagonal++) {
        int first, last;
        share(diagonal, bench.me, &first, &last);
        if (mode < BLOCK)
            cell_by_cell(mode, diagonal, first, last);
        for (int m = first, end; mode == BLOCK && m < last; m = end) {
            end = last - m < CELLS ? last : m + CELLS;
            block_of_cells(diagonal, m, end);
        }
        if (mode != NBI) /* the barrier completes those; it would complete the others too */
            complete(mode, put_requests, PUTS * (last - first));
        if (mode < BLOCK)
            shmem_barrier_all();
        else
            tell_and_wait(diagonal);
    }
}

static void kernel1(enum mode mode)
{
    switch (mode) { /* each mode has its own copy of the loops */
    case BLOCKING: diagonals(BLOCKING); break;
    case NBI: diagonals(NBI); break;
    case REQUEST: diagonals(REQUEST); break;
    case MERGE: diagonals(MERGE); break;
    case MERGED: diagonals(MERGED); break;
    default: diagonals(BLOCK);
    }
    shmem_barrier_all();
    ssca1_gather(&endings);
}

/* Every mode must find the endings that the first mode found, and the planted ones on top. */
static void verify(enum mode mode)
{
    static unsigned long first_sum;
    unsigned long sum = ssca1_sum(&endings);
    if (mode == BLOCKING)
        first_sum = sum;
    if (sum == first_sum && ssca1_planted(&endings, length))
        return;
    fprintf(stderr, "ssca1: PE %d: %s: %s\n", bench.me, mode_names[mode],
            sum != first_sum ? "other endings than the blocking mode" : "not the planted endings on top");
    wrong++;
}

static void measure(int repetitions)
{
    double times[MODES][BENCH_MOST_BATCHES];
    for (int r = 0; r < repetitions; r++)
        for (int mode = 0; mode < MODES; mode++) {
            if (!runs_here(mode))
                continue;
            endings.count = 0;
            shmem_barrier_all();
            double start = bench_now();
            kernel1((enum mode)mode);
            times[mode][r] = (bench_now() - start) * 1e-6;
            verify((enum mode)mode);
        }
    for (int mode = 0; mode < MODES; mode++)
        if (runs_here(mode))
            bench_result(bench_median(times[mode], repetitions), "ms", "k1.%s", mode_names[mode]);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv);
    int scale = argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : bench.quick ? 14 : 18;
    length = ssca1_length(scale) / bench.pes * bench.pes;
    block = length / bench.pes;
    put_requests = bench_need(calloc(PUTS * (size_t)length, sizeof *put_requests));
    owners = bench_need(malloc((size_t)length * sizeof *owners));
    offsets = bench_need(malloc((size_t)length * sizeof *offsets));
    for (int i = 0; i < length; i++) {
        owners[i] = i / block;
        offsets[i] = i % block;
    }
    size_t bytes = (size_t)block * sizeof(int);
    for (int s = 0; s < 2; s++) {
        codons[s] = bench_need(shmem_malloc(bytes));
        row_e[s] = bench_need(shmem_malloc(bytes));
        row_f[s] = bench_need(shmem_malloc(bytes));
        ssca1_fill(codons[s], s, bench.me * block, block, length);
    }
    for (int i = 0; i < 3; i++)
        row_h[i] = bench_need(shmem_malloc(bytes));
    for (int pe = 0; pe < bench.pes; pe++)
        shmemx_ct_create(&done_by[pe]);
    shmem_barrier_all();
    measure(bench.quick ? 2 : 3);
    return bench_end("ssca1", wrong);
}
