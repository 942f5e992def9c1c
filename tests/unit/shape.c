/* The shapes of nodes: what leads tell of any placement comes back whole, alike nodes take a few bytes however many they
 * are, and nonsense is refused. Links no job. */
#include "rte/shape.h"

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

static struct rte_all_shapes *put_together(const struct job *job, size_t *bytes)
{
    struct rte_shapes *shapes = rte_shapes_new(job->npes);
    CHECK(shapes);
    for (int lead = 0; lead < job->npes; lead = rte_shapes_next(shapes)) {
        static struct rte_run runs[MOST];
        struct node *head = head_of(job, job->node_of[lead]);
        CHECK(rte_shapes_add(shapes, runs, rte_shape_of(head, runs), job->machine[job->node_of[lead]]));
        free(head);
    }
    struct rte_all_shapes *all = rte_shapes_end(shapes, bytes);
    rte_shapes_free(shapes);
    return all;
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
static size_t comes_back(const struct job *job)
{
    static uint32_t leads[NODE_MAX_NODES + 1], table[MOST];
    size_t bytes;
    struct rte_all_shapes *all = put_together(job, &bytes);
    CHECK(all);
    bool scattered = rte_shapes_scattered(all, bytes), any = false;
    for (int node = 0; node < job->nodes; node++) {
        struct node *mine = head_of(job, node);
        uint32_t nodes, here = 0, wanted = 0;
        any |= mine->scattered;
        memset(table, 0, sizeof table);
        CHECK(rte_shapes_write(all, bytes, mine, leads, &nodes, scattered ? table : 0, &here));
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
    CHECK(comes_back(&job) == sizeof(struct rte_all_shapes) + 28); /* one shape of one run */
    for (int pe = 0; pe < job.npes; pe++)
        job.node_of[pe] = pe % 64;
    finish(&job);
    CHECK(comes_back(&job) == sizeof(struct rte_all_shapes) + 28);
    for (int pe = 0; pe < job.npes; pe++)
        job.node_of[pe] = pe / 2 % 64; /* pairs dealt out in turn */
    finish(&job);
    CHECK(comes_back(&job) < 1000);
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
    comes_back(&job);
    job.machine[2] = job.machine[0]; /* two hosts of one machine */
    comes_back(&job);
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
    comes_back(&job);
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
    struct rte_all_shapes *all = put_together(&job, &bytes);
    struct node *mine = head_of(&job, 1);
    uint32_t nodes, here;
    CHECK(rte_shapes_write(all, bytes, mine, before, &nodes, table, &here));
    CHECK(!rte_shapes_write(all, bytes - 1, mine, leads, &nodes, table, &here)); /* and the places are taken */
    for (int i = 0; i < 2000; i++) {
        size_t words = (bytes - sizeof *all) / sizeof *all->words, word = next_random(&seed) % words;
        uint32_t was = all->words[word];
        all->words[word] = (uint32_t)(next_random(&seed) >> next_random(&seed) % 64);
        memset(table, 0, sizeof table);
        if (rte_shapes_write(all, bytes, mine, leads, &nodes, table, &here))
            for (int pe = 0; pe < job.npes; pe++)
                CHECK(table[pe] &&
                      (!(table[pe] & NODE_NEAR) || mine->pe[table[pe] & ~NODE_NEAR].number == (uint32_t)pe));
        all->words[word] = was;
    }
    free(mine);
    free(all);
}

/* Leads that contradict each other. */
static void contradictions(void)
{
    struct rte_shapes *shapes = rte_shapes_new(8);
    CHECK(shapes && !rte_shapes_add(shapes, &(struct rte_run){1, 1, 2}, 1, 0)); /* not the lowest free PE */
    CHECK(!rte_shapes_add(shapes, &(struct rte_run){0, 1, 9}, 1, 0));           /* beyond the job */
    rte_shapes_free(shapes);
    shapes = rte_shapes_new(8);
    CHECK(shapes && rte_shapes_add(shapes, &(struct rte_run){0, 2, 3}, 1, 0) && rte_shapes_next(shapes) == 1);
    CHECK(!rte_shapes_add(shapes, &(struct rte_run){1, 1, 2}, 1, 0)); /* PE 2 has a node */
    rte_shapes_free(shapes);
}

/* Leads and counts beyond 16 bits. */
static void large(void)
{
    enum { NODES = 5, EACH = 30000 };
    static uint32_t leads[NODE_MAX_NODES + 1];
    struct rte_shapes *shapes = rte_shapes_new(NODES * EACH);
    struct node mine = {.size = EACH, .first = (NODES - 1) * EACH, .total = NODES * EACH};
    uint32_t nodes, here = 0;
    size_t bytes;
    for (uint32_t node = 0; node < NODES; node++)
        CHECK(rte_shapes_add(shapes, &(struct rte_run){node * EACH, 1, EACH}, 1, 7));
    struct rte_all_shapes *all = rte_shapes_end(shapes, &bytes);
    CHECK(all && rte_shapes_write(all, bytes, &mine, leads, &nodes, 0, &here));
    CHECK(nodes == NODES && here == NODES * EACH);
    for (uint32_t node = 0; node <= NODES; node++)
        CHECK(leads[node] == node * EACH);
    rte_shapes_free(shapes);
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
    large();
    return 0;
}
