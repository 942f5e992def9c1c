/* Arrows of the timeline: from a call that stores to the wait that it has ended. Of the stores to what the wait looked at, that
 * is the last one that began before the wait's end. The last PE writes them; it reads the parts of all from the file. */
#include "stats.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

void flows_write(FILE *file, const char *name)
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
