/* Chooses and loads the transport. LATERAL_TRANSPORTS names one; else the host's adapter decides (net/adapters.h): libfabric or UCX; the
 * kernel's TCP where there is none: without UCX between, a message costs fewer system calls. All PEs must choose alike, which send.c checks
 * where it connects. */
#include "uccs/proto/inner.h"

#include "base/env.h"
#include "base/log.h"
#include "base/module.h"
#include "net/adapters.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Returns true when the user has told UCX to use more than TCP. */
static bool wants_ucx(void)
{
    const char *chosen = getenv("UCX_TLS");
    char words[256], *rest = words;
    if (!chosen || strlen(chosen) >= sizeof words)
        return chosen != 0;
    strcpy(words, chosen);
    for (char *word; (word = strsep(&rest, ","));)
        if (strcmp(word, "tcp") != 0 && strcmp(word, "self") != 0)
            return true;
    return false;
}

/* The network itself: what stands last in LATERAL_TRANSPORTS. */
static const char *name_of_network(void)
{
    const char *chosen = env_text(ENV_TRANSPORTS), *colon = strrchr(chosen, ':');
    struct adapter adapter;
    if (strcmp(chosen, "auto") == 0)
        return wants_ucx() ? "ucx" : adapters_find("/sys/class", &adapter) ? adapter.transport : "tcp";
    return colon ? colon + 1 : chosen;
}

/* What tests put around it: the first of them, which loads what stands behind it; null: nothing. */
static const char *name_of_wrapper(void)
{
    static const char *const wrappers[] = {"fault", "sim"};
    const char *chosen = env_text(ENV_TRANSPORTS);
    const size_t bytes = strcspn(chosen, ":");
    for (size_t i = 0; chosen[bytes] && i < sizeof wrappers / sizeof *wrappers; i++)
        if (strlen(wrappers[i]) == bytes && strncmp(chosen, wrappers[i], bytes) == 0)
            return wrappers[i];
    return 0;
}

const struct transport *proto_network_load(void)
{
    static void *module;
    const char *why = 0, *name = name_of_wrapper();
    if (!name && strchr(env_text(ENV_TRANSPORTS), ':')) {
        log_alike(uccs_core.me, "LATERAL_TRANSPORTS=%s: around a transport can be fault or sim, for tests",
                  env_text(ENV_TRANSPORTS));
        return 0;
    }
    if (!module)
        module = module_open(name ? name : name_of_network(), &why);
    const struct transport *transport = module ? dlsym(module, TRANSPORT_SYMBOL) : 0;
    if (!transport)
        log_alike(uccs_core.me,
                  "PEs are on several nodes, and what carries messages between them cannot be loaded: %s; build "
                  "Lateral where %s is, or set LATERAL_TRANSPORTS=tcp",
                  why ? why : "it is not one of this library's",
                  strcmp(name_of_network(), "ofi") == 0 ? "libfabric (Debian: libfabric-dev)"
                                                        : "UCX (Debian: libucx-dev)");
    return transport;
}
