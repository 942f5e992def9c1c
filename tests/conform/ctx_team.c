/* Contexts of teams: PE numbers are the team's in every kind of operation on the context; get_team gives the team's handle;
 * teams in reverse order, with holes, of one PE.
 * prints: ^PASS$
 */
#include "check.h"

enum { ROOM = 8 };
static long word[ROOM];
static uint64_t flag;

static shmem_team_t make_team(int start, int stride, int size)
{
    shmem_team_config_t config = {.num_contexts = 2};
    shmem_team_t team;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, &config, SHMEM_TEAM_NUM_CONTEXTS, &team),
             0);
    return team;
}

/* Fill in by each kind of operation, to the next of the team; all in one context, so one quiet ends it. */
static void write_all(shmem_ctx_t ctx, int to, long value)
{
    long data[2] = {value + 1, value + 2};
    shmem_ctx_long_p(ctx, &word[0], value, to);
    shmem_ctx_long_put(ctx, &word[1], data, 2, to);
    shmem_ctx_long_iput(ctx, &word[3], (long[]){value + 3}, 1, 1, 1, to);
    shmem_ctx_long_ibput(ctx, &word[4], (long[]){value + 4}, 1, 1, 1, 1, to);
    shmem_ctx_long_atomic_set(ctx, &word[5], value + 5, to);
    shmem_ctx_putmem_nbi(ctx, &word[6], (long[]){value + 6}, sizeof(long), to);
    shmem_ctx_quiet(ctx);
    shmem_ctx_long_put_signal(ctx, &word[7], (long[]){value + 7}, 1, &flag, 1, SHMEM_SIGNAL_ADD, to);
    shmem_ctx_signal_add(ctx, &flag, 10, to);
}

static void read_all(shmem_ctx_t ctx, int from, long value)
{
    long got[ROOM] = {0}, fetched = 0;
    CHECK_EQ(shmem_ctx_long_g(ctx, &word[0], from), value);
    shmem_ctx_long_get(ctx, &got[1], &word[1], 2, from);
    shmem_ctx_long_iget(ctx, &got[3], &word[3], 1, 1, 1, from);
    shmem_ctx_long_ibget(ctx, &got[4], &word[4], 1, 1, 1, 1, from);
    CHECK_EQ(shmem_ctx_long_atomic_fetch(ctx, &word[5], from), value + 5);
    shmem_ctx_get64_nbi(ctx, &got[6], &word[6], 1, from);
    shmem_ctx_long_atomic_fetch_nbi(ctx, &fetched, &word[7], from);
    shmem_ctx_pe_quiet(ctx, &from, 1);
    shmem_ctx_quiet(ctx);
    CHECK(got[1] == value + 1 && got[2] == value + 2 && got[3] == value + 3 && got[4] == value + 4);
    CHECK(got[6] == value + 6 && fetched == value + 7);
}

static void use(shmem_team_t team, long options)
{
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    shmem_team_t back = SHMEM_TEAM_INVALID;
    if (team == SHMEM_TEAM_INVALID)
        return;
    CHECK_EQ(shmem_team_create_ctx(team, options, &ctx), 0);
    CHECK_EQ(shmem_ctx_get_team(ctx, &back), 0);
    CHECK(back == team);
    int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team), to = (mine + 1) % n, from = (mine + n - 1) % n;
    CHECK_EQ(shmem_team_sync(team), 0);
    write_all(ctx, to, 100 * mine);
    shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 11);
    for (int i = 0; i < ROOM; i++)
        CHECK_EQ(word[i], 100 * from + i);
    read_all(ctx, to, 100 * mine);
    CHECK_EQ(shmem_team_sync(team), 0);
    flag = 0;
    memset(word, 0, sizeof word);
    CHECK_EQ(shmem_team_sync(team), 0);
    shmem_ctx_destroy(ctx);
}

int main(void)
{
    check_start();
    use(SHMEM_TEAM_WORLD, 0);
    use(SHMEM_TEAM_SHARED, SHMEM_CTX_PRIVATE);
    for (int size = 1; size <= npes; size++) {
        shmem_team_t team[] = {make_team(npes - size, 1, size), make_team(npes - 1, -1, size),
                               make_team(0, 2, (size + 1) / 2)};
        for (size_t i = 0; i < COUNT_OF(team); i++) {
            use(team[i], i == 1 ? SHMEM_CTX_SERIALIZED : 0);
            shmem_barrier_all();
            shmem_team_destroy(team[i]);
        }
    }
    return check_pass();
}
