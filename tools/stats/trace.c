/* The timeline as a file of the Trace Event Format, which Perfetto and Chrome's tracing page open: one complete event for
 * each call, a process for each PE, a thread for each of its threads. */
#include "stats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
