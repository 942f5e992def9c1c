/* Parts of the layer by themselves: which operations which types take, what ranks tell each other at the start, requests that complete
 * when something has happened.
 * ranks: 2 */
#define MPI_REAL_H /* the layer's calls have names of their own here */
#define LMPI_EXPORT static __attribute__((unused))
#define LMPI_NAME(name) _Static_assert(1, "")
#include "check.h"

#include <pthread.h>

#define MPI_Abort layer_abort
#define MPI_Request_get_status layer_get_status

static int aborts, abort_code, status_asked;

static int real_abort(MPI_Comm comm, int code)
{
    (void)comm;
    aborts++;
    abort_code = code;
    return MPI_SUCCESS;
}

static int real_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    status_asked++;
    return PMPI_Request_get_status(request, flag, status);
}

static struct {
    int (*Abort)(MPI_Comm, int);
    int (*Request_get_status)(MPI_Request, int *, MPI_Status *);
} lmpi_real = {real_abort, real_get_status};

/* The layer's lock is taken and given back in turn. */
static int locks_held;

static int try_lock(pthread_mutex_t *mutex)
{
    const int status = pthread_mutex_trylock(mutex);
    if (status == 0)
        CHECK_EQ(locks_held++, 0);
    return status;
}
#define pthread_mutex_trylock(mutex) try_lock(mutex)
#define pthread_mutex_lock(mutex) (CHECK_EQ(locks_held++, 0), pthread_mutex_lock(mutex))
#define pthread_mutex_unlock(mutex) (CHECK_EQ(--locks_held, 0), pthread_mutex_unlock(mutex))
static int alive; /* allocations of the environment; who asks for a value frees it */

static void *counted(void *made)
{
    alive += made != 0;
    return made;
}
#define PMPI_Abort real_abort
#define find find_entry
#define malloc(bytes) counted(malloc(bytes))
#define calloc(n, bytes) counted(calloc(n, bytes))
#define realloc(old, bytes) (alive += !(old), realloc(old, bytes))
#define free(made) (alive -= (made) != 0, free(made))
#include "../../src/mpi/environment.c"
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef find
#undef PMPI_Abort
#define find find_op
#include "../../src/mpi/ops.c"
#undef find
#include "../../src/mpi/pending.c"

struct lmpi_life lmpi_life;
_Thread_local int lmpi_calling;

/* ---- what ranks tell ---- */

static const struct uccs_environment *embedded;
static int embeds;

int uccs_embed(const struct uccs_environment *environment)
{
    static struct uccs_environment kept;
    embeds++;
    if (environment)
        kept = *environment;
    embedded = environment ? &kept : 0;
    return UCCS_OK;
}

static void check_value(int rank, const char *key, const void *value, size_t bytes)
{
    void *found = 0;
    size_t length = 999;
    CHECK_EQ(embedded->get(0, rank, key, &found, &length), 0);
    CHECK_EQ(length, bytes);
    CHECK(found && memcmp(found, value, bytes) == 0);
    free(found);
    alive--;
}

static void check_none(int rank, const char *key)
{
    void *found = 0;
    size_t length;
    CHECK(embedded->get(0, rank, key, &found, &length) != 0);
}

