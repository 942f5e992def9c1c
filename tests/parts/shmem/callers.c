/* Arguments that programs give: PE numbers, addresses, contexts and teams, each at its last good value and at the first bad one. A
 * wrong one ends the job by one line that names the call, and so does a call while the library is not running. */
#include "refused.h"

#include "shmem/calls.h"
#include "shmem/ctx.h"
#include "shmem/place.h"
#include "shmem/team.h"

enum { NPES = 4, NEAR = 2, BYTES = 1024 };

struct shmem_team_impl lat_team_world, lat_team_shared;

static _Alignas(64) char heap[NEAR][BYTES], globals[BYTES];
static char elsewhere[8];
static bool same_image;
static const char *why_private;
static int frees, releases, quiets;
static bool no_memory;

static enum uccs_segment find_stub(const void *addr, size_t *offset)
{
    const char *at = addr;
    *offset = (size_t)(at - heap[0]);
    if (at >= heap[0] && at < heap[1])
        return UCCS_HEAP;
    return at >= globals && at < globals + BYTES ? UCCS_IMAGE : UCCS_NOWHERE;
}

static void *resolve_stub(const void *addr, int pe)
{
    size_t offset;
    if (pe < 0 || pe >= NEAR || find_stub(addr, &offset) != UCCS_HEAP)
        return 0;
    return heap[pe] + ((const char *)addr - heap[0]);
}

static struct uccs_far_place place_stub(const void *addr)
{
    static const uint32_t segments[] = {FAR_NOWHERE, FAR_HEAP, FAR_IMAGE};
    size_t offset;
    return (struct uccs_far_place){.segment = segments[find_stub(addr, &offset)], .offset = 7};
}

static void free_stub(void *memory)
{
    frees += memory != 0;
    free(memory);
}

/* Calls that end the job keep what they have. */
static void *calloc_stub(size_t count, size_t bytes)
{
    static void *kept[100];
    static int at;
    CHECK(at < 100);
    return no_memory ? 0 : (kept[at++] = calloc(count, bytes));
}

#define uccs_memory_find(addr, offset) find_stub(addr, offset)
#define uccs_memory_resolve(addr, pe) resolve_stub(addr, pe)
#define uccs_memory_why_private() why_private
#define uccs_far_place(addr) place_stub(addr)
#define uccs_far_same_image(pe) ((void)(pe), same_image)
#define uccs_far_release(lanes) ((void)(lanes), (void)releases++)
#define free(memory) free_stub(memory)
#define malloc(bytes) (no_memory ? 0 : malloc(bytes))
#ifndef LATERAL_VERSION
#define LATERAL_VERSION "0"
#endif
#include "shmem/place.c"
#include "shmem/ctx.c"
#include "shmem/ctx_life.c"
#include "shmem/info.c"
#define calloc(count, bytes) calloc_stub(count, bytes)
#undef free

void lat_ctx_quiet(shmem_ctx_t ctx)
{
    CHECK(ctx);
    quiets++;
}

shmem_team_t lat_team_handle(struct shmem_team_impl *team)
{
    return team;
}

static const char *text_of(const char *format, const void *address)
{
    static char text[300];
    snprintf(text, sizeof text, format, address);
    return text;
}

static void contexts_not_running(void)
{
    static struct shmem_ctx_impl stray = {.team = &lat_team_world};
    struct shmem_team_impl *team;
    shmem_ctx_t ctx;
    REFUSED(lat_ctx_create(0, &ctx), "shmem_ctx_create: called before shmem_init");
    REFUSED(lat_team_create_ctx(&lat_team_world, 0, &ctx), "shmem_team_create_ctx: called before shmem_init");
    REFUSED(lat_ctx_destroy(&stray), "shmem_ctx_destroy: called before shmem_init");
    REFUSED(lat_ctx_get_team(&stray, &team), "shmem_ctx_get_team: called before shmem_init");
    REFUSED(lat_ctx_session_start(&stray, 0, 0, 0), "shmem_ctx_session_start: called before shmem_init");
    REFUSED(lat_ctx_session_stop(&stray), "shmem_ctx_session_stop: called before shmem_init");
}

