/* Sources of puts that are under way. A put_nbi may read its source until the context's next quiet, so the source must not
 * change before. The register keeps a copy of each, up to KEPT_BYTES in all, and compares at the quiet.
 *
 * One lock. Entries of one context are settled by the thread that calls its quiet. */
#include "rules.h"
#include "base/where.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define KEPT_BYTES ((size_t)64 << 20)
#define PIECE 4096

struct source {
    struct source *next;
    shmem_ctx_t ctx;
    const char *call;
    const char *at;
    uint64_t place;
    int pe;
    size_t bytes;
    char copy[];
};

static struct source *sources;
static size_t kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void check_source_issue(const char *call, const void *from, shmem_ctx_t ctx, int pe, const void *at, size_t bytes)
{
    struct source *source = NULL;
    pthread_mutex_lock(&lock);
    if (bytes && bytes <= KEPT_BYTES - kept && (source = malloc(sizeof *source + bytes))) {
        *source = (struct source){sources, ctx, call, at, where_of(from), pe, bytes};
        memcpy(source->copy, at, bytes);
        sources = source;
        kept += bytes;
    }
    pthread_mutex_unlock(&lock);
}

/* Reads memory that the program may have unmapped meanwhile. Returns false then. Where the kernel does not let a process
 * read itself so, it is read directly. */
static bool source_read(const char *at, char *piece, size_t bytes)
{
    struct iovec here = {piece, bytes}, there = {(void *)(uintptr_t)at, bytes};
    errno = 0;
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes)
        return true;
    if (errno == EFAULT || errno == 0)
        return false;
    memcpy(piece, at, bytes);
    return true;
}

/* Ends the job when the source has changed. */
static void source_compare(const char *call, const struct source *source)
{
    char piece[PIECE], where[128];
    for (size_t offset = 0; offset < source->bytes; offset += PIECE) {
        size_t bytes = source->bytes - offset < PIECE ? source->bytes - offset : PIECE, same = 0;
        bool there = source_read(source->at + offset, piece, bytes);
        while (there && same < bytes && piece[same] == source->copy[offset + same])
            same++;
        if (same == bytes)
            continue;
        where_write_at(source->place, where, sizeof where);
        lat_check_fail(call, "source", "the %zu bytes at %p for %s to PE %d%s %s before this call", source->bytes,
                       (const void *)source->at, source->call, source->pe, where,
                       there ? "have changed" : "are no memory any more");
    }
}

/* Takes out the entries of the context, of one PE or (-1) of all; call null: without a look. */
static void source_take(const char *call, shmem_ctx_t ctx, int pe)
{
    pthread_mutex_lock(&lock);
    for (struct source **at = &sources; *at;) {
        struct source *source = *at;
        if (source->ctx != ctx || (pe >= 0 && source->pe != pe)) {
            at = &source->next;
            continue;
        }
        if (call)
            source_compare(call, source);
        *at = source->next;
        kept -= source->bytes;
        free(source);
    }
    pthread_mutex_unlock(&lock);
}

void check_sources(const char *call, shmem_ctx_t ctx)
{
    source_take(call, ctx, -1);
}

void check_sources_at(const char *call, shmem_ctx_t ctx, int pe)
{
    source_take(call, ctx, pe);
}

void check_sources_forget(shmem_ctx_t ctx)
{
    source_take(NULL, ctx, -1);
}