static void environment(void)
{
    static char large[70000];
    char text[32];
    void *found;
    size_t length;
    memset(large, 'x' + me, sizeof large);
    lmpi_life.rank = me;
    lmpi_life.ranks = ranks;
    lmpi_life.comm = MPI_COMM_WORLD;
    CHECK_EQ(lmpi_environment_give(), UCCS_OK);
    CHECK(embedded->rank == me && embedded->ranks == ranks && embedded->size == sizeof *embedded);
    CHECK_EQ(embedded->fence(0), 0); /* nobody tells anything */
    check_none(0, "a");
    snprintf(text, sizeof text, "first of %d", me);
    OK(embedded->put(0, "ab", text, strlen(text)));
    OK(embedded->put(0, "a", "", 0));
    OK(embedded->put(0, "large", large, sizeof large));
    if (me == 1)
        OK(embedded->put(0, "mine", "1", 1));
    check_none(me, "ab"); /* before the fence */
    CHECK_EQ(embedded->fence(0), 0);
    for (int rank = 0; rank < ranks; rank++) {
        snprintf(text, sizeof text, "first of %d", rank);
        memset(large, 'x' + rank, sizeof large);
        check_value(rank, "ab", text, strlen(text));
        check_value(rank, "a", "", 0);
        check_value(rank, "large", large, sizeof large);
        check_none(rank, "abc");
        check_none(rank, "");
    }
    check_none(0, "mine");
    check_value(1, "mine", "1", 1);
    if (me == 0)
        OK(embedded->put(0, "ab", "later", 5));
    CHECK_EQ(embedded->fence(0), 0);
    check_value(0, "ab", "later", 5); /* the newest */
    check_value(1, "ab", "first of 1", 10);
    check_value(1, "mine", "1", 1);
    CHECK(embedded->put(0, "b", large, INT32_MAX / 2 - sizeof(struct record) - 2) != 0); /* too much */
    CHECK_EQ(told.bytes, 0);
    CHECK_EQ(embedded->ending(0), 0);
    embedded->abort(0, 7);
    CHECK(aborts == 1 && abort_code == 7);
    CHECK_EQ(embedded->ending(0), 0);
    OK(layer_abort(MPI_COMM_WORLD, 9));
    CHECK(aborts == 2 && abort_code == 9);
    CHECK_EQ(embedded->ending(0), 1);
    const struct uccs_environment *before = embedded;
    lmpi_environment_end();
    CHECK(!embedded && embeds == 2 && !told.rounds);
    CHECK_EQ(alive, 0);
    before->abort(0, 7);
    CHECK_EQ(aborts, 2); /* the MPI has ended */
    CHECK(before->fence(0) != 0);
    CHECK(before->get(0, 0, "ab", &found, &length) != 0);
}

/* ---- operations ---- */

enum { INTEGER = 1, REAL = 2, PLEX = 4, LOGIC = 8, BYTES = 16, PAIRED = 32, TEXTS = 64, MANY = 128 };

static const struct {
    enum lmpi_kind kind;
    size_t unit;
    enum uccs_type type;
    int group;
} types[] = {{LMPI_SIGNED, 1, UCCS_INT8, INTEGER},
             {LMPI_SIGNED, 2, UCCS_INT16, INTEGER},
             {LMPI_SIGNED, 4, UCCS_INT32, INTEGER},
             {LMPI_SIGNED, 8, UCCS_INT64, INTEGER},
             {LMPI_SIGNED, 16, UCCS_INT128, INTEGER},
             {LMPI_UNSIGNED, 1, UCCS_UINT8, INTEGER},
             {LMPI_UNSIGNED, 2, UCCS_UINT16, INTEGER},
             {LMPI_UNSIGNED, 4, UCCS_UINT32, INTEGER},
             {LMPI_UNSIGNED, 8, UCCS_UINT64, INTEGER},
             {LMPI_FLOATING, 2, UCCS_FLOAT16, REAL},
             {LMPI_FLOATING, 4, UCCS_FLOAT, REAL},
             {LMPI_FLOATING, 8, UCCS_DOUBLE, REAL},
             {LMPI_FLOATING, 16, UCCS_LONG_DOUBLE, REAL},
             {LMPI_QUAD, 16, UCCS_FLOAT128, REAL},
             {LMPI_BFLOAT, 2, UCCS_BFLOAT16, REAL},
             {LMPI_COMPLEX, 4, UCCS_FLOAT16_COMPLEX, PLEX},
             {LMPI_COMPLEX, 8, UCCS_FLOAT_COMPLEX, PLEX},
             {LMPI_COMPLEX, 16, UCCS_DOUBLE_COMPLEX, PLEX},
             {LMPI_COMPLEX, 32, UCCS_LONG_DOUBLE_COMPLEX, PLEX},
             {LMPI_QUAD_COMPLEX, 32, UCCS_FLOAT128_COMPLEX, PLEX},
             {LMPI_LOGICAL, 1, UCCS_INT8, LOGIC},
             {LMPI_LOGICAL, 4, UCCS_INT32, LOGIC},
             {LMPI_BYTE, 1, UCCS_INT8, BYTES},
             {LMPI_TEXT, 4, UCCS_INT32, TEXTS},
             {LMPI_FLOAT_INT, 8, UCCS_FLOAT_INT, PAIRED},
             {LMPI_DOUBLE_INT, 16, UCCS_DOUBLE_INT, PAIRED},
             {LMPI_LONG_INT, 16, UCCS_LONG_INT, PAIRED},
             {LMPI_SHORT_INT, 8, UCCS_SHORT_INT, PAIRED},
             {LMPI_INT_INT, 8, UCCS_2INT, PAIRED},
             {LMPI_LONG_DOUBLE_INT, 32, UCCS_LONG_DOUBLE_INT, PAIRED},
             {LMPI_REAL_REAL, 8, UCCS_2FLOAT, PAIRED},
             {LMPI_REAL_REAL, 16, UCCS_2DOUBLE, PAIRED},
             {LMPI_MIXED, 4, UCCS_UINT8, MANY}};

