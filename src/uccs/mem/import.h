/* Registrations of other nodes: one record for all objects and keys of this process that name one. It lives while it has users, or while
 * the owner has promised to tell of the registration's end, so that the next import need not ask. Any thread. */
#ifndef UCCS_MEM_IMPORT_H
#define UCCS_MEM_IMPORT_H

#include "base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

struct uccs_import {
    uint32_t now;    /* the registration's generation; even once the owner has told of its end */
    uint32_t claims; /* operations that the network does on it and that are under way; sequentially consistent */
    int owner;
    uint64_t id; /* uccs_region_id */
    uint32_t users;
    bool promised;
    struct uccs_import *next;
};

/* Returns the record, with one user more; null without memory. close ends a use, of null nothing. */
struct uccs_import *uccs_import_open(int owner, uint64_t id);
void uccs_import_close(struct uccs_import *import);

/* promise notes that the owner will tell of the end, unless it has done so. While is_promised returns true, the registration exists. */
void uccs_import_promise(struct uccs_import *import);
bool uccs_import_is_promised(const struct uccs_import *import);

/* Notes the end. Returns true while operations of the network on the memory are under way. */
bool uccs_import_end(int owner, uint64_t id);

static inline bool uccs_import_has_ended(const struct uccs_import *import)
{
    return !(atomic_load_seqcst(&import->now) & 1);
}

/* An operation of the network claims the memory before it starts, since the owner may release it at any time, and then must know that no
 * network reads or writes it any more. The operation adds its claim, then looks for the end; uccs_import_end notes the end, then looks at
 * the claims (both sequentially consistent), so one of the two sees the other. Returns false when the registration has ended. */
static inline void uccs_import_unclaim(struct uccs_import *import)
{
    (void)atomic_fetch_sub_seqcst(&import->claims, 1);
}

static inline bool uccs_import_claim(struct uccs_import *import)
{
    (void)atomic_fetch_add_seqcst(&import->claims, 1);
    if (lat_likely(!uccs_import_has_ended(import)))
        return true;
    uccs_import_unclaim(import);
    return false;
}

/* Forgets all records at the end of a life. Those of objects that the program still has stay until it releases them. */
void uccs_import_forget_all(void);

#endif
