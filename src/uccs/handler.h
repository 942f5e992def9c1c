/* A registered handler: function, argument and class, which belong together. Any thread registers, any thread in
 * progress reads, at the same time.
 *
 * `version` is odd while somebody writes. A reader who finds the same even version before and after has read one
 * registration. Its loads are acquire loads so that they stay between the two looks at the version; the writer's stores are
 * release stores so that none of them is seen before the odd version. */
#ifndef UCCS_HANDLER_H
#define UCCS_HANDLER_H

#include "uccs/core/wait.h"

#include <uccs.h>

struct uccs_handler {
    uint32_t version;
    enum uccs_am_class cls;
    uccs_am_handler handler; /* null: none has been registered yet */
    void *argument;
};

static inline bool uccs_handler_known(const struct uccs_handler *entry)
{
    return atomic_load_acquire(&entry->handler) != 0; /* release: uccs_handler_write */
}

static inline void uccs_handler_write(struct uccs_handler *entry, enum uccs_am_class cls, uccs_am_handler handler,
                                      void *argument)
{
    struct uccs_wait wait = {0};
    uint32_t version = atomic_load_relaxed(&entry->version) & ~1u;
    while (!atomic_cas_acquire(&entry->version, &version, version + 1)) { /* release: the last writer */
        uccs_yield(&wait);
        version &= ~1u;
    }
    atomic_store_release(&entry->cls, cls); /* these three, acquire: uccs_handler_read */
    atomic_store_release(&entry->argument, argument);
    atomic_store_release(&entry->handler, handler);
    atomic_store_release(&entry->version, version + 2); /* acquire: the next writer, uccs_handler_read */
}

/* One registration; its `handler` is null when there is none. */
static inline struct uccs_handler uccs_handler_read(const struct uccs_handler *entry)
{
    struct uccs_wait wait = {0};
    for (;;) {
        struct uccs_handler read = {.version = atomic_load_acquire(&entry->version)}; /* release: uccs_handler_write */
        read.cls = atomic_load_acquire(&entry->cls);
        read.argument = atomic_load_acquire(&entry->argument);
        read.handler = atomic_load_acquire(&entry->handler);
        if (lat_likely(!(read.version & 1) && atomic_load_relaxed(&entry->version) == read.version))
            return read;
        uccs_yield(&wait);
    }
}

#endif
