#include "uccs/coll/inner.h"

#include "base/env.h"
#include "base/log.h"
#include "uccs/team/slots.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Where the members are: on one node with a core for each, on one node with fewer cores, on several nodes; or a group of
 * uccs.h. With fewer cores every wait for another PE costs a change of processes, so copies through slots are cheaper than one
 * more wait. */
enum where { ENOUGH = 1, FEW = 2, NODE = ENOUGH | FEW, NODES = 4, MESSAGES = 8 };

/* The first row that fits counts: at most `bytes`, at most `members`. Over nodes `bytes` is what all nodes' buffers have to
 * hold (held_bytes). The sizes of a collect differ from member to member, so it asks for 0 bytes. */
static const struct rule {
    enum where where;
    size_t bytes;
    int members;
    enum uccs_plan plan;
} rules[UCCS_COLLS][10] = {
    [UCCS_COLL_BARRIER] = {{MESSAGES, SIZE_MAX, INT_MAX, UCCS_BY_ROUNDS}},
    [UCCS_COLL_BROADCAST... UCCS_COLL_ALLTOALL] =
        {
            {NODE, 2048, INT_MAX, UCCS_BY_SLOTS},
            {FEW, SLOT_LARGE, INT_MAX, UCCS_BY_SLOTS},
            {NODE, SIZE_MAX, INT_MAX, UCCS_BY_PULL},
            {NODES, NODES_GATHER_BYTES, INT_MAX, UCCS_BY_GATHER},
            {NODES, SIZE_MAX, INT_MAX, UCCS_BY_RAIL},
            {MESSAGES, SIZE_MAX, INT_MAX, UCCS_BY_ROUNDS},
        },
    [UCCS_COLL_ALLTOALLS] =
        {
            {NODE, SIZE_MAX, INT_MAX, UCCS_BY_PULL},
            {NODES, NODES_GATHER_BYTES, INT_MAX, UCCS_BY_GATHER},
            {NODES, SIZE_MAX, INT_MAX, UCCS_BY_RAIL},
        },
    [UCCS_COLL_ALLREDUCE] =
        {
            {NODE, 2048, 2, UCCS_BY_SLOTS},
            {NODE, 512, 16, UCCS_BY_SLOTS},
            {FEW, SLOT_LARGE, 16, UCCS_BY_SLOTS},
            {NODE, SLOT_SMALL, INT_MAX, UCCS_BY_LEADER},
            {NODE, SIZE_MAX, INT_MAX, UCCS_BY_SHARE},
            {NODES, 2 * NODES_GATHER_BYTES, INT_MAX, UCCS_BY_GATHER},
            {NODES, SIZE_MAX, INT_MAX, UCCS_BY_RAIL},
            {MESSAGES, 16384, INT_MAX, UCCS_BY_ROUNDS},
            {MESSAGES, SIZE_MAX, INT_MAX, UCCS_BY_STREAM},
        },
    [UCCS_COLL_SCAN] =
        {
            {NODE, 2048, 2, UCCS_BY_SLOTS},
            {NODE, 512, 16, UCCS_BY_SLOTS},
            {FEW, SLOT_LARGE, 16, UCCS_BY_SLOTS},
            {NODE, SIZE_MAX, INT_MAX, UCCS_BY_SHARE},
            {NODES, SIZE_MAX, INT_MAX, UCCS_BY_GATHER},
            {MESSAGES, SIZE_MAX, INT_MAX, UCCS_BY_ROUNDS},
        },
    [UCCS_COLL_GATHER... UCCS_COLL_SCATTER] = {{MESSAGES, SIZE_MAX, INT_MAX, UCCS_BY_ROUNDS}},
    [UCCS_COLL_REDUCE] =
        {
            {MESSAGES, SIZE_MAX, 1, UCCS_BY_ROUNDS},
            {MESSAGES, 16384, INT_MAX, UCCS_BY_ROUNDS},
            {MESSAGES, SIZE_MAX, INT_MAX, UCCS_BY_STREAM},
        },
};

