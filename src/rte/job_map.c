#include "rte/job_map.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum { REPETITIONS, SHIFT, HERE, RUNS, HEAD_WORDS };
enum { RUN_WORDS = sizeof(struct rte_run) / sizeof(uint32_t) };

uint32_t rte_node_runs(const struct node *node, uint32_t from, uint32_t end, struct rte_run *runs)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < end; i += runs[count++].count) {
        struct rte_run *run = &runs[count];
        *run = (struct rte_run){node_pe_number(node, i), 1, 1};
        if (i + 1 < end)
            run->stride = node_pe_number(node, i + 1) - run->first;
        while (i + run->count < end && node_pe_number(node, i + run->count) == run->first + run->count * run->stride)
            run->count++;
    }
    return count;
}

/* ---- putting together ---- */

/* A run of the node that this PE leads. */
struct part {
    uint64_t machine;
    uint32_t lead;
    struct rte_run run;
};

/* One node; its runs begin at `at` in the array of all runs. */
struct known {
    uint64_t machine;
    size_t at;
    uint32_t lead, runs, count, here;
};

/* What a node's entry behind the shapes says, in words: its lead and its machine. */
struct origin {
    uint32_t lead, machine[2];
};
enum { ORIGIN_WORDS = sizeof(struct origin) / sizeof(uint32_t) };

struct rte_job_map {
    uint32_t first, end, next; /* of the PEs; next: no PE from first to it is free */
    unsigned char *taken;      /* from first on */
    struct part *parts;
    size_t part_count, room;
    struct known *nodes; /* these are made of the parts */
    struct rte_run *runs;
    size_t count;
};

void rte_job_map_free(struct rte_job_map *job)
{
    if (!job)
        return;
    free(job->taken);
    free(job->parts);
    free(job->nodes);
    free(job->runs);
    free(job);
}

struct rte_job_map *rte_job_map_new(int first, int end)
{
    struct rte_job_map *job = calloc(1, sizeof *job);
    if (job) {
        job->first = job->next = (uint32_t)first;
        job->end = (uint32_t)end;
        job->taken = calloc((size_t)(end - first), 1);
    }
    if (job && job->taken)
        return job;
    log_line("no memory for the nodes of %d PEs", end - first);
    rte_job_map_free(job);
    return 0;
}

int rte_job_map_next(struct rte_job_map *job)
{
    while (job->next < job->end && job->taken[job->next - job->first])
        job->next++;
    return (int)job->next;
}

/* Doubles the array of parts when it is full. Returns false without memory. */
static bool has_room(struct rte_job_map *job)
{
    if (job->part_count < job->room)
        return true;
    size_t room = job->room ? 2 * job->room : 16;
    struct part *more = realloc(job->parts, room * sizeof *more);
    if (!more)
        return false;
    job->parts = more;
    job->room = room;
    return true;
}

/* Marks the PEs of a run as taken. Returns false when one lies outside of the map, or is taken already. */
static bool take_run(struct rte_job_map *job, const struct rte_run *run, uint64_t shift)
{
    uint64_t pe = run->first + shift;
    for (uint32_t i = 0; i < run->count; i++, pe += run->stride) {
        if (pe < job->first || pe >= job->end || job->taken[pe - job->first])
            return false;
        job->taken[pe - job->first] = 1;
    }
    return run->count > 0;
}

/* Adds the runs of a node, all of them `shift` further. */
static bool add_shifted(struct rte_job_map *job, const struct part *node, const struct rte_run *runs, uint32_t count,
                        uint64_t shift)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!take_run(job, &runs[i], shift) || node->lead > runs[i].first + shift || !has_room(job))
            return false;
        struct part *part = &job->parts[job->part_count++];
        *part = *node;
        part->run = (struct rte_run){runs[i].first + (uint32_t)shift, runs[i].stride, runs[i].count};
    }
    return count > 0;
}

bool rte_job_map_add(struct rte_job_map *job, uint32_t lead, uint64_t machine, const struct rte_run *runs,
                     uint32_t count)
{
    return add_shifted(job, &(struct part){.machine = machine, .lead = lead}, runs, count, 0);
}

static int by_lead(const void *one, const void *other)
{
    const struct part *a = one, *b = other;
    return a->lead != b->lead ? (a->lead > b->lead) - (a->lead < b->lead)
                              : (a->run.first > b->run.first) - (a->run.first < b->run.first);
}

/* Adds a run behind the last one of a node, to which it may belong. */
static void join_run(struct known *node, struct rte_run *runs, const struct rte_run *run)
{
    struct rte_run *last = node->runs ? &runs[node->at + node->runs - 1] : 0;
    const uint32_t gap = last ? run->first - last->first - (last->count - 1) * last->stride : 0;
    node->count += run->count;
    if (last && (last->count == 1 || last->stride == gap) && (run->count == 1 || run->stride == gap)) {
        last->stride = gap;
        last->count += run->count;
    } else {
        runs[node->at + node->runs++] = *run;
    }
}