/* A call before the start or after the end says so; while another thread ends the job it waits for that. */
static void not_running(void)
{
    lat_state = LAT_BEFORE;
    REFUSED(lat_require("call"), "call: called before shmem_init");
    REFUSED(lat_pe_accessible(0), "shmem_pe_accessible: called before shmem_init");
    REFUSED(lat_addr_accessible(heap, 0), "shmem_addr_accessible: called before shmem_init");
    REFUSED(lat_ptr(heap, 0), "shmem_ptr: called before shmem_init");
    REFUSED(lat_my_pe(), "shmem_my_pe: called before shmem_init");
    REFUSED(lat_n_pes(), "shmem_n_pes: called before shmem_init");
    REFUSED(lat_moves_nothing("call", 0, 0), "call: called before shmem_init");
    REFUSED(lat_resolve("call", "dest", elsewhere, 0), "call: called before shmem_init");
    REFUSED(lat_ctx_fail("call", 0, 0), "call: called before shmem_init");
    contexts_not_running();
    CHECK(refused_pauses == 0);
    lat_state = LAT_AFTER;
    REFUSED(lat_require("call"), "call: called after the last shmem_finalize");
    CHECK(refused_pauses == 0);
    refused_ending = 2;
    REFUSED(lat_require("call"), "call: called after the last shmem_finalize");
    CHECK(refused_pauses == 2);
    lat_leaving = 1;
    REFUSED(lat_require("call"), "call: called after the last shmem_finalize");
    CHECK(refused_pauses == 3);
    lat_state = LAT_RUNNING;
    lat_require("call");
}

static void numbers_of_pes(void)
{
    for (int pe = -2; pe <= NPES + 1; pe++) {
        CHECK(lat_pe_accessible(pe) == (pe >= 0 && pe < NPES));
        CHECK(lat_moves_nothing("call", 0, pe) == (pe >= 0 && pe < NPES));
        CHECK(!lat_moves_nothing("call", 1, pe));
    }
    CHECK(lat_my_pe() == 1 && lat_n_pes() == NPES);
    char name[SHMEM_MAX_NAME_LEN] = "";
    int major = 0, minor = 0;
    lat_info_get_name(name);
    lat_info_get_version(&major, &minor);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0 && major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION);
    REFUSED(lat_resolve("call", "dest", heap[0], -1), "call: pe -1 is out of range, the job has PEs 0 to 3");
    REFUSED(lat_resolve("call", "dest", heap[0], NPES), "call: pe 4 is out of range, the job has PEs 0 to 3");
}

static void addresses(void)
{
    CHECK(lat_resolve("call", "dest", heap[0] + 9, 0) == heap[0] + 9);
    CHECK(lat_resolve("call", "dest", heap[0] + 9, 1) == heap[1] + 9);
    REFUSED(lat_resolve("call", "source", elsewhere, 1),
            text_of("call: source %p is not a symmetric address", elsewhere));
    REFUSED(lat_resolve("call", "source", elsewhere, 0),
            text_of("call: source %p is not a symmetric address", elsewhere));
    why_private = "so it is";
    REFUSED(lat_resolve("call", "source", elsewhere, 0),
            text_of("call: source %p is not a symmetric address (global variables are private here: so it is)",
                    elsewhere));
    why_private = 0;
}

static void far_addresses(void)
{
    CHECK(lat_far_place("call", "dest", heap[0], 3).segment == FAR_HEAP);
    CHECK(lat_far_place("call", "dest", heap[0], 3).offset == 7);
    same_image = true;
    CHECK(lat_far_place("call", "dest", globals, 3).segment == FAR_IMAGE);
    CHECK(lat_addr_accessible(globals, 3) && lat_addr_accessible(heap[0], 3) && !lat_addr_accessible(elsewhere, 3));
    same_image = false;
    REFUSED(lat_far_place("call", "dest", globals, 3),
            text_of("call: dest %p is a global variable, but PE 3 runs another program; use shmem_malloc", globals));
    REFUSED(lat_far_place("call", "dest", elsewhere, 3),
            text_of("call: dest %p is not a symmetric address", elsewhere));
    CHECK(!lat_addr_accessible(globals, 3) && lat_addr_accessible(heap[0], 2));
    CHECK(lat_addr_accessible(heap[0], 1) && !lat_addr_accessible(globals, 1));
    CHECK(!lat_addr_accessible(heap[0], -1) && !lat_addr_accessible(heap[0], NPES));
    CHECK(lat_ptr(heap[0] + 3, 1) == heap[0] + 3 && lat_ptr(globals, 1) == globals && !lat_ptr(elsewhere, 1));
    CHECK(lat_ptr(heap[0] + 3, 0) == heap[0] + 3 && !lat_ptr(globals, 0) && !lat_ptr(heap[0], 2));
}

