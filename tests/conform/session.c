/* Sessions: hints change no result and no order. Started twice, stopped twice, never started, on default, team and invalid
 * contexts, with every option and a right or wrong number of operations.
 * prints: ^PASS$
 */
#include "check.h"

enum { WORDS = 64 };
static long words[WORDS];

/* A batch of small operations, with a fence in the middle, gives what it gives outside of a session. */
static void batch(shmem_ctx_t ctx, long round)
{
    long value[WORDS], got = -1;
    for (int i = 0; i < WORDS; i++) {
        value[i] = round * 1000 + i + me;
        shmem_ctx_long_put_nbi(ctx, &words[i], &value[i], 1, next_pe);
    }
    shmem_ctx_fence(ctx);
    shmem_ctx_long_atomic_add(ctx, &words[0], 500, next_pe);
    shmem_ctx_quiet(ctx);
    CHECK_EQ(shmem_ctx_long_g(ctx, &words[0], next_pe), value[0] + 500);
    CHECK_EQ(shmem_ctx_long_atomic_fetch(ctx, &words[WORDS - 1], next_pe), value[WORDS - 1]);
    shmem_ctx_long_get_nbi(ctx, &got, &words[5], 1, next_pe);
    shmem_ctx_quiet(ctx);
    CHECK_EQ(got, value[5]);
    shmem_barrier_all();
    CHECK_EQ(words[7], round * 1000 + 7 + prev_pe);
    shmem_barrier_all();
}

static void sessions_on(shmem_ctx_t ctx)
{
    shmem_ctx_session_config_t config = {.total_ops = WORDS};
    long round = 0;
    shmem_ctx_session_stop(ctx); /* not started: no effect */
    shmem_ctx_session_start(ctx, 0, NULL, 0);
    batch(ctx, round++);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS); /* joins the first */
    batch(ctx, round++);
    shmem_ctx_session_stop(ctx);
    batch(ctx, round++);
    shmem_ctx_session_stop(ctx);
    config.total_ops = 0;
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    batch(ctx, round++);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, 0);
    batch(ctx, round++); /* and no stop before the context goes */
}

int main(void)
{
    check_start();
    shmem_ctx_t ctx;
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    sessions_on(SHMEM_CTX_DEFAULT);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
    sessions_on(ctx);
    shmem_ctx_destroy(ctx);
    CHECK_EQ(shmem_team_create_ctx(SHMEM_TEAM_WORLD, 0, &ctx), 0);
    sessions_on(ctx);
    shmem_ctx_destroy(ctx);
    return check_pass();
}
