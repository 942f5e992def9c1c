/* Collectives on teams hand their arguments on to the team's group, each as it came; -1 and nothing else for an invalid team. */
#include "refused.h"

#include "shmem/coll/coll.h"
#include "shmem/coll/inner.h"
#include "shmem/team.h"

enum { SIZE = 3 };

struct shmem_team_impl lat_team_world, lat_team_shared;
static struct shmem_team_impl team;
static char source[4], dest[4], noted[200];
static struct uccs_team *asked; /* the group */

__attribute__((format(printf, 5, 6))) static void note(const char *call, struct uccs_team *group, const void *to,
                                                       const void *from, const char *format, ...)
{
    va_list arguments;
    CHECK(strcmp(call, "call") == 0 && to == dest && from == source);
    CHECK(!noted[0]);
    asked = group;
    va_start(arguments, format);
    vsnprintf(noted, sizeof noted, format, arguments);
    va_end(arguments);
}

void lat_group_broadcast(const char *call, struct uccs_team *group, void *to, const void *from, size_t bytes, int root,
                         bool at_root)
{
    note(call, group, to, from, "broadcast %zu %d %d", bytes, root, at_root);
}

void lat_group_collect(const char *call, struct uccs_team *group, void *to, const void *from, size_t bytes)
{
    note(call, group, to, from, "collect %zu", bytes);
}

void lat_group_fcollect(const char *call, struct uccs_team *group, void *to, const void *from, size_t bytes)
{
    note(call, group, to, from, "fcollect %zu", bytes);
}

void lat_group_alltoall(const char *call, struct uccs_team *group, void *to, const void *from, size_t bytes)
{
    note(call, group, to, from, "alltoall %zu", bytes);
}

void lat_group_alltoalls(const char *call, struct uccs_team *group, void *to, const void *from, ptrdiff_t dst,
                         ptrdiff_t sst, size_t nelems, size_t size)
{
    note(call, group, to, from, "alltoalls %td %td %zu %zu", dst, sst, nelems, size);
}

void lat_group_reduce(const char *call, struct uccs_team *group, void *to, const void *from, size_t n, enum kind kind,
                      enum fold_op op)
{
    note(call, group, to, from, "reduce %zu %d %d", n, kind == KIND_I16, op == FOLD_MIN);
}

void lat_group_scan(const char *call, struct uccs_team *group, void *to, const void *from, size_t n, enum kind kind,
                    bool inclusive)
{
    note(call, group, to, from, "scan %zu %d %d", n, kind == KIND_I16, inclusive);
}

#include "shmem/coll/teams.c"

/* All on the team of this handle. `wanted` is its group; null: the team is invalid. */
static void all(shmem_team_t handle, const struct uccs_team *wanted)
{
    const int status = wanted ? 0 : -1;
#define DOES(call, text)                                                                      \
    do {                                                                                      \
        asked = 0;                                                                            \
        noted[0] = 0;                                                                         \
        CHECK((call) == status && strcmp(noted, wanted ? text : "") == 0 && asked == wanted); \
    } while (0)
    DOES(lat_broadcast("call", handle, dest, source, 5, 0), "broadcast 5 0 1");
    DOES(lat_broadcast("call", handle, dest, source, 6, SIZE - 1), "broadcast 6 2 1");
    DOES(lat_collect("call", handle, dest, source, 7), "collect 7");
    DOES(lat_fcollect("call", handle, dest, source, 8), "fcollect 8");
    DOES(lat_alltoall("call", handle, dest, source, 9), "alltoall 9");
    DOES(lat_alltoalls("call", handle, dest, source, -1, 2, 3, 4), "alltoalls -1 2 3 4");
    DOES(lat_reduce("call", handle, dest, source, 10, KIND_I16, FOLD_MIN), "reduce 10 1 1");
    DOES(lat_scan("call", handle, dest, source, 11, KIND_I16, 1), "scan 11 1 1");
    DOES(lat_scan("call", handle, dest, source, 12, KIND_I16, 2), "scan 12 1 1");
    DOES(lat_scan("call", handle, dest, source, 13, KIND_I16, 0), "scan 13 1 0");
    noted[0] = 0;
}

static void mistakes(void)
{
    CHECK(lat_broadcast("call", SHMEM_TEAM_INVALID, dest, source, 5, -1) == -1 && !noted[0]);
    REFUSED(lat_broadcast("call", &team, dest, source, 5, -1),
            "call: PE_root -1 is out of range, the team has PEs 0 to 2");
    REFUSED(lat_broadcast("call", &team, dest, source, 5, SIZE),
            "call: PE_root 3 is out of range, the team has PEs 0 to 2");
    for (lat_state = LAT_BEFORE; lat_state <= LAT_AFTER; lat_state += 2) {
        static const char *line;
        line =
            lat_state == LAT_BEFORE ? "call: called before shmem_init" : "call: called after the last shmem_finalize";
        REFUSED(lat_broadcast("call", SHMEM_TEAM_INVALID, dest, source, 5, 0), line);
        REFUSED(lat_collect("call", &team, dest, source, 5), line);
        REFUSED(lat_fcollect("call", &team, dest, source, 5), line);
        REFUSED(lat_alltoall("call", &team, dest, source, 5), line);
        REFUSED(lat_alltoalls("call", &team, dest, source, 1, 1, 1, 1), line);
        REFUSED(lat_reduce("call", &team, dest, source, 5, KIND_I16, FOLD_MIN), line);
        REFUSED(lat_scan("call", &team, dest, source, 5, KIND_I16, 1), line);
    }
    CHECK(!noted[0]);
}

int main(void)
{
    team.group.size = lat_team_world.group.size = lat_team_shared.group.size = SIZE;
    lat_state = LAT_RUNNING;
    all(&team, &team.group);
    all(SHMEM_TEAM_WORLD, &lat_team_world.group);
    all(SHMEM_TEAM_SHARED, &lat_team_shared.group);
    all(SHMEM_TEAM_INVALID, 0);
    mistakes();
    return 0;
}
