/* The shapes of nodes: what leads tell of any placement comes back whole, alike nodes take a few bytes however many they
 * are, and nonsense is refused. Links no job. */
#include "rte/job_map.h"

#include "unit/check.h"

#include <string.h>

enum { MOST = 4096 };

struct job {
    int npes, node_of[MOST]; /* nodes are numbered in the order of their lowest PEs */
    int nodes;
    uint64_t machine[MOST];
};

/* Returns the head of a node's memory with the numbers of its PEs; the caller frees it. */
static struct node *head_of(const struct job *job, int node)
{
    struct node *head = aligned_alloc(CACHE_LINE, sizeof *head + (size_t)job->npes * sizeof *head->pe);
    CHECK(head);
    memset(head, 0, sizeof *head);
    head->total = (uint32_t)job->npes;
    for (int pe = 0; pe < job->npes; pe++)
        if (job->node_of[pe] == node)
            head->pe[head->size++].number = (uint32_t)pe;
    head->first = head->pe[0].number;
    head->scattered = head->pe[head->size - 1].number - head->first != head->size - 1;
    return head;
}

/* What a block of `size` PEs from `first` on knows of itself when blocks are of `fan` parts; the caller frees it. */
static struct rte_packed_job_map *put_block(const struct job *job, int first, int size, int fan, size_t *bytes)
{
    static struct rte_run runs[MOST];
    const int end = first + size < job->npes ? first + size : job->npes;
    struct rte_job_map *shapes = rte_job_map_new(first, end);
    CHECK(shapes);
    for (int pe; (pe = rte_job_map_next(shapes)) < end;)
        if (size <= fan) {
            struct node *head = head_of(job, job->node_of[pe]);
            uint32_t from = 0, to;
            while (head->pe[from].number < (uint32_t)pe)
                from++;
            for (to = from; to < head->size && head->pe[to].number < (uint32_t)end;)
                to++;
            CHECK(rte_job_map_add(shapes, head->first, job->machine[job->node_of[pe]], runs,
                                  rte_node_runs(head, from, to, runs)));
            free(head);
        } else {
            struct rte_packed_job_map *part = put_block(job, pe, size / fan, fan, bytes);
            CHECK(rte_job_map_take(shapes, part, *bytes));
            free(part);
        }
    struct rte_packed_job_map *all = rte_job_map_pack(shapes, first == 0 && end == job->npes, bytes);
    CHECK(all);
    rte_job_map_free(shapes);
    return all;
}

static struct rte_packed_job_map *put_together(const struct job *job, int fan, size_t *bytes)
{
    int size = fan;
    while (size < job->npes)
        size *= fan;
    return put_block(job, 0, size, fan, bytes);
}

static void check_tables(const struct job *job, const struct node *mine, int node, const uint32_t *leads,
                         const uint32_t *places)
{
    uint32_t index = 0;
    for (int pe = 0, seen = 0; pe < job->npes; pe++) {
        if (job->node_of[pe] == seen)
            CHECK(leads[seen++] == (uint32_t)pe);
        bool near = job->node_of[pe] == node;
        CHECK(!places || places[pe] == (near ? NODE_NEAR | index : (uint32_t)job->node_of[pe] + 1));
        index += near;
    }
    CHECK(leads[job->nodes] == (uint32_t)job->npes && index == mine->size);
}

/* Every node finds every PE at its place, and counts the PEs of its machine. Returns the bytes that each asks for. */
static size_t comes_back(const struct job *job, int fan)
{
    static uint32_t leads[NODE_MAX_NODES + 1], table[MOST];
    size_t bytes;
    struct rte_packed_job_map *all = put_together(job, fan, &bytes);
    CHECK(all);
    bool scattered = rte_job_map_scattered(all, bytes), any = false;
    for (int node = 0; node < job->nodes; node++) {
        struct node *mine = head_of(job, node);
        uint32_t nodes, here = 0, wanted = 0;
        any |= mine->scattered;
        memset(table, 0, sizeof table);
        CHECK(rte_job_map_unpack(all, bytes, mine, leads, &nodes, scattered ? table : 0, &here));
        CHECK(nodes == (uint32_t)job->nodes);
        check_tables(job, mine, node, leads, scattered ? table : 0);
        for (int pe = 0; pe < job->npes; pe++)
            wanted += job->machine[job->node_of[pe]] == job->machine[node];
        CHECK(here == wanted);
        free(mine);
    }
    CHECK(any == scattered);
    free(all);
    return bytes;
}

