/* Collectives: collect and fcollect over teams, typed for every RMA type and mem. Order is the team's; collect takes
 * another length from each PE, also none; nothing beyond the total is written.
 * prints: ^PASS$
 */
#include "teams.h"
#include "types.h"

enum { EACH = 4, PES = CHECK_MOST_PES, ROOM = PES * EACH };

static size_t share(int pe)
{
    return (size_t)(pe * 3 + 1) % (EACH + 1);
} /* 1, 4, 2, 0, 3, ... */

#define KERNEL(NAME, TYPE)                                                                                        \
    static TYPE NAME##_dest[ROOM], NAME##_source[EACH];                                                           \
    static void NAME##_prepare(shmem_team_t team, TYPE *dest)                                                     \
    {                                                                                                             \
        for (int i = 0; i < ROOM; i++)                                                                            \
            dest[i] = VALUE(TYPE, 60 + i);                                                                        \
        ready(team);                                                                                              \
        for (int i = 0; i < EACH; i++)                                                                            \
            NAME##_source[i] = VALUE(TYPE, shmem_team_my_pe(team) * 5 + i);                                       \
    }                                                                                                             \
    static void NAME##_verify(shmem_team_t team, const TYPE *dest, int equal, size_t length)                      \
    {                                                                                                             \
        size_t at = 0;                                                                                            \
        for (int i = 0; i < EACH; i++)                                                                            \
            NAME##_source[i] = VALUE(TYPE, 98);                                                                   \
        for (int pe = 0; pe < shmem_team_n_pes(team); pe++)                                                       \
            for (size_t i = 0; i < (equal ? length : share(pe)); i++)                                             \
                CHECK(dest[at++] == VALUE(TYPE, pe * 5 + (int)i));                                                \
        for (; at < ROOM; at++)                                                                                   \
            CHECK(dest[at] == VALUE(TYPE, 60 + (int)at));                                                         \
    }                                                                                                             \
    static void NAME##_test(TYPE *heap)                                                                           \
    {                                                                                                             \
        ON_EACH_TEAM(team)                                                                                        \
        {                                                                                                         \
            NAME##_prepare(team, heap);                                                                           \
            CHECK_EQ(shmem_##NAME##_fcollect(team, heap, NAME##_source, EACH - 1), 0);                            \
            NAME##_verify(team, heap, 1, EACH - 1);                                                               \
            NAME##_prepare(team, NAME##_dest);                                                                    \
            CHECK_EQ(shmem_##NAME##_collect(team, NAME##_dest, NAME##_source, share(shmem_team_my_pe(team))), 0); \
            NAME##_verify(team, NAME##_dest, 0, 0);                                                               \
        }                                                                                                         \
        shmem_barrier_all();                                                                                      \
    }
RMA_TYPES(KERNEL)

/* Bytes per PE from none to many; collect with shares that differ by a byte. */
static void sizes(char *dest, char *source)
{
    static const size_t size[] = {0, 1, 9, 64, 1000, 4097, 30000, 100000};
    for (size_t s = 0; s < COUNT_OF(size); s++)
        ON_EACH_TEAM(team)
        {
            int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);
            for (int uneven = 0; uneven < 2; uneven++) {
                size_t my_size = size[s] + (uneven ? (size_t)mine : 0), at = 0, wrong = 0;
                memset(dest, '-', (size[s] + PES) * PES);
                ready(team);
                memset(source, 'a' + mine, my_size);
                CHECK_EQ(uneven ? shmem_collectmem(team, dest, source, my_size)
                                : shmem_fcollectmem(team, dest, source, my_size),
                         0);
                for (int pe = 0; pe < n; pe++)
                    for (size_t i = 0; i < size[s] + (uneven ? (size_t)pe : 0); i++)
                        wrong += dest[at++] != 'a' + pe;
                CHECK_EQ(wrong, 0);
                CHECK_EQ(dest[at], '-');
            }
        }
    shmem_barrier_all();
}

/* Only one PE of the team has anything, the last or the first; and nobody has. */
static void lonely(void)
{
    static int dest[4], source[2];
    ON_EACH_TEAM(team)
    {
        int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);
        for (int who = 0; who < 3; who++) {
            int giver = who == 0 ? 0 : who == 1 ? n - 1 : -1;
            dest[0] = dest[1] = dest[2] = -1;
            ready(team);
            source[0] = source[1] = mine;
            CHECK_EQ(shmem_int_collect(team, dest, source, mine == giver ? 2 : 0), 0);
            CHECK(dest[0] == giver && dest[1] == giver && dest[2] == -1);
        }
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    teams_create();
    char *dest = check_alloc(PES * 100100), *source = check_alloc(100100);
#define RUN(NAME, TYPE) NAME##_test((TYPE *)dest);
    RMA_TYPES(RUN)
    sizes(dest, source);
    lonely();
    shmem_free(source);
    shmem_free(dest);
    teams_destroy();
    return check_pass();
}
