/* The shapes of new teams, the lists of their members, and the orders of sync.c, for teams.c, which includes this behind its helpers. */
#ifndef TESTS_TRUST_TEAMS_SHAPES_H
#define TESTS_TRUST_TEAMS_SHAPES_H

static bool fits(int start, long stride, int size)
{
    const long last = start + (size == 1 ? 0 : stride) * (size - 1L);
    return size >= 1 && start >= 0 && start < NPES && last >= 0 && last < NPES && (size == 1 || stride != 0);
}

/* Every triplet, just inside and just outside of a parent of six; this one is its member 4. */
static void shape(int start, int stride, int size)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int rank = -1;
    for (int i = 0; fits(start, stride, size) && i < size; i++)
        if (start + i * (size == 1 ? 0 : stride) == 4)
            rank = i;
    const int status = lat_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, 0, 0, &team);
    CHECK(status == (fits(start, stride, size) ? 0 : -1) && (team != SHMEM_TEAM_INVALID) == (rank >= 0));
    if (rank < 0)
        return;
    CHECK(team->rank == rank && team->size == size && team->start == start && team->stride == (size == 1 ? 1 : stride));
    CHECK(lat_team_translate_pe(team, size, SHMEM_TEAM_WORLD) == -1);
    CHECK(lat_team_translate_pe(team, -1, SHMEM_TEAM_WORLD) == -1);
    CHECK(lat_team_translate_pe(team, 0, SHMEM_TEAM_WORLD) == start);
    lat_team_destroy(team);
    noted[0] = 0;
}

static void shapes(void)
{
    shmem_team_t team;
    for (int rank = 0; rank < NPES; rank++)
        offer(rank, 40, 41, 42);
    for (int start = -1; start <= NPES; start++)
        for (int stride = -3; stride <= 3; stride++)
            for (int size = -1; size <= NPES + 1; size++)
                shape(start, stride, size);
    shape(4, INT_MAX, 1);
    shape(4, INT_MIN, 1);
    shape(4, INT_MAX, 3);
    shape(4, INT_MIN, INT_MAX);
    CHECK(lat_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, 0, 0, &team) == -1 && !team && only_slot() < 0);
}

/* Parts of a team that lists its members list theirs. */
static void lists(void)
{
    shmem_team_t team;
    CHECK(lat_team_split_strided(SHMEM_TEAM_SHARED, 2, -1, 3, 0, 0, &team) == 0 && team->rank == 1);
    const int *pes = team->group.pes;
    CHECK(pes[0] == 3 && pes[1] == 2 && pes[2] == 0);
    lat_team_destroy(team);
    CHECK(lat_team_split_strided(SHMEM_TEAM_SHARED, 1, 1, 2, 0, 0, &team) == 0 && team->rank == 0);
    CHECK(team->group.pes[0] == 2 && team->group.pes[1] == 3 && lat_team_translate_pe(team, 1, SHMEM_TEAM_WORLD) == 3);
    lat_team_destroy(team);
    int longer[] = {5, 7, 9, 11};
    const struct shmem_team_impl three = {.size = 3, .group.pes = longer};
    CHECK(member_of(&three, 9) == 2 && member_of(&three, 11) == -1);
    no_span = true;
    spans_freed = 0;
    CHECK(lat_team_split_strided(SHMEM_TEAM_SHARED, 1, 1, 2, 0, 0, &team) == -1 && !team && spans_freed == 1);
    no_span = false;
    CHECK(only_slot() < 0);
    noted[0] = 0;
}

static void orders(void)
{
    struct shmem_ctx_impl ctx = {.size = 70, .start = 100, .stride = 1};
    int pes[65];
    for (int i = 0; i < 65; i++)
        pes[i] = i;
    lat_on_node = 1;
    lat_fence(), lat_ctx_fence(&ctx), lat_quiet(), lat_ctx_quiet(&ctx), lat_pe_quiet(pes, 65),
        lat_ctx_pe_quiet(&ctx, pes, 1);
    NOTED("fence; fence; quiet; quiet; quiet; quiet; ");
    lat_on_node = 0;
    lat_fence(), lat_ctx_fence(&ctx), lat_ctx_fence(SHMEM_CTX_INVALID);
    NOTED("fence all; far fence of lanes; fence; fence; ");
    lat_quiet(), lat_ctx_quiet(&ctx), lat_ctx_quiet(SHMEM_CTX_INVALID);
    NOTED("quiet all; far quiet of lanes; quiet; quiet; ");
    lat_ctx_pe_quiet(&ctx, pes, 65);
    NOTED("64 from 100 of lanes; 1 from 164 of lanes; quiet; ");
    lat_ctx_pe_quiet(&ctx, pes, 64);
    NOTED("64 from 100 of lanes; quiet; ");
    lat_ctx_pe_quiet(&ctx, pes, 0);
    lat_ctx_pe_quiet(SHMEM_CTX_INVALID, pes, 1);
    NOTED("quiet; quiet; ");
    lat_ctx_default = (struct shmem_ctx_impl){.size = 70, .stride = 1};
    lat_pe_quiet(pes + 1, 2);
    NOTED("2 from 1; quiet; ");
    lat_barrier_all(), lat_sync_all();
    NOTED("sync 0; sync 0; ");
    atomic_store_relaxed(&uccs_far_touched, 1);
    lat_barrier_all(), lat_sync_all();
    NOTED("far quiet; sync 0; sync 0; ");
    CHECK(lat_team_sync(SHMEM_TEAM_SHARED) == 0 && lat_team_sync(SHMEM_TEAM_INVALID) == -1);
    NOTED("sync 1; ");
    lat_state = LAT_BEFORE;
    REFUSED(lat_fence(), "shmem_fence: called before shmem_init");
    REFUSED(lat_ctx_quiet(&ctx), "shmem_ctx_quiet: called before shmem_init");
    REFUSED(lat_pe_quiet(pes, 0), "shmem_pe_quiet: called before shmem_init");
    REFUSED(lat_barrier_all(), "shmem_barrier_all: called before shmem_init");
    REFUSED(lat_sync_all(), "shmem_sync_all: called before shmem_init");
    REFUSED(lat_team_sync(SHMEM_TEAM_WORLD), "shmem_team_sync: called before shmem_init");
    shmem_team_t team;
    REFUSED(lat_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, 0, 0, &team),
            "shmem_team_split_strided: called before shmem_init");
    REFUSED(lat_team_split_2d(SHMEM_TEAM_WORLD, 1, 0, 0, &team, 0, 0, &team),
            "shmem_team_split_2d: called before shmem_init");
    REFUSED(lat_team_my_pe(0), "shmem_team_my_pe: called before shmem_init");
    REFUSED(lat_team_n_pes(0), "shmem_team_n_pes: called before shmem_init");
    REFUSED(lat_team_destroy(0), "shmem_team_destroy: called before shmem_init");
    REFUSED(lat_team_get_config(0, 0, 0), "shmem_team_get_config: called before shmem_init");
    REFUSED(lat_team_translate_pe(0, 0, 0), "shmem_team_translate_pe: called before shmem_init");
    REFUSED(lat_team_ptr(0, 0, 0), "shmem_team_ptr: called before shmem_init");
    lat_state = LAT_RUNNING;
}

#endif