static const char *const plan_names[UCCS_NAMED_PLANS] = {
    [UCCS_BY_SLOTS] = "slots", [UCCS_BY_LEADER] = "leader", [UCCS_BY_PULL] = "pull",
    [UCCS_BY_SHARE] = "share", [UCCS_BY_GATHER] = "gather", [UCCS_BY_RAIL] = "rail",
};

static const char *const sync_names[] = {
    [UCCS_SYNC_AUTO] = "auto",
    [UCCS_SYNC_DISSEMINATE] = "disseminate",
    [UCCS_SYNC_COUNT] = "count",
};

#define BIT(plan) (1u << (plan))
#define MOVES (BIT(UCCS_BY_SLOTS) | BIT(UCCS_BY_PULL))
#define FOLDS (BIT(UCCS_BY_SLOTS) | BIT(UCCS_BY_SHARE))
#define FAR (BIT(UCCS_BY_PULL) | BIT(UCCS_BY_GATHER) | BIT(UCCS_BY_RAIL))

/* What each collective can be told to do, on one node and over several. */
static const struct {
    const char *name;
    unsigned near, far;
} choices[UCCS_COLL_NAMED] = {
    [UCCS_COLL_BARRIER] = {"sync", 0, 0},
    [UCCS_COLL_BROADCAST] = {"broadcast", MOVES, FAR},
    [UCCS_COLL_COLLECT] = {"collect", MOVES, BIT(UCCS_BY_PULL) | BIT(UCCS_BY_GATHER)},
    [UCCS_COLL_ALLGATHER] = {"fcollect", MOVES, FAR},
    [UCCS_COLL_ALLTOALL] = {"alltoall", MOVES, FAR},
    [UCCS_COLL_ALLTOALLS] = {"alltoalls", BIT(UCCS_BY_PULL), FAR},
    [UCCS_COLL_ALLREDUCE] = {"reduce", FOLDS | BIT(UCCS_BY_LEADER), FAR},
    [UCCS_COLL_SCAN] = {"scan", FOLDS, BIT(UCCS_BY_PULL) | BIT(UCCS_BY_GATHER)},
};

/* What the environment wants, on one node and over several, or -1. */
static int forced[UCCS_COLL_NAMED], forced_far[UCCS_COLL_NAMED];

static enum uccs_plan look_up(enum uccs_coll_kind kind, enum where where, int members, size_t bytes)
{
    const struct rule *rule = rules[kind];
    while (!(rule->where & where) || bytes > rule->bytes || members > rule->members)
        rule++;
    return rule->plan;
}

/* Returns the bytes that all nodes' buffers have to hold, or those of a reduction its lead's. */
static size_t held_bytes(enum uccs_coll_kind kind, const struct uccs_team *team, size_t bytes)
{
    size_t nodes = (size_t)team->nodes->count, widest = (size_t)team->nodes->widest;
    switch (kind) {
    case UCCS_COLL_ALLGATHER: return bytes * nodes * widest;
    case UCCS_COLL_ALLTOALL:
    case UCCS_COLL_ALLTOALLS: return bytes * nodes * widest * (size_t)team->size;
    case UCCS_COLL_ALLREDUCE: return bytes * (NODES_GATHER_BYTES / uccs_reduce_most(team->nodes));
    case UCCS_COLL_BROADCAST: return bytes * (NODES_GATHER_BYTES / (2 * NODES_RING_BYTES)); /* the ring holds less */
    default: return bytes;
    }
}

#define ELEMENT 16 /* bytes of the largest */

/* A gather must hold at least a byte or an element of each pair of members. */
static lat_cold enum uccs_plan choose_far(enum uccs_coll_kind kind, const struct uccs_team *team, size_t bytes)
{
    if (team->area < 0)
        return UCCS_BY_PULL;
    enum uccs_plan plan = (enum uccs_plan)forced_far[kind];
    if (forced_far[kind] < 0)
        plan = look_up(kind, NODES, team->size, held_bytes(kind, team, bytes));
    const size_t least = kind == UCCS_COLL_ALLTOALL ? 1 : kind == UCCS_COLL_ALLTOALLS ? ELEMENT : 0;
    if (plan == UCCS_BY_GATHER && least && held_bytes(kind, team, least) > NODES_GATHER_BYTES)
        return UCCS_BY_RAIL;
    return plan;
}

