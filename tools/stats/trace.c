/* The timeline as a file of the Trace Event Format, which Perfetto and Chrome's tracing page open: one complete event for
 * each call, a process for each PE, a thread for each of its threads. */
#include "base/where.h"
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Clocks of hosts begin at different times and run at slightly different speeds. At begin and end of a trace all PEs meet some
 * times and look at their clocks behind each meeting; the middle one of the differences to PE 0 is taken, and between the two
 * looks a straight line. Within one host there is one clock, and nothing to align. */
#define ROUNDS 15

static struct {
    uint64_t at;    /* my time */
    int64_t behind; /* nanoseconds from PE 0's clock to mine */
} looks[2];

static int compare_differences(const void *one, const void *other)
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
    qsort(apart, ROUNDS, sizeof *apart, compare_differences);
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

/* What the last PE reads of all parts of the file, for what it writes behind them: arrows, from a call that stores to the wait
 * that it has ended, which is the last store to what the wait looked at that began before the wait's end; and the lines of
 * the program behind the numbers of places. */
struct mark {
    int pid, tid, pe;
    double begin, duration;
    uint64_t object, room, place;
};

struct marks {
    struct mark *mark;
    size_t count, room;
};

static bool add_mark(struct marks *marks, struct mark mark)
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

static bool add_place(struct marks *places, uint64_t place)
{
    for (size_t i = 0; i < places->count; i++)
        if (places->mark[i].place == place)
            return true;
    return add_mark(places, (struct mark){.place = place});
}

/* Reads one event that write_event has written. Returns false when there is no memory. */
static bool read_line(const char *line, struct marks *stores, struct marks *waits, struct marks *places)
{
    struct mark mark = {.pe = -1};
    const char *arguments = strstr(line, "\"args\":{\"place\":");
    if (sscanf(line, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%lf,\"dur\":%lf", &mark.pid, &mark.tid, &mark.begin,
               &mark.duration) != 4 ||
        !arguments || sscanf(arguments, "\"args\":{\"place\":%" SCNu64, &mark.place) != 1)
        return true;
    if (mark.place && !add_place(places, mark.place))
        return false;
    if (sscanf(arguments, "\"args\":{\"place\":%*u,\"at\":%" SCNu64 ",\"pe\":%d,\"bytes\":%*u,\"room\":%" SCNu64,
               &mark.object, &mark.pe, &mark.room) >= 2)
        return !mark.object || add_mark(stores, mark);
    return !mark.object || add_mark(waits, mark);
}

/* By target, then by begin. */
static int compare_marks(const void *one, const void *other)
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
        if (compare_marks(&stores->mark[middle], &end) < 0)
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
    const char *form =
        ",\n{\"ph\":\"%s\",\"id\":%zu,\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"name\":\"ends\",\"cat\":\"flow\"}";
    fprintf(file, form, "s", number, store->pid, store->tid, store->begin);
    fprintf(file, form, "f\",\"bp\":\"e", number, wait->pid, wait->tid, wait->begin + wait->duration);
}

/* Text between quotation marks. */
static void write_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++)
        fprintf(file, (unsigned char)*text < ' ' ? "?" : *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', file);
}

/* What stands behind the events: the program, the day, and the source lines behind the numbers of places. */
static void write_end(FILE *file, const struct marks *places)
{
    char line[128], date[32] = "", program[4096];
    const time_t now = time(NULL);
    struct tm parts;
    const ssize_t bytes = readlink("/proc/self/exe", program, sizeof program - 1);
    program[bytes > 0 ? bytes : 0] = 0;
    if (localtime_r(&now, &parts))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts);
    fprintf(file, "\n],\"otherData\":{\"program\":");
    write_text(file, program);
    fprintf(file, ",\"date\":\"%s\",\"places\":{", date);
    for (size_t i = 0; i < places->count; i++) {
        where_write(places->mark[i].place, line, sizeof line);
        fprintf(file, "%s\"%" PRIu64 "\":", i ? "," : "", places->mark[i].place);
        write_text(file, line);
    }
    fprintf(file, "}}}\n");
}