/* Numbers the nodes again, in the order of their lowest PEs. */
static void finish(struct job *job)
{
    static int number[MOST];
    memset(number, 0, sizeof number);
    job->nodes = 0;
    for (int pe = 0; pe < job->npes; pe++) {
        int *mine = &number[job->node_of[pe]];
        if (!*mine)
            *mine = ++job->nodes;
        job->node_of[pe] = *mine - 1;
    }
    for (int node = 0; node < job->nodes; node++)
        job->machine[node] = (uint64_t)node + 7;
}

static struct job job;

static void regular(void)
{
    job.npes = MOST;
    for (int pe = 0; pe < job.npes; pe++)
        job.node_of[pe] = pe / 64;
    finish(&job);
    CHECK(comes_back(&job, 3) == sizeof(struct rte_packed_job_map) + 28); /* one shape of one run */
    for (int pe = 0; pe < job.npes; pe++)
        job.node_of[pe] = pe % 64;
    finish(&job);
    CHECK(comes_back(&job, 3) == sizeof(struct rte_packed_job_map) + 28);
    for (int pe = 0; pe < job.npes; pe++)
        job.node_of[pe] = pe / 2 % 64; /* pairs dealt out in turn */
    finish(&job);
    CHECK(comes_back(&job, 3) < 1000);
}

/* Hosts with different numbers of slots: dealt out in turn until each is full. */
static void uneven(void)
{
    static const int slots[] = {3, 1, 5, 2};
    int left[4], pe = 0;
    memcpy(left, slots, sizeof left);
    for (job.npes = 11; pe < job.npes;)
        for (int host = 0; host < 4; host++)
            if (left[host]-- > 0)
                job.node_of[pe++] = host;
    finish(&job);
    comes_back(&job, 3);
    job.machine[2] = job.machine[0]; /* two hosts of one machine */
    comes_back(&job, 3);
}

static void random_places(uint64_t seed)
{
    job.npes = 2 + (int)(next_random(&seed) % 60);
    int nodes = 1 + (int)(next_random(&seed) % (uint64_t)job.npes);
    for (int pe = 0; pe < job.npes; pe++)
        job.node_of[pe] = (int)(next_random(&seed) % (uint64_t)nodes);
    finish(&job);
    for (int node = 0; node < job.nodes; node++)
        job.machine[node] = next_random(&seed) % 3;
    comes_back(&job, 2 + (int)(next_random(&seed) % 9));
}

/* Changes one word of what comes from the launcher; it is refused, or says the same. */
static void nonsense(uint64_t seed)
{
    static uint32_t leads[NODE_MAX_NODES + 1], before[NODE_MAX_NODES + 1], table[MOST];
    size_t bytes;
    job.npes = 24;
    for (int pe = 0; pe < job.npes; pe++)
        job.node_of[pe] = pe % 5 == 4 ? 1 : pe % 4;
    finish(&job);
    struct rte_packed_job_map *all = put_together(&job, 3, &bytes);
    struct node *mine = head_of(&job, 1);
    uint32_t nodes, here;
    CHECK(rte_job_map_unpack(all, bytes, mine, before, &nodes, table, &here));
    CHECK(!rte_job_map_unpack(all, bytes - 1, mine, leads, &nodes, table, &here)); /* and the places are taken */
    for (int i = 0; i < 2000; i++) {
        size_t words = (bytes - sizeof *all) / sizeof *all->words, word = next_random(&seed) % words;
        uint32_t was = all->words[word];
        all->words[word] = (uint32_t)(next_random(&seed) >> next_random(&seed) % 64);
        memset(table, 0, sizeof table);
        if (rte_job_map_unpack(all, bytes, mine, leads, &nodes, table, &here))
            for (int pe = 0; pe < job.npes; pe++)
                CHECK(table[pe] &&
                      (!(table[pe] & NODE_NEAR) || mine->pe[table[pe] & ~NODE_NEAR].number == (uint32_t)pe));
        all->words[word] = was;
    }
    free(mine);
    free(all);
}

