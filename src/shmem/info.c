/* Answers queries: PE numbers, what is accessible, addresses of peers, names and versions. Any thread. */
#include "base/env.h"
#include "shmem/calls.h"
#include "shmem/state.h"
#include "uccs/proto/initiator.h"
#include "uccs/core/memory.h"

#include <stdio.h>
#include <string.h>

int lat_my_pe(void)
{
    (void)lat_require_or_leave("shmem_my_pe");
    return uccs_core.me;
}

int lat_n_pes(void)
{
    (void)lat_require_or_leave("shmem_n_pes");
    return uccs_core.npes;
}

int lat_pe_accessible(int pe)
{
    lat_require("shmem_pe_accessible");
    return pe >= 0 && pe < uccs_core.npes;
}

int lat_addr_accessible(const void *addr, int pe)
{
    lat_require("shmem_addr_accessible");
    if (!uccs_far_pe(pe))
        return uccs_memory_resolve(addr, pe) != 0;
    struct proto_address place = proto_address(addr);
    return place.segment == PROTO_HEAP || (place.segment == PROTO_IMAGE && proto_same_image(pe));
}

/* For the calling PE it returns `dest` itself, not the second mapping of its pages. */
void *lat_ptr(const void *dest, int pe)
{
    size_t offset;
    lat_require("shmem_ptr");
    if (pe == uccs_core.me)
        return uccs_memory_find(dest, &offset) != UCCS_NOWHERE ? (void *)dest : 0;
    return uccs_memory_resolve(dest, pe);
}

void lat_info_get_version(int *major, int *minor)
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

void lat_info_get_name(char *name)
{
    snprintf(name, SHMEM_MAX_NAME_LEN, "%s", SHMEM_VENDOR_STRING);
}

static void print_variables(void)
{
    for (int id = 0; id < ENV_COUNT; id++) {
        const struct env_variable *variable = env_describe((enum env_id)id);
        const char *from, *value = env_value((enum env_id)id, &from);
        printf("  %-22s %-12s %s%s%s\n      %s\n", variable->name, *value ? value : "-", from ? "(from " : "(default",
               from ? from : "", ")", variable->help);
    }
}

void lat_info_print(void)
{
    bool version = env_flag(ENV_VERSION), info = env_flag(ENV_INFO);
    if (uccs_core.me != 0 || !(version || info))
        return;
    printf("Lateral " LATERAL_VERSION ", OpenSHMEM %d.%d\n", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
    if (info) {
        printf("Environment variables:\n");
        print_variables();
        const char *why = uccs_memory_why_private();
        printf("Global variables: %s%s\n", why ? "private: " : "symmetric", why ? why : "");
    }
    fflush(stdout);
}
