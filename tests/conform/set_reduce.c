/* Collectives over active sets: and, or, xor, min, max, sum, prod to_all for every type that has them; in place and apart;
 * the work array pWrk has just the size asked for and nothing beyond it is touched; pSync is restored.
 * prints: ^PASS$
 */
#include "sets.h"
#include "types.h"

enum { ROOM = 10, LARGE = 3000 };
#define WORK(count) ((count) / 2 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? (count) / 2 + 1 : SHMEM_REDUCE_MIN_WRKDATA_SIZE)

#define KERNEL(NAME, TYPE, OP)                                                             \
    static void NAME##_##OP(const struct set *set, TYPE *dest, TYPE *source, int count)    \
    {                                                                                      \
        static TYPE work[WORK(ROOM) + 1];                                                  \
        int place = place_in(set);                                                         \
        if (dest != source)                                                                \
            for (int i = 0; i < ROOM; i++)                                                 \
                dest[i] = (TYPE)77;                                                        \
        work[WORK(count)] = (TYPE)33;                                                      \
        long *sync = set_ready(set);                                                       \
        for (int i = 0; i < ROOM; i++)                                                     \
            source[i] = i < count ? ARG_##OP(TYPE, place, i) : (TYPE)77;                   \
        shmem_##NAME##_##OP##_to_all(dest, source, count, SET_ARGUMENTS(set), work, sync); \
        set_restored(sync, SHMEM_REDUCE_SYNC_SIZE);                                        \
        for (int i = 0; dest != source && i < ROOM; i++)                                   \
            source[i] = (TYPE)55;                                                          \
        for (int i = 0; i < ROOM; i++) {                                                   \
            TYPE want = i < count ? ARG_##OP(TYPE, 0, i) : (TYPE)77;                       \
            for (int p = 1; i < count && p < set->size; p++)                               \
                want = (TYPE)STEP_##OP(want, ARG_##OP(TYPE, p, i));                        \
            CHECK(dest[i] == want);                                                        \
        }                                                                                  \
        set_meet(set);                                                                     \
        CHECK(work[WORK(count)] == (TYPE)33);                                              \
    }                                                                                      \
    static void NAME##_##OP##_test(TYPE *heap)                                             \
    {                                                                                      \
        static TYPE dest[ROOM], source[ROOM];                                              \
        ON_EACH_SET(set)                                                                   \
        {                                                                                  \
            NAME##_##OP(set, dest, source, ROOM - 1);                                      \
            NAME##_##OP(set, heap, heap, ROOM);                                            \
        }                                                                                  \
        shmem_barrier_all();                                                               \
    }
SET_BIT_TYPES(BIT_KERNELS)
SET_ORDER_TYPES(ORDER_KERNELS)
SET_SUM_TYPES(SUM_KERNELS)

/* Many elements and none. */
static void lengths(void)
{
    long *dest = check_alloc((LARGE + 1) * sizeof(long)), *source = check_alloc((LARGE + 1) * sizeof(long));
    long *work = check_alloc(WORK(LARGE) * sizeof(long));
    for (int count = 0; count <= LARGE; count += 1000)
        ON_EACH_SET(set)
        {
            long n = set->size, wrong = 0;
            dest[count] = -1;
            long *sync = set_ready(set);
            for (int i = 0; i < count; i++)
                source[i] = (long)i * (place_in(set) + 1);
            shmem_long_sum_to_all(dest, source, count, SET_ARGUMENTS(set), work, sync);
            for (int i = 0; i < count; i++)
                wrong += dest[i] != (long)i * (n * (n + 1) / 2);
            CHECK_EQ(wrong, 0);
            CHECK_EQ(dest[count], -1);
            set_meet(set);
        }
    shmem_barrier_all();
    shmem_free(work);
    shmem_free(source);
    shmem_free(dest);
}

int main(void)
{
    check_start();
    sets_create();
    void *heap = check_alloc(ROOM * sizeof(double _Complex));
#define RUN_BIT(NAME, TYPE) \
    NAME##_and_test(heap);  \
    NAME##_or_test(heap);   \
    NAME##_xor_test(heap);
#define RUN_ORDER(NAME, TYPE) \
    NAME##_min_test(heap);    \
    NAME##_max_test(heap);
#define RUN_SUM(NAME, TYPE) \
    NAME##_sum_test(heap);  \
    NAME##_prod_test(heap);
    SET_BIT_TYPES(RUN_BIT)
    SET_ORDER_TYPES(RUN_ORDER)
    SET_SUM_TYPES(RUN_SUM)
    shmem_free(heap);
    lengths();
    return check_pass();
}
