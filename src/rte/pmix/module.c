/* liblateral-pmix.so: asks the job's launcher through PMIx. src/rte/pmix.c loads it when the environment names a PMIx
 * server. It links with libpmix and with nothing of Lateral; it gets the functions that it needs from its caller.
 *
 * Its destructor runs after the program's exit handlers and before libpmix goes, so there the process takes leave of
 * the launcher. */
#include "rte/backend.h"

#include <pmix.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct rte_module_calls *lateral;
static pmix_proc_t me;

static int complain_of_pmix(const char *what, pmix_status_t why)
{
    lateral->log("%s: the launcher (PMIx) says %s", what, PMIx_Error_string(why));
    return -1;
}

static int pmix_put(const char *key, const void *value, size_t bytes)
{
    char name[PMIX_MAX_KEYLEN + 1];
    pmix_value_t box = {.type = PMIX_BYTE_OBJECT, .data.bo = {(char *)value, bytes}};
    snprintf(name, sizeof name, "lateral.%s", key);
    pmix_status_t status = PMIx_Put(PMIX_GLOBAL, name, &box);
    return status == PMIX_SUCCESS ? 0 : complain_of_pmix(name, status);
}

static int take_value(const pmix_value_t *box, void **value, size_t *bytes)
{
    if (box->type != PMIX_BYTE_OBJECT)
        return -1;
    void *copy = malloc(box->data.bo.size ? box->data.bo.size : 1);
    if (!copy)
        return -1;
    *value = memcpy(copy, box->data.bo.bytes, box->data.bo.size);
    *bytes = box->data.bo.size;
    return 0;
}

static int pmix_get(int pe, const char *key, void **value, size_t *bytes)
{
    char name[PMIX_MAX_KEYLEN + 1], what[PMIX_MAX_KEYLEN + 32];
    pmix_proc_t peer = {.rank = (pmix_rank_t)pe};
    pmix_value_t *box = 0;
    memcpy(peer.nspace, me.nspace, sizeof peer.nspace);
    snprintf(name, sizeof name, "lateral.%s", key);
    pmix_status_t status = PMIx_Get(&peer, name, 0, 0, &box);
    if (status == PMIX_SUCCESS && take_value(box, value, bytes) != 0)
        status = PMIX_ERR_TYPE_MISMATCH;
    if (box)
        PMIX_VALUE_RELEASE(box);
    snprintf(what, sizeof what, "%s of PE %d", name, pe);
    return status == PMIX_SUCCESS ? 0 : complain_of_pmix(what, status);
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
    pmix_status_t status;
} meeting = {.lock = PTHREAD_MUTEX_INITIALIZER, .status = PMIX_SUCCESS};

/* A wait counts time by a clock that nobody sets. */
static void open_meeting(void)
{
    pthread_condattr_t by;
    pthread_condattr_init(&by);
    pthread_condattr_setclock(&by, CLOCK_MONOTONIC);
    pthread_cond_init(&meeting.changed, &by);
    pthread_condattr_destroy(&by);
}

/* Runs on a thread of libpmix. */
static void everybody_came(pmix_status_t status, void *unused)
{
    (void)unused;
    pthread_mutex_lock(&meeting.lock);
    meeting.status = status;
    meeting.over = true;
    pthread_cond_signal(&meeting.changed);
    pthread_mutex_unlock(&meeting.lock);
}

static bool wait_for_everybody(int seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    pthread_mutex_lock(&meeting.lock);
    int late = 0;
    while (!meeting.over && !late)
        late = seconds ? pthread_cond_timedwait(&meeting.changed, &meeting.lock, &end)
                       : pthread_cond_wait(&meeting.changed, &meeting.lock);
    pthread_mutex_unlock(&meeting.lock);
    return !late;
}

/* Values stay where they were put until a PE asks for them. Slurm needs a fence that collects: for a fence without data
 * its plugin (22.05) takes a tree that lets PEs go before all have come. Returns 0, 1 on timeout, -1 after one line. */
