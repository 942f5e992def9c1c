/* Do all members of a team make the same collective call? Each call is preceded by an exchange of what the members are
 * about to do; so it works over nodes, and costs about one more collective.
 *
 * Every member sees the difference. The first one prints it and ends the job; the others wait for that. */
#include "step.h"
#include "base/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_FOR_THE_FIRST 5

/* A line of the report that grows. */
struct line {
    char text[900];
    size_t used;
};

static void line_add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line_add(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(line->text + line->used, sizeof line->text - line->used, format, arguments);
    va_end(arguments);
    line->used += more > 0 ? (size_t)more : 0;
    line->used = line->used < sizeof line->text ? line->used : sizeof line->text - 1;
}

static bool step_same(const struct step *one, const struct step *other)
{
    return strncmp(one->key, other->key, sizeof one->key) == 0;
}

/* Adds the members that do as member `first` does: "PE 0,2-3 shmem_sync_all() at a.c:3". */
static void add_alike(struct line *line, const struct step *steps, int first, int size, const int *pes)
{
    char where[128];
    line_add(line, "%sPE ", line->used ? "; " : "");
    for (int i = first, printed = 0; i < size; i++) {
        int last = i;
        if (!step_same(&steps[first], &steps[i]))
            continue;
        while (last + 1 < size && step_same(&steps[first], &steps[last + 1]) && pes[last + 1] == pes[last] + 1)
            last++;
        line_add(line, "%s%d", printed++ ? "," : "", pes[i]);
        if (last > i)
            line_add(line, "%c%d", last > i + 1 ? '-' : ',', pes[last]);
        i = last;
    }
    where_write_at(steps[first].place, where, sizeof where);
    line_add(line, " %s%s", steps[first].text, where);
}

static _Noreturn void step_report(const char *call, const char *what, const struct step *steps, int size,
                                  const int *pes)
{
    struct line line = {.used = 0};
    if (pes[0] != pshmem_my_pe())
        sleep(SECONDS_FOR_THE_FIRST); /* the launcher usually ends this process meanwhile */
    for (int i = 0; i < size; i++) {
        int earlier = 0;
        while (earlier < i && !step_same(&steps[earlier], &steps[i]))
            earlier++;
        if (earlier == i)
            add_alike(&line, steps, i, size, pes);
    }
    lat_check_fail(call, what, "%s", line.text);
}

static void step_compare(const char *call, const char *what, const struct step *steps, int size, const int *pes)
{
    for (int i = 1; i < size; i++)
        if (!step_same(&steps[0], &steps[i]))
            step_report(call, what, steps, size, pes);
}

/* Compares the split-phase collectives that the members have begun before this step. All members see the same sums, so they
 * exchange the same number of times. */
static void begun_compare(const char *call, shmem_team_t team, struct step *steps, int size, const int *pes)
{
    uint64_t most = steps[0].begun;
    bool same = true;
    struct step mine;
    for (int i = 1; i < size; i++) {
        same &= steps[i].begun == steps[0].begun && steps[i].hash == steps[0].hash;
        most = steps[i].begun > most ? steps[i].begun : most;
    }
    for (uint64_t number = 0; !same && number < most && number < BEGUN_KEPT; number++) {
        begun_get(team, number, &mine);
        lat_check_meet(team, &mine, sizeof mine, steps);
        step_compare(call, "the PEs differ in a split-phase collective before", steps, size, pes);
    }
    if (!same)
        lat_check_fail(call, "the PEs differ in split-phase collectives before", "behind the first %d", BEGUN_KEPT);
    begun_forget(team);
}

void check_step(const char *call, const char *key, shmem_team_t team, const void *from, const char *format, ...)
{
    struct step mine;
    va_list arguments;
    int size = team == SHMEM_TEAM_INVALID ? 0 : pshmem_team_n_pes(team);
    if (size < 2)
        return;
    va_start(arguments, format);
    step_fill(&mine, call, key, from, format, arguments);
    va_end(arguments);
    begun_sum(team, &mine.begun, &mine.hash);
    struct step *all = step_room(size, sizeof *all);
    int *pes = step_room(size, sizeof *pes);
    lat_check_meet(team, &mine, sizeof mine, all);
    for (int i = 0; i < size; i++)
        pes[i] = pshmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
    step_compare(call, "the PEs differ", all, size, pes);
    begun_compare(call, team, all, size, pes);
    free(all);
    free(pes);
}

void check_step_set(const char *call, const char *key, int start, int logstride, int size, long *psync,
                    const void *from, const char *format, ...)
{
    struct step mine;
    va_list arguments;
    if (size < 2)
        return;
    va_start(arguments, format);
    step_fill(&mine, call, key, from, format, arguments);
    va_end(arguments);
    struct step *all = step_room(size, sizeof *all);
    int *pes = step_room(size, sizeof *pes);
    for (int i = 0; i < size; i++)
        pes[i] = start + (i << logstride);
    if (lat_check_meet_set(call, start, logstride, size, psync, &mine, sizeof mine, all))
        step_compare(call, "the PEs differ", all, size, pes);
    free(all);
    free(pes);
}