size_t uccs_type_size(enum uccs_type type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type && types[i].kind != LMPI_MIXED)
            return types[i].unit;
    return 0;
}

/* The table of MPI's text: section "Predefined Reduction Operations". */
static void operations(void)
{
    const struct {
        MPI_Op op;
        enum uccs_reduction how;
        int groups;
    } ops[] = {{MPI_SUM, UCCS_SUM, INTEGER | REAL | PLEX},
               {MPI_PROD, UCCS_PROD, INTEGER | REAL | PLEX},
               {MPI_MAX, UCCS_MAX, INTEGER | REAL},
               {MPI_MIN, UCCS_MIN, INTEGER | REAL},
               {MPI_BAND, UCCS_AND, INTEGER | BYTES},
               {MPI_BOR, UCCS_OR, INTEGER | BYTES},
               {MPI_BXOR, UCCS_XOR, INTEGER | BYTES},
               {MPI_LAND, UCCS_LOGICAL_AND, INTEGER | LOGIC},
               {MPI_LOR, UCCS_LOGICAL_OR, INTEGER | LOGIC},
               {MPI_LXOR, UCCS_LOGICAL_XOR, INTEGER | LOGIC},
               {MPI_MAXLOC, UCCS_MAX, PAIRED},
               {MPI_MINLOC, UCCS_MIN, PAIRED},
               {MPI_REPLACE, UCCS_REPLACE, 255},
               {MPI_NO_OP, UCCS_NO_OP, 255}};
    struct lmpi_op found;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const struct lmpi_type type = {.kind = types[i].kind, .unit = types[i].unit, .size = types[i].unit};
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
            const int good = (ops[k].groups & types[i].group) != 0, mixed = types[i].group == MANY;
            CHECK_EQ(lmpi_op_of(ops[k].op, &type, true, &found), good    ? MPI_SUCCESS
                                                                 : mixed ? MPI_ERR_TYPE
                                                                         : MPI_ERR_OP);
            CHECK_EQ(lmpi_op_of(ops[k].op, &type, false, &found), MPI_SUCCESS);
            CHECK_EQ(found.how, ops[k].how);
            CHECK_EQ(found.type, types[i].type);
            CHECK_EQ(found.unit, mixed ? 1 : types[i].unit);
            CHECK_EQ(found.is_copy, k >= 12 && (mixed || types[i].group == BYTES));
        }
        CHECK_EQ(lmpi_op_of(MPI_OP_NULL, &type, true, &found), MPI_ERR_OP);
        CHECK_EQ(lmpi_op_of(MPI_OP_NULL, &type, false, &found), MPI_ERR_OP);
        const size_t swaps = types[i].group & (INTEGER | LOGIC | BYTES | TEXTS) ? types[i].unit : 0;
        CHECK_EQ(lmpi_op_swaps(&type), swaps);
        const struct lmpi_type two = {.kind = types[i].kind, .unit = types[i].unit, .size = 2 * types[i].unit};
        CHECK_EQ(lmpi_op_swaps(&two), 0);
    }
    /* elements that the library's compiler does not know are bytes, which can only be copied */
    const struct lmpi_type strange = {.kind = LMPI_REAL_REAL, .unit = 32, .size = 32};
    CHECK_EQ(lmpi_op_of(MPI_REPLACE, &strange, true, &found), MPI_SUCCESS);
    CHECK(found.is_copy && found.type == UCCS_UINT8 && found.unit == 1);
    CHECK_EQ(lmpi_op_of(MPI_NO_OP, &strange, true, &found), MPI_SUCCESS);
    CHECK_EQ(lmpi_op_of(MPI_MAXLOC, &strange, true, &found), MPI_ERR_OP);
    CHECK_EQ(lmpi_op_of(MPI_MAXLOC, &strange, false, &found), MPI_SUCCESS);
    CHECK(lmpi_op_like_swap(8).type == UCCS_INT64 && lmpi_op_like_swap(4).type == UCCS_INT32);
    CHECK(lmpi_op_like_swap(2).type == UCCS_LONG_DOUBLE && lmpi_op_like_swap(2).unit == 2);
}

/* ---- requests ---- */

struct event {
    struct lmpi_pending pending;
    int number;
};
static bool happened[4];
static int looks, progresses, happens_late = -1;
static void (*watched)(void);

bool lmpi_progress_inside(void)
{
    return true;
}

