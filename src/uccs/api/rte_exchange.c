/* Data exchange sessions of uccs_rte.h. Each member's values lie one after the other in a blob, and an exchange gathers
 * all blobs. One thread at a time per session. */
#include "uccs/coll/coll.h"

#include <stdlib.h>
#include <string.h>
#include <uccs_rte.h>

/* The head of an entry. The key with its terminating zero follows, then the value, both padded to 8 bytes. */
struct entry {
    uint64_t key_bytes, value_bytes;
};

struct uccs_rte_session {
    uccs_group_t group; /* the session's own group, which keeps its operations apart */
    char *mine, *all;
    size_t used, room, stride;
    uint64_t *lengths; /* of each member's blob in the last exchange */
};

static size_t padded_bytes(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

int uccs_rte_session_create(uccs_group_t group, int tag, uccs_rte_session_t *session)
{
    int size = uccs_group_size(group);
    (void)tag; /* the order of creation tells sessions apart */
    if (!uccs_running() || !session || size < 1)
        return UCCS_ERR_INVALID;
    int *ranks = malloc((size_t)size * sizeof *ranks);
    struct uccs_rte_session *made = calloc(1, sizeof *made);
    uint64_t *lengths = calloc((size_t)size, sizeof *lengths);
    for (int rank = 0; rank < size && ranks; rank++)
        ranks[rank] = rank;
    bool good = ranks && made && lengths && uccs_group_create(group, (size_t)size, ranks, &made->group) == UCCS_OK;
    free(ranks);
    if (!good) {
        free(made);
        free(lengths);
        return UCCS_ERR_NO_MEMORY;
    }
    made->lengths = lengths;
    *session = made;
    return UCCS_OK;
}

static char *extend_blob(struct uccs_rte_session *s, size_t bytes)
{
    if (s->used + bytes > s->room) {
        size_t room = 2 * (s->used + bytes);
        char *larger = realloc(s->mine, room);
        if (!larger)
            return 0;
        s->mine = larger;
        s->room = room;
    }
    s->used += bytes;
    return s->mine + s->used - bytes;
}

int uccs_rte_session_set(uccs_rte_session_t s, const char *key, const struct uccs_rte_iovec *value, uint32_t count)
{
    if (!s || !key || !uccs_oob_valid(value, count))
        return UCCS_ERR_INVALID;
    const struct entry entry = {strlen(key) + 1, uccs_oob_bytes(value, count)};
    size_t bytes = sizeof entry + padded_bytes(entry.key_bytes) + padded_bytes(entry.value_bytes);
    char *to = extend_blob(s, bytes);
    if (!to)
        return UCCS_ERR_NO_MEMORY;
    memset(to, 0, bytes);
    memcpy(to, &entry, sizeof entry);
    memcpy(to + sizeof entry, key, entry.key_bytes);
    uccs_oob_copy(to + sizeof entry + padded_bytes(entry.key_bytes), value, count);
    return UCCS_OK;
}

/* Gathers the lengths first, then the blobs, each in as much room as the longest one needs. */
int uccs_rte_session_exchange(uccs_rte_session_t s)
{
    if (!s)
        return UCCS_ERR_INVALID;
    int size = uccs_group_size(s->group), rank = uccs_group_rank(s->group);
    uint64_t used = s->used;
    if (uccs_allgather(s->group, &used, s->lengths, sizeof used) != UCCS_OK)
        return UCCS_ERR_FAILED;
    s->stride = 8;
    for (int i = 0; i < size; i++)
        s->stride = s->lengths[i] > s->stride ? s->lengths[i] : s->stride;
    char *all = calloc((size_t)size, s->stride);
    if (!all)
        return UCCS_ERR_NO_MEMORY;
    if (s->used)
        memcpy(all + (size_t)rank * s->stride, s->mine, s->used);
    free(s->all);
    s->all = all;
    int status = uccs_allgather(s->group, all + (size_t)rank * s->stride, all, s->stride);
    return status;
}

/* Finds the last value that was set under the key. */
int uccs_rte_session_get(uccs_rte_session_t s, uccs_rte_ec_t peer, const char *key, const void **value, size_t *bytes)
{
    if (!s || !key || !value || !bytes)
        return UCCS_ERR_INVALID;
    uint32_t rank = uccs_rte_ec_index(s->group, peer);
    if (rank == UINT32_MAX)
        return UCCS_ERR_INVALID;
    const char *at = s->all ? s->all + rank * s->stride : 0, *end = at ? at + s->lengths[rank] : 0;
    int status = UCCS_ERR_NOT_FOUND;
    while (at < end) {
        struct entry entry;
        memcpy(&entry, at, sizeof entry);
        const char *name = at + sizeof entry, *data = name + padded_bytes(entry.key_bytes);
        if (strcmp(name, key) == 0) {
            *value = data;
            *bytes = entry.value_bytes;
            status = UCCS_OK;
        }
        at = data + padded_bytes(entry.value_bytes);
    }
    return status;
}

int uccs_rte_session_destroy(uccs_rte_session_t s)
{
    if (!s)
        return UCCS_ERR_INVALID;
    uccs_barrier(s->group);
    uccs_group_release(s->group);
    free(s->mine);
    free(s->all);
    free(s->lengths);
    free(s);
    return UCCS_OK;
}
