#include "net/adapters.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Drivers of adapters that libfabric serves, and UCX does not or not well: EFA and Omni-Path. All others are UCX's. */
static const char *const of_libfabric[] = {"efa", "hfi1"};

/* Copies the name of the driver of a device; empty when the kernel names none. */
static void read_driver(const char *folder, const char *name, char *driver, size_t bytes)
{
    char path[PATH_MAX], target[PATH_MAX];
    snprintf(path, sizeof path, "%.1024s/%.255s/device/driver", folder, name);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
    const char *slash = strrchr(target, '/');
    snprintf(driver, bytes, "%.*s", (int)bytes - 1, slash ? slash + 1 : target);
}

static const char *transport_of(const char *driver)
{
    for (size_t i = 0; i < sizeof of_libfabric / sizeof *of_libfabric; i++)
        if (strcmp(driver, of_libfabric[i]) == 0)
            return "ofi";
    return "ucx";
}

/* Takes the devices of a folder. One of libfabric replaces one of UCX. `always`: null, or the transport of all of them. */
static bool look_into(const char *class, const char *folder, const char *always, struct adapter *found)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", class, folder);
    DIR *devices = opendir(path);
    bool any = false;
    for (const struct dirent *entry; devices && (entry = readdir(devices));) {
        struct adapter here = {.transport = always};
        if (entry->d_name[0] == '.')
            continue;
        snprintf(here.name, sizeof here.name, "%.*s", (int)sizeof here.name - 1, entry->d_name);
        read_driver(path, entry->d_name, here.driver, sizeof here.driver);
        if (!always)
            here.transport = transport_of(here.driver);
        if (!any || (strcmp(found->transport, "ucx") == 0 && strcmp(here.transport, "ofi") == 0))
            *found = here;
        any = true;
    }
    if (devices)
        closedir(devices);
    return any;
}

bool adapters_find(const char *class, struct adapter *found)
{
    return look_into(class, "cxi", "ofi", found) || look_into(class, "infiniband", 0, found);
}

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

const char *adapters_choose(const char *class, struct adapter *found)
{
    *found = (struct adapter){.transport = "tcp"};
    if (wants_ucx())
        *found = (struct adapter){.transport = "ucx", .name = "UCX_TLS"};
    else
        (void)adapters_find(class, found);
    return found->transport;
}
