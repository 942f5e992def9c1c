/* The launcher tells that memory ran out from what the kernel counts, and whose limit that was: cgroups of both versions, in
 * containers, and machines without any. The files are of a tree of this test's own. */
#include "memory.h"
#include "unit/check.h"

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

/* Writes a file below root, and the folders above it. */
static void put(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file);
    fputs(text, file);
    fclose(file);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static void begin(const char *cgroup, const char *mountinfo)
{
    strcpy(root, "/tmp/lateral-memory.XXXXXX");
    CHECK(mkdtemp(root));
    put("/proc/self/cgroup", cgroup);
    put("/proc/self/mountinfo", mountinfo);
    put("/proc/vmstat", "nr_free_pages 7\noom_kill 5\n");
    put("/proc/meminfo", "MemTotal:       25165824 kB\nMemFree: 1 kB\n");
}

static void end(void)
{
    CHECK(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* It has run out, once, and the text is this. */
static void ran_out(const char *expected)
{
    char text[512] = "";
    CHECK(memory_ran_out(text, sizeof text));
    if (strcmp(text, expected) != 0)
        fprintf(stderr, "said: %s\n", text);
    CHECK(strcmp(text, expected) == 0);
    CHECK(!memory_ran_out(text, sizeof text));
}

static void stays_quiet(void)
{
    char text[512];
    CHECK(!memory_ran_out(text, sizeof text));
}

#define V1 "31 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
#define V1_MEMORY "32 24 0:28 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n"
#define V2 "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static void version_one(void)
{
    begin("4:memory:/job/step\n3:cpu:/other\n0::/\n", V1 V1_MEMORY V2);
    put("/sys/fs/cgroup/memory/job/step/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    put("/sys/fs/cgroup/memory/job/step/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "268435456\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    memory_watch(root);
    stays_quiet();
    put("/sys/fs/cgroup/memory/job/step/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    ran_out("the cgroup /job may hold 256 MB (memory.limit_in_bytes)");
    put("/proc/vmstat", "oom_kill 6\n"); /* a process of another cgroup */
    stays_quiet();
    end();
}

static void version_two(void)
{
    begin("0::/user.slice/job\n", V2);
    put("/sys/fs/cgroup/user.slice/job/memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 0\noom_group_kill 7\n");
    put("/sys/fs/cgroup/user.slice/job/memory.max", "1610612736\n");
    put("/sys/fs/cgroup/user.slice/memory.max", "max\n");
    memory_watch(root);
    put("/sys/fs/cgroup/user.slice/job/memory.events", "max 10\noom 1\noom_kill 0\noom_group_kill 8\n");
    stays_quiet();
    put("/sys/fs/cgroup/user.slice/job/memory.events", "max 10\noom 2\noom_kill 1\n");
    ran_out("the cgroup /user.slice/job may hold 1.5 GB (memory.max)");
    put("/sys/fs/cgroup/user.slice/memory.max", "1048576\n");
    put("/sys/fs/cgroup/user.slice/job/memory.events", "oom_kill 4\n");
    ran_out("the cgroup /user.slice may hold 1 MB (memory.max)");
    end();
}

/* Docker on version 1: the path names what the mount does not show. */
static void container(void)
{
    begin("9:memory,hugetlb:/docker/abc\n",
          "32 24 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,hugetlb,memory\n");
    put("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill 0\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
    memory_watch(root);
    put("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill 1\n");
    ran_out("the cgroup / may hold 512 MB (memory.limit_in_bytes)");
    end();
}

/* Nothing is limited, or there are no cgroups: the machine's memory ran out. */
static void machine(void)
{
    begin("0::/\n", V2);
    memory_watch(root);
    stays_quiet();
    put("/proc/vmstat", "oom_kill 6\n");
    ran_out("the machine has 24 GB");
    end();
    begin("0::/job\n", V2);
    put("/sys/fs/cgroup/job/memory.events", "oom_kill 0\n");
    put("/sys/fs/cgroup/job/memory.max", "max\n");
    memory_watch(root);
    put("/sys/fs/cgroup/job/memory.events", "oom_kill 1\n");
    ran_out("the machine has 24 GB");
    end();
    strcpy(root, "/nonexistent");
    memory_watch(root);
    stays_quiet();
}

static void sizes(void)
{
    static const struct {
        unsigned long long bytes;
        const char *text;
    } rows[] = {{0, "0 kB"},         {1023 << 10, "1023 kB"}, {1 << 20, "1 MB"},         {1536 << 10, "1.5 MB"},
                {10 << 20, "10 MB"}, {5ull << 40, "5 TB"},    {4096ull << 40, "4096 TB"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[32];
        memory_write_size(rows[i].bytes, text, sizeof text);
        CHECK(strcmp(text, rows[i].text) == 0);
    }
}

int main(void)
{
    version_one();
    version_two();
    container();
    machine();
    sizes();
}
