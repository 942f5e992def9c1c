/* Which network a job takes, and what tests put around it, from the variables that the user has set, on a made-up machine. */
#include <dirent.h>

static DIR *open_made_up(const char *path);
static struct dirent *read_made_up(DIR *devices);
static int close_made_up(DIR *devices);
#define opendir open_made_up
#define readdir read_made_up
#define closedir close_made_up

#include "uccs/link/inner.h"

#include "base/log.h"
#include "base/module.h"

#include <dlfcn.h>

static void *module_made_up(const char *name, const char **why);
static void *symbol_made_up(void *module, const char *name);
static void log_made_up(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define module_open module_made_up
#define dlsym symbol_made_up
#undef log_alike
#define log_alike(pe, ...) log_made_up(__VA_ARGS__)
#include "../../src/uccs/link/network.c"
#undef opendir
#undef readdir
#undef closedir

#include "unit/check.h"

#include <stdarg.h>
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

/* --- The machine: the entries of the folder of adapters; null: there is no such folder */

static const char *const *adapters;
static int open_folders, reads;

static DIR *open_made_up(const char *path)
{
    CHECK(strcmp(path, "/sys/class/infiniband") == 0 && open_folders == 0);
    open_folders += adapters != NULL;
    reads = 0;
    return adapters ? (DIR *)&adapters : NULL;
}

static struct dirent *read_made_up(DIR *devices)
{
    static struct dirent entry;
    CHECK(devices == (DIR *)&adapters && open_folders == 1);
    if (!adapters[reads])
        return NULL;
    strcpy(entry.d_name, adapters[reads++]);
    return &entry;
}

static int close_made_up(DIR *devices)
{
    CHECK(devices == (DIR *)&adapters && open_folders == 1);
    open_folders--;
    return 0;
}

static void machines(void)
{
    static const char *const none[] = {".", "..", NULL}, *const some[] = {".", "..", "mlx5_0", "mlx5_1", NULL};
    static const char *const first[] = {"hfi1_0", ".", "..", NULL}, *const empty[] = {NULL};
    static const struct {
        const char *const *adapters;
        bool has;
        int reads; /* it looks no further than it must */
    } rows_of[] = {{NULL, false, 0}, {empty, false, 0}, {none, false, 2}, {some, true, 3}, {first, true, 1}};
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++) {
        adapters = rows_of[i].adapters;
        CHECK(has_adapter() == rows_of[i].has && open_folders == 0 && reads == rows_of[i].reads);
    }
}

static void set(const char *name, const char *value)
{
    CHECK((value ? setenv(name, value, 1) : unsetenv(name)) == 0);
}

static bool same(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* --- Loading */

static char opened[16], line[400];
static int opens;
static bool no_module, no_symbol;
static const struct transport loaded = {.name = "made-up"};

static void *module_made_up(const char *name, const char **why)
{
    snprintf(opened, sizeof opened, "%s", name);
    opens++;
    *why = no_module ? "no such file" : NULL;
    return no_module ? NULL : opened;
}

static void *symbol_made_up(void *module, const char *name)
{
    CHECK(module == opened && strcmp(name, TRANSPORT_SYMBOL) == 0);
    return no_symbol ? NULL : (void *)(uintptr_t)&loaded;
}

static void log_made_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
}

static void load(const char *transports)
{
    const char *why = 0;
    line[0] = 0;
    set("LATERAL_TRANSPORTS", transports);
    CHECK(env_load(&why) == 0);
}

/* A transport is loaded once; what fails is tried again, and says why. */
static void loads(void)
{
    load("other:tcp");
    CHECK(!link_network_load() && opens == 0 && strstr(line, "LATERAL_TRANSPORTS=other:tcp: around a transport"));
    load("tcp");
    no_module = true;
    CHECK(!link_network_load() && opens == 1 && strcmp(opened, "tcp") == 0 && strstr(line, "loaded: no such file;"));
    no_module = false;
    no_symbol = true;
    load("sim:tcp");
    CHECK(!link_network_load() && opens == 2 && strcmp(opened, "sim") == 0 && strstr(line, "it is not one of this"));
    no_symbol = false;
    load("sim:tcp");
    CHECK(link_network_load() == &loaded && opens == 2 && !line[0]);
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
    const char *wanted = rows[i].network ? rows[i].network : adapters ? "ucx" : "tcp";
    if (!same(network, wanted) || !same(wrapper, rows[i].wrapper))
        fprintf(stderr, "row %zu: %s behind %s\n", i, network, wrapper ? wrapper : "nothing");
    CHECK(same(network, wanted) && same(wrapper, rows[i].wrapper));
}

int main(void)
{
    static const char *const one[] = {"mlx5_0", NULL};
    machines();
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        int status;
        adapters = i % 2 ? one : NULL;
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            check_row(i / 2);
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    loads();
    char long_list[400];
    memset(long_list, 't', sizeof long_list);
    long_list[sizeof long_list - 1] = 0;
    set("LATERAL_UCX_TLS", long_list); /* longer than any list of TCP alone */
    CHECK(wants_ucx());
    for (size_t bytes = 255; bytes <= 256; bytes++) { /* just as long as there is room for, and longer */
        for (size_t at = 0; at < bytes; at++)
            long_list[at] = "tcp,"[at % 4];
        memcpy(long_list + 252, bytes == 255 ? "tcp" : "self", bytes - 251);
        set("LATERAL_UCX_TLS", long_list);
        CHECK(wants_ucx() == (bytes == 256));
    }
    return 0;
}
