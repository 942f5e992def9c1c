/* Team functions, by their C names.
 * pes: 1 2
 * flags: -fno-strict-aliasing
 *
 * case: bare
 * case: checked
 * oshrun: --check */
#include "harness.h"

static void teams(void)
{
    shmem_team_t all = SHMEM_TEAM_INVALID, x = SHMEM_TEAM_INVALID, y = SHMEM_TEAM_INVALID;
    shmem_team_config_t config = {3};
    expect("shmem_team_my_pe", shmem_team_my_pe(SHMEM_TEAM_WORLD) == me, "wrong in the world");
    expect("shmem_team_n_pes", shmem_team_n_pes(SHMEM_TEAM_WORLD) == npes, "wrong in the world");
    expect("shmem_team_split_strided",
           shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &all) == 0,
           "failed");
    expect("shmem_team_my_pe", shmem_team_my_pe(all) == me && shmem_team_n_pes(all) == npes, "wrong in a split");
    config.num_contexts = -1;
    expect("shmem_team_get_config", shmem_team_get_config(all, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0, "failed");
    expect("shmem_team_get_config", config.num_contexts == 3, "not what the split was given");
    expect("shmem_team_translate_pe", shmem_team_translate_pe(all, peer, SHMEM_TEAM_WORLD) == peer, "wrong PE");
    expect("shmem_team_sync", shmem_team_sync(all) == 0, "failed");
    expect("shmem_team_split_2d", shmem_team_split_2d(all, 1, NULL, 0, &x, NULL, 0, &y) == 0, "failed");
    expect("shmem_team_split_2d", shmem_team_n_pes(x) == 1 && shmem_team_n_pes(y) == npes, "wrong sizes");
    shmem_team_destroy(x);
    shmem_team_destroy(y);
    shmem_team_destroy(all);
}

int main(void)
{
    begin();
    teams();
    expect("shmem_team_ptr", shmem_team_ptr(SHMEM_TEAM_WORLD, dest, peer) == shmem_ptr(dest, peer),
           "not as shmem_ptr says");
    return end(8);
}
