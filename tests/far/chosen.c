/* Which network carries messages to other nodes: TCP, or UCX where there is an adapter that it is for, or where the user has told UCX to
 * use more than TCP; LATERAL_TRANSPORTS in any case. The resources of uccs.h name it. The argument is the one that must be, `auto`: as
 * there are adapters.
 * pes: 2
 * env: LATERAL_NODE_SIZE=1
 * cores: 1
 * skip: tsan
 * case: auto
 * args: auto
 * needs: ucx
 * case: tcp_of_ucx
 * env: UCX_TLS=tcp,self LATERAL_TRANSPORTS=auto
 * args: auto
 * needs: ucx
 * case: more_of_ucx
 * env: UCX_TLS=self,posix,tcp
 * args: ucx
 * needs: ucx
 * case: named_ucx
 * env: UCX_TLS=tcp,self LATERAL_TRANSPORTS=ucx
 * args: ucx
 * needs: ucx
 * case: named_tcp
 * env: UCX_TLS=posix,tcp,self LATERAL_TRANSPORTS=tcp
 * args: tcp
 * case: unknown
 * env: LATERAL_TRANSPORTS=pigeon
 * fails: LATERAL_TRANSPORTS=pigeon is not one of auto, tcp, ucx
 * case: around
 * env: LATERAL_TRANSPORTS=ucx:tcp
 * fails: LATERAL_TRANSPORTS=ucx:tcp: around a transport can be fault or sim, for tests
 */
#include "../uccs/check.h"

#include <dirent.h>
#include <stdbool.h>

static bool has_adapter(void)
{
    DIR *folder = opendir("/sys/class/infiniband");
    bool found = false;
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return found;
}

int main(int argc, char **argv)
{
    uccs_context_t context;
    struct uccs_resource list[8];
    size_t count = sizeof list / sizeof *list;
    check_start();
    const char *wanted = argc > 1 ? argv[1] : "";
    if (strcmp(wanted, "auto") == 0)
        wanted = has_adapter() ? "ucx" : "tcp";
    OK(uccs_context_create(0, &context));
    OK(uccs_resource_query(context, list, &count));
    CHECK_EQ(count, 3);
    CHECK(strcmp(list[2].transport, wanted) == 0);
    return check_pass();
}