#include "callers_sets.h"

/* PE 1, 2, 4, ... of a context's team; the first that there is not ends the job. */
static void numbers_in_contexts(void)
{
    struct shmem_ctx_impl ctx = {.size = 2, .start = 1, .stride = 2, .team = &lat_team_world}, *gone = &ctx;
    CHECK(lat_ctx_pe("call", &ctx, 0) == 1 && lat_ctx_pe("call", &ctx, 1) == 3);
    REFUSED(lat_ctx_pe("call", &ctx, 2), "call: pe 2 is not in the context's team of 2 PEs");
    REFUSED(lat_ctx_pe("call", &ctx, 65536), "call: pe 65536 is not in the context's team of 2 PEs");
    REFUSED(lat_ctx_pe("call", &ctx, -1), "call: pe -1 is not in the context's team of 2 PEs");
    REFUSED(lat_ctx_pe("call", SHMEM_CTX_INVALID, 0), "call: ctx is SHMEM_CTX_INVALID");
    ctx = (struct shmem_ctx_impl){0};
    REFUSED(lat_ctx_pe("call", &ctx, 0), text_of("call: ctx %p was destroyed, or its team was", gone));
    lat_ctx_default = (struct shmem_ctx_impl){.size = NPES, .stride = 1, .team = &lat_team_world};
    CHECK(lat_ctx_pe("call", SHMEM_CTX_DEFAULT, 3) == 3 && lat_ctx_of(SHMEM_CTX_DEFAULT) == &lat_ctx_default);
    CHECK(!lat_ctx_lanes(SHMEM_CTX_DEFAULT) && lat_ctx_lanes(&ctx) == &ctx.lanes);
}

static void contexts_made(void)
{
    const long both = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    struct shmem_team_impl team = {.size = 3, .start = 5, .stride = -2};
    CHECK(lat_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) == -1 && ctx == SHMEM_CTX_INVALID);
    CHECK(lat_team_create_ctx(&team, both << 1 & ~both, &ctx) == -1 && !team.contexts);
    no_memory = true;
    CHECK(lat_team_create_ctx(&team, 0, &ctx) == -1 && !ctx && !team.contexts);
    no_memory = false;
    for (int level = SHMEM_THREAD_SINGLE; level <= SHMEM_THREAD_MULTIPLE; level++)
        for (long options = 0; options <= both; options++) {
            if (options & ~both)
                continue;
            lat_thread_level = level;
            CHECK(lat_team_create_ctx(&team, options, &ctx) == 0 && ctx && team.contexts == ctx);
            CHECK(ctx->size == 3 && ctx->start == 5 && ctx->stride == -2 && ctx->team == &team);
            const bool alone = options & (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE);
            CHECK(ctx->options == options && ctx->lanes.spread == (level == SHMEM_THREAD_MULTIPLE && !alone));
            lat_ctx_destroy(ctx);
            CHECK(!team.contexts);
        }
    CHECK(lat_ctx_create(0, &ctx) == 0 && ctx->size == NPES && ctx->team == &lat_team_world);
    lat_ctx_destroy(ctx);
}

/* Teams that list their members translate by the members' indices; one of a single member reads no second one. */
static void contexts_of_lists(void)
{
    int *one = malloc(sizeof *one), two[] = {1, 0};
    struct shmem_team_impl team = {.size = 2, .start = 50, .stride = 60, .group.pes = two};
    shmem_ctx_t ctx;
    CHECK(one && lat_team_create_ctx(&team, 0, &ctx) == 0);
    CHECK(ctx->start == UCCS_PE_BY_INDEX + 1 && ctx->stride == -1);
    lat_ctx_destroy(ctx);
    *one = 1;
    team.group.pes = one;
    team.size = 1;
    CHECK(lat_team_create_ctx(&team, 0, &ctx) == 0 && ctx->start == UCCS_PE_BY_INDEX + 1 && ctx->stride == 0);
    lat_ctx_destroy(ctx);
    free(one);
}

