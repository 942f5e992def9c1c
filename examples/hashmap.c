/* A hash map spread over all processes, with uccs.h alone: the process that owns the bucket of a word counts the word.
 * Shows: a context, active messages (a user handler that replies), a flush that waits for all handlers, one-sided reads by
 * memory handle, group communication.
 *   cc hashmap.c $(pkg-config --cflags --libs lateral) -o hashmap && oshrun -n 4 ./hashmap [insertions]
 *
 * The tests run it so:
 *   args: 5000
 *   prints: verified
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uccs.h>

enum { ADD = 1, FIND = 2, FOUND = 3, BUCKETS = 1 << 14, WORDS = 3000 };

struct slot {
    char word[32]; /* empty: free */
    long count;
};

static uccs_context_t context;
static uccs_endpoint_t *endpoints;
static uccs_memory_t *tables;    /* of all processes, by rank */
static struct slot *mine;        /* this process's part; only handlers write it, and one thread runs them */
static int rank, size, answered; /* answered: replies to find that have come */
static long answer;

/* Ends the program with a line; the launcher ends the others. */
static void need(int status, const char *what)
{
    if (status == UCCS_OK)
        return;
    fprintf(stderr, "hashmap: %s: %s\n", what, uccs_status_text(status));
    exit(1);
}

static unsigned hash(const char *word)
{
    unsigned h = 2166136261u;
    while (*word)
        h = (h ^ (unsigned char)*word++) * 16777619u;
    return h;
}

static int owner_of(const char *word)
{
    return (int)(hash(word) % (unsigned)size);
}

/* Open addressing: returns the slot that holds the word, or the free slot for it. */
static struct slot *slot_of(const char *word)
{
    unsigned at = hash(word) / (unsigned)size;
    while (mine[at % BUCKETS].word[0] && strcmp(mine[at % BUCKETS].word, word) != 0)
        at++;
    return &mine[at % BUCKETS];
}

static void add(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    struct slot *slot = slot_of(payload);
    (void)token, (void)argument;
    memcpy(slot->word, payload, length);
    slot->count++;
}

static void find(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)length, (void)argument;
    need(uccs_am_reply(token, FOUND, UCCS_AM_USER, &slot_of(payload)->count, sizeof(long)), "reply");
}

static void found(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    (void)token, (void)argument;
    memcpy(&answer, payload, length);
    answered++;
}

/* Sends and does not wait, so many messages are on their way at once. */
static void map_add(const char *word)
{
    need(uccs_am_short(context, endpoints[owner_of(word)], ADD, UCCS_AM_USER, word, strlen(word) + 1, 0), "add");
}

static long map_find(const char *word)
{
    int before = answered;
    need(uccs_am_short(context, endpoints[owner_of(word)], FIND, UCCS_AM_USER, word, strlen(word) + 1, 0), "find");
    while (answered == before)
        uccs_progress();
    return answer;
}

static void open_map(void)
{
    char handle[UCCS_MEMORY_HANDLE_MAX] = {0}, *handles;
    size_t length = sizeof handle;
    uccs_memory_t own;
    struct uccs_memory_attr attr;
    need(uccs_context_create(0, &context), "context");
    need(uccs_memory_allocate(context, BUCKETS * sizeof *mine, &own), "memory");
    need(uccs_memory_query(own, &attr), "memory");
    mine = attr.address;
    need(uccs_am_register(context, ADD, UCCS_AM_USER, add, 0), "handler");
    need(uccs_am_register(context, FIND, UCCS_AM_USER, find, 0), "handler");
    need(uccs_am_register(context, FOUND, UCCS_AM_USER, found, 0), "handler");
    endpoints = calloc((size_t)size, sizeof *endpoints);
    tables = calloc((size_t)size, sizeof *tables);
    handles = calloc((size_t)size, sizeof handle);
    need(uccs_memory_export(own, handle, &length), "export");
    need(uccs_allgather(UCCS_GROUP_WORLD, handle, handles, sizeof handle), "allgather");
    for (int r = 0; r < size; r++) {
        need(uccs_endpoint_create(context, UCCS_GROUP_WORLD, r, &endpoints[r]), "endpoint");
        need(uccs_memory_import(context, handles + (size_t)r * sizeof handle, length, &tables[r]), "import");
    }
    free(handles);
}

/* Reads the tables of all processes without their help. */
static long count_all(void)
{
    struct slot *copy = malloc(BUCKETS * sizeof *copy);
    long total = 0;
    for (int r = 0; r < size; r++) {
        need(uccs_get_large_contiguous(context, endpoints[r], tables[r], 0, copy, BUCKETS * sizeof *copy, 0), "get");
        for (int i = 0; i < BUCKETS; i++)
            total += copy[i].count;
    }
    free(copy);
    return total;
}

int main(int argc, char **argv)
{
    long insertions = argc > 1 ? atol(argv[1]) : 200000, wrong = 0;
    char word[32];
    need(uccs_init(), "init");
    rank = uccs_group_rank(UCCS_GROUP_WORLD);
    size = uccs_group_size(UCCS_GROUP_WORLD);
    open_map();
    for (long i = 0; i < insertions; i++) {
        snprintf(word, sizeof word, "word%ld", i % WORDS);
        map_add(word);
    }
    need(uccs_flush(context), "flush"); /* all words of this process are in the map */
    need(uccs_barrier(UCCS_GROUP_WORLD), "barrier");
    for (long w = rank; w < WORDS; w += size) {
        snprintf(word, sizeof word, "word%ld", w);
        wrong += map_find(word) != size * (insertions / WORDS + (w < insertions % WORDS));
    }
    wrong += count_all() != size * insertions;
    if (rank == 0)
        printf("hashmap: %ld words from %d processes, %s\n", size * insertions, size, wrong ? "WRONG" : "verified");
    need(uccs_finalize(), "finalize");
    return wrong != 0;
}
