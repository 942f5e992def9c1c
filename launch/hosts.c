#include "hosts.h"

#include "message.h"
#include "rte/node.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds a host. A host that is named again gets more slots, as with other launchers. Slots beyond NODE_MAX_PES do not
 * count. */
static void add_host(struct hosts *hosts, const char *name, uint32_t slots)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (strcmp(hosts->host[i].name, name) == 0) {
            uint32_t sum = hosts->host[i].slots + slots; /* each at most NODE_MAX_PES */
            hosts->host[i].slots = sum < NODE_MAX_PES ? sum : NODE_MAX_PES;
            return;
        }
    hosts->host = say_if_null(realloc(hosts->host, (hosts->count + 1) * sizeof *hosts->host));
    hosts->host[hosts->count++] = (struct host){.name = say_if_null(strdup(name)), .slots = slots};
}

static bool read_slots(const char *text, uint32_t *slots)
{
    char *end;
    long count = strtol(text, &end, 10);
    bool good = isdigit((unsigned char)text[0]) && !*end && count >= 1 && count <= NODE_MAX_PES;
    *slots = good ? (uint32_t)count : 0;
    return good;
}

/* Reads NAME or NAME:SLOTS and ends the word behind the name. Returns false when it is neither. A name must not begin
 * with a dash, because the launcher would take it for an option. */
static bool read_word(struct hosts *hosts, char *word, uint32_t *slots)
{
    char *colon = strrchr(word, ':');
    *slots = 1;
    if (colon)
        *colon = 0;
    hosts->counted |= colon != NULL;
    return *word && *word != '-' && (!colon || read_slots(colon + 1, slots));
}

static void read_list(struct hosts *hosts, const char *option, const char *text)
{
    char *copy = say_if_null(strdup(text)), *rest = copy, *word;
    uint32_t slots;
    while ((word = strsep(&rest, ","))) {
        if (!read_word(hosts, word, &slots))
            say_usage("%s %s: expected NAME or NAME:SLOTS between commas", option, text);
        add_host(hosts, word, slots);
    }
    free(copy);
}

/* Reads one line: a host, then words of which only slots=N matters here (others: max_slots=N, ...). Returns false when
 * it is wrong. */
static bool read_line(struct hosts *hosts, char *line)
{
    line[strcspn(line, "#\r\n")] = 0;
    char *rest, *name = strtok_r(line, " \t", &rest), *word;
    uint32_t slots;
    if (!name)
        return true;
    if (!read_word(hosts, name, &slots))
        return false;
    while ((word = strtok_r(NULL, " \t", &rest))) {
        if (strncmp(word, "slots=", 6) != 0)
            continue;
        hosts->counted = true;
        if (!read_slots(word + 6, &slots))
            return false;
    }
    add_host(hosts, name, slots);
    return true;
}

