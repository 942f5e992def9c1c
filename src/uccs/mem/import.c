#include "uccs/mem/import.h"

#include <pthread.h>
#include <stdlib.h>

#define CHAINS 256

/* Events of the transport take the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct uccs_import *imports[CHAINS]; /* under the lock */

/* Under the lock. Returns the place of the pointer to the record, or to null. */
static struct uccs_import **import_at(int owner, uint64_t id)
{
    struct uccs_import **at = &imports[(id >> 32 ^ id ^ (uint64_t)owner) % CHAINS];
    while (*at && ((*at)->id != id || (*at)->owner != owner))
        at = &(*at)->next;
    return at;
}

struct uccs_import *uccs_import_open(int owner, uint64_t id)
{
    pthread_mutex_lock(&lock);
    struct uccs_import **at = import_at(owner, id);
    if (!*at && (*at = malloc(sizeof **at)))
        **at = (struct uccs_import){.now = (uint32_t)id, .owner = owner, .id = id};
    struct uccs_import *import = *at;
    if (import)
        import->users++;
    pthread_mutex_unlock(&lock);
    return import;
}

/* Under the lock. A record of an earlier life is not in the table. */
static void drop_unused(struct uccs_import *import)
{
    struct uccs_import **at = import_at(import->owner, import->id);
    if (import->users || import->promised)
        return;
    if (*at == import)
        *at = import->next;
    free(import);
}

void uccs_import_close(struct uccs_import *import)
{
    if (!import)
        return;
    pthread_mutex_lock(&lock);
    import->users--;
    drop_unused(import);
    pthread_mutex_unlock(&lock);
}

bool uccs_import_is_promised(const struct uccs_import *import)
{
    pthread_mutex_lock(&lock);
    const bool promised = import->promised;
    pthread_mutex_unlock(&lock);
    return promised;
}

void uccs_import_promise(struct uccs_import *import)
{
    pthread_mutex_lock(&lock);
    import->promised = !uccs_import_has_ended(import); /* the end may have been told meanwhile */
    pthread_mutex_unlock(&lock);
}

bool uccs_import_end(int owner, uint64_t id)
{
    pthread_mutex_lock(&lock);
    struct uccs_import *import = *import_at(owner, id);
    bool busy = false;
    if (import) {
        atomic_store_seqcst(&import->now, (uint32_t)id + 1); /* acquire: uccs_region_check; seqcst: uccs_import_claim */
        busy = atomic_load_seqcst(&import->claims);
        import->promised = false;
        drop_unused(import);
    }
    pthread_mutex_unlock(&lock);
    return busy;
}

void uccs_import_forget_all(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CHAINS; i++)
        while (imports[i]) {
            struct uccs_import *import = imports[i];
            imports[i] = import->next;
            import->promised = false;
            if (!import->users)
                free(import);
        }
    pthread_mutex_unlock(&lock);
}