static void contexts_destroyed(void)
{
    struct shmem_team_impl team = {.size = 1, .stride = 1}, *of;
    shmem_ctx_t first, second, third, copy;
    struct shmem_ctx_impl stray = {.size = 1, .team = &team};
    CHECK(!lat_team_create_ctx(&team, 0, &first) && !lat_team_create_ctx(&team, 0, &second));
    CHECK(!lat_team_create_ctx(&team, 0, &third));
    CHECK(lat_ctx_get_team(second, &of) == 0 && of == &team);
    CHECK(lat_ctx_get_team(SHMEM_CTX_DEFAULT, &of) == 0 && of == &lat_team_world);
    CHECK(lat_ctx_get_team(SHMEM_CTX_INVALID, &of) == -1 && of == SHMEM_TEAM_INVALID);
    quiets = releases = 0;
    lat_ctx_destroy(SHMEM_CTX_INVALID);
    CHECK(quiets == 0);
    lat_ctx_destroy(second);
    CHECK(quiets == 1 && releases == 1 && team.contexts == third && third->next == first && !first->next);
    CHECK(lat_ctx_get_team(second, &of) == -1 && of == SHMEM_TEAM_INVALID);
    copy = second;
    REFUSED(lat_ctx_destroy(copy), text_of("shmem_ctx_destroy: ctx %p was destroyed, or its team was", copy));
    copy = &stray;
    REFUSED(lat_ctx_destroy(copy), text_of("shmem_ctx_destroy: ctx %p is not a context", copy));
    CHECK(releases == 1 && team.contexts == third && third->next == first && !first->next);
    REFUSED(lat_ctx_destroy(SHMEM_CTX_DEFAULT),
            "shmem_ctx_destroy: ctx is SHMEM_CTX_DEFAULT, which lives until shmem_finalize");
    lat_ctx_destroy(first);
    CHECK(team.contexts == third && !third->next && releases == 2);
    lat_ctx_drop_all(&team.contexts);
    CHECK(!team.contexts && releases == 3);
}

/* The last 64 destroyed ones keep their memory, so that a call on them says so; older ones are freed, the oldest first. */
static void contexts_kept(void)
{
    struct shmem_team_impl team = {.size = 1, .stride = 1};
    shmem_ctx_t ctx, many[RETIRED_MOST];
    const int kept = retired.count;
    CHECK(RETIRED_MOST == 64 && kept < RETIRED_MOST);
    frees = 0;
    for (int i = kept; i < RETIRED_MOST; i++) {
        CHECK(!lat_team_create_ctx(&team, 0, &ctx));
        lat_ctx_destroy(ctx);
        CHECK(frees == 0 && retired.count == i + 1);
    }
    for (int i = 0; i < RETIRED_MOST; i++) {
        struct shmem_ctx_impl *oldest = retired.first, *next = oldest->next;
        CHECK(!lat_team_create_ctx(&team, 0, &many[i]) && many[i] != oldest);
        lat_ctx_destroy(many[i]);
        CHECK(frees == i + 1 && retired.count == RETIRED_MOST && retired.first == next && !many[i]->next);
    }
    for (volatile int i = 0; i < RETIRED_MOST; i++)
        REFUSED(lat_ctx_pe("call", many[i], 0), text_of("call: ctx %p was destroyed, or its team was", many[i]));
}

int main(void)
{
    uccs_core = (struct uccs_core){.npes = NPES, .pes = NEAR, .size = NEAR, .me = 1, .index = 1};
    lat_team_world = (struct shmem_team_impl){.size = NPES, .stride = 1};
    not_running();
    numbers_of_pes();
    addresses();
    far_addresses();
    numbers_in_contexts();
    contexts_made();
    contexts_of_lists();
    contexts_destroyed();
    contexts_kept();
    active_sets();
    CHECK(refused_locked == 0);
    return 0;
}
