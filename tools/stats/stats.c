#include "stats.h"
#include "base/where.h"

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Less between two polls is their loop, and between two waits what counting costs: no computing. */
#define LOOP_NS 1000
#define COUNTING_NS 100
#define RECENT 64 /* calls whose entries a thread remembers */

/* The entry of a call, found before. */
struct recent {
    const void *from;
    const char *name;
    uint64_t place;
    struct stats_place *entry;
};

/* What one thread has counted. Its thread alone writes it; the end of the job reads it. A later thread takes over what one that
 * has ended leaves. */
struct thread {
    struct thread *next;
    uint32_t taken;
    int depth;
    const void *from;     /* of the call that it is in */
    enum stats_kind kind; /* of its last call */
    uint64_t last, poll;  /* the end of its last call; the poll's event */
    struct recent recent[RECENT];
    struct stats_total total;
    struct stats_cell cells[]; /* one for each PE */
};

static struct thread *threads; /* they stay until the process ends */
static _Thread_local struct thread *self __attribute__((tls_model("initial-exec"))); /* no call for its address */
static pthread_key_t key;
static int npes, depth;
static bool counts; /* between the first begin and the last end */
static uint64_t began;
static pid_t teller; /* PE 0 */

void *stats_next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "lateral: --stats: there is no %s behind its layer\n", name);
        abort();
    }
    return found;
}

void *stats_behind(struct stats_site *site)
{
    void *next = __atomic_load_n(&site->next, __ATOMIC_RELAXED); /* every thread finds the same */
    if (!next) {
        next = stats_next(site->behind ? site->behind : site->name);
        __atomic_store_n(&site->next, next, __ATOMIC_RELAXED);
    }
    return next;
}

/* Relaxed: the end of the job may read while the thread goes on. */
static void add_relaxed(uint64_t *number, uint64_t more)
{
    __atomic_store_n(number, *number + more, __ATOMIC_RELAXED);
}

/* ---- threads ---- */

static void leave_thread(void *mine)
{
    __atomic_store_n(&((struct thread *)mine)->taken, 0, __ATOMIC_RELEASE); /* acquire: take_thread */
}

