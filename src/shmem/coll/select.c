#include "shmem/coll/select.h"

#include "base/env.h"
#include "base/log.h"
#include "uccs/team/slots.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The first row that fits counts: at most `bytes`, at most `pes`, on a node with or without a core for each PE.
 * Without enough cores every wait for another PE costs a change of processes, so copies through posts are cheaper
 * than one more wait. The sizes of a collect differ from PE to PE, so only the number of PEs may choose its
 * algorithm. */
enum cores { ANY, ENOUGH, FEW };

static const struct rule {
    enum lat_coll coll;
    size_t bytes;
    int pes;
    enum cores cores;
    enum lat_algorithm algorithm;
} rules[] = {
    {LAT_COLL_BROADCAST, 2048, INT_MAX, ANY, LAT_BY_POST},
    {LAT_COLL_BROADCAST, SLOT_LARGE, INT_MAX, FEW, LAT_BY_POST},
    {LAT_COLL_BROADCAST, SIZE_MAX, INT_MAX, ANY, LAT_BY_PULL},
    {LAT_COLL_COLLECT, SIZE_MAX, INT_MAX, ANY, LAT_BY_POST},
    {LAT_COLL_FCOLLECT, 2048, INT_MAX, ANY, LAT_BY_POST},
    {LAT_COLL_FCOLLECT, SLOT_LARGE, INT_MAX, FEW, LAT_BY_POST},
    {LAT_COLL_FCOLLECT, SIZE_MAX, INT_MAX, ANY, LAT_BY_PULL},
    {LAT_COLL_ALLTOALL, 2048, INT_MAX, ANY, LAT_BY_POST},
    {LAT_COLL_ALLTOALL, SLOT_LARGE, INT_MAX, FEW, LAT_BY_POST},
    {LAT_COLL_ALLTOALL, SIZE_MAX, INT_MAX, ANY, LAT_BY_PULL},
    {LAT_COLL_ALLTOALLS, SIZE_MAX, INT_MAX, ANY, LAT_BY_PULL},
    {LAT_COLL_REDUCE, 2048, 2, ANY, LAT_BY_POST},
    {LAT_COLL_REDUCE, 512, 16, ANY, LAT_BY_POST},
    {LAT_COLL_REDUCE, SLOT_LARGE, 16, FEW, LAT_BY_POST},
    {LAT_COLL_REDUCE, SLOT_SMALL, INT_MAX, ANY, LAT_BY_LEADER},
    {LAT_COLL_REDUCE, SIZE_MAX, INT_MAX, ANY, LAT_BY_SHARE},
    {LAT_COLL_SCAN, 2048, 2, ANY, LAT_BY_POST},
    {LAT_COLL_SCAN, 512, 16, ANY, LAT_BY_POST},
    {LAT_COLL_SCAN, SLOT_LARGE, 16, FEW, LAT_BY_POST},
    {LAT_COLL_SCAN, SIZE_MAX, INT_MAX, ANY, LAT_BY_SHARE},
};

/* Over several nodes, by the bytes that all boxes have to hold (far_bytes). */
static const struct far_rule {
    enum lat_coll coll;
    size_t bytes;
    enum lat_algorithm algorithm;
} far_rules[] = {
    {LAT_COLL_BROADCAST, 2 * NODES_RING_BYTES, LAT_BY_MAIL},
    {LAT_COLL_BROADCAST, SIZE_MAX, LAT_BY_RAIL},
    {LAT_COLL_COLLECT, SIZE_MAX, LAT_BY_MAIL},
    {LAT_COLL_FCOLLECT, NODES_GATHER_BYTES, LAT_BY_MAIL},
    {LAT_COLL_FCOLLECT, SIZE_MAX, LAT_BY_RAIL},
    {LAT_COLL_ALLTOALL, NODES_GATHER_BYTES, LAT_BY_MAIL},
    {LAT_COLL_ALLTOALL, SIZE_MAX, LAT_BY_RAIL},
    {LAT_COLL_ALLTOALLS, NODES_GATHER_BYTES, LAT_BY_MAIL},
    {LAT_COLL_ALLTOALLS, SIZE_MAX, LAT_BY_RAIL},
    {LAT_COLL_REDUCE, NODES_GATHER_BYTES, LAT_BY_MAIL},
    {LAT_COLL_REDUCE, SIZE_MAX, LAT_BY_RAIL},
    {LAT_COLL_SCAN, SIZE_MAX, LAT_BY_MAIL},
};

static const char *const names[LAT_ALGORITHMS] = {
    [LAT_BY_POST] = "post",   [LAT_BY_LEADER] = "leader", [LAT_BY_PULL] = "pull", [LAT_BY_PUSH] = "push",
    [LAT_BY_SHARE] = "share", [LAT_BY_MAIL] = "mail",     [LAT_BY_RAIL] = "rail",
};

static const char *const sync_names[] = {
    [UCCS_SYNC_AUTO] = "auto",
    [UCCS_SYNC_DISSEMINATE] = "disseminate",
    [UCCS_SYNC_COUNT] = "count",
    [UCCS_SYNC_FLAT] = "flat",
};

#define BIT(algorithm) (1u << (algorithm))
#define MOVES (BIT(LAT_BY_POST) | BIT(LAT_BY_PULL))
#define FOLDS (BIT(LAT_BY_POST) | BIT(LAT_BY_SHARE))
#define FAR (BIT(LAT_BY_PULL) | BIT(LAT_BY_MAIL) | BIT(LAT_BY_RAIL))

