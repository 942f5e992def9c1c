/* Collectives: alltoall and alltoalls over teams, typed for every RMA type and mem. Block l of PE k is block k of PE l; with
 * strides the elements between are not touched.
 * prints: ^PASS$
 */
#include "teams.h"
#include "types.h"

enum { BLOCK = 3, STRIDE = 3, PES = CHECK_MOST_PES, ROOM = BLOCK * STRIDE * PES };

/* What PE `from` sends to PE `to` as element i. */
#define ELEMENT(TYPE, from, to, i) VALUE(TYPE, (from)*13 + (to)*3 + (i))

#define KERNEL(NAME, TYPE)                                                                                       \
    static TYPE NAME##_dest[ROOM], NAME##_source[ROOM];                                                          \
    static void NAME##_round(shmem_team_t team, TYPE *dest, TYPE *source, int dst, int sst, size_t count)        \
    {                                                                                                            \
        int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);                                           \
        for (int i = 0; i < ROOM; i++) {                                                                         \
            dest[i] = VALUE(TYPE, 60 + i);                                                                       \
            source[i] = VALUE(TYPE, 111);                                                                        \
        }                                                                                                        \
        ready(team);                                                                                             \
        for (int to = 0; to < n; to++)                                                                           \
            for (int i = 0; i < (int)count; i++)                                                                 \
                source[(to * (int)count + i) * sst] = ELEMENT(TYPE, mine, to, i);                                \
        if (dst == 1 && sst == 1)                                                                                \
            CHECK_EQ(shmem_##NAME##_alltoall(team, dest, source, count), 0);                                     \
        else                                                                                                     \
            CHECK_EQ(shmem_##NAME##_alltoalls(team, dest, source, dst, sst, count), 0);                          \
        for (int i = 0; i < ROOM; i++)                                                                           \
            source[i] = VALUE(TYPE, 99);                                                                         \
        for (int i = 0; i < ROOM; i++) {                                                                         \
            int element = i / dst, in = i % dst == 0 && element < n * (int)count;                                \
            CHECK(dest[i] ==                                                                                     \
                  (in ? ELEMENT(TYPE, element / (int)count, mine, element % (int)count) : VALUE(TYPE, 60 + i))); \
        }                                                                                                        \
    }                                                                                                            \
    static void NAME##_test(TYPE *heap)                                                                          \
    {                                                                                                            \
        ON_EACH_TEAM(team)                                                                                       \
        {                                                                                                        \
            NAME##_round(team, NAME##_dest, NAME##_source, 1, 1, BLOCK);                                         \
            NAME##_round(team, heap, NAME##_source, 3, 2, BLOCK);                                                \
            NAME##_round(team, heap, NAME##_source, 1, 3, 2);                                                    \
        }                                                                                                        \
        shmem_barrier_all();                                                                                     \
    }
RMA_TYPES(KERNEL)

/* Bytes per block from none to many, without and with strides (of bytes, for mem). */
static void sizes(unsigned char *dest, unsigned char *source)
{
    static const size_t size[] = {0, 1, 8, 100, 4096, 20001};
    for (size_t s = 0; s < COUNT_OF(size); s++)
        ON_EACH_TEAM(team)
        {
            size_t n = (size_t)shmem_team_n_pes(team), mine = (size_t)shmem_team_my_pe(team), block = size[s];
            for (size_t stride = 1; stride <= 2; stride++) {
                memset(dest, 0xee, n * block * stride + 1);
                ready(team);
                for (size_t i = 0; i < n * block; i++)
                    source[i * stride] = (unsigned char)(mine * 16 + i / block);
                CHECK_EQ(stride == 1 ? shmem_alltoallmem(team, dest, source, block)
                                     : shmem_alltoallsmem(team, dest, source, 2, 2, block),
                         0);
                size_t wrong = 0;
                for (size_t i = 0; i < n * block; i++)
                    wrong += dest[i * stride] != (unsigned char)(i / block * 16 + mine) ||
                             (stride == 2 && dest[i * 2 + 1] != 0xee);
                CHECK_EQ(wrong, 0);
                CHECK_EQ(dest[n * block * stride], 0xee);
            }
        }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    teams_create();
    unsigned char *dest = check_alloc(2 * PES * 20001 + 8), *source = check_alloc(2 * PES * 20001 + 8);
#define RUN(NAME, TYPE) NAME##_test((TYPE *)dest);
    RMA_TYPES(RUN)
    sizes(dest, source);
    shmem_free(source);
    shmem_free(dest);
    teams_destroy();
    return check_pass();
}
