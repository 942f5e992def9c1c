/* The adapter that a host's jobs use, found in folders like those of /sys/class. */
#include "check.h"
#include "net/adapters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char class[64];

static void make(const char *path)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", class, path);
    CHECK(mkdir(whole, 0700) == 0);
}

/* A device with a driver, as the kernel shows it. */
static void plug(const char *folder, const char *name, const char *driver)
{
    char path[256], target[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    make(path);
    snprintf(path, sizeof path, "%s/%s/device", folder, name);
    make(path);
    snprintf(path, sizeof path, "%s/%s/%s/device/driver", class, folder, name);
    snprintf(target, sizeof target, "../../../bus/pci/drivers/%s", driver);
    CHECK(symlink(target, path) == 0);
}

static void expect(const char *transport, const char *name, const char *driver)
{
    struct adapter found;
    CHECK(adapters_find(class, &found));
    CHECK(strcmp(found.transport, transport) == 0 && strcmp(found.name, name) == 0 &&
          strcmp(found.driver, driver) == 0);
}

int main(void)
{
    struct adapter found;
    char command[128];
    strcpy(class, "/tmp/lateral-class-XXXXXX");
    CHECK(mkdtemp(class));
    CHECK(!adapters_find(class, &found)); /* no folder at all */
    make("infiniband");
    CHECK(!adapters_find(class, &found)); /* an empty one */
    plug("infiniband", "mlx5_0", "mlx5_core");
    expect("ucx", "mlx5_0", "mlx5_core");
    plug("infiniband", "rdmap0s6", "efa");
    expect("ofi", "rdmap0s6", "efa");
    make("cxi");
    expect("ofi", "rdmap0s6", "efa");
    make("cxi/cxi0"); /* without a driver's name */
    expect("ofi", "cxi0", "");
    snprintf(command, sizeof command, "rm -r %s", class);
    CHECK(system(command) == 0);
    return 0;
}
