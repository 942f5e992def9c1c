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

static void gather_parts(const void *mine, size_t bytes, void (*use)(const char *all, size_t stride, int pes))
{
    const int npes = uccs_group_size(UCCS_GROUP_WORLD);
    const bool first = uccs_group_rank(UCCS_GROUP_WORLD) == 0;
    char *all = first ? malloc((size_t)npes * bytes) : NULL;
    if (first && !all) /* the others wait */
        fprintf(stderr, "lateral: no memory for the numbers of all PEs\n"), abort();
    if (uccs_gather(UCCS_GROUP_WORLD, mine, all, bytes, 0) == UCCS_OK && first)
        use(all, bytes, npes);
    free(all);
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