/* Makes nodes, in the order of their leads, of the parts. Returns false without memory. */
static bool join_parts(struct rte_job_map *job)
{
    size_t used = 0;
    job->nodes = calloc(job->part_count + 1, sizeof *job->nodes);
    job->runs = calloc(job->part_count + 1, sizeof *job->runs);
    if (!job->nodes || !job->runs)
        return false;
    qsort(job->parts, job->part_count, sizeof *job->parts, by_lead);
    for (size_t i = 0; i < job->part_count; i++) {
        const struct part *part = &job->parts[i];
        if (!job->count || job->nodes[job->count - 1].lead != part->lead)
            job->nodes[job->count++] = (struct known){.machine = part->machine, .at = used, .lead = part->lead};
        struct known *node = &job->nodes[job->count - 1];
        join_run(node, job->runs, &part->run);
        used = node->at + node->runs;
    }
    return true;
}

static int by_machine(const void *one, const void *other)
{
    const struct known *a = one, *b = other;
    return a->machine != b->machine ? (a->machine > b->machine) - (a->machine < b->machine)
                                    : (a->at > b->at) - (a->at < b->at);
}

static int by_number(const void *one, const void *other)
{
    const struct known *a = one, *b = other;
    return (a->at > b->at) - (a->at < b->at);
}

/* Counts for each node the PEs on its machine. */
static void count_machines(struct rte_job_map *job)
{
    struct known *nodes = job->nodes;
    qsort(nodes, job->count, sizeof *nodes, by_machine);
    for (size_t first = 0, end; first < job->count; first = end) {
        uint32_t here = 0;
        for (end = first; end < job->count && nodes[end].machine == nodes[first].machine; end++)
            here += nodes[end].count;
        for (size_t i = first; i < end; i++)
            nodes[i].here = here;
    }
    qsort(nodes, job->count, sizeof *nodes, by_number);
}

/* Returns how far node `one` lies behind node `other` when they are alike but for that; 0 otherwise. In a part of a job the nodes' first
 * PEs there need not be in the order of their leads. */
static uint32_t shift_between(const struct rte_job_map *job, const struct known *one, const struct known *other)
{
    const struct rte_run *a = &job->runs[one->at], *b = &job->runs[other->at];
    if (one->runs != other->runs || one->here != other->here || a[0].first < b[0].first)
        return 0;
    for (uint32_t i = 0; i < one->runs; i++)
        if (a[i].stride != b[i].stride || a[i].count != b[i].count ||
            a[i].first - b[i].first != a[0].first - b[0].first)
            return 0;
    return a[0].first - b[0].first;
}

/* Writes the shape that begins with node `first`. Returns the number of nodes that it stands for. */
static size_t write_shape(const struct rte_job_map *job, size_t first, uint32_t *words)
{
    const struct known *node = &job->nodes[first];
    size_t count = 1;
    uint32_t shift = first + 1 < job->count ? shift_between(job, node + 1, node) : 0;
    while (shift && first + count < job->count && shift_between(job, node + count, node + count - 1) == shift)
        count++;
    words[REPETITIONS] = (uint32_t)count;
    words[SHIFT] = shift;
    words[HERE] = node->here;
    words[RUNS] = node->runs;
    memcpy(words + HEAD_WORDS, &job->runs[node->at], node->runs * sizeof(struct rte_run));
    return count;
}

/* Writes who leads the nodes, and their machines. */
static void write_origins(const struct rte_job_map *job, uint32_t *words)
{
    struct origin origin;
    for (size_t i = 0; i < job->count; i++, words += ORIGIN_WORDS) {
        origin.lead = job->nodes[i].lead;
        memcpy(origin.machine, &job->nodes[i].machine, sizeof origin.machine);
        memcpy(words, &origin, sizeof origin);
    }
}

struct rte_packed_job_map *rte_job_map_pack(struct rte_job_map *job, bool whole, size_t *bytes)
{
    size_t most = job->part_count * (HEAD_WORDS + RUN_WORDS + ORIGIN_WORDS), used = 0;
    struct rte_packed_job_map *all = calloc(1, sizeof *all + most * sizeof *all->words);
    if (!all || !join_parts(job)) {
        log_line("no memory for the shapes of the nodes");
        free(all);
        return 0;
    }
    if (job->count > NODE_MAX_NODES) {
        log_line("the job has %zu nodes, more than %d", job->count, NODE_MAX_NODES);
        free(all);
        return 0;
    }
    all->total = job->end - job->first;
    if (whole)
        count_machines(job);
    for (size_t node = 0; node < job->count;) {
        uint32_t runs = job->nodes[node].runs;
        node += write_shape(job, node, all->words + used);
        used += HEAD_WORDS + (size_t)runs * RUN_WORDS;
    }
    all->origins = whole ? 0 : (uint32_t)job->count;
    if (!whole)
        write_origins(job, all->words + used);
    *bytes = sizeof *all + (used + all->origins * ORIGIN_WORDS) * sizeof *all->words;
    return all;
}

/* ---- taking apart ---- */

struct shape {
    uint32_t head[HEAD_WORDS];
    struct rte_run run[]; /* in the value itself, whose words are aligned alike */
};
_Static_assert(sizeof(struct rte_run) == RUN_WORDS * sizeof(uint32_t), "a run is words alone");

