#include "memory.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PES_FIRST 200 /* thousandths of all memory that a PE counts as bigger than it is */
#define SCORE_MAX 1000
#define NO_LIMIT (1ull << 60) /* version 1 writes a number near 2^63 for none */

enum version { NONE, ONE, TWO };

/* How each version calls its files and the limit. */
static const struct {
    const char *type, *events, *limit;
} version_names[] = {
    [ONE] = {"cgroup", "memory.oom_control", "memory.limit_in_bytes"},
    [TWO] = {"cgroup2", "memory.events", "memory.max"},
};

static struct {
    const char *root;
    enum version version;
    char top[PATH_MAX];  /* where the hierarchy is mounted */
    char path[PATH_MAX]; /* of the cgroup below it; begins with / */
    unsigned long long group_kills, machine_kills;
} memory;

/* Opens root/name. Returns null when it is not there. */
static FILE *open_below(const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s", memory.root, name);
    return fopen(path, "re");
}

/* ---- which cgroup ---- */

/* True when a list of words between commas has the word. */
static bool has_word(const char *list, const char *word)
{
    size_t bytes = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += bytes)
        if ((at == list || at[-1] == ',') && (at[bytes] == 0 || at[bytes] == ',' || at[bytes] == '\n'))
            return true;
    return false;
}

/* Reads the path of this process's cgroup: the line "N:...memory...:/path" of version 1, or "0::/path" of version 2. */
static bool find_path(enum version version)
{
    char line[PATH_MAX + 256];
    bool found = false;
    FILE *file = open_below("/proc/self/cgroup");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path || path[1] != '/')
            continue;
        *path++ = 0;
        found = version == ONE ? has_word(list + 1, "memory") : strcmp(line, "0:") == 0 && !list[1];
        path[strcspn(path, "\n")] = 0;
        snprintf(memory.path, sizeof memory.path, "%s", path);
    }
    if (file)
        fclose(file);
    return found;
}

/* A container's mount shows a part of the hierarchy; the cgroup's path is cut to that part. */
static void cut_path(const char *part)
{
    size_t bytes = strlen(part);
    if (strcmp(part, "/") != 0 && strncmp(memory.path, part, bytes) == 0)
        memmove(memory.path, memory.path + bytes, strlen(memory.path + bytes) + 1);
    if (strcmp(memory.path, "/") == 0)
        *memory.path = 0;
}

/* Finds the mount of the hierarchy: the line of mountinfo with the type behind " - ". */
static bool find_mount(enum version version)
{
    char line[4096], part[1024], type[64];
    bool found = false;
    FILE *file = open_below("/proc/self/mountinfo");
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *tail = strstr(line, " - ");
        if (!tail || sscanf(tail, " - %63s", type) != 1 || strcmp(type, version_names[version].type) != 0)
            continue;
        const char *options = strrchr(tail, ' ');
        if (version == ONE && !has_word(options + 1, "memory"))
            continue;
        found = sscanf(line, "%*s %*s %*s %1023s %4095s", part, memory.top) == 2;
    }
    if (file)
        fclose(file);
    if (found)
        cut_path(part);
    return found;
}

/* ---- what the kernel counts ---- */

/* Reads the number behind a word at the start of a line; behind no word, that of the first line. Returns whether the file has it. */
static bool read_count(const char *name, const char *word, unsigned long long *count)
{
    char line[256];
    bool found = false;
    const size_t bytes = strlen(word);
    FILE *file = open_below(name);
    while (file && !found && fgets(line, sizeof line, file)) {
        found = strncmp(line, word, bytes) == 0 && (bytes ? line[bytes] == ' ' : isdigit((unsigned char)line[0]));
        if (found)
            *count = strtoull(line + bytes, NULL, 10);
    }
    if (file)
        fclose(file);
    return found;
}

/* Reads the count behind a word in a file of the cgroup at the path. */
static bool read_group(const char *path, const char *name, const char *word, unsigned long long *count)
{
    char whole[2 * PATH_MAX];
    if (memory.version == NONE)
        return false;
    snprintf(whole, sizeof whole, "%s%s/%s", memory.top, path, name);
    return read_count(whole, word, count);
}

static bool read_group_kills(unsigned long long *count)
{
    return read_group(memory.path, version_names[memory.version].events, "oom_kill", count);
}

void memory_watch(const char *root)
{
    memory.root = root;
    memory.version = NONE;
    memory.group_kills = memory.machine_kills = 0;
    for (enum version version = TWO; version > NONE && memory.version == NONE; version--)
        if (find_path(version) && find_mount(version)) {
            memory.version = version;
            if (!read_group_kills(&memory.group_kills))
                memory.version = NONE; /* a hierarchy without this controller, as beside version 1 */
        }
    read_count("/proc/vmstat", "oom_kill", &memory.machine_kills);
}

/* ---- whose limit ---- */

void memory_write_size(unsigned long long bytes, char *text, size_t room)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    snprintf(text, room, "%.*f %s", value < 10 && value != (double)(int)value ? 1 : 0, value, units[unit]);
}

/* Writes which cgroup, of this one and those above it, has the narrowest limit. Returns false when none has one. */
static bool write_narrowest(char *text, size_t room)
{
    char path[PATH_MAX], narrow[PATH_MAX] = "", size[32];
    unsigned long long least = NO_LIMIT, limit = NO_LIMIT;
    const char *name = version_names[memory.version].limit;
    snprintf(path, sizeof path, "%s", memory.path);
    for (;;) {
        if (read_group(path, name, "", &limit) && limit < least) {
            least = limit;
            snprintf(narrow, sizeof narrow, "%s", *path ? path : "/");
        }
        char *last = strrchr(path, '/');
        if (!last)
            break;
        *last = 0;
    }
    memory_write_size(least, size, sizeof size);
    snprintf(text, room, "the cgroup %s may hold %s (%s)", narrow, size, name);
    return least < NO_LIMIT;
}

static void write_machine(char *text, size_t room)
{
    unsigned long long kilobytes = 0;
    char size[32] = "?";
    if (read_count("/proc/meminfo", "MemTotal:", &kilobytes))
        memory_write_size(kilobytes * 1024, size, sizeof size);
    snprintf(text, room, "the machine has %s", size);
}

bool memory_ran_out(char *text, size_t room)
{
    unsigned long long group = memory.group_kills, machine = memory.machine_kills;
    bool counted = read_group_kills(&group);
    read_count("/proc/vmstat", "oom_kill", &machine);
    bool more = counted ? group > memory.group_kills : machine > memory.machine_kills;
    memory.group_kills = group;
    memory.machine_kills = machine;
    if (!more)
        return false;
    if (memory.version == NONE || !write_narrowest(text, room))
        write_machine(text, room);
    return true;
}

const char *memory_score(void)
{
    static char text[16];
    FILE *file = fopen("/proc/self/oom_score_adj", "re");
    int score = 0;
    if (file && fscanf(file, "%d", &score) != 1)
        score = 0;
    if (file)
        fclose(file);
    score = score + PES_FIRST < SCORE_MAX ? score + PES_FIRST : SCORE_MAX;
    snprintf(text, sizeof text, "%d", score);
    return text;
}
