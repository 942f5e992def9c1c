/* The listings of the paper on counting puts, with the paper's names, as it prints them; the code around them is ours.
 * Each listing runs several times, and the test checks its result.
 */
#define SHMEMX_PAPER_NAMES
#include "../conform/check.h"

#include <shmemx.h>

enum { MOST_PES = 16, ROUNDS = 50, ROWS = 200, COLUMNS = 90 };

struct record {
    long words[16];
};

static struct record data_send[MOST_PES], data_recv[MOST_PES], data_rcv[MOST_PES];
static struct record target_buf[MOST_PES], src_buf[MOST_PES];
static int flag, ping;
static char rcv_buf[64], snd_buf[64];
static double dst[ROWS], src[ROWS];

static void fill(struct record *records, long round)
{
    for (int pe = 0; pe < npes; pe++)
        for (int i = 0; i < 16; i++)
            records[pe].words[i] = round * 10000 + me * 100 + pe;
    shmem_barrier_all();
}

static void listing_1_1(long round)
{
    int pe, NPES = npes;
    size_t data_size = sizeof(struct record);
    fill(data_send, round);
    for (pe = 0; pe < NPES; pe++)
        shmem_putmem(&data_recv[pe], &data_send[pe], data_size, pe);

    shmem_barrier_all();
    CHECK(data_recv[me].words[5] % 100 == me && data_recv[me].words[5] / 10000 == round);
    shmem_barrier_all();
}

static void listing_1_2(long round)
{
    int pe, NPES = npes;
    size_t data_size = sizeof(struct record);
    flag = NPES;
    fill(data_send, round);
    for (pe = 0; pe < NPES; pe++)
        shmem_putmem(&data_recv[pe], &data_send[pe], data_size, pe);

    shmem_fence();

    for (pe = 0; pe < NPES; pe++)
        shmem_int_add(&flag, -1, pe);

    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 0);
    CHECK(data_recv[me].words[5] % 100 == me && data_recv[me].words[5] / 10000 == round);
    shmem_barrier_all();
}

/* Listing 1.3, the interface: these are the types that it gives, but that wait returns the count, which a program of the
 * paper ignores. */
static void listing_1_3(void)
{
    void (*create)(shmem_ct_t * ct) = shmem_ct_create;
    void (*release)(shmem_ct_t * ct) = shmem_ct_free;
    long (*get)(shmem_ct_t ct) = shmem_ct_get;
    void (*set)(shmem_ct_t ct, long value) = shmem_ct_set;
    long (*wait)(shmem_ct_t ct, long wait_for) = shmem_ct_wait;
    shmem_ct_t ct;
    char word[8] = "listing", at[8];
    create(&ct);
    set(ct, 5);
    wait(ct, 5);
    CHECK_EQ(get(ct), 5);
    shmem_barrier_all();
    shmem_putmem_ct(ct, rcv_buf, word, sizeof word, next_pe);
    wait(ct, 6);
    CHECK_EQ(strcmp(rcv_buf, "listing"), 0);
    shmem_getmem_ct(ct, at, rcv_buf, sizeof at, next_pe);
    wait(ct, 7);
    shmem_barrier_all();
    CHECK_EQ(strcmp(at, "listing"), 0);
    release(&ct);
}

static void listing_1_4(long round)
{
    int pe, NPES = npes;
    size_t data_size = sizeof(struct record);
    shmem_ct_t ct;
    fill(data_send, round);
    shmem_ct_create(&ct);

    for (pe = 0; pe < NPES; pe++)
        shmem_putmem_ct(ct, &data_rcv[pe], &data_send[pe], data_size, pe);

    shmem_ct_wait(ct, NPES);
    CHECK(data_rcv[me].words[5] % 100 == me && data_rcv[me].words[5] / 10000 == round);
    shmem_ct_free(&ct);
}

static void check_exchange(long round)
{
    for (int pe = 0; pe < npes; pe++)
        for (int i = 0; i < 16; i++)
            CHECK_EQ(target_buf[pe].words[i], round * 10000 + pe * 100 + me);
    shmem_barrier_all();
}

static void listing_1_5(long round)
{
    int pe, num_pes = npes;
    size_t msg_size = sizeof(struct record);
    flag = num_pes;
    fill(src_buf, round);

    /* Initially, flag = num_pes */

    pe = me;
    do {
        shmem_putmem(&target_buf[me], &src_buf[pe], msg_size, pe);
        pe = (pe + 1) % num_pes;
    } while (pe != me);

    shmem_fence();

    pe = me;
    do {
        shmem_int_add(&flag, -1, pe);
        pe = (pe + 1) % num_pes;
    } while (pe != me);

    shmem_int_wait_until(&flag, SHMEM_CMP_EQ, 0);
    check_exchange(round);
}

