/* C11 type-generic names: the type is that of the object pointed to, never that of a value; sources may be const; with and
 * without a context; the names that are also functions are both; the old generic names work.
 * flags: -std=gnu11
 * prints: ^PASS$
 */
#include "check.h"

static shmem_ctx_t ctx;

/* A literal of type int goes into an object of any type, and comes back with the object's type. */
static void values_convert(void)
{
    static double real;
    static uint64_t natural;
    static long number;
    static unsigned char byte;
    static long double wide;
    shmem_p(&real, 3, next_pe);
    shmem_p(ctx, &natural, -1, next_pe);
    shmem_p(&byte, 'x', next_pe);
    shmem_p(&wide, 2.5f, next_pe);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(real == 3.0 && natural == UINT64_MAX && byte == 'x' && wide == 2.5L);
    shmem_barrier_all();
    shmem_atomic_add(&number, 5, next_pe);
    shmem_atomic_set(ctx, &natural, 7, next_pe);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(number == 5 && natural == 7);
    shmem_barrier_all();
    CHECK(_Generic(shmem_g(&real, me), double : 1, default : 0));
    CHECK(_Generic(shmem_g(&byte, me), unsigned char : 1, default : 0));
    CHECK(_Generic(shmem_atomic_fetch_inc(&number, me), long : 1, default : 0));
    CHECK(_Generic(shmem_atomic_swap(ctx, &natural, 0, me), uint64_t : 1, default : 0));
    shmem_barrier_all();
}

/* A const source is no other type. */
static void const_sources(void)
{
    static const int table[3] = {7, 8, 9};
    static int there[3];
    const int *view = there;
    int here[3] = {0};
    shmem_put(there, table, 3, next_pe);
    shmem_barrier_all();
    CHECK(there[0] == 7 && there[2] == 9);
    CHECK_EQ(shmem_g(view + 1, next_pe), 8);
    CHECK_EQ(shmem_g(ctx, view + 2, next_pe), 9);
    CHECK_EQ(shmem_atomic_fetch(view, next_pe), 7);
    shmem_get(here, view, 3, next_pe);
    CHECK_EQ(here[1], 8);
    shmem_get_nbi(ctx, here, view + 2, 1, next_pe);
    shmem_ctx_quiet(ctx);
    CHECK_EQ(here[0], 9);
    shmem_barrier_all();
}

/* Arguments may have effects; each is evaluated once. */
static void evaluated_once(void)
{
    static long words[4];
    long *at = words;
    int pe = next_pe - 1;
    shmem_p(at++, 5, ++pe);
    CHECK(at == words + 1 && pe == next_pe);
    shmem_atomic_add(at++, 1, pe);
    CHECK(at == words + 2);
    shmem_put(at++, &(long){9}, 1, pe);
    CHECK(at == words + 3);
    shmem_barrier_all();
    CHECK(words[0] == 5 && words[1] == 1 && words[2] == 9 && words[3] == 0);
    shmem_barrier_all();
}

static void strided_and_signals(void)
{
    static short there[12], back[6];
    static const short from[6] = {1, 2, 3, 4, 5, 6};
    static uint64_t flag;
    shmem_iput(there, from, 2, 1, 3, next_pe);                  /* 1 _ 2 _ 3 */
    shmem_ibput(ctx, there + 6, from + 2, 3, 2, 2, 2, next_pe); /* 3 4 _ 5 6 _ */
    shmem_ctx_quiet(ctx);
    shmem_put_signal(&there[11], &from[5], 1, &flag, 1, SHMEM_SIGNAL_ADD, next_pe);
    shmem_signal_add(&flag, 2, next_pe);
    shmem_signal_add(ctx, &flag, 4, next_pe);
    shmem_ctx_quiet(ctx);
    CHECK(shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 7) == 7);
    shmem_barrier_all();
    const short want[12] = {1, 0, 2, 0, 3, 0, 3, 4, 0, 5, 6, 6};
    CHECK(memcmp(there, want, sizeof want) == 0);
    shmem_iget(back, there, 1, 2, 3, next_pe);
    shmem_ibget(ctx, back + 3, there + 6, 2, 3, 1, 2, next_pe);
    CHECK(back[0] == 1 && back[1] == 2 && back[2] == 3 && back[3] == 3 && back[5] == 5);
    shmem_barrier_all();
    shmem_signal_set(&flag, 50, next_pe);
    shmem_wait_until(&flag, SHMEM_CMP_EQ, 50);
    shmem_barrier_all();
    shmem_put_signal_nbi(ctx, &there[0], &from[3], 1, &flag, 60, SHMEM_SIGNAL_SET, next_pe);
    shmem_wait_until(&flag, SHMEM_CMP_EQ, 60);
    CHECK_EQ(there[0], 4);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
}

