/* The module that asks a launcher through PMIx, against a PMIx that this program plays (pmix.h): the start, values,
 * barriers, the end, and what is said of each call that fails. */
#include "rte/backend.h"

#include "unit/check.h"

#include <pmix.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#define VERSION LATERAL_VERSION

int pmix_values_held;
static char logged[1000];
static int left, orphans, finalized, aborted, handlers, commits;
static pmix_status_t says; /* what the next call of each kind returns */
static pmix_status_t get_says, fence_says, commit_says, fence_ends_with;
static pmix_proc_t asked;
static char asked_key[600];
static pmix_value_t answer;
static bool has_answer;
static size_t collects;
static enum { AT_ONCE, LATER, NEVER } fence_ends = AT_ONCE;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static const char *space = "job.1";
static pmix_notification_fn_t handler;

static void keep_line(const char *format, ...)
{
    va_list arguments;
    const size_t used = strlen(logged);
    va_start(arguments, format);
    vsnprintf(logged + used, sizeof logged - used, format, arguments);
    va_end(arguments);
    strcat(logged, "\n");
}

static bool note_leave(void)
{
    left++;
    return true;
}

static void note_orphans(void)
{
    orphans++;
}

/* The time at which a wait ends is over when it begins. */
static int past_clock(int which, struct timespec *now)
{
    CHECK(which == CLOCK_REALTIME);
    *now = (struct timespec){.tv_sec = 1000};
    return 0;
}

#define clock_gettime past_clock
#include "rte/pmix/module.c"
#undef clock_gettime

pmix_status_t PMIx_Init(pmix_proc_t *mine, pmix_info_t *info, size_t infos)
{
    CHECK(!info && infos == 0);
    strcpy(mine->nspace, space);
    mine->rank = 2;
    return says;
}

pmix_status_t PMIx_Finalize(const pmix_info_t *info, size_t infos)
{
    CHECK(!info && infos == 0);
    finalized++;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Abort(int status, const char *words, pmix_proc_t *whom, size_t count)
{
    CHECK(*words == 0 && !whom && count == 0); /* all */
    aborted = status;
    return says;
}

pmix_status_t PMIx_Put(int scope, const char *key, pmix_value_t *value)
{
    CHECK(scope == PMIX_GLOBAL && value->type == PMIX_BYTE_OBJECT);
    strcpy(asked_key, key);
    answer = *value;
    return says;
}

pmix_status_t PMIx_Commit(void)
{
    commits++;
    return commit_says;
}

pmix_status_t PMIx_Get(const pmix_proc_t *of, const char *key, const pmix_info_t *info, size_t infos,
                       pmix_value_t **value)
{
    CHECK(!info && infos == 0 && !*value);
    asked = *of;
    strcpy(asked_key, key);
    if (has_answer) {
        *value = &answer;
        pmix_values_held++;
    }
    return get_says;
}

static void *end_fence(void *then)
{
    CHECK(pthread_mutex_lock(&held) == 0 && pthread_mutex_unlock(&held) == 0); /* the library waits without it */
    ((pmix_op_cbfunc_t)then)(fence_ends_with, 0);
    return 0;
}

static pthread_t ender;

pmix_status_t PMIx_Fence_nb(const pmix_proc_t *among, size_t count, const pmix_info_t *info, size_t infos,
                            pmix_op_cbfunc_t then, void *data)
{
    CHECK(!among && count == 0 && then && !data);
    CHECK(strcmp(info->key, PMIX_COLLECT_DATA) == 0 && info->value.type == PMIX_BOOL && info->value.data.flag);
    collects = infos;
    if (fence_says == PMIX_SUCCESS && fence_ends == AT_ONCE)
        then(fence_ends_with, 0);
    if (fence_says == PMIX_SUCCESS && fence_ends == LATER)
        CHECK(pthread_create(&ender, 0, end_fence, (void *)then) == 0);
    return fence_says;
}

pmix_status_t PMIx_Register_event_handler(pmix_status_t *codes, size_t count, pmix_info_t *info, size_t infos,
                                          pmix_notification_fn_t given, pmix_hdlr_reg_cbfunc_t then, void *data)
{
    CHECK(count > 0 && codes[0] == PMIX_ERR_LOST_CONNECTION && !info && infos == 0 && !then && !data);
    handler = given;
    handlers++;
    return PMIX_SUCCESS;
}

const char *PMIx_Error_string(pmix_status_t status)
{
    return status == PMIX_ERR_TYPE_MISMATCH ? "WRONG-TYPE" : status == -7 ? "SEVEN" : "OTHER";
}

/* ---- tests ---- */

static void logs(const char *wanted)
{
    if (strcmp(logged, wanted) != 0)
        fprintf(stderr, "wanted:\n%sis:\n%s", wanted, logged);
    CHECK(strcmp(logged, wanted) == 0 && pmix_values_held == 0);
    *logged = 0;
}

static const struct rte_backend *opens(const char *version, struct rte_place *place)
{
    static struct rte_module_calls calls;
    calls = (struct rte_module_calls){version, keep_line, note_leave, note_orphans};
    *place = (struct rte_place){0};
    return lateral_pmix_open(&calls, place);
}

static void job_of(uint32_t pes)
{
    answer = (pmix_value_t){.type = PMIX_UINT32, .data.uint32 = pes};
    has_answer = true;
}

static void test_no_start(void)
{
    struct rte_place place;
    leave(); /* the module was never opened */
    CHECK(left == 0 && !opens("0.0.other", &place));
    logs("liblateral is version 0.0.other and liblateral-pmix.so is " VERSION "; install them together\n");
    says = -7;
    CHECK(!opens(VERSION, &place));
    logs("start: the launcher (PMIx) says SEVEN\n"
         "no PMIx server for this process: start it with a launcher, or alone with LATERAL_RTE=alone\n");
    says = PMIX_SUCCESS;
    get_says = -7;
    CHECK(!opens(VERSION, &place));
    logs("number of PEs: the launcher (PMIx) says SEVEN\n");
    get_says = PMIX_SUCCESS;
    job_of(5);
    answer.type = PMIX_BYTE_OBJECT;
    CHECK(!opens(VERSION, &place));
    job_of(2); /* this is PE 2 */
    CHECK(!opens(VERSION, &place));
    logs("");
}

static const struct rte_backend *test_start(void)
{
    struct rte_place place;
    handlers = orphans = 0;
    job_of(3);
    const struct rte_backend *found = opens(VERSION, &place);
    CHECK(found && place.pe == 2 && place.npes == 3 && strcmp(place.job, space) == 0 && handlers == 1);
    CHECK(strcmp(asked.nspace, space) == 0 && asked.rank == PMIX_RANK_WILDCARD &&
          strcmp(asked_key, PMIX_JOB_SIZE) == 0);
    handler(0, 0, 0, 0, 0, 0, 0, 0, 0);
    CHECK(orphans == 1);
    logs("");
    return found;
}

static void test_put(const struct rte_backend *found)
{
    CHECK(found->put("key", "bytes", 6) == 0 && strcmp(asked_key, "lateral.key") == 0);
    CHECK(answer.data.bo.size == 6 && strcmp(answer.data.bo.bytes, "bytes") == 0);
    says = -7;
    CHECK(found->put("key", "bytes", 6) == -1);
    says = PMIX_SUCCESS;
    logs("lateral.key: the launcher (PMIx) says SEVEN\n");
}

static void test_get(const struct rte_backend *found)
{
    char bytes[] = "value";
    void *value = 0;
    size_t size = 99;
    answer = (pmix_value_t){.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, 6}};
    memset(&asked, 0, sizeof asked);
    CHECK(found->get(1, "key", &value, &size) == 0 && size == 6 && strcmp(value, "value") == 0 && value != bytes);
    CHECK(asked.rank == 1 && strcmp(asked.nspace, space) == 0 && strcmp(asked_key, "lateral.key") == 0);
    free(value);
    answer.data.bo.size = 0;
    value = 0;
    CHECK(found->get(0, "key", &value, &size) == 0 && size == 0 && value);
    free(value);
    logs("");
    answer.type = PMIX_UINT32;
    CHECK(found->get(1, "key", &value, &size) == -1);
    logs("lateral.key of PE 1: the launcher (PMIx) says WRONG-TYPE\n");
    has_answer = false;
    get_says = -7;
    CHECK(found->get(0, "other", &value, &size) == -1);
    logs("lateral.other of PE 0: the launcher (PMIx) says SEVEN\n");
    get_says = PMIX_SUCCESS;
}