/* Returns what the calling thread counts in; ends the process when there is no memory. */
static struct thread *take_thread(void)
{
    struct thread *one = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
    uint32_t no = 0;
    while (one && !__atomic_compare_exchange_n(&one->taken, &no, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        one = one->next;
        no = 0;
    }
    if (!one) {
        one = calloc(1, sizeof *one + (size_t)npes * sizeof *one->cells);
        if (!one) /* the other PEs would wait for this one's part */
            fprintf(stderr, "lateral: --stats: no memory for the numbers of a thread\n"), abort();
        one->taken = 1;
        one->next = __atomic_load_n(&threads, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&threads, &one->next, one, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
    }
    one->last = stats_now();
    one->kind = STATS_MOVES;
    pthread_setspecific(key, one);
    return self = one;
}

/* ---- calls ---- */

/* Returns the entry of a call at a place; the last one is shared by those for which there is none. */
static struct stats_place *find_place(struct stats_place *places, const char *call, uint64_t at, bool program)
{
    for (uint64_t i = 0; i < STATS_PLACES - 1; i++) {
        struct stats_place *place = &places[(at / 4 + i) % (STATS_PLACES - 1)];
        if (place->at == at && strncmp(place->call, call, STATS_CALL - 1) == 0)
            return place;
        if (!place->at) {
            strncpy(place->call, call, STATS_CALL - 1);
            place->program = program;
            __atomic_store_n(&place->at, at, __ATOMIC_RELEASE); /* acquire: merge_places */
            return place;
        }
    }
    places[STATS_PLACES - 1] = (struct stats_place){UINT64_MAX, 0, places[STATS_PLACES - 1].calls,
                                                    places[STATS_PLACES - 1].nanoseconds, "other calls"};
    return &places[STATS_PLACES - 1];
}

static const struct recent *find_recent(struct thread *mine, const struct stats_call *call)
{
    struct recent *recent = &mine->recent[(uintptr_t)call->from / 4 % RECENT];
    if (recent->from == call->from && recent->name == call->name)
        return recent;
    const uint64_t place = where_of(call->from);
    *recent = (struct recent){call->from, call->name, place,
                              find_place(mine->total.places, call->name,
                                         place ? place : (uint64_t)(uintptr_t)call->from, place != 0)};
    return recent;
}

static void count_bytes(struct thread *mine, const struct stats_call *call)
{
    if (call->pe < 0 || call->pe >= npes) /* not in the job: the library's own line says so */
        return;
    add_relaxed(&mine->cells[call->pe].operations, 1);
    add_relaxed(&mine->cells[call->pe].bytes, call->bytes);
    add_relaxed(&mine->total.operations, 1);
    add_relaxed(&mine->total.bytes, call->bytes);
}

static void count_time(struct thread *mine, const struct stats_call *call, uint64_t end)
{
    const bool polls = call->kind == STATS_POLLS;
    const bool follows = call->kind == mine->kind && call->kind != STATS_MOVES &&
                         call->begin - mine->last < (polls ? LOOP_NS : COUNTING_NS);
    const uint64_t begin = follows ? mine->last : call->begin;
    const struct recent *recent = find_recent(mine, call);
    add_relaxed(&mine->total.computing, begin - mine->last);
    add_relaxed(call->kind == STATS_MOVES ? &mine->total.moving : &mine->total.waiting, end - begin);
    add_relaxed(&recent->entry->calls, 1);
    add_relaxed(&recent->entry->nanoseconds, end - begin);
    trace_add(call, end, recent->place, follows && polls, &mine->poll);
    mine->kind = call->kind;
    mine->last = end;
}

const void *lat_stats_from(void)
{
    return self && self->depth ? self->from : NULL;
}

bool stats_inside(void)
{
    return self && self->depth > 0;
}

void *stats_enter(struct stats_call *call, struct stats_site *site, const void *from)
{
    void *next = stats_behind(site); /* before the time is taken */
    *call = (struct stats_call){.name = site->name, .from = from};
    if (__atomic_load_n(&counts, __ATOMIC_ACQUIRE)) { /* release: stats_begin */
        if ((self ? self : take_thread())->depth++ == 0)
            call->from = where_behind_wrappers(from);
        self->from = call->from;
        call->begin = stats_now();
    }
    return next;
}

void stats_leave(struct stats_call *call, enum stats_kind kind, int pe, size_t bytes, const void *object, size_t room)
{
    self->depth--;
    if (!counts) /* the job has ended meanwhile */
        return;
    call->kind = kind;
    call->pe = pe;
    call->bytes = bytes;
    call->object = object;
    call->room = room;
    count_bytes(self, call);
    if (self->depth == 0)
        count_time(self, call, stats_now());
}

/* ---- begin and end ---- */

/* LATERAL_STATS=1 wants the table, LATERAL_TRACE=FILE the timeline. */
static bool wants_table(void)
{
    const char *wish = getenv("LATERAL_STATS");
    return wish && *wish && strcmp(wish, "0") != 0;
}

static const char *trace_name(void)
{
    const char *wish = getenv("LATERAL_TRACE");
    return wish && *wish ? wish : NULL;
}

void stats_begin(const struct stats_job *job)
{
    if (depth++)
        return;
    if (!npes)
        pthread_key_create(&key, leave_thread);
    npes = job->npes;
    teller = job->me == 0 ? getpid() : 0;
    trace_open(job, trace_name());
    for (struct thread *one = threads; one; one = one->next) { /* of an earlier life */
        one->total = (struct stats_total){0};
        memset(one->recent, 0, sizeof one->recent);
        memset(one->cells, 0, (size_t)npes * sizeof *one->cells);
        one->last = stats_now();
    }
    began = (self ? self : take_thread())->last;
    __atomic_store_n(&counts, true, __ATOMIC_RELEASE);
}

bool stats_has_begun(void)
{
    return depth > 0;
}

bool stats_is_last(void)
{
    return depth == 1;
}

static void merge_places(struct stats_place *all, const struct stats_place *more)
{
    for (int i = 0; i < STATS_PLACES; i++)
        if (__atomic_load_n(&more[i].at, __ATOMIC_ACQUIRE)) {
            struct stats_place *place = find_place(all, more[i].call, more[i].at, more[i].program);
            place->calls += more[i].calls;
            place->nanoseconds += more[i].nanoseconds;
        }
}

/* Adds what a thread has counted to that of the PE. */
static void merge_thread(struct stats_total *all, const struct thread *one)
{
    struct stats_cell *cells = (struct stats_cell *)(all + 1);
    all->moving += one->total.moving;
    all->waiting += one->total.waiting;
    all->computing += one->total.computing;
    all->operations += one->total.operations;
    all->bytes += one->total.bytes;
    merge_places(all->places, one->total.places);
    for (int pe = 0; pe < npes; pe++) {
        cells[pe].operations += one->cells[pe].operations;
        cells[pe].bytes += one->cells[pe].bytes;
    }
}

/* Writes what was counted, with points in numbers, whatever language the program has chosen for them: others read it. */
static void write_all(const struct stats_job *job, const struct stats_total *all, size_t bytes)
{
    const locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), chosen = uselocale(plain);
    if (wants_table())
        job->gather(all, bytes, stats_print);
    trace_write(job);
    uselocale(chosen);
    if (plain)
        freelocale(plain);
}

void stats_end(const struct stats_job *job)
{
    const size_t bytes = sizeof(struct stats_total) + (size_t)npes * sizeof(struct stats_cell);
    const uint64_t now = stats_now();
    if (!depth || --depth)
        return;
    struct thread *mine = self ? self : take_thread();
    add_relaxed(&mine->total.computing, now - mine->last);
    counts = false;
    struct stats_total *all = calloc(1, bytes);
    if (!all) /* the other PEs wait for this one's part */
        fprintf(stderr, "lateral: PE %d: no memory for its numbers\n", job->me), abort();
    all->lived = now - began;
    for (struct thread *one = threads; one; one = one->next)
        merge_thread(all, one);
    write_all(job, all, bytes);
    free(all);
}

/* A process that ends without the last end has told nothing, and its children, which have this too, never do. */
__attribute__((destructor)) static void tell_nothing(void)
{
    if (depth && teller == getpid())
        fprintf(stderr, "lateral: --stats, --trace: PE 0 ends without a finalize, so there is nothing to tell\n");
}