/* The same with counters: a pair of them, used in turns, one being reset while the other counts. */
static void exchange_with_counters(void)
{
    shmem_ct_t pair[2];
    shmem_ct_create(&pair[0]);
    shmem_ct_create(&pair[1]);
    for (long round = 0; round < ROUNDS; round++) {
        fill(src_buf, round);
        for (int i = 0, pe = me; i < npes; i++, pe = (pe + 1) % npes)
            shmem_putmem_ct(pair[round % 2], &target_buf[me], &src_buf[pe], sizeof src_buf[pe], pe);
        shmem_ct_wait(pair[round % 2], npes);
        shmem_ct_set(pair[round % 2], 0);
        check_exchange(round);
    }
    shmem_ct_free(&pair[0]);
    shmem_ct_free(&pair[1]);
}

/* clang-format off */
/* Let vector be an array that holds the grid values; ARRAY simplifies indexing with halo elements. */
#define ARRAY(i, j) vector[i + 1 + (j) * (segment_size + 1)]

static void listing_1_6(void)
{
    int NPES = npes, PE = me, n = ROWS, i, j;
    int start[MOST_PES], end[MOST_PES];
    shmem_ct_t ct;
    for (int pe = 0; pe < NPES; pe++) {
        start[pe] = COLUMNS * pe / NPES;
        end[pe] = COLUMNS * (pe + 1) / NPES - 1;
    }
    int first = start[PE], segment_size = end[PE] - first + 1;
    double *whole = calloc((size_t)(segment_size + 1) * (size_t)n, sizeof *whole), *vector = whole - first;
    for (i = first; i <= end[PE]; i++)
        ARRAY(i, 0) = i;
    ARRAY(first - 1, 0) = first ? first - 1 : 0;
    for (j = 0; PE == 0 && j < n; j++)
        ARRAY(0, j) = j;
    if (PE == 0)
        start[0] = 1; /* column 0 is given */
    shmem_ct_create(&ct);
    shmem_barrier_all();

    for (j = 1; j < n; j++) {
        /* I am not at the left boundary; wait for my left neighbor to send data */
        if (PE > 0) {
            shmem_ct_wait(ct, j);
            ARRAY(start[PE] - 1, j) = dst[j];
        }

        for (i = start[PE]; i <= end[PE]; i++) {
            ARRAY(i, j) = ARRAY(i - 1, j) + ARRAY(i, j - 1) - ARRAY(i - 1, j - 1);
        }

        /* I am not on the right boundary; send data to my right neighbor */
        if (PE != NPES - 1) {
            src[j] = ARRAY(end[PE], j);
            shmem_putmem_ct(ct, &dst[j], &src[j], 1 * sizeof(double), PE + 1);
        }
    }

    for (j = 0; j < n; j++)
        for (i = first; i <= end[PE]; i++)
            CHECK(ARRAY(i, j) == i + j);
    free(whole);
    shmem_ct_free(&ct);
}
/* clang-format on */

/* Ping-pong of section 3.1, baseline and counting. */
static void ping_pong(void)
{
    int target = 1 - me;
    size_t msg_length = sizeof snd_buf;
    shmem_ct_t ct;
    shmem_ct_create(&ct);
    for (int round = 0; me < 2 && npes > 1 && round < 2 * ROUNDS; round++) {
        int counting = round % 4 >= 2;
        if (round % 2 == me) {
            memset(snd_buf, round + 1, sizeof snd_buf);
            if (!counting) {
                shmem_putmem(rcv_buf, snd_buf, msg_length, target);
                shmem_fence();
                shmem_int_inc(&ping, target);
            } else {
                shmem_putmem_ct(ct, rcv_buf, snd_buf, msg_length, target);
            }
            continue;
        }
        if (!counting) {
            shmem_int_wait(&ping, 0);
            ping = 0;
        } else {
            shmem_ct_wait(ct, 1);
            shmem_ct_set(ct, 0);
        }
        CHECK(rcv_buf[0] == round + 1 && rcv_buf[63] == round + 1);
    }
    shmem_ct_free(&ct);
}

int main(void)
{
    check_start();
    for (long round = 1; round <= ROUNDS; round++) {
        listing_1_1(round);
        listing_1_2(round);
        listing_1_4(round);
        listing_1_5(round);
    }
    listing_1_3();
    exchange_with_counters();
    listing_1_6();
    ping_pong();
    return check_pass();
}
