/* The timeline as a file of the Trace Event Format, which Perfetto and Chrome's tracing page open: one complete event for
 * each call, a process for each PE, a thread for each of its threads. */
#include "stats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Clocks of hosts begin at different times and run at slightly different speeds. At begin and end of a trace all PEs meet some
 * times and look at their clocks behind each meeting; the middle one of the differences to PE 0 is taken, and between the two
 * looks a straight line. Within one host there is one clock, and nothing to align. */
#define ROUNDS 15

static struct {
    uint64_t at;    /* my time */
    int64_t behind; /* nanoseconds from PE 0's clock to mine */
} looks[2];

static int compare(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return a < b ? -1 : a > b;
}

/* All PEs call it together, at begin and end. */
static void clocks_look(const struct stats_job *job, int which)
{
    int64_t apart[ROUNDS];
    uint64_t *all = calloc((size_t)job->npes, sizeof *all), now = 0;
    if (which == 0)
        looks[0].behind = looks[1].behind = 0;
    looks[which].at = stats_now();
    if (!all || job->one_host) {
        free(all);
        return;
    }
    for (int i = 0; i < ROUNDS; i++) {
        job->meet();
        now = stats_now();
        job->share(&now, all);
        apart[i] = (int64_t)(now - all[0]);
    }
    qsort(apart, ROUNDS, sizeof *apart, compare);
    looks[which].at = now;
    looks[which].behind = apart[ROUNDS / 2];
    free(all);
}

/* Turns a time of this PE into one of PE 0's clock. */
static double clocks_of_first(uint64_t time)
{
    double between = (double)looks[1].at - (double)looks[0].at;
    double share = between > 0 ? ((double)time - (double)looks[0].at) / between : 0;
    double behind = (double)looks[0].behind + share * (double)(looks[1].behind - looks[0].behind);
    return (double)time - behind;
}

/* Arrows of the timeline: from a call that stores to the wait that it has ended. Of the stores to what the wait looked at, that
 * is the last one that began before the wait's end. The last PE writes them; it reads the parts of all from the file. */
struct mark {
    int pid, tid, pe;
    double begin, duration;
    uint64_t object, room;
};

struct marks {
    struct mark *mark;
    size_t count, room;
};

static bool add(struct marks *marks, struct mark mark)
{
    if (marks->count == marks->room) {
        size_t room = marks->room ? 2 * marks->room : 256;
        struct mark *more = realloc(marks->mark, room * sizeof *more);
        if (!more)
            return false;
        marks->mark = more;
        marks->room = room;
    }
    marks->mark[marks->count++] = mark;
    return true;
}

/* Reads one event of trace.c. */
static bool read_line(const char *line, struct marks *stores, struct marks *waits)
{
    struct mark mark = {.pe = -1};
    const char *to = strstr(line, "\"args\":{");
    if (sscanf(line, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%lf,\"dur\":%lf", &mark.pid, &mark.tid, &mark.begin,
               &mark.duration) != 4 ||
        !to)
        return true;
    if (sscanf(to, "\"args\":{\"pe\":%d,\"bytes\":%*u,\"to\":%" SCNu64 ",\"room\":%" SCNu64, &mark.pe, &mark.object,
               &mark.room) == 3)
        return !mark.object || add(stores, mark);
    if (sscanf(to, "\"args\":{\"at\":%" SCNu64, &mark.object) == 1)
        return !mark.object || add(waits, mark);
    return true;
}

