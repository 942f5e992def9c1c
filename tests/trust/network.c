/* Which network a job takes, and what tests put around it, from the variables that the user has set. */
#include "../../src/uccs/link/network.c"

#include "unit/check.h"

#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *transports, *tls, *own; /* LATERAL_TRANSPORTS, UCX_TLS, LATERAL_UCX_TLS; null: not set */
    const char *network;                /* null: by the machine */
    const char *wrapper;                /* null: none */
} rows[] = {
    {0, 0, 0, 0, 0},
    {"auto", 0, 0, 0, 0},
    {0, "tcp", 0, 0, 0},
    {0, "tcp,self", 0, 0, 0},
    {0, "self", 0, 0, 0},
    {0, "tcp,self,rc", 0, "ucx", 0},
    {0, "rc,tcp", 0, "ucx", 0},
    {0, "all", 0, "ucx", 0},
    {0, "tcpx", 0, "ucx", 0},
    {0, "tcp", "rc", "ucx", 0},
    {0, "rc", "tcp", 0, 0},
    {"tcp", "rc", 0, "tcp", 0},
    {"ucx", "tcp", 0, "ucx", 0},
    {"fault:ucx", 0, 0, "ucx", "fault"},
    {"sim:tcp", "rc", 0, "tcp", "sim"},
    {"sim:fault:ucx", 0, 0, "ucx", "sim"},
    {"simx:tcp", 0, 0, "tcp", 0},
    {"si:tcp", 0, 0, "tcp", 0},
    {"other:tcp", 0, 0, "tcp", 0},
};

static void set(const char *name, const char *value)
{
    CHECK((value ? setenv(name, value, 1) : unsetenv(name)) == 0);
}

static bool same(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static void check_row(size_t i)
{
    const char *why = 0;
    set("LATERAL_TRANSPORTS", rows[i].transports);
    set("UCX_TLS", rows[i].tls);
    set("LATERAL_UCX_TLS", rows[i].own);
    if (env_load(&why) != 0)
        fprintf(stderr, "row %zu: %s\n", i, why);
    CHECK(!why);
    const char *network = name_of_network(), *wrapper = name_of_wrapper();
    const char *wanted = rows[i].network                               ? rows[i].network
                         : access(DEVICES, F_OK) == 0 && has_adapter() ? "ucx"
                                                                       : "tcp";
    if (!same(network, wanted) || !same(wrapper, rows[i].wrapper))
        fprintf(stderr, "row %zu: %s behind %s\n", i, network, wrapper ? wrapper : "nothing");
    CHECK(same(network, wanted) && same(wrapper, rows[i].wrapper));
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status;
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            check_row(i);
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    char long_list[400];
    memset(long_list, 't', sizeof long_list);
    long_list[sizeof long_list - 1] = 0;
    set("LATERAL_UCX_TLS", long_list); /* longer than any list of TCP alone */
    CHECK(wants_ucx());
    return 0;
}
