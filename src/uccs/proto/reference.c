/* Uses of registered memory of peers by one-sided operations of the transport. The owner may release such memory at any time,
 * and then must know that no network reads or writes it any more. So each operation claims its region before it starts; the
 * owner's message of the release (proto/import.c) forbids further claims, and the owner asks again until all have ended.
 *
 * A region has one record in this process, however many connections have keys of it. Records have a lock of their own,
 * and live as long as a key. An operation adds its claim, then looks whether the region is gone; the message notes that it is
 * gone, then looks at the claims (both sequentially consistent), so one of the two sees the other. A put's claim ends
 * when a flush of the transport says that it is in place. */
#include "uccs/proto/inner.h"

#include <stdlib.h>

struct proto_reference {
    int pe;
    uint64_t region;
    uint32_t claims; /* operations under way; sequentially consistent */
    uint32_t gone;   /* 1: the owner has released the memory; sequentially consistent */
    uint32_t keys;   /* under `records` */
    struct proto_reference *next;
};

static pthread_mutex_t records = PTHREAD_MUTEX_INITIALIZER;
static struct proto_reference *uses;

static struct proto_reference **place_of(int pe, uint64_t region)
{
    struct proto_reference **at = &uses;
    while (*at && ((*at)->pe != pe || (*at)->region != region))
        at = &(*at)->next;
    return at;
}

struct proto_reference *proto_reference_open(int pe, uint64_t region)
{
    pthread_mutex_lock(&records);
    struct proto_reference **at = place_of(pe, region);
    if (!*at && (*at = calloc(1, sizeof **at))) {
        (*at)->pe = pe;
        (*at)->region = region;
    }
    struct proto_reference *use = *at;
    if (!use)
        uccs_fail("no memory for a key of PE %d", pe);
    use->keys++;
    pthread_mutex_unlock(&records);
    return use;
}

void proto_reference_close(struct proto_reference *use)
{
    pthread_mutex_lock(&records);
    if (--use->keys == 0) {
        *place_of(use->pe, use->region) = use->next;
        free(use);
    }
    pthread_mutex_unlock(&records);
}

bool proto_reference_take(struct proto_reference *use)
{
    (void)atomic_fetch_add_seqcst(&use->claims, 1);
    if (lat_likely(!atomic_load_seqcst(&use->gone)))
        return true;
    proto_reference_drop(use);
    return false;
}

void proto_reference_drop(struct proto_reference *use)
{
    (void)atomic_fetch_sub_seqcst(&use->claims, 1);
}

bool proto_reference_over(const struct proto_reference *use)
{
    return atomic_load_seqcst(&use->gone) && !atomic_load_seqcst(&use->claims);
}

bool proto_reference_invalidate(int pe, uint64_t region)
{
    pthread_mutex_lock(&records);
    struct proto_reference *use = *place_of(pe, region);
    if (use)
        atomic_store_seqcst(&use->gone, 1);
    const bool busy = use && atomic_load_seqcst(&use->claims);
    pthread_mutex_unlock(&records);
    return busy;
}
