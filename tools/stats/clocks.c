/* Clocks of hosts begin at different times and run at slightly different speeds. At begin and end of a trace all PEs meet some
 * times and look at their clocks behind each meeting; the middle one of the differences to PE 0 is taken, and between the two
 * looks a straight line. Within one host there is one clock, and nothing to align. */
#include "stats.h"

#include <stdlib.h>

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

void clocks_look(const struct stats_job *job, int which)
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

double clocks_of_first(uint64_t time)
{
    double between = (double)looks[1].at - (double)looks[0].at;
    double share = between > 0 ? ((double)time - (double)looks[0].at) / between : 0;
    double behind = (double)looks[0].behind + share * (double)(looks[1].behind - looks[0].behind);
    return (double)time - behind;
}