/* Returns the shape at word `at` and goes on to the next one; null at the end, or where words are missing. */
static const struct shape *next_shape(const struct rte_packed_job_map *all, size_t bytes, size_t *at)
{
    size_t words = (bytes - sizeof *all) / sizeof *all->words;
    const struct shape *shape = (const struct shape *)(all->words + *at);
    if (*at + HEAD_WORDS > words || (words - *at - HEAD_WORDS) / RUN_WORDS < shape->head[RUNS] || !shape->head[RUNS])
        return 0;
    *at += HEAD_WORDS + (size_t)shape->head[RUNS] * RUN_WORDS;
    return shape;
}

/* Returns what stands at `words` behind the shapes, of one node. */
static struct part read_origin(const uint32_t *words)
{
    struct origin origin;
    struct part part = {0};
    memcpy(&origin, words, sizeof origin);
    part.lead = origin.lead;
    memcpy(&part.machine, origin.machine, sizeof part.machine);
    return part;
}

bool rte_job_map_take(struct rte_job_map *job, const struct rte_packed_job_map *all, size_t bytes)
{
    const struct shape *shape;
    size_t at = 0, node = 0;
    const int next = rte_job_map_next(job);
    if (bytes < sizeof *all || (bytes - sizeof *all) / sizeof(struct origin) < all->origins)
        return false;
    bytes -= all->origins * sizeof(struct origin);
    const uint32_t *origins = all->words + (bytes - sizeof *all) / sizeof *all->words;
    while ((shape = next_shape(all, bytes, &at)))
        for (uint32_t i = 0; i < shape->head[REPETITIONS]; i++, node++) {
            if (node == all->origins)
                return false;
            const struct part part = read_origin(origins + node * ORIGIN_WORDS);
            if (!add_shifted(job, &part, shape->run, shape->head[RUNS], (uint64_t)i * shape->head[SHIFT]))
                return false;
        }
    return node == all->origins && at * sizeof *all->words + sizeof *all == bytes && rte_job_map_next(job) > next;
}

bool rte_job_map_scattered(const struct rte_packed_job_map *all, size_t bytes)
{
    const struct shape *shape;
    if (bytes < sizeof *all)
        return false;
    for (size_t at = 0; (shape = next_shape(all, bytes, &at));)
        if (shape->head[RUNS] > 1 || (shape->run[0].count > 1 && shape->run[0].stride != 1))
            return true;
    return false;
}

/* The tables while they are written. */
struct tables {
    const struct node *mine;
    uint32_t *leads, *places;
    uint32_t total, nodes, here;
    uint64_t seen; /* PEs that have a node */
};

/* Writes the places of a run of the node; `index` counts its PEs. */
static bool write_run(const struct tables *tables, const struct rte_run *run, uint64_t shift, bool mine,
                      uint32_t *index)
{
    uint64_t pe = run->first + shift;
    for (uint32_t i = 0; i < run->count; i++, pe += run->stride, ++*index) {
        if (pe >= tables->total || (mine && *index >= tables->mine->size) ||
            (mine && node_pe_number(tables->mine, *index) != pe))
            return false;
        if (!tables->places)
            continue;
        if (tables->places[pe])
            return false;
        tables->places[pe] = mine ? NODE_NEAR | *index : tables->nodes + 1;
    }
    return true;
}

static bool write_node(struct tables *tables, const struct shape *shape, uint64_t shift)
{
    uint64_t lead = shape->run[0].first + shift;
    uint32_t index = 0;
    bool mine = lead == tables->mine->first, first = tables->nodes == 0;
    if (tables->nodes == NODE_MAX_NODES || lead >= tables->total || (first && lead != 0) ||
        (!first && lead <= tables->leads[tables->nodes - 1]) || (!tables->places && lead != tables->seen))
        return false;
    for (uint32_t i = 0; i < shape->head[RUNS]; i++)
        if (!write_run(tables, &shape->run[i], shift, mine, &index))
            return false;
    if (mine && index != tables->mine->size)
        return false;
    tables->here = mine ? shape->head[HERE] : tables->here;
    tables->leads[tables->nodes++] = (uint32_t)lead;
    tables->seen += index;
    return true;
}

bool rte_job_map_unpack(const struct rte_packed_job_map *all, size_t bytes, const struct node *mine, uint32_t *leads,
                        uint32_t *nodes, uint32_t *places, uint32_t *here)
{
    struct tables tables = {.mine = mine, .leads = leads, .places = places, .total = mine->total};
    const struct shape *shape;
    size_t at = 0;
    if (bytes < sizeof *all || all->total != mine->total)
        return false;
    while ((shape = next_shape(all, bytes, &at)))
        for (uint32_t i = 0; i < shape->head[REPETITIONS]; i++)
            if (!write_node(&tables, shape, (uint64_t)i * shape->head[SHIFT]))
                return false;
    *nodes = tables.nodes;
    *here = tables.here;
    leads[tables.nodes] = tables.total;
    return at * sizeof *all->words + sizeof *all == bytes && tables.seen == tables.total && tables.here;
}