static void read_file(struct hosts *hosts, const char *option, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        say_usage("%s %s: %s", option, path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    for (int number = 1; getline(&line, &room, file) >= 0; number++)
        if (!read_line(hosts, line))
            say_usage("%s %s: line %d: expected NAME, NAME:SLOTS or NAME slots=SLOTS", option, path, number);
    free(line);
    fclose(file);
    if (hosts->count == 0)
        say_usage("%s %s: no host in it", option, path);
}

char *hosts_list(const struct hosts *hosts, bool slots)
{
    size_t bytes;
    char *text = NULL;
    FILE *out = say_if_null(open_memstream(&text, &bytes));
    for (size_t i = 0; i < hosts->count; i++) {
        fprintf(out, "%s%s", i ? "," : "", hosts->host[i].name);
        if (slots)
            fprintf(out, ":%u", hosts->host[i].slots);
    }
    fclose(out);
    return say_if_null(text);
}

char *hosts_slice(const struct hosts *hosts, uint32_t first, uint32_t count)
{
    struct hosts slice = {0};
    for (size_t i = 0; i < hosts->count && count; i++) {
        uint32_t skip = first < hosts->host[i].slots ? first : hosts->host[i].slots;
        uint32_t left = hosts->host[i].slots - skip, take = left < count ? left : count;
        if (take)
            add_host(&slice, hosts->host[i].name, take);
        first -= skip;
        count -= take;
    }
    char *list = hosts_list(&slice, true);
    hosts_free(&slice);
    return list;
}

static bool is_here(const char *name)
{
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    size_t own_bytes = strcspn(own, "."), bytes = strcspn(name, ".");
    return strcmp(name, "localhost") == 0 || strcmp(name, "127.0.0.1") == 0 || strcmp(name, own) == 0 ||
           (own_bytes == bytes && memcmp(name, own, bytes) == 0 && !(own[own_bytes] && name[bytes]));
}

static bool all_here(const struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (!is_here(hosts->host[i].name))
            return false;
    return true;
}

/* True in a Slurm allocation of several nodes. False for a process that is itself one of several tasks of srun
 * there. */
static bool slurm_has_nodes(void)
{
    const char *job = getenv("SLURM_JOB_ID"), *nodes = getenv("SLURM_JOB_NUM_NODES");
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    nodes = nodes ? nodes : getenv("SLURM_NNODES");
    return job && nodes && atoi(nodes) > 1 && !(tasks && atoi(tasks) > 1);
}

/* Returns one of these variables as a number of PEs; 0: neither is set. */
static uint32_t slurm_count(void)
{
    static const char *const names[] = {"SLURM_NTASKS", "SLURM_JOB_NUM_NODES"};
    uint32_t count;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && !read_slots(text, &count))
            say_usage("%s=%s: expected a number of PEs from 1 to %d", names[i], text, NODE_MAX_PES);
        if (text)
            return count;
    }
    return 0;
}

/* Without -n, the job has as many PEs as there are slots, or tasks that the user requested for the allocation. */
static void settle_count(struct options *options, uint64_t slots)
{
    if (options->napps != 1 || options->apps[0].counted || !slots)
        return;
    if (slots > NODE_MAX_PES)
        say_usage("%s: %llu slots without -n: at most %d PEs are possible", options->hosts, (unsigned long long)slots,
                  NODE_MAX_PES);
    options->apps[0].count = options->pes = (uint32_t)slots;
}

/* All PEs go to this machine, so -N is only a limit. */
static void keep_limits(const struct options *options)
{
    for (size_t i = 0; i < options->napps; i++) {
        const struct app *app = &options->apps[i];
        if (app->per_node && app->count > app->per_node)
            say_usage("-N %u -n %u: this job has one node, which has to take all PEs", app->per_node, app->count);
    }
}

bool hosts_elsewhere(struct options *options, struct hosts *hosts)
{
    uint64_t slots = 0;
    *hosts = (struct hosts){.slurm = slurm_has_nodes()};
    if (options->host_list)
        read_list(hosts, options->hosts, options->host_list);
    if (options->host_file)
        read_file(hosts, options->hosts, options->host_file);
    for (size_t i = 0; i < hosts->count; i++)
        slots += hosts->host[i].slots;
    bool elsewhere = hosts->count ? !all_here(hosts) : hosts->slurm;
    if (elsewhere || hosts->counted)
        settle_count(options, hosts->count ? slots : slurm_count());
    /* Slots that the user gave are a limit; hosts without any take as many PEs as -n says. */
    if (hosts->counted && options->pes > slots && !options->oversubscribe)
        say_usage("%s: %u PEs for %llu slots (--oversubscribe starts them all the same)", options->hosts, options->pes,
                  (unsigned long long)slots);
    if (!elsewhere)
        keep_limits(options);
    else if (options->placing)
        say_usage("%s: PEs fill the slots of several hosts in turn; name slots instead (--host a:2,b:2)",
                  options->placing);
    return elsewhere;
}

void hosts_free(struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        free(hosts->host[i].name);
    free(hosts->host);
    *hosts = (struct hosts){0};
}