/* Writes what is behind the parts of all PEs. */
static void write_last(FILE *file, const char *name)
{
    struct marks stores = {0}, waits = {0}, places = {0};
    char line[1024];
    bool good = true;
    FILE *written = fopen(name, "re");
    while (written && good && fgets(line, sizeof line, written))
        good = read_line(line, &stores, &waits, &places);
    if (written)
        fclose(written);
    if (stores.count)
        qsort(stores.mark, stores.count, sizeof *stores.mark, compare_marks);
    for (size_t i = 0; i < waits.count; i++) {
        const struct mark *store = ender_of(&stores, &waits.mark[i]);
        if (store)
            write_arrow(file, i + 1, store, &waits.mark[i]);
    }
    write_end(file, &places);
    free(stores.mark);
    free(waits.mark);
    free(places.mark);
}

#define EVENTS (1u << 18) /* of one PE; later ones are counted alone */

struct event {
    const char *call;
    uint64_t begin, end, bytes, place;
    uint64_t object; /* 1 + its place in symmetric memory; 0: none */
    uint32_t room;
    int32_t pe, thread;
    enum stats_kind kind;
};

static const char *file_name;
static uint64_t (*place_of)(const void *object); /* may be null */
static struct event *events;                     /* null: no trace is wanted */
static uint64_t used;

void trace_open(const struct stats_job *job, const char *name)
{
    if (!name)
        return;
    file_name = name;
    events = malloc(EVENTS * sizeof *events);
    if (!events)
        fprintf(stderr, "lateral: PE %d: no memory for the timeline\n", job->me);
    place_of = job->place;
    clocks_look(job, 0);
}

void trace_add(const struct stats_call *call, uint64_t end, uint64_t place, bool follows, uint64_t *number)
{
    static _Thread_local int32_t thread;
    if (!events)
        return;
    if (follows && *number < EVENTS && events[*number].place == place) {
        events[*number].end = end;
        return;
    }
    if (!thread)
        thread = (int32_t)syscall(SYS_gettid);
    *number = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
    if (*number < EVENTS)
        events[*number] = (struct event){call->name,
                                         call->begin,
                                         end,
                                         call->bytes,
                                         place,
                                         call->object && place_of ? place_of(call->object) : 0,
                                         call->room < UINT32_MAX ? (uint32_t)call->room : UINT32_MAX,
                                         call->pe,
                                         thread,
                                         call->kind};
}

/* The category says what the call does to the program: it moves bytes, waits, or waits for bytes that it moves. */
static void write_event(FILE *file, int me, const struct event *event)
{
    fprintf(file, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"%s\",\"cat\":\"%s\"", me,
            event->thread, clocks_of_first(event->begin) * 1e-3, (double)(event->end - event->begin) * 1e-3,
            event->call, event->pe < 0 ? "wait" : "move");
    fprintf(file, ",\"args\":{\"place\":%" PRIu64 ",\"at\":%" PRIu64, event->place, event->object);
    if (event->pe >= 0)
        fprintf(file, ",\"pe\":%d,\"bytes\":%" PRIu64 ",\"room\":%" PRIu32 "%s", event->pe, event->bytes, event->room,
                event->kind == STATS_WAITS ? ",\"waits\":1" : "");
    fprintf(file, "}}");
}

static void write_part(const char *name, int me, int pes)
{
    FILE *file = fopen(name, me == 0 ? "w" : "a");
    uint64_t count = used < EVENTS ? used : EVENTS;
    char host[256] = "";
    if (!file) {
        fprintf(stderr, "lateral: PE %d: no timeline: %s: %s\n", me, name, strerror(errno));
        return;
    }
    gethostname(host, sizeof host - 1);
    if (me == 0)
        fprintf(file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    fprintf(file, "%s{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"PE %d\",\"host\":",
            me ? ",\n" : "", me, me);
    write_text(file, host);
    fprintf(file, "}}");
    for (uint64_t i = 0; i < count; i++)
        write_event(file, me, &events[i]);
    if (me == pes - 1) {
        fflush(file);
        write_last(file, name);
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
            write_part(file_name, pe, job->npes);
        job->meet();
    }
    free(events);
    events = NULL;
    used = 0;
}