void lmpi_progress_watch(void (*look)(void))
{
    watched = look;
}

void lmpi_progress(void)
{
    progresses++;
}

void lmpi_pause_slow(struct lmpi_wait *wait)
{
    (void)wait;
    if (happens_late >= 0)
        happened[happens_late] = true;
}

void uccs_waiting_end(int record)
{
    (void)record;
}

static bool look(const struct lmpi_pending *pending)
{
    looks++;
    return happened[((const struct event *)pending)->number];
}

static struct event *start(int number, const void *owner, bool cancels, MPI_Request *request)
{
    struct event *event = calloc(1, sizeof *event);
    event->number = number;
    event->pending.look = look;
    event->pending.owner = owner;
    event->pending.cancels = cancels;
    event->pending.status = MPI_SUCCESS;
    happened[number] = false;
    CHECK_EQ(lmpi_pending_start(&event->pending, request), 1);
    CHECK(event->pending.request == *request);
    return event;
}

static int tested(MPI_Request *request)
{
    int flag = -1;
    OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
    return flag;
}

/* Any order of starts and ends: the list keeps those that are left. */
static void requests(void)
{
    const int owners[2] = {0};
    MPI_Request request[4];
    MPI_Status status;
    int flag;
    CHECK_EQ(lmpi_pending_works(), 1);
    CHECK(watched == look_at_all);
    watched(); /* nothing to look at */
    for (int first = 0; first < 4; first++) {
        struct event *events[4];
        for (int i = 0; i < 4; i++)
            events[i] = start(i, owners, false, &request[i]);
        for (int k = 0; k < 4; k++) {
            const int now = (first + k * (first % 2 ? 1 : 3)) % 4;
            watched();
            CHECK_EQ(tested(&request[now]), 0);
            happened[now] = true;
            if (first < 2)
                watched();
            else
                CHECK_EQ(look_at(&events[now]->pending), 1);
            CHECK_EQ(tested(&request[now]), 1);
            CHECK(request[now] == MPI_REQUEST_NULL);
        }
        CHECK(list == 0);
    }
    struct event *event = start(0, owners, false, &request[0]);
    CHECK_EQ(look_at(&event->pending), 0);
    progresses = looks = 0;
    OK(poll(event, &status));
    CHECK_EQ(progresses, 1); /* MPICH would not move its messages */
    CHECK_EQ(looks, 2);
    happened[0] = true;
    OK(poll(event, &status));
    CHECK(progresses == 1 && looks == 3);
    CHECK_EQ(look_at(&event->pending), 1); /* it is gone already */
    CHECK_EQ(looks, 3);
    OK(MPI_Wait(&request[0], &status));
    void *both[] = {start(1, owners, false, &request[1]), start(2, owners, false, &request[2])};
    happened[1] = true;
    happens_late = 2;
    OK(wait_for(2, both, 0, &status));
    happens_late = -1;
    OK(MPI_Wait(&request[1], &status));
    OK(MPI_Wait(&request[2], &status));
    CHECK(list == 0);
    start(0, owners, false, &request[0]);
    happened[0] = true;
    OK(layer_get_status(request[0], &flag, &status));
    CHECK(flag == 1 && status_asked == 1 && list == 0);
    OK(MPI_Wait(&request[0], &status));
}

/* A window that goes ends its requests alone, with an error; a request is cancelled where it may be. */
static void endings(void)
{
    const int owners[2] = {0};
    MPI_Request request[4];
    MPI_Status status;
    int flag;
    for (int i = 0; i < 4; i++)
        start(i, &owners[i % 2], i == 0, &request[i]);
    lmpi_pending_end(&owners[1], MPI_ERR_WIN);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (int i = 1; i < 4; i += 2)
        CHECK_EQ(error_class(MPI_Wait(&request[i], &status)), MPI_ERR_WIN);
    CHECK_EQ(tested(&request[0]), 0);
    CHECK_EQ(tested(&request[2]), 0);
    OK(MPI_Cancel(&request[2])); /* which does nothing */
    watched();
    CHECK_EQ(tested(&request[2]), 0);
    OK(MPI_Cancel(&request[0]));
    watched();
    OK(MPI_Wait(&request[0], &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 1);
    happened[2] = true;
    watched();
    OK(MPI_Wait(&request[2], &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Get_elements(&status, MPI_BYTE, &flag));
    CHECK_EQ(flag, 0);
    CHECK(list == 0);
}

int main(void)
{
    check_start(MPI_THREAD_SINGLE);
    operations();
    requests();
    endings();
    environment();
    return check_pass();
}