static void waiting(void)
{
    static size_t many[3];
    static short half;
    size_t got[3];
    for (int i = 0; i < 3; i++)
        shmem_atomic_set(&many[i], 4 + i, next_pe);
    shmem_wait_until_all(many, 3, NULL, SHMEM_CMP_GE, 4);
    CHECK(shmem_wait_until_any(many, 3, NULL, SHMEM_CMP_EQ, 5) == 1);
    CHECK(shmem_test_some(many, 3, got, NULL, SHMEM_CMP_GT, 4) == 2);
    CHECK(shmem_test_all_vector(many, 3, NULL, SHMEM_CMP_EQ, ((size_t[]){4, 5, 6})) == 1);
    CHECK(shmem_test(&many[2], SHMEM_CMP_EQ, 6) == 1);
    shmem_p(&half, 3, next_pe);
    shmem_wait_until(&half, SHMEM_CMP_EQ, 3);
    CHECK(shmem_test(&half, SHMEM_CMP_LT, 3) == 0);
    shmem_barrier_all();
}

/* Names that are a function and a generic: the team form, the form of active sets, and the function's address. */
static void two_in_one(void)
{
    static long sync[SHMEM_SYNC_SIZE], word;
    void (*set_form)(int, int, int, long *) = shmem_sync;
    void (*wait_form)(long *, int, long) = shmem_wait_until;
    for (size_t i = 0; i < COUNT_OF(sync); i++)
        sync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    CHECK_EQ(shmem_sync(SHMEM_TEAM_WORLD), 0);
    shmem_sync(0, 0, npes, sync);
    set_form(0, 0, npes, sync);
    shmem_atomic_inc(&word, next_pe);
    wait_form(&word, SHMEM_CMP_EQ, 1);
    CHECK_EQ(word, 1);
    shmem_barrier_all();
}

static void collectives(void)
{
    static float dest[1 + CHECK_MOST_PES], source[1];
    static double _Complex z[2];
    source[0] = (float)(me + 1);
    z[0] = 2;
    shmem_barrier_all();
    CHECK_EQ(shmem_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1), 0);
    CHECK(dest[0] == (float)(npes * (npes + 1) / 2));
    CHECK_EQ(shmem_fcollect(SHMEM_TEAM_WORLD, dest + 1, source, 1), 0);
    CHECK(dest[1 + npes - 1] == (float)npes);
    CHECK_EQ(shmem_sum_exscan(SHMEM_TEAM_WORLD, &z[1], &z[0], 1), 0);
    CHECK(z[1] == 2.0 * me);
    shmem_barrier_all();
}

static void old_names(void)
{
    static long long x;
    static double real;
    shmem_set(&x, 10, next_pe);
    shmem_set(&real, 1, next_pe);
    shmem_quiet();
    shmem_add(&x, 5, next_pe);
    shmem_fence();
    shmem_inc(&x, next_pe);
    shmem_fence();
    CHECK_EQ(shmem_fadd(&x, 4, next_pe), 16);
    CHECK_EQ(shmem_finc(&x, next_pe), 20);
    CHECK_EQ(shmem_cswap(&x, 21, 30, next_pe), 21);
    CHECK_EQ(shmem_swap(&x, 31, next_pe), 30);
    CHECK_EQ(shmem_fetch(&x, next_pe), 31);
    CHECK(shmem_swap(&real, 2, next_pe) == 1.0 && shmem_fetch(&real, next_pe) == 2.0);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    values_convert();
    const_sources();
    evaluated_once();
    strided_and_signals();
    waiting();
    two_in_one();
    collectives();
    old_names();
    shmem_ctx_destroy(ctx);
    return check_pass();
}