static void meets(const struct rte_backend *found, int seconds, int wanted)
{
    const int before = commits;
    CHECK(pthread_mutex_lock(&held) == 0);
    const int status = found->fence(seconds, &held);
    CHECK(status == wanted && pthread_mutex_trylock(&held) != 0 && commits == before + 1);
    pthread_mutex_unlock(&held);
}

static void test_fence(const struct rte_backend *found)
{
    meets(found, 0, 0);
    CHECK(collects == (strncmp(space, "slurm.", 6) == 0));
    meets(found, 5, 0);
    fence_ends = LATER;
    meets(found, 0, 0);
    pthread_join(ender, 0);
    fence_ends = NEVER;
    meets(found, 5, 1);
    fence_ends = LATER;
    fence_ends_with = -7;
    meets(found, 0, -1);
    pthread_join(ender, 0);
    logs("barrier of the job: the launcher (PMIx) says SEVEN\n");
    fence_ends_with = PMIX_OPERATION_SUCCEEDED;
    fence_ends = AT_ONCE;
    meets(found, 0, 0);
    fence_ends_with = PMIX_SUCCESS;
    fence_ends = NEVER;
    fence_says = PMIX_OPERATION_SUCCEEDED; /* there is nobody to wait for */
    meets(found, 0, 0);
    fence_says = -7;
    meets(found, 0, -1);
    logs("barrier of the job: the launcher (PMIx) says SEVEN\n");
    fence_says = PMIX_SUCCESS;
    commit_says = -8;
    meets(found, 0, -1);
    logs("barrier of the job: the launcher (PMIx) says OTHER\n");
    commit_says = PMIX_SUCCESS;
    fence_ends = AT_ONCE;
}

static void test_end(const struct rte_backend *found)
{
    CHECK(found->abort(9) == 0 && aborted == 9);
    says = -7;
    CHECK(found->abort(8) == -1 && aborted == 8);
    says = PMIX_SUCCESS;
    found->finish();
    CHECK(finalized == 1);
    leave();
    CHECK(left == 1);
    logs("");
}

int main(void)
{
    test_no_start();
    const struct rte_backend *found = test_start();
    test_put(found);
    test_get(found);
    test_fence(found);
    space = "slurm.7";
    test_fence(test_start());
    test_end(found);
    return 0;
}
