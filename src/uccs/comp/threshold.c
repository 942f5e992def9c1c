#include "uccs/comp/threshold.h"

#include "uccs/core/progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <uccs.h>

struct awaited {
    struct uccs_counter_wanted what;
    struct uccs_request *request;
    struct awaited *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list, and whether the source is registered */
static struct awaited *list;

static void finish_threshold(struct awaited *awaited, bool failed)
{
    struct uccs_request *request = awaited->request;
    free(awaited);
    uccs_request_finish(request, failed);
}

static int look_at_thresholds(void *unused);
static struct uccs_progress_source source = {.poll = look_at_thresholds, .when = UCCS_PROGRESS_LOOK};

/* Takes off the list what is over. Returns 1 when something was, else 0. */
static int look_at_thresholds(void *unused)
{
    (void)unused;
    int found = 0;
    if (pthread_mutex_trylock(&lock) != 0)
        return 0;
    for (struct awaited **at = &list; *at;) {
        struct awaited *awaited = *at;
        const int status = uccs_counter_look(&awaited->what);
        if (status == UCCS_IN_PROGRESS) {
            at = &awaited->next;
            continue;
        }
        *at = awaited->next;
        finish_threshold(awaited, status != UCCS_OK);
        found = 1;
    }
    if (!list)
        uccs_progress_remove(&source);
    pthread_mutex_unlock(&lock);
    return found;
}

bool uccs_threshold_add(const struct uccs_counter_wanted *what, struct uccs_request *request)
{
    struct awaited *made = malloc(sizeof *made);
    if (!made)
        return false;
    *made = (struct awaited){.what = *what, .request = request};
    uccs_request_begin(request);
    const int status = uccs_counter_look(what);
    if (status != UCCS_IN_PROGRESS) {
        finish_threshold(made, status != UCCS_OK);
        return true;
    }
    pthread_mutex_lock(&lock);
    if (!list)
        (void)uccs_progress_add(&source);
    made->next = list;
    list = made;
    pthread_mutex_unlock(&lock);
    return true;
}

bool uccs_threshold_tell(const struct uccs_request *request, struct uccs_reason *reason)
{
    bool known = false;
    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    for (const struct awaited *awaited = list; awaited && !known; awaited = awaited->next) {
        known = uccs_request_counts(request, awaited->request);
        if (known)
            uccs_counter_reason(&awaited->what, reason);
    }
    pthread_mutex_unlock(&lock);
    return known;
}

void uccs_threshold_close(void)
{
    pthread_mutex_lock(&lock);
    if (list)
        uccs_progress_remove(&source);
    while (list) {
        struct awaited *awaited = list;
        list = awaited->next;
        finish_threshold(awaited, true);
    }
    pthread_mutex_unlock(&lock);
}
