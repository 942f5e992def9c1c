/* What each PE of a node shares with its peers, in the node's memory, for messages and memory handles:
 *
 *   registrations | lock stripes | counts of handled messages | rings of each context
 *
 * Everything starts as zeros. The first process that needs a context's rings formats them, be it a sender or the owner.
 * So a message can wait at a target that has not made its context yet, and contexts that nobody uses cost no page. */
#ifndef UCCS_CORE_PE_SHARED_H
#define UCCS_CORE_PE_SHARED_H

#include "base/ring.h"
#include "rte/node.h"
#include "uccs/core/core.h"

#define PE_SHARED_REGISTRATIONS (1u << 24) /* more than private memory has room for; pages exist once touched */
#define PE_SHARED_STRIPES 64
#define PE_SHARED_STRIPE_BYTES 8192 /* memory under one lock; then the next lock's begins */
#define PE_SHARED_CONTEXTS 64
#define PE_SHARED_LIBRARY_CONTEXT (PE_SHARED_CONTEXTS - 1) /* the library's own messages */
#define PE_SHARED_SENDERS UCCS_THREAD_NUMBERS              /* numbers of sending threads; further threads share them */
#define PE_SHARED_RINGS 4                                  /* request and reply, network and user */
#define PE_SHARED_RING_CELLS 1024
#define PE_SHARED_CELL_BYTES 168 /* of struct uccs_message (am.h) */
#define PE_SHARED_RING_BYTES (300u << 10)

/* One piece of memory; other PEs may hold handles of it. */
struct uccs_registration {
    uint32_t generation; /* odd while registered; the owner stores it (release), importers load it (acquire) */
};

struct uccs_stripe {
    cache_aligned uint32_t lock; /* 0: free. Taken by an acquire exchange, freed by a release store */
};

/* A short operation that its origin leaves to the owner of the memory (am/call.c, which knows the rest). */
struct uccs_call_slot {
    cache_aligned uint32_t state;
    char rest[3 * CACHE_LINE - sizeof(uint32_t)];
};

/* Counts the owner's messages of one context and sending thread that other PEs have handled. They add to it (release)
 * after the handler, and the owner's flush loads it (acquire). It only grows, so a flush compares it with the number of
 * messages sent. */
struct uccs_handled {
    cache_aligned uint64_t count;
};

/* Handlers of the library's own context (PE_SHARED_LIBRARY_CONTEXT): tagged messages, operations executed by the target, out-of-band messages.
 * While uccs.h is in use, the context exists, and OpenSHMEM's waits poll. */
#define UCCS_MESSAGE_SLOTS (3 * UCCS_AM_HANDLERS) /* handlers of a context: am.h names the three kinds */
enum { UCCS_INNER_TAGGED, UCCS_INNER_REMOTE, UCCS_INNER_OOB };

enum uccs_rings_state { PE_RINGS_CLOSED, PE_RINGS_OPENING, PE_RINGS_OPEN };

struct uccs_pe_shared {
    uint64_t word, value; /* peers try the kernel's copy on them (kernel.c): address of a word, release; its content */
    int32_t pid;
    cache_aligned uint32_t asleep; /* 1: the owner's progress thread wants to be woken; seqcst in doorbell.h */
    uint32_t
        wants_rings; /* tasks of the owner are pending, or a thread of it sleeps: reasons; relaxed, fences in doorbell.h */
    uint32_t threaded;     /* 1: the owner has a progress thread for the whole life; constant after the first barrier */
    uint32_t deaf;         /* 1: a peer could not ring the doorbell; relaxed */
    int32_t doorbell_file; /* the owner's descriptor of its doorbell */
    uint64_t doorbell;     /* its inode, 0: none; release by the owner, acquire by peers */
    cache_aligned uint32_t
        wanting; /* of node index 0: number of PEs that are `wants_rings`; relaxed, fences in doorbell.h */
    cache_aligned struct uccs_registration registrations[PE_SHARED_REGISTRATIONS];
    struct uccs_stripe stripes[PE_SHARED_STRIPES];
    struct uccs_call_slot call;
    uint32_t open
        [PE_SHARED_CONTEXTS]; /* enum uccs_rings_state of its rings; the formatter uses cas, then release; others acquire */
    uint32_t
        unexpected[PE_SHARED_CONTEXTS]; /* messages whose handler is not registered; only log lines use it; relaxed */
    struct uccs_handled handled[PE_SHARED_CONTEXTS][PE_SHARED_SENDERS];
    cache_aligned char rings[PE_SHARED_CONTEXTS][PE_SHARED_RINGS][PE_SHARED_RING_BYTES];
};
_Static_assert(sizeof(struct uccs_pe_shared) <= NODE_PE_SHARED_BYTES, "a PE's share is large enough");
_Static_assert(PE_SHARED_RING_BYTES % CACHE_LINE == 0, "rings start on a line");

static inline struct uccs_pe_shared *uccs_pe_shared_of(uint32_t index)
{
    return (struct uccs_pe_shared *)(uccs_core.pe_shared + (size_t)index * NODE_PE_SHARED_BYTES);
}

static inline struct uccs_pe_shared *uccs_pe_shared_mine(void)
{
    return uccs_pe_shared_of(uccs_core.index);
}

static inline struct ring *uccs_pe_shared_ring(uint32_t index, uint32_t context, uint32_t which)
{
    return (struct ring *)uccs_pe_shared_of(index)->rings[context][which];
}

#endif