/* By target, then by begin. */
static int earlier(const void *one, const void *other)
{
    const struct mark *a = one, *b = other;
    if (a->pe != b->pe)
        return a->pe < b->pe ? -1 : 1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Returns the store that has ended the wait, or null. */
static const struct mark *ender_of(const struct marks *stores, const struct mark *wait)
{
    size_t low = 0, high = stores->count;
    const struct mark end = {.pe = wait->pid, .begin = wait->begin + wait->duration};
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (earlier(&stores->mark[middle], &end) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low && stores->mark[low - 1].pe == wait->pid; low--)
        if (wait->object - stores->mark[low - 1].object < stores->mark[low - 1].room)
            return &stores->mark[low - 1];
    return NULL;
}

static void write_arrow(FILE *file, size_t number, const struct mark *store, const struct mark *wait)
{
    fprintf(file, ",\n{\"ph\":\"s\",\"id\":%zu,\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"name\":\"ends\",\"cat\":\"flow\"}",
            number, store->pid, store->tid, store->begin);
    fprintf(
        file,
        ",\n{\"ph\":\"f\",\"bp\":\"e\",\"id\":%zu,\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"name\":\"ends\",\"cat\":\"flow\"}",
        number, wait->pid, wait->tid, wait->begin + wait->duration);
}

/* Writes an arrow for each wait that a store of the file has ended. */
static void flows_write(FILE *file, const char *name)
{
    struct marks stores = {0}, waits = {0};
    char line[1024];
    bool good = true;
    FILE *written = fopen(name, "re");
    while (written && good && fgets(line, sizeof line, written))
        good = read_line(line, &stores, &waits);
    if (written)
        fclose(written);
    if (stores.count)
        qsort(stores.mark, stores.count, sizeof *stores.mark, earlier);
    for (size_t i = 0; i < waits.count; i++) {
        const struct mark *store = ender_of(&stores, &waits.mark[i]);
        if (store)
            write_arrow(file, i + 1, store, &waits.mark[i]);
    }
    free(stores.mark);
    free(waits.mark);
}

#define EVENTS (1u << 18) /* of one PE; later ones are counted alone */

struct event {
    const char *call;
    uint64_t begin, end, bytes;
    uint64_t object; /* 1 + its place in symmetric memory; 0: none */
    uint32_t room;
    int32_t pe, thread;
};

static uint64_t (*place_of)(const void *object); /* may be null */
static struct event *events;                     /* null: no trace is wanted */
static uint64_t used;

void trace_open(const struct stats_job *job)
{
    if (!stats_trace_name())
        return;
    events = malloc(EVENTS * sizeof *events);
    if (!events)
        fprintf(stderr, "lateral: PE %d: no memory for the timeline\n", job->me);
    place_of = job->place;
    clocks_look(job, 0);
}

void trace_add(const char *call, uint64_t begin, uint64_t end, int pe, size_t bytes, const void *object, size_t room)
{
    static _Thread_local int32_t thread;
    if (!events)
        return;
    if (!thread)
        thread = (int32_t)syscall(SYS_gettid);
    uint64_t number = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
    if (number < EVENTS)
        events[number] = (struct event){call,
                                        begin,
                                        end,
                                        bytes,
                                        object && place_of ? place_of(object) : 0,
                                        room < UINT32_MAX ? (uint32_t)room : UINT32_MAX,
                                        pe,
                                        thread};
}

static void write_event(FILE *file, int me, const struct event *event)
{
    fprintf(file, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"%s\"", me, event->thread,
            clocks_of_first(event->begin) * 1e-3, (double)(event->end - event->begin) * 1e-3, event->call);
    if (event->pe >= 0)
        fprintf(file,
                ",\"cat\":\"move\",\"args\":{\"pe\":%d,\"bytes\":%" PRIu64 ",\"to\":%" PRIu64 ",\"room\":%" PRIu32 "}}",
                event->pe, event->bytes, event->object, event->room);
    else
        fprintf(file, ",\"cat\":\"wait\",\"args\":{\"at\":%" PRIu64 "}}", event->object);
}

static void write_part(const char *name, int me, int pes)
{
    FILE *file = fopen(name, me == 0 ? "w" : "a");
    uint64_t count = used < EVENTS ? used : EVENTS;
    if (!file) {
        fprintf(stderr, "lateral: PE %d: no timeline: %s: %s\n", me, name, strerror(errno));
        return;
    }
    if (me == 0)
        fprintf(file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    fprintf(file, "%s{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"PE %d\"}}",
            me ? ",\n" : "", me, me);
    for (uint64_t i = 0; i < count; i++)
        write_event(file, me, &events[i]);
    if (me == pes - 1) {
        fflush(file);
        flows_write(file, name);
        fprintf(file, "\n]}\n");
    }
    if (fclose(file) != 0)
        fprintf(stderr, "lateral: PE %d: the timeline is not complete: %s: %s\n", me, name, strerror(errno));
    if (used > EVENTS)
        fprintf(stderr, "lateral: PE %d: the timeline has the first %u of %" PRIu64 " calls\n", me, EVENTS, used);
}

void trace_write(const struct stats_job *job)
{
    if (!events)
        return;
    clocks_look(job, 1);
    for (int pe = 0; pe < job->npes; pe++) {
        if (pe == job->me)
            write_part(stats_trace_name(), pe, job->npes);
        job->meet();
    }
    free(events);
    events = NULL;
    used = 0;
}
