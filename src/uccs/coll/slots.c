/* Small data of blocking collectives on one node, by slots: a member publishes it with a flag in its own row, the others copy or
 * fold it out. One hop, and nobody waits for readers: the ring's rare sync tells that they have read. Slots hold copies, so
 * dest may be overwritten at once. */
#include "uccs/coll/inner.h"

/* Once all members come here, all have read all slots of the exchange before this one. */
static void settle_exchange(struct uccs_team *team)
{
    team->settled = team->exchange - 1;
}

/* Begins an exchange and publishes my data in it. */
static inline void publish_piece(struct uccs_team *team, const void *source, size_t bytes)
{
    const uint64_t number = uccs_slot_begin(team, bytes);
    struct uccs_slot *slot = uccs_slot_of(team, team->rank, bytes);
    uccs_coll_copy(uccs_slot_bytes(slot, bytes), source, bytes);
    atomic_store_release(&slot->number, number); /* acquire: uccs_slot_await at the others */
}

/* Begins an exchange and takes the data of `rank`. */
static inline void take_piece(struct uccs_team *team, void *dest, int rank, size_t bytes)
{
    (void)uccs_slot_begin(team, bytes);
    uccs_coll_copy(dest, uccs_slot_await(team, rank, bytes), bytes);
}

void uccs_slots_broadcast(struct uccs_team *team, char *dest, const char *source, size_t bytes, int root)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        if (team->rank != root)
            take_piece(team, dest + at, root, piece);
        else
            publish_piece(team, source + at, piece);
    }
}

void uccs_slots_allgather(struct uccs_team *team, char *dest, const char *source, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        publish_piece(team, source + at, piece);
        uccs_coll_copy(dest + (size_t)team->rank * bytes + at, source + at, piece);
        for (int i = 1; i < team->size; i++) {
            int rank = uccs_coll_around(team, team->rank, i);
            uccs_coll_copy(dest + (size_t)rank * bytes + at, uccs_slot_await(team, rank, piece), piece);
        }
        settle_exchange(team);
    }
}

/* Bytes of each block that one exchange can carry. */
static size_t piece_of(const struct uccs_team *team, size_t bytes)
{
    size_t most = SLOT_LARGE / (size_t)team->size;
    return bytes < most ? bytes : most;
}

static void publish_blocks(const struct uccs_team *team, const char *source, size_t bytes, size_t at, size_t piece)
{
    size_t total = piece * (size_t)team->size;
    char *room = uccs_slot_buffer(team, total);
    if (piece == bytes)
        memcpy(room, source, total);
    else
        for (int rank = 0; rank < team->size; rank++)
            memcpy(room + (size_t)rank * piece, source + (size_t)rank * bytes + at, piece);
    uccs_slot_publish(team, total);
}

void uccs_slots_alltoall(struct uccs_team *team, char *dest, const char *source, size_t bytes)
{
    size_t me = (size_t)team->rank, most = piece_of(team, bytes);
    for (size_t at = 0; at < bytes; at += most) {
        size_t piece = bytes - at < most ? bytes - at : most;
        uccs_slot_begin(team, piece * (size_t)team->size);
        publish_blocks(team, source, bytes, at, piece);
        uccs_coll_copy(dest + me * bytes + at, source + me * bytes + at, piece);
        for (int i = 1; i < team->size; i++) {
            int rank = uccs_coll_around(team, team->rank, i);
            const char *theirs = uccs_slot_await(team, rank, piece * (size_t)team->size);
            uccs_coll_copy(dest + (size_t)rank * bytes + at, theirs + me * piece, piece);
        }
        settle_exchange(team);
    }
}

/* Returns what `rank` gave to this exchange. My own comes from my source, which no other PE reads, unless dest has
 * overwritten it by then. */
static const void *given_by(struct uccs_team *team, int rank, const void *dest, const void *source, size_t bytes)
{
    if (rank == team->rank && (dest != source || rank < 2))
        return source;
    return uccs_slot_await(team, rank, bytes);
}

/* dest = fold of the slots of members 0 .. last. */
static void fold_slots(struct uccs_team *team, fold_kernel *fold, size_t element, void *dest, const void *source,
                       size_t bytes, int last)
{
    const void *first = last >= 0 ? given_by(team, 0, dest, source, bytes) : 0;
    if (last < 0)
        memset(dest, 0, bytes);
    else if (last == 0)
        memmove(dest, first, bytes);
    else
        fold(dest, first, given_by(team, 1, dest, source, bytes), bytes / element);
    for (int rank = 2; rank <= last; rank++)
        fold(dest, dest, given_by(team, rank, dest, source, bytes), bytes / element);
}

void uccs_slots_fold(struct uccs_team *team, fold_kernel *fold, size_t element, char *dest, const char *source,
                     size_t bytes, int last)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        publish_piece(team, source + at, piece);
        fold_slots(team, fold, element, dest + at, source + at, piece, last);
        for (int rank = last + 1; rank < team->size; rank++)
            uccs_slot_await(team, rank, piece);
        settle_exchange(team);
    }
}

/* A member that has the leader's slot knows that all members published theirs before. */
void uccs_slots_reduce_by_leader(struct uccs_team *team, fold_kernel *fold, size_t element, char *dest,
                                 const char *source, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += SLOT_LARGE) {
        size_t piece = bytes - at < SLOT_LARGE ? bytes - at : SLOT_LARGE;
        publish_piece(team, source + at, piece);
        uint64_t settled = team->exchange - 1;
        if (team->rank == 0) {
            fold_slots(team, fold, element, dest + at, source + at, piece, team->size - 1);
            publish_piece(team, dest + at, piece);
        } else {
            take_piece(team, dest + at, 0, piece);
        }
        team->settled = settled;
    }
}
