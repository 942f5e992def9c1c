/* Atomicity: many PEs work on one word at once, with every standard type; blocking and non-blocking operations mix,
 * on the default context, another context and one made from a team split off the world (one atomicity domain).
 * prints: ^PASS$
 */
#include "check.h"
#include "types.h"

enum { ROUNDS = 60 };
static shmem_ctx_t ctx, team_ctx;

#define KERNEL(NAME, TYPE)                                                                             \
    static TYPE NAME##_sum, NAME##_swapped, NAME##_tickets, NAME##_casual;                             \
    static char NAME##_seen[ROUNDS * CHECK_MOST_PES];                                                  \
    static void NAME##_adds(void)                                                                      \
    {                                                                                                  \
        TYPE got;                                                                                      \
        for (int i = 0; i < ROUNDS; i++) {                                                             \
            shmem_##NAME##_atomic_inc(&NAME##_sum, 0);                                                 \
            shmem_ctx_##NAME##_atomic_add(ctx, &NAME##_sum, 3, 0);                                     \
            shmem_##NAME##_atomic_fetch_add_nbi(&got, &NAME##_sum, 2, 0);                              \
            shmem_quiet();                                                                             \
            shmem_ctx_##NAME##_atomic_fetch_inc(team_ctx, &NAME##_sum, 0);                             \
        }                                                                                              \
        shmem_ctx_quiet(ctx);                                                                          \
    }                                                                                                  \
    static void NAME##_draw(void)                                                                      \
    {                                                                                                  \
        for (int i = 0; i < ROUNDS; i++) {                                                             \
            TYPE ticket = shmem_##NAME##_atomic_fetch_inc(&NAME##_tickets, npes - 1);                  \
            shmem_char_p(&NAME##_seen[(int)ticket], 1, npes - 1);                                      \
        }                                                                                              \
    }                                                                                                  \
    static void NAME##_compare(void)                                                                   \
    {                                                                                                  \
        for (int i = 0; i < ROUNDS / 4; i++) {                                                         \
            TYPE now = shmem_##NAME##_atomic_fetch(&NAME##_casual, 0), was;                            \
            while ((was = shmem_##NAME##_atomic_compare_swap(&NAME##_casual, now, now + 1, 0)) != now) \
                now = was;                                                                             \
        }                                                                                              \
    }                                                                                                  \
    static TYPE NAME##_pass_on(void)                                                                   \
    {                                                                                                  \
        TYPE hand = (TYPE)(me + 1);                                                                    \
        for (int i = 0; i < ROUNDS; i++)                                                               \
            hand = shmem_##NAME##_atomic_swap(&NAME##_swapped, hand, 0);                               \
        return hand;                                                                                   \
    }                                                                                                  \
    static void NAME##_test(void)                                                                      \
    {                                                                                                  \
        static long hands, final;                                                                      \
        NAME##_adds();                                                                                 \
        NAME##_draw();                                                                                 \
        NAME##_compare();                                                                              \
        shmem_long_atomic_add(&hands, (long)NAME##_pass_on(), 0);                                      \
        shmem_barrier_all();                                                                           \
        CHECK(shmem_##NAME##_g(&NAME##_sum, 0) == (TYPE)(7 * ROUNDS * npes));                          \
        CHECK(shmem_##NAME##_g(&NAME##_tickets, npes - 1) == (TYPE)(ROUNDS * npes));                   \
        CHECK(shmem_##NAME##_g(&NAME##_casual, 0) == (TYPE)(ROUNDS / 4 * npes));                       \
        final = shmem_long_g(&hands, 0) + (long)shmem_##NAME##_g(&NAME##_swapped, 0);                  \
        CHECK_EQ(final, npes *(npes + 1) / 2);                                                         \
        for (int i = 0; me == npes - 1 && i < ROUNDS * npes; i++)                                      \
            CHECK(NAME##_seen[i] == 1);                                                                \
    }
STANDARD_AMO_TYPES(KERNEL)

int main(void)
{
    check_start();
    shmem_team_t team;
    shmem_team_config_t config = {.num_contexts = 1};
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) == 0);
    CHECK(shmem_team_create_ctx(team, 0, &team_ctx) == 0);
#define RUN(NAME, TYPE) NAME##_test();
    STANDARD_AMO_TYPES(RUN)
    shmem_ctx_destroy(team_ctx);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(team);
    return check_pass();
}