/* PEs that contradict each other. */
static void contradictions(void)
{
    struct rte_job_map *shapes = rte_job_map_new(0, 8), *half = rte_job_map_new(4, 8);
    size_t bytes;
    CHECK(shapes && half && !rte_job_map_add(shapes, 0, 0, &(struct rte_run){0, 1, 9}, 1)); /* beyond the job */
    CHECK(!rte_job_map_add(half, 0, 0, &(struct rte_run){3, 1, 2}, 1));                     /* before the block */
    CHECK(!rte_job_map_add(half, 6, 0, &(struct rte_run){5, 1, 1}, 1));                     /* before its lead */
    rte_job_map_free(shapes);
    rte_job_map_free(half);
    shapes = rte_job_map_new(0, 8), half = rte_job_map_new(4, 8);
    CHECK(rte_job_map_add(shapes, 0, 0, &(struct rte_run){0, 2, 3}, 1) && rte_job_map_next(shapes) == 1);
    CHECK(!rte_job_map_add(shapes, 1, 0, &(struct rte_run){1, 1, 2}, 1)); /* PE 2 has a node */
    CHECK(rte_job_map_add(half, 5, 0, &(struct rte_run){5, 1, 3}, 1));
    struct rte_packed_job_map *part = rte_job_map_pack(half, false, &bytes);
    rte_job_map_free(shapes);
    shapes = rte_job_map_new(0, 8);
    CHECK(part && !rte_job_map_take(shapes, part, bytes)); /* not the lowest free PE */
    free(part);
    rte_job_map_free(shapes);
    rte_job_map_free(half);
}

/* A part with a word changed, or cut short, is refused, or names each PE of it once. */
static void nonsense_in_a_part(uint64_t seed)
{
    size_t bytes;
    struct rte_job_map *shapes = rte_job_map_new(0, 12);
    for (uint32_t node = 0; node < 4; node++)
        CHECK(rte_job_map_add(shapes, node, node, &(struct rte_run){node, 4, 3}, 1));
    struct rte_packed_job_map *part = rte_job_map_pack(shapes, false, &bytes);
    rte_job_map_free(shapes);
    for (int i = 0; i < 2000; i++) {
        const size_t words = (bytes - sizeof *part) / sizeof *part->words;
        uint32_t *word = i % 5 ? &part->words[next_random(&seed) % words] : &part->origins, was = *word;
        const size_t given = i % 7 ? bytes : next_random(&seed) % bytes;
        *word = (uint32_t)(next_random(&seed) >> next_random(&seed) % 64);
        shapes = rte_job_map_new(0, 12);
        if (rte_job_map_take(shapes, part, given))
            CHECK(rte_job_map_next(shapes) <= 12);
        rte_job_map_free(shapes);
        *word = was;
    }
    free(part);
}

/* Shapes word by word, as they tell of `total` PEs; `first`, `size` and `numbers` (null: one after the other) are those of the node that reads them. */
struct told {
    const char *what;
    bool fits;
    uint32_t total, first, size;
    const uint32_t *numbers;
    uint32_t words[20], count, behind; /* behind: words that lie in memory, but not in the value */
};

static bool understood(const struct told *told)
{
    static uint32_t leads[NODE_MAX_NODES + 2], places[16];
    struct rte_packed_job_map *all = calloc(1, sizeof *all + sizeof told->words);
    struct node *mine = calloc(1, sizeof *mine + told->size * sizeof *mine->pe + CACHE_LINE);
    struct node *at = (struct node *)(((uintptr_t)mine + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1));
    uint32_t nodes = 0, here = 0;
    CHECK(all && mine);
    all->total = told->total;
    memcpy(all->words, told->words, (told->count + told->behind) * sizeof *all->words);
    at->total = 4, at->first = told->first, at->size = told->size, at->scattered = told->numbers != 0;
    for (uint32_t i = 0; told->numbers && i < told->size; i++)
        at->pe[i].number = told->numbers[i];
    memset(places, 0, sizeof places);
    const bool fits =
        rte_job_map_unpack(all, sizeof *all + told->count * sizeof *all->words, at, leads, &nodes, places, &here);
    free(mine);
    free(all);
    return fits;
}