/* What each operation can be told to do, on one node and over several. */
static const struct {
    const char *name;
    unsigned near, far;
} choices[LAT_COLLS] = {
    [LAT_COLL_SYNC] = {"sync", 0, 0},
    [LAT_COLL_BROADCAST] = {"broadcast", MOVES, FAR},
    [LAT_COLL_COLLECT] = {"collect", MOVES, BIT(LAT_BY_PULL) | BIT(LAT_BY_MAIL)},
    [LAT_COLL_FCOLLECT] = {"fcollect", MOVES | BIT(LAT_BY_PUSH), FAR},
    [LAT_COLL_ALLTOALL] = {"alltoall", MOVES | BIT(LAT_BY_PUSH), FAR},
    [LAT_COLL_ALLTOALLS] = {"alltoalls", BIT(LAT_BY_PULL) | BIT(LAT_BY_PUSH), FAR},
    [LAT_COLL_REDUCE] = {"reduce", FOLDS | BIT(LAT_BY_LEADER), FAR},
    [LAT_COLL_SCAN] = {"scan", FOLDS, BIT(LAT_BY_PULL) | BIT(LAT_BY_MAIL)},
};

/* What the environment wants, on one node and over several, or -1. */
static int forced[LAT_COLLS], forced_far[LAT_COLLS];

enum lat_algorithm lat_coll_choose(enum lat_coll coll, const struct uccs_team *group, size_t bytes)
{
    if (lat_unlikely(forced[coll] >= 0))
        return (enum lat_algorithm)forced[coll];
    enum cores not_these = uccs_core.oversubscribed ? ENOUGH : FEW;
    const struct rule *rule = rules;
    while (rule->coll != coll || bytes > rule->bytes || group->size > rule->pes || rule->cores == not_these)
        rule++;
    return rule->algorithm;
}

/* Returns the bytes that all boxes have to hold. A reduction may take more than one gather when the rails' chain is
 * long. */
static size_t far_bytes(enum lat_coll coll, const struct uccs_team *group, size_t bytes)
{
    size_t nodes = (size_t)group->nodes->count, widest = (size_t)group->nodes->widest;
    switch (coll) {
    case LAT_COLL_FCOLLECT: return bytes * nodes * widest;
    case LAT_COLL_ALLTOALL:
    case LAT_COLL_ALLTOALLS: return bytes * nodes * widest * (size_t)group->size;
    case LAT_COLL_REDUCE: return bytes * widest * 2;
    default: return bytes;
    }
}

#define ELEMENT 16 /* bytes of the largest */

enum lat_algorithm lat_coll_choose_far(enum lat_coll coll, const struct uccs_team *group, size_t bytes)
{
    if (group->area < 0)
        return LAT_BY_PULL;
    size_t held = far_bytes(coll, group, bytes);
    const struct far_rule *rule = far_rules;
    while (rule->coll != coll || held > rule->bytes)
        rule++;
    enum lat_algorithm way = forced_far[coll] >= 0 ? (enum lat_algorithm)forced_far[coll] : rule->algorithm;
    const size_t least = coll == LAT_COLL_ALLTOALL ? 1 : coll == LAT_COLL_ALLTOALLS ? ELEMENT : 0; /* of each pair */
    if (way == LAT_BY_MAIL && least && far_bytes(coll, group, least) > NODES_GATHER_BYTES)
        return LAT_BY_RAIL;
    return way;
}

/* Returns the name of an algorithm, or null when the collective cannot be told to take it. */
static const char *name_of(int coll, int how)
{
    if (coll == LAT_COLL_SYNC)
        return how <= UCCS_SYNC_FLAT ? sync_names[how] : 0;
    return (choices[coll].near | choices[coll].far) & BIT(how) ? names[how] : 0;
}

static bool is_word(const char *text, size_t bytes, const char *word)
{
    return word && strlen(word) == bytes && memcmp(text, word, bytes) == 0;
}

/* Says what an entry of LATERAL_COLL could hold: algorithms of `coll`, or collectives when that is LAT_COLLS. Returns -1. */
static int refuse(const char *entry, size_t bytes, int coll)
{
    const bool known = coll < LAT_COLLS;
    char list[128];
    size_t at = 0;
    for (int i = 0; i < (known ? (int)LAT_ALGORITHMS : (int)LAT_COLLS); i++) {
        const char *word = known ? name_of(coll, i) : choices[i].name;
        if (word)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", at ? ", " : "", word);
    }
    log_line("LATERAL_COLL has %.*s, but %s is one of %s", (int)bytes, entry,
             known ? choices[coll].name : "a collective", list);
    return -1;
}

/* Takes one entry, collective:algorithm. Returns 0, or -1 after a line. */
static int take_entry(const char *entry, size_t bytes)
{
    const size_t name = strcspn(entry, ":,");
    const size_t word = name < bytes ? name + 1 : bytes;
    int coll = 0, how = 0;
    while (coll < LAT_COLLS && !is_word(entry, name, choices[coll].name))
        coll++;
    if (coll == LAT_COLLS)
        return refuse(entry, bytes, coll);
    while (how < LAT_ALGORITHMS && !is_word(entry + word, bytes - word, name_of(coll, how)))
        how++;
    if (how == LAT_ALGORITHMS)
        return refuse(entry, bytes, coll);
    if (coll == LAT_COLL_SYNC)
        uccs_sync_how = (enum uccs_sync)how;
    forced[coll] = choices[coll].near & BIT(how) ? how : -1;
    forced_far[coll] = choices[coll].far & BIT(how) ? how : -1;
    return 0;
}

int lat_coll_open(void)
{
    uccs_sync_how = UCCS_SYNC_AUTO;
    for (int coll = 0; coll < LAT_COLLS; coll++)
        forced[coll] = forced_far[coll] = -1;
    for (const char *at = env_text(ENV_COLL); *(at += strspn(at, ",")); at += strcspn(at, ","))
        if (take_entry(at, strcspn(at, ",")) != 0)
            return -1;
    return 0;
}
