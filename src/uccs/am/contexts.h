/* The handlers and the rings of contexts, and the threads that look at them (contexts.c). Any thread. */
#ifndef UCCS_AM_CONTEXTS_H
#define UCCS_AM_CONTEXTS_H

#include "uccs/am/am.h"

/* --- Handlers. Any thread may register a handler while threads in progress read it.
 *
 * `version` is odd while a thread writes. A reader that finds the same even version before and after has read one
 * registration. Its loads are acquire loads so that they stay between the two looks at the version; the writer's stores
 * are release stores so that none of them is seen before the odd version. */

/* Looks at `closed` first: uccs_handler_write opens an entry after it has taken the handler away, so who sees it open again sees that,
 * too. */
static inline bool uccs_handler_known(const struct uccs_handler *entry)
{
    return !atomic_load_acquire(&entry->closed) &&    /* release: uccs_handler_write, take_back */
           atomic_load_acquire(&entry->handler) != 0; /* release: uccs_handler_write */
}

static inline void uccs_handler_write(struct uccs_handler *entry, enum uccs_am_class cls, uccs_am_handler handler,
                                      void *argument)
{
    struct uccs_wait wait uccs_scoped = {0};
    uint32_t version = atomic_load_relaxed(&entry->version) & ~1u;
    while (!atomic_cas_acquire(&entry->version, &version, version + 1)) { /* release: the last writer */
        uccs_rest(&wait);
        version &= ~1u;
    }
    atomic_store_release(&entry->cls, (uint16_t)cls); /* these, acquire: uccs_handler_read, uccs_handler_known */
    atomic_store_release(&entry->argument, argument);
    atomic_store_release(&entry->handler, handler);
    atomic_store_release(&entry->closed, 0);
    atomic_store_release(&entry->version, version + 2); /* acquire: the next writer, uccs_handler_read */
}

/* Returns one registration. Its `handler` is null when no handler is registered. */
static inline struct uccs_handler uccs_handler_read(const struct uccs_handler *entry)
{
    struct uccs_wait wait uccs_scoped = {0};
    for (;;) {
        struct uccs_handler read = {.version = atomic_load_acquire(&entry->version)}; /* release: uccs_handler_write */
        read.cls = atomic_load_acquire(&entry->cls);
        read.argument = atomic_load_acquire(&entry->argument);
        read.handler = atomic_load_acquire(&entry->handler);
        if (lat_likely(!(read.version & 1) && atomic_load_relaxed(&entry->version) == read.version))
            return read;
        uccs_rest(&wait);
    }
}

/* --- Published contexts and the threads that look at them */

/* Returns when no thread is in a handler that it began to run before the call. The caller is in none, and holds no lock that
 * handlers take. */
void uccs_am_quiesce(void);
/* Counts this thread among those that look at published contexts, until it leaves. */
uint32_t *uccs_am_enter(void);
void uccs_am_leave(uint32_t *inside);
/* Returns a bit for each published context; a hint, as uccs_am_published decides. */
uint64_t uccs_am_live(void);

/* Grows while threads of the program poll; the progress thread's own polls count too. */
uint64_t uccs_am_polls(void);

/* --- Rings */

void uccs_pe_shared_open_rings_slow(struct uccs_pe_shared *shared, uint32_t context);

/* Makes the rings of the context at that PE ready for use. */
static inline void uccs_pe_shared_open_rings(uint32_t index, uint32_t context)
{
    struct uccs_pe_shared *shared = uccs_pe_shared_of(index);
    if (lat_unlikely(atomic_load_acquire(&shared->open[context]) !=
                     PE_RINGS_OPEN)) /* release: uccs_pe_shared_open_rings_slow */
        uccs_pe_shared_open_rings_slow(shared, context);
}

#endif
