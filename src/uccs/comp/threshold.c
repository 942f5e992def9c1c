#include "uccs/comp/threshold.h"

#include "base/kind.h"
#include "uccs/core/progress.h"

#include <pthread.h>
#include <stdlib.h>

struct awaited {
    uccs_counter counter; /* 0: the word */
    const uint64_t *word;
    int64_t at_least;
    struct uccs_request *request;
    struct awaited *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list, and whether the source is registered */
static struct awaited *list;

enum state { WAITING, REACHED, LOST };

static enum state state_of(const struct awaited *what)
{
    if (what->counter && !uccs_counter_live(what->counter))
        return LOST;
    int64_t now = what->counter ? uccs_counter_get(what->counter)
                                : (int64_t)atomic_load_acquire(what->word); /* release: signals, atomics */
    return now >= what->at_least ? REACHED : WAITING;
}

static void finish_threshold(struct awaited *what, bool failed)
{
    struct uccs_request *request = what->request;
    free(what);
    uccs_request_finish(request, failed);
}

static int look(void *unused);
static struct uccs_progress_source source = {.poll = look, .when = UCCS_PROGRESS_LOOK};

/* Takes off the list what is over. Returns 1 when something was, else 0. */
static int look(void *unused)
{
    (void)unused;
    int found = 0;
    if (pthread_mutex_trylock(&lock) != 0)
        return 0;
    for (struct awaited **at = &list; *at;) {
        struct awaited *what = *at;
        enum state state = state_of(what);
        if (state == WAITING) {
            at = &what->next;
            continue;
        }
        *at = what->next;
        finish_threshold(what, state == LOST);
        found = 1;
    }
    if (!list)
        uccs_progress_remove(&source);
    pthread_mutex_unlock(&lock);
    return found;
}

static bool add_threshold(struct awaited what)
{
    struct awaited *made = malloc(sizeof *made);
    if (!made)
        return false;
    *made = what;
    uccs_request_begin(made->request);
    if (state_of(made) != WAITING) {
        finish_threshold(made, state_of(made) == LOST);
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

bool uccs_threshold_counter(uccs_counter counter, int64_t at_least, struct uccs_request *request)
{
    return add_threshold((struct awaited){.counter = counter, .at_least = at_least, .request = request});
}

bool uccs_threshold_word(const uint64_t *word, int64_t at_least, struct uccs_request *request)
{
    return add_threshold((struct awaited){.word = word, .at_least = at_least, .request = request});
}

static void tell_threshold(const struct awaited *what, struct uccs_reason *reason)
{
    if (what->counter) {
        uccs_counter_reason(&(struct uccs_counter_wanted){what->counter, what->at_least}, reason);
        return;
    }
    reason->on = uccs_reason_variable(what->word, KIND_I64, ">=", (uint64_t)what->at_least);
    reason->value = atomic_load_relaxed(what->word);
}

bool uccs_threshold_tell(const struct uccs_request *request, struct uccs_reason *reason)
{
    bool known = false;
    if (pthread_mutex_trylock(&lock) != 0)
        return false;
    for (const struct awaited *what = list; what && !known; what = what->next) {
        known = uccs_request_counts(request, what->request);
        if (known)
            tell_threshold(what, reason);
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
        struct awaited *what = list;
        list = what->next;
        finish_threshold(what, true);
    }
    pthread_mutex_unlock(&lock);
}
