/* Contexts: every combination of options, many at once, invalid handles, get_team, destroy as quiet, use of handles by
 * assignment and comparison; each context completes its own operations.
 * prints: ^PASS$
 */
#include "check.h"

static long word[4];

/* Every option alone and together; operations work the same on all. */
static void every_option(void)
{
    static const long options[] = {SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE};
    for (int bits = 0; bits < 8; bits++) {
        long chosen = 0, got = -1;
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;
        for (int i = 0; i < 3; i++)
            chosen |= bits & 1 << i ? options[i] : 0;
        CHECK_EQ(shmem_ctx_create(chosen, &ctx), 0);
        CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT);
        shmem_ctx_long_p(ctx, &word[0], me + bits, next_pe);
        shmem_ctx_fence(ctx);
        shmem_ctx_long_atomic_add(ctx, &word[0], 100, next_pe);
        shmem_ctx_long_get_nbi(ctx, &got, &word[3], 1, next_pe);
        shmem_ctx_quiet(ctx);
        CHECK_EQ(got, 0);
        CHECK_EQ(shmem_ctx_long_g(ctx, &word[0], next_pe), me + bits + 100);
        shmem_barrier_all();
        CHECK_EQ(word[0], prev_pe + bits + 100);
        shmem_barrier_all();
        shmem_ctx_destroy(ctx);
    }
}

/* Many contexts, each with traffic of its own; destroying one completes what it had under way. */
static void many(void)
{
    enum { MANY = 12 };
    static long slots[MANY];
    shmem_ctx_t ctx[MANY];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MANY; i++) {
            CHECK_EQ(shmem_ctx_create(i % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx[i]), 0);
            for (int k = 0; k < i; k++)
                CHECK(ctx[k] != ctx[i]);
        }
        long value[MANY];
        for (int i = 0; i < MANY; i++) {
            value[i] = me * 1000 + round * 100 + i;
            shmem_ctx_long_put_nbi(ctx[i], &slots[i], &value[i], 1, next_pe);
        }
        for (int i = MANY - 1; i >= 0; i--)
            shmem_ctx_destroy(ctx[i]);
        shmem_barrier_all();
        for (int i = 0; i < MANY; i++)
            CHECK_EQ(slots[i], prev_pe * 1000 + round * 100 + i);
        shmem_barrier_all();
    }
}

static void teams_of_contexts(void)
{
    shmem_ctx_t ctx;
    shmem_team_t team = SHMEM_TEAM_SHARED;
    CHECK_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    team = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmem_ctx_get_team(ctx, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(ctx);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
}

/* No operation at all; and an invalid team gives an invalid context. */
static void invalid(void)
{
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0);
    CHECK(ctx == SHMEM_CTX_INVALID);
}

/* Creation is no collective: one PE alone makes contexts and uses them. */
static void alone(void)
{
    shmem_ctx_t ctx;
    if (me == 0) {
        CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
        shmem_ctx_long_p(ctx, &word[1], 12345, npes - 1);
        shmem_ctx_quiet(ctx);
        CHECK_EQ(shmem_long_g(&word[1], npes - 1), 12345);
        shmem_ctx_destroy(ctx);
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    every_option();
    many();
    teams_of_contexts();
    invalid();
    alone();
    return check_pass();
}