/* Four PEs; what does not hold each of them once, in order, and this node's as they are, is refused. */
static void word_by_word(void)
{
    static const uint32_t odd[] = {0, 2};
    static const struct told cases[] = {
        {"two nodes of two", true, 4, 0, 2, 0, {2, 2, 4, 1, 0, 1, 2}, 7, 0},
        {"the second of them", true, 4, 2, 2, 0, {2, 2, 4, 1, 0, 1, 2}, 7, 0},
        {"PEs dealt out in turn", true, 4, 0, 2, odd, {2, 1, 4, 1, 0, 2, 2}, 7, 0},
        {"a job of another size", false, 5, 0, 2, 0, {2, 2, 4, 1, 0, 1, 2}, 7, 0},
        {"too few PEs", false, 4, 0, 2, 0, {1, 2, 4, 1, 0, 1, 2}, 7, 0},
        {"nobody on this machine", false, 4, 0, 2, 0, {2, 2, 0, 1, 0, 1, 2}, 7, 0},
        {"a word too many", false, 4, 0, 2, 0, {2, 2, 4, 1, 0, 1, 2, 9}, 8, 0},
        {"a run that is not there", false, 4, 0, 4, 0, {1, 0, 4, 2, 0, 1, 2, 2, 1, 2}, 7, 3},
        {"no runs", false, 4, 0, 2, 0, {2, 2, 4, 1, 0, 1, 2, 1, 0, 1, 0, 3, 1, 0}, 11, 3},
        {"another first lead", false, 4, 1, 1, 0, {1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 2, 2, 1, 2, 0, 1, 1}, 17, 0},
        {"a lead behind the last PE", false, 4, 0, 2, 0, {2, 2, 4, 1, 0, 1, 2, 1, 0, 1, 1, 4, 1, 0}, 14, 0},
        {"the same lead twice", false, 4, 0, 2, 0, {2, 2, 4, 1, 0, 1, 2, 1, 0, 1, 1, 2, 1, 0}, 14, 0},
        {"a lead that lies before", false, 4, 0, 2, 0, {2, 2, 4, 1, 0, 1, 2, 1, 0, 1, 1, 1, 1, 0}, 14, 0},
        {"a PE behind the last", false, 4, 0, 2, 0, {1, 0, 2, 1, 0, 1, 2, 1, 0, 2, 1, 2, 2, 2}, 14, 0},
        {"a PE twice", false, 4, 0, 2, 0, {1, 0, 2, 1, 0, 1, 2, 1, 0, 2, 1, 2, 0, 2}, 14, 0},
        {"a run that goes back", false, 4, 0, 1, 0, {2, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 3, UINT32_MAX, 2}, 14, 0},
        {"this node larger than it is", false, 4, 0, 2, 0, {1, 0, 4, 1, 0, 1, 4}, 7, 0},
        {"this node larger than it is, scattered", false, 4, 0, 2, odd, {1, 0, 4, 2, 0, 2, 2, 1, 2, 2}, 10, 0},
        {"this node smaller than it is", false, 4, 0, 4, 0, {2, 2, 4, 1, 0, 1, 2}, 7, 0},
        {"other PEs than this node's", false, 4, 0, 2, odd, {2, 2, 4, 1, 0, 1, 2}, 7, 0},
        {"this node nowhere", false, 4, 1, 1, 0, {2, 2, 4, 1, 0, 1, 2}, 7, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool fits = understood(&cases[i]);
        if (fits != cases[i].fits)
            fprintf(stderr, "%s: %s\n", cases[i].what, fits ? "taken" : "refused");
        CHECK(fits == cases[i].fits);
    }
}

static void scattered_or_not(void)
{
    struct rte_packed_job_map *all = calloc(1, sizeof *all + 10 * sizeof *all->words);
    static const uint32_t alone[] = {4, 1, 1, 1, 0, 9, 1}, apart[] = {2, 1, 4, 1, 0, 2, 2};
    const size_t bytes = sizeof *all + sizeof alone;
    memcpy(all->words, alone, sizeof alone); /* the stride of one PE says nothing */
    CHECK(!rte_job_map_scattered(all, bytes));
    memcpy(all->words, apart, sizeof apart);
    CHECK(rte_job_map_scattered(all, bytes));
    CHECK(!rte_job_map_scattered(all, bytes - 1) && !rte_job_map_scattered(all, sizeof *all - 1));
    CHECK(!rte_job_map_scattered(all, sizeof *all));
    free(all);
}

static void refused_nodes(void)
{
    const struct rte_run none = {0, 1, 0}, back[] = {{0, 1, 2}, {3, UINT32_MAX, 2}}, one = {0, 1, 1};
    struct rte_job_map *shapes = rte_job_map_new(0, 24);
    CHECK(!rte_job_map_add(shapes, 0, 0, &one, 0));  /* no run */
    CHECK(!rte_job_map_add(shapes, 0, 0, &none, 1)); /* a run without PEs */
    CHECK(rte_job_map_add(shapes, 0, 0, &(struct rte_run){0, 1, 24}, 1) && rte_job_map_next(shapes) == 24);
    rte_job_map_free(shapes);
    shapes = rte_job_map_new(0, 4);
    CHECK(!rte_job_map_add(shapes, 0, 0, back, 2)); /* PE 3, then PE 2 */
    rte_job_map_free(shapes);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(!rte_job_map_new(0, -1)); /* more than any memory has; one line says so */
#endif
}

/* `nodes` nodes of `each` PEs, all on one machine, or each on its own. */
static struct rte_packed_job_map *rows_of(uint32_t nodes, uint32_t each, bool one_machine, size_t *bytes)
{
    struct rte_job_map *shapes = rte_job_map_new(0, (int)(nodes * each));
    for (uint32_t node = 0; node < nodes; node++)
        CHECK(rte_job_map_add(shapes, node * each, one_machine ? 7 : node, &(struct rte_run){node * each, 1, each}, 1));
    struct rte_packed_job_map *all = rte_job_map_pack(shapes, true, bytes);
    rte_job_map_free(shapes);
    return all;
}

/* As many nodes as there can be, each of one PE; another one is refused, by who puts them together and by who reads. */
static void most_nodes(void)
{
    static uint32_t leads[NODE_MAX_NODES + 2];
    struct node mine = {.size = 1, .first = 3, .total = NODE_MAX_NODES + 1};
    uint32_t nodes, here;
    size_t bytes;
    CHECK(!rows_of(NODE_MAX_NODES + 1, 1, false, &bytes));
    struct rte_packed_job_map *all = rows_of(NODE_MAX_NODES, 1, false, &bytes);
    CHECK(all && bytes == sizeof *all + 28 && all->words[0] == NODE_MAX_NODES);
    CHECK(!rte_job_map_unpack(all, bytes, &mine, leads, &nodes, 0, &here)); /* a PE is missing */
    all->words[0]++;
    CHECK(!rte_job_map_unpack(all, bytes, &mine, leads, &nodes, 0, &here));
    all->words[0]--;
    mine.total = all->total = NODE_MAX_NODES;
    CHECK(rte_job_map_unpack(all, bytes, &mine, leads, &nodes, 0, &here) && nodes == NODE_MAX_NODES && here == 1);
    free(all);
}

/* Leads and counts beyond 16 bits. */
static void large(void)
{
    enum { NODES = 5, EACH = 70000 };
    static uint32_t leads[NODE_MAX_NODES + 1];
    struct node mine = {.size = EACH, .first = (NODES - 1) * EACH, .total = NODES * EACH};
    uint32_t nodes, here = 0;
    size_t bytes;
    struct rte_packed_job_map *all = rows_of(NODES, EACH, true, &bytes);
    CHECK(all && rte_job_map_unpack(all, bytes, &mine, leads, &nodes, 0, &here));
    CHECK(nodes == NODES && here == NODES * EACH && bytes == sizeof *all + 28); /* one shape of one run */
    for (uint32_t node = 0; node <= NODES; node++)
        CHECK(leads[node] == node * EACH);
    free(all);
}

int main(void)
{
    regular();
    uneven();
    for (uint64_t seed = 1; seed <= 200; seed++)
        random_places(seed);
    nonsense(3);
    contradictions();
    nonsense_in_a_part(5);
    word_by_word();
    scattered_or_not();
    refused_nodes();
    most_nodes();
    large();
    return 0;
}
