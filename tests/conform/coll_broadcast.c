/* Collectives: broadcast over teams, typed for every RMA type and mem. Each root; the root's own destination is written
 * too; nothing beyond the length is; the root may make its source ready late and reuse it at once.
 * prints: ^PASS$
 */
#include "teams.h"
#include "types.h"

enum { ROOM = 9 };

#define KERNEL(NAME, TYPE)                                                                        \
    static TYPE NAME##_dest[ROOM], NAME##_source[ROOM];                                           \
    static void NAME##_round(shmem_team_t team, TYPE *dest, TYPE *source, size_t count, int root) \
    {                                                                                             \
        int mine = shmem_team_my_pe(team);                                                        \
        for (int i = 0; i < ROOM; i++)                                                            \
            dest[i] = VALUE(TYPE, 60 + i);                                                        \
        ready(team);                                                                              \
        for (int i = 0; i < ROOM; i++)                                                            \
            source[i] = VALUE(TYPE, mine * 7 + i);                                                \
        CHECK_EQ(shmem_##NAME##_broadcast(team, dest, source, count, root), 0);                   \
        for (int i = 0; i < ROOM; i++)                                                            \
            source[i] = VALUE(TYPE, 99);                                                          \
        for (int i = 0; i < ROOM; i++)                                                            \
            CHECK(dest[i] == (i < (int)count ? VALUE(TYPE, root * 7 + i) : VALUE(TYPE, 60 + i))); \
    }                                                                                             \
    static void NAME##_test(TYPE *heap)                                                           \
    {                                                                                             \
        ON_EACH_TEAM(team)                                                                        \
        {                                                                                         \
            int n = shmem_team_n_pes(team);                                                       \
            NAME##_round(team, NAME##_dest, NAME##_source, ROOM - 1, 0);                          \
            NAME##_round(team, heap, NAME##_source, 1, n - 1);                                    \
        }                                                                                         \
        shmem_barrier_all();                                                                      \
    }
RMA_TYPES(KERNEL)

/* Sizes from a byte to a megabyte, odd ones among them, each root in turn. */
static void sizes(char *dest, char *source)
{
    static const size_t size[] = {0, 1, 7, 8, 63, 64, 1000, 4096, 20000, 65537, 300000, 1 << 20};
    for (size_t s = 0; s < COUNT_OF(size); s++)
        ON_EACH_TEAM(team)
        {
            int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team), root = (int)s % n;
            memset(dest, 'd', size[s] + 1);
            ready(team);
            memset(source, mine == root ? 'a' + root : 'x', size[s] + 1);
            CHECK_EQ(shmem_broadcastmem(team, dest, source, size[s], root), 0);
            memset(source, 'y', size[s] + 1);
            size_t wrong = 0;
            for (size_t i = 0; i < size[s]; i++)
                wrong += dest[i] != 'a' + root;
            CHECK_EQ(wrong, 0);
            CHECK_EQ(dest[size[s]], 'd');
        }
    shmem_barrier_all();
}

/* One after the other without anything in between: each has destinations of its own. */
static void in_a_row(void)
{
    enum { ROUNDS = 100 };
    static long dest[ROUNDS], source[ROUNDS];
    memset(dest, 0, sizeof dest);
    shmem_barrier_all();
    for (int i = 0; i < ROUNDS; i++) {
        source[i] = me * 1000 + i;
        CHECK_EQ(shmem_long_broadcast(SHMEM_TEAM_WORLD, &dest[i], &source[i], 1, i % npes), 0);
        CHECK_EQ(dest[i], i % npes * 1000 + i);
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    teams_create();
    char *dest = check_alloc((1 << 20) + 1), *source = check_alloc((1 << 20) + 1);
#define RUN(NAME, TYPE) NAME##_test((TYPE *)dest);
    RMA_TYPES(RUN)
    sizes(dest, source);
    in_a_row();
    shmem_free(source);
    shmem_free(dest);
    teams_destroy();
    return check_pass();
}
