/* Whose memory ran out, by the files of a made-up machine; sizes; which processes the kernel kills first. */
#include "memory.h"

#include "../launch/apart.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS "low 0\nhigh 0\nmax 5\noom 2\noom_killer 9\noom_kill %d\noom_group_kill 8\n"
#define MOUNT_2 "30 25 0:26 %s /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define NO_LIMIT_1 "9223372036854771712\n"

static char root[] = "/tmp/lateral-memory-XXXXXX";

/* Writes a file below the root, with its folders. */
static void put(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *name, const char *format, ...)
{
    char path[512];
    va_list values;
    const int front = snprintf(path, sizeof path, "%s%s", root, name) - (int)strlen(name);
    for (char *slash = strchr(path + front + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    va_start(values, format);
    vfprintf(file, format, values);
    va_end(values);
    CHECK(fclose(file) == 0);
}

static void clear(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s/*", root);
    CHECK(system(command) == 0);
}

static void ran_out(const char *wanted)
{
    char text[300] = "nothing";
    const bool out = memory_ran_out(text, sizeof text);
    if (strcmp(text, wanted) != 0)
        fprintf(stderr, "wanted: %s\nis:     %s\n", wanted, text);
    CHECK(strcmp(text, wanted) == 0);
    CHECK(out == (strcmp(wanted, "nothing") != 0));
}

/* The second version: the narrowest limit of the cgroup and those above it. */
static void test_version_2(void)
{
    const char *events = "/sys/fs/cgroup/a/b/memory.events";
    clear();
    put("/proc/self/cgroup", "1:name=systemd:/a\n0::/a/b\n");
    put("/proc/self/mountinfo", "29 25 0:26 / /other rw - tmpfs tmpfs rw\n" MOUNT_2, "/");
    put("/proc/vmstat", "oom_kill 7\n");
    put("/proc/meminfo", "MemTotal:       16777216 kB\n");
    put(events, EVENTS, 3);
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/memory.max", "104857600\n");
    memory_watch(root);
    ran_out("nothing");
    put(events, EVENTS, 4);
    ran_out("the cgroup /a may hold 100 MB (memory.max)");
    ran_out("nothing"); /* told once */
    put("/sys/fs/cgroup/a/b/memory.max", "104857600\n");
    put(events, EVENTS, 6);
    ran_out("the cgroup /a/b may hold 100 MB (memory.max)");
    put("/sys/fs/cgroup/a/memory.max", "104857599\n");
    put("/sys/fs/cgroup/memory.max", "3145728\n");
    put(events, EVENTS, 7);
    ran_out("the cgroup / may hold 3 MB (memory.max)");
    put("/proc/vmstat", "oom_kill 9\n"); /* another cgroup's */
    ran_out("nothing");
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/memory.max", "max\n");
    put("/sys/fs/cgroup/memory.max", "max\n");
    put(events, EVENTS, 8);
    ran_out("the machine has 16 GB");
}

/* A container sees a part of the hierarchy as the whole. */
static void test_container(void)
{
    clear();
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/proc/self/mountinfo", MOUNT_2, "/a");
    put("/sys/fs/cgroup/b/memory.events", EVENTS, 0);
    put("/sys/fs/cgroup/b/memory.max", "1572864\n");
    memory_watch(root);
    put("/sys/fs/cgroup/b/memory.events", EVENTS, 1);
    ran_out("the cgroup /b may hold 1.5 MB (memory.max)");
    clear();
    put("/proc/self/cgroup", "9:memory,hugetlb:/docker/abc\n"); /* of the first version */
    put("/proc/self/mountinfo", "32 24 0:28 /docker/abc /cg ro - cgroup cgroup rw,hugetlb,memory\n");
    put("/cg/memory.oom_control", "oom_kill 0\n");
    put("/cg/memory.limit_in_bytes", "536870912\n");
    memory_watch(root);
    put("/cg/memory.oom_control", "oom_kill 1\n");
    ran_out("the cgroup / may hold 512 MB (memory.limit_in_bytes)");
    clear();
    put("/proc/self/cgroup", "0::/\n"); /* the cgroup is the root of what is seen */
    put("/proc/self/mountinfo", MOUNT_2, "/");
    put("/sys/fs/cgroup/memory.events", EVENTS, 0);
    put("/sys/fs/cgroup/memory.max", "2048\n");
    memory_watch(root);
    put("/sys/fs/cgroup/memory.events", EVENTS, 1);
    ran_out("the cgroup / may hold 2 kB (memory.max)");
}

/* The first version, beside a hierarchy of the second that has no memory. */
static void test_version_1(void)
{
    clear();
    put("/proc/self/cgroup", "7:xmemory:/no\n6:memoryx,cpu:/no\n5:memory\n4:hugetlb,memory:/job/7\n3:cpu:/x\n0::/y\n");
    put("/proc/self/mountinfo",
        "31 25 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu\n32 25 0:29 / /no rw - cgroup cgroup rw,memoryx\n"
        "33 25 0:28 / /cg/memory rw - cgroup cgroup rw,memory\n" MOUNT_2,
        "/");
    put("/cg/memory/job/7/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    put("/cg/memory/job/7/memory.limit_in_bytes", NO_LIMIT_1);
    put("/cg/memory/job/memory.limit_in_bytes", "8388608\n");
    memory_watch(root);
    ran_out("nothing");
    put("/cg/memory/job/7/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    ran_out("the cgroup /job may hold 8 MB (memory.limit_in_bytes)");
    put("/cg/memory/job/memory.limit_in_bytes", NO_LIMIT_1);
    put("/cg/memory/job/7/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    ran_out("the machine has ?");
}

/* Without cgroups the machine's count tells. */
static void test_machine(void)
{
    clear();
    put("/proc/vmstat", "nr_free 5\noom_killer 1\noom_kill 5\n");
    put("/proc/meminfo", "MemTotals: 1 kB\nMemTotal: 3072 kB\nMemFree: 1 kB\n");
    memory_watch(root);
    ran_out("nothing");
    put("/proc/vmstat", "nr_free 5\noom_killer 2\noom_kill 6\n");
    ran_out("the machine has 3 MB");
    ran_out("nothing");
    clear();
    ran_out("nothing");
    memory_watch(root);
    ran_out("nothing");
}

static void test_sizes(void)
{
    static const struct {
        unsigned long long bytes;
        const char *text;
    } sizes[] = {{0, "0 kB"},          {1024, "1 kB"},           {1536, "1.5 kB"},
                 {10956, "11 kB"},     {1023u << 10, "1023 kB"}, {1u << 20, "1 MB"},
                 {5u << 29, "2.5 GB"}, {1ull << 40, "1 TB"},     {5000ull << 40, "5000 TB"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[32];
        memory_write_size(sizes[i].bytes, text, sizeof text);
        if (strcmp(text, sizes[i].text) != 0)
            fprintf(stderr, "%llu: %s, not %s\n", sizes[i].bytes, text, sizes[i].text);
        CHECK(strcmp(text, sizes[i].text) == 0);
    }
}

/* Who is killed first has the higher number, 1,000 at most; any process may raise its own. */
static void test_score(void)
{
    int own = 0;
    FILE *file = fopen("/proc/self/oom_score_adj", "r");
    CHECK(file && fscanf(file, "%d", &own) == 1);
    fclose(file);
    CHECK(atoi(memory_score()) == (own < 800 ? own + 200 : 1000));
    static const int scores[] = {0, 5, 799, 800, 801};
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) {
        const int score = scores[i];
        file = fopen("/proc/self/oom_score_adj", "w");
        if (!file || fprintf(file, "%d", score) < 0 || fclose(file) != 0)
            continue; /* only the superuser lowers it */
        CHECK(atoi(memory_score()) == (score < 800 ? score + 200 : 1000));
    }
}

int main(void)
{
    static void (*const tests[])(void) = {test_version_2, test_container, test_version_1,
                                          test_machine,   test_sizes,     test_score};
    char command[64];
    CHECK(mkdtemp(root) != NULL);
    run_apart(tests, sizeof tests / sizeof *tests);
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
    return 0;
}