enum uccs_plan uccs_coll_choose(enum uccs_coll_kind kind, const struct uccs_team *team, size_t bytes)
{
    if (lat_unlikely(team->far))
        return choose_far(kind, team, bytes);
    enum uccs_plan plan = (enum uccs_plan)forced[kind];
    if (lat_likely(forced[kind] < 0))
        plan = look_up(kind, uccs_core.oversubscribed ? FEW : ENOUGH, team->size, bytes);
    if (lat_unlikely(team->area < 0) && (plan == UCCS_BY_SLOTS || plan == UCCS_BY_LEADER))
        return kind == UCCS_COLL_ALLREDUCE || kind == UCCS_COLL_SCAN ? UCCS_BY_SHARE : UCCS_BY_PULL;
    return plan;
}

enum uccs_plan uccs_coll_choose_messages(enum uccs_coll_kind kind, int size, size_t bytes)
{
    return look_up(kind, MESSAGES, size, bytes);
}

/* Returns the name of a plan, or null when the collective cannot be told to take it. */
static const char *name_of(int kind, int plan)
{
    if (kind == UCCS_COLL_BARRIER)
        return plan <= UCCS_SYNC_COUNT ? sync_names[plan] : 0;
    return (choices[kind].near | choices[kind].far) & BIT(plan) ? plan_names[plan] : 0;
}

static bool is_word(const char *text, size_t bytes, const char *word)
{
    return word && strlen(word) == bytes && memcmp(text, word, bytes) == 0;
}

/* Says what an entry of LATERAL_COLL could hold: plans of `kind`, or collectives when that is UCCS_COLL_NAMED. Returns -1. */
static int refuse_entry(const char *entry, size_t bytes, int kind)
{
    const bool known = kind < UCCS_COLL_NAMED;
    char list[128];
    size_t at = 0;
    for (int i = 0; i < (known ? (int)UCCS_NAMED_PLANS : (int)UCCS_COLL_NAMED); i++) {
        const char *word = known ? name_of(kind, i) : choices[i].name;
        if (word)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", at ? ", " : "", word);
    }
    log_line("LATERAL_COLL has %.*s, but %s is one of %s", (int)bytes, entry,
             known ? choices[kind].name : "a collective", list);
    return -1;
}

/* Takes one entry, collective:plan. Returns 0, or -1 after a line. */
static int take_entry(const char *entry, size_t bytes)
{
    const size_t name = strcspn(entry, ":,");
    const size_t word = name < bytes ? name + 1 : bytes;
    int kind = 0, plan = 0;
    while (kind < UCCS_COLL_NAMED && !is_word(entry, name, choices[kind].name))
        kind++;
    if (kind == UCCS_COLL_NAMED)
        return refuse_entry(entry, bytes, kind);
    while (plan < UCCS_NAMED_PLANS && !is_word(entry + word, bytes - word, name_of(kind, plan)))
        plan++;
    if (plan == UCCS_NAMED_PLANS)
        return refuse_entry(entry, bytes, kind);
    if (kind == UCCS_COLL_BARRIER)
        uccs_sync_how = (enum uccs_sync)plan;
    forced[kind] = choices[kind].near & BIT(plan) ? plan : -1;
    forced_far[kind] = choices[kind].far & BIT(plan) ? plan : -1;
    return 0;
}

int uccs_coll_open(uccs_coll_mistake *mistake)
{
    uccs_coll_found_mistake = mistake;
    uccs_sync_how = UCCS_SYNC_AUTO;
    for (int kind = 0; kind < UCCS_COLL_NAMED; kind++)
        forced[kind] = forced_far[kind] = -1;
    for (const char *at = env_text(ENV_COLL); *(at += strspn(at, ",")); at += strcspn(at, ","))
        if (take_entry(at, strcspn(at, ",")) != 0)
            return -1;
    return 0;
}