static int pmix_fence(int seconds, pthread_mutex_t *held)
{
    static const pmix_info_t collect = {.key = PMIX_COLLECT_DATA, .value = {.type = PMIX_BOOL, .data.flag = true}};
    size_t collects = strncmp(me.nspace, "slurm.", 6) == 0;
    meeting.over = false;
    pmix_status_t status = PMIx_Commit();
    if (status == PMIX_SUCCESS)
        status = PMIx_Fence_nb(0, 0, &collect, collects, everybody_came, 0);
    bool all = true;
    if (status == PMIX_SUCCESS) {
        pthread_mutex_unlock(held);
        all = wait_for_everybody(seconds);
        pthread_mutex_lock(held);
        status = meeting.status;
    }
    if (!all)
        return 1;
    return status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED
               ? 0
               : complain_of_pmix("barrier of the job", status);
}

static int end_job(int status)
{
    return PMIx_Abort(status, "", 0, 0) == PMIX_SUCCESS ? 0 : -1;
}

static void pmix_finish(void)
{
    PMIx_Finalize(0, 0);
}

/* Runs on a thread of libpmix, so PEs that compute end, too. */
static void pmix_lost(size_t handler, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info, size_t infos,
                      pmix_info_t *results, size_t result_count, pmix_event_notification_cbfunc_fn_t done, void *token)
{
    (void)handler, (void)status, (void)source, (void)info, (void)infos, (void)results, (void)result_count, (void)done;
    (void)token;
    lateral->orphaned();
}

/* A launcher that ends well takes leave of its PEs only when they have taken leave of it. */
static void watch_launcher(void)
{
    pmix_status_t codes[] = {
        PMIX_ERR_LOST_CONNECTION,
#ifdef PMIX_ERR_LOST_CONNECTION_TO_SERVER
        PMIX_ERR_LOST_CONNECTION_TO_SERVER, /* the name that PMIx 3 gave it */
#endif
    };
    PMIx_Register_event_handler(codes, sizeof codes / sizeof *codes, 0, 0, pmix_lost, 0, 0);
}

static const struct rte_backend backend =
    {"a launcher that speaks PMIx", pmix_put, pmix_get, pmix_fence, end_job, pmix_finish, 0, 0, 0};

static int job_size(void)
{
    pmix_proc_t all = {.rank = PMIX_RANK_WILDCARD};
    pmix_value_t *box = 0;
    memcpy(all.nspace, me.nspace, sizeof all.nspace);
    pmix_status_t status = PMIx_Get(&all, PMIX_JOB_SIZE, 0, 0, &box);
    if (status != PMIX_SUCCESS)
        return complain_of_pmix("number of PEs", status);
    int size = box->type == PMIX_UINT32 ? (int)box->data.uint32 : -1;
    PMIX_VALUE_RELEASE(box);
    return size;
}

__attribute__((visibility("default"))) rte_module_open lateral_pmix_open;
const struct rte_backend *lateral_pmix_open(const struct rte_module_calls *calls, struct rte_rank *place)
{
    if (strcmp(calls->version, LATERAL_VERSION) != 0) {
        calls->log("liblateral is version %s and liblateral-pmix.so is %s; install them together", calls->version,
                   LATERAL_VERSION);
        return 0;
    }
    lateral = calls;
    pmix_status_t status = PMIx_Init(&me, 0, 0);
    if (status != PMIX_SUCCESS) {
        complain_of_pmix("start", status);
        calls->log("no PMIx server for this process: start it with a launcher, or alone with LATERAL_RTE=alone");
        return 0;
    }
    *place = (struct rte_rank){.pe = (int)me.rank, .npes = job_size()};
    snprintf(place->job, sizeof place->job, "%s", me.nspace);
    open_meeting();
    watch_launcher();
    return place->npes > place->pe ? &backend : 0;
}

__attribute__((destructor)) static void leave(void)
{
    if (lateral)
        lateral->leave();
}
