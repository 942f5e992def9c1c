/* The part of uccs.h: start and end, and the way to the other processes. There are no second names to call, such as OpenSHMEM's
 * pshmem_, so the wrappers look for the functions behind their own. */
#include "of_uccs.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Addresses of a file in memory. */
struct range {
    uintptr_t start, end;
};

/* Stores the range of the file that holds range->start. */
static int find_range(struct dl_phdr_info *info, size_t bytes, void *range)
{
    struct range all = {UINTPTR_MAX, 0}, *wanted = range;
    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        all.start = at < all.start ? at : all.start;
        all.end = at + info->dlpi_phdr[i].p_memsz > all.end ? at + info->dlpi_phdr[i].p_memsz : all.end;
    }
    if (wanted->start < all.start || wanted->start >= all.end)
        return 0;
    *wanted = all;
    return 1;
}

static struct range ranges[2]; /* of liblateral and of this layer */

static void find_ranges(void)
{
    ranges[0].start = (uintptr_t)stats_next("uccs_progress");
    ranges[1].start = (uintptr_t)stats_is_program;
    for (int i = 0; i < 2; i++)
        dl_iterate_phdr(find_range, &ranges[i]);
}

bool stats_is_program(const void *from)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uintptr_t at = (uintptr_t)from;
    pthread_once(&once, find_ranges);
    return (at < ranges[0].start || at >= ranges[0].end) && (at < ranges[1].start || at >= ranges[1].end);
}

size_t stats_parts(const struct uccs_payload *parts, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += parts[i].length;
    return bytes;
}

size_t stats_pieces(const struct uccs_piece *pieces, size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += pieces[i].length;
    return bytes;
}

static void meet_pes(void)
{
    uccs_barrier(UCCS_GROUP_WORLD);
}

static void share_word(const uint64_t *mine, uint64_t *all)
{
    uccs_allgather(UCCS_GROUP_WORLD, mine, all, sizeof *mine);
}

/* The memory of PE 0 that all put to. */
struct room {
    size_t length; /* of the handle; 0: there is no memory */
    char handle[UCCS_MEMORY_HANDLE_MAX];
};

static uccs_memory_t make_room(size_t bytes, struct room *room)
{
    uccs_memory_t memory = NULL;
    room->length = sizeof room->handle;
    if (uccs_memory_allocate(NULL, bytes, &memory) != UCCS_OK ||
        uccs_memory_export(memory, room->handle, &room->length) != UCCS_OK) {
        fprintf(stderr, "lateral: no memory for the numbers of all PEs\n");
        room->length = 0;
    }
    return memory;
}

/* On a stream of its own: the program may have taken all contexts. */
static void put_part(uccs_memory_t memory, const void *mine, size_t bytes)
{
    uccs_stream_t stream;
    uccs_endpoint_t first;
    size_t at = (size_t)uccs_group_rank(UCCS_GROUP_WORLD) * bytes;
    if (uccs_stream_create(NULL, NULL, &stream) != UCCS_OK)
        return;
    if (uccs_stream_endpoint(stream, UCCS_GROUP_WORLD, 0, &first) == UCCS_OK)
        uccs_put(first, memory, at, mine, bytes, NULL);
    uccs_stream_release(stream);
}

static void gather_parts(const void *mine, size_t bytes, void (*use)(const char *all, size_t stride, int pes))
{
    int me = uccs_group_rank(UCCS_GROUP_WORLD), npes = uccs_group_size(UCCS_GROUP_WORLD);
    struct room room = {0};
    struct uccs_memory_attr found;
    uccs_memory_t memory = NULL;
    if (me == 0)
        memory = make_room((size_t)npes * bytes, &room);
    uccs_broadcast(UCCS_GROUP_WORLD, &room, sizeof room, 0);
    if (room.length && (me == 0 || uccs_memory_import(NULL, room.handle, room.length, &memory) == UCCS_OK))
        put_part(memory, mine, bytes);
    uccs_barrier(UCCS_GROUP_WORLD);
    if (me == 0 && room.length && uccs_memory_query(memory, &found) == UCCS_OK)
        use(found.address, bytes, npes);
    if (memory)
        uccs_memory_release(memory);
}

/* True when all PEs are on this machine. */
static bool is_one_host(int npes)
{
    uint64_t mine = 0, *all = calloc((size_t)npes, sizeof *all);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    char text[64] = "";
    bool same = all && file && fgets(text, sizeof text, file);
    for (const char *c = text; *c; c++)
        mine = mine * 31 + (unsigned char)*c;
    if (file)
        fclose(file);
    if (!all)
        abort(); /* the others would wait */
    share_word(&mine, all);
    for (int pe = 0; pe < npes; pe++)
        same &= all[pe] == mine;
    free(all);
    return same;
}

static const struct stats_job *describe_job(void)
{
    static struct stats_job of_uccs = {.meet = meet_pes, .share = share_word, .gather = gather_parts};
    of_uccs.me = uccs_group_rank(UCCS_GROUP_WORLD);
    of_uccs.npes = uccs_group_size(UCCS_GROUP_WORLD);
    of_uccs.one_host = is_one_host(of_uccs.npes);
    return &of_uccs;
}

int uccs_init(void)
{
    int (*next)(void) = (int (*)(void))stats_next("uccs_init");
    int status = next();
    if (status == UCCS_OK)
        stats_begin(stats_has_begun() ? NULL : describe_job());
    return status;
}

int uccs_finalize(void)
{
    int (*next)(void) = (int (*)(void))stats_next("uccs_finalize");
    if (stats_is_last() &&
        uccs_barrier(UCCS_GROUP_WORLD) == UCCS_OK) { /* a handler must not finalize, and cannot meet */
        stats_end(describe_job());
        return next();
    }
    int status = next();
    if (status == UCCS_OK)
        stats_end(NULL);
    return status;
}
