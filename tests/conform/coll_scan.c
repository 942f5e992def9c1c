/* Collectives: sum_inscan and sum_exscan over teams for every type that sums. Prefixes follow the team's numbers; the
 * exclusive scan gives zero to the first PE; in place and apart; several lengths.
 * prints: ^PASS$
 */
#include "teams.h"
#include "types.h"

enum { ROOM = 9 };
#define ARG(TYPE, p, i) ((TYPE)(((p) + (i)) % 6 + 1))

#define KERNEL(NAME, TYPE)                                                                            \
    static void NAME##_scan(shmem_team_t team, TYPE *dest, TYPE *source, size_t count, int inclusive) \
    {                                                                                                 \
        int mine = shmem_team_my_pe(team);                                                            \
        if (dest != source)                                                                           \
            for (int i = 0; i < ROOM; i++)                                                            \
                dest[i] = (TYPE)77;                                                                   \
        ready(team);                                                                                  \
        for (int i = 0; i < ROOM; i++)                                                                \
            source[i] = i < (int)count ? ARG(TYPE, mine, i) : (TYPE)77;                               \
        if (inclusive)                                                                                \
            CHECK_EQ(shmem_##NAME##_sum_inscan(team, dest, source, count), 0);                        \
        else                                                                                          \
            CHECK_EQ(shmem_##NAME##_sum_exscan(team, dest, source, count), 0);                        \
        for (int i = 0; dest != source && i < ROOM; i++)                                              \
            source[i] = (TYPE)55;                                                                     \
        for (int i = 0; i < ROOM; i++) {                                                              \
            TYPE want = i < (int)count ? 0 : (TYPE)77;                                                \
            for (int p = 0; i < (int)count && p < mine + inclusive; p++)                              \
                want = (TYPE)(want + ARG(TYPE, p, i));                                                \
            CHECK(dest[i] == want);                                                                   \
        }                                                                                             \
        ready(team);                                                                                  \
    }                                                                                                 \
    static void NAME##_test(TYPE *heap)                                                               \
    {                                                                                                 \
        static TYPE dest[ROOM], source[ROOM];                                                         \
        for (int inclusive = 0; inclusive < 2; inclusive++)                                           \
            ON_EACH_TEAM(team)                                                                        \
            {                                                                                         \
                NAME##_scan(team, dest, source, ROOM - 2, inclusive);                                 \
                NAME##_scan(team, heap, heap, ROOM, inclusive);                                       \
            }                                                                                         \
        shmem_barrier_all();                                                                          \
    }
REDUCE_SUM_TYPES(KERNEL)

static void lengths(long *dest, long *source)
{
    static const size_t length[] = {0, 1, 3, 1000, 20001};
    for (size_t s = 0; s < COUNT_OF(length); s++)
        ON_EACH_TEAM(team)
        {
            long mine = shmem_team_my_pe(team), wrong = 0;
            for (int form = 0; form < 4; form++) {
                long *to = form & 1 ? source : dest,
                     weight = form & 2 ? (mine + 1) * (mine + 2) / 2 : mine * (mine + 1) / 2;
                dest[length[s]] = source[length[s]] = -1;
                ready(team);
                for (size_t i = 0; i < length[s]; i++)
                    source[i] = (long)i * (mine + 1);
                CHECK_EQ(form & 2 ? shmem_long_sum_inscan(team, to, source, length[s])
                                  : shmem_long_sum_exscan(team, to, source, length[s]),
                         0);
                for (size_t i = 0; i < length[s]; i++)
                    wrong += to[i] != (long)i * weight;
                CHECK_EQ(wrong, 0);
                CHECK_EQ(to[length[s]], -1);
                ready(team);
            }
        }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    teams_create();
    void *heap = check_alloc(ROOM * sizeof(double _Complex));
#define RUN(NAME, TYPE) NAME##_test(heap);
    REDUCE_SUM_TYPES(RUN)
    long *dest = check_alloc(20002 * sizeof(long)), *source = check_alloc(20002 * sizeof(long));
    lengths(dest, source);
    shmem_free(source);
    shmem_free(dest);
    shmem_free(heap);
    teams_destroy();
    return check_pass();
}
