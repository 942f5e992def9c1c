/* Checks every row of the table "Who is in progress" of docs/internals/uccs.md. PE 0 runs the handlers. PE 1 sends, and reads
 * the counts of PE 0 by loads only. Each handler of PE 0 tells whether a thread of the program or one of the library runs it.
 * pes: 2
 * timeout: 120
 * case: poll
 * env: LATERAL_PROGRESS=poll
 * case: thread
 * env: LATERAL_PROGRESS=thread
 */
#include "../conform/check.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <uccs.h>
#include <unistd.h>

#define OK(call) CHECK_EQ((call), UCCS_OK)

/* Handlers. The requests of the ASK kinds are replied to by STUCK (network), those of the QUESTION kinds in kind. */
enum {
    NETWORK = 1,
    USER,
    ASK_NETWORK,
    ASK_USER,
    STUCK,
    LATE,
    QUESTION_NETWORK,
    QUESTION_USER,
    ANSWER_NETWORK,
    ANSWER_USER,
    NOTHING
};
enum who { LIBRARY, MAIN, SECOND, KINDS }; /* a thread that nobody named is the library's */
enum { RING = 1024, MORE = 40 };           /* cells of a ring; asked for beyond them */

static _Thread_local enum who who;
static _Thread_local bool replying; /* inside a handler that waits for room */
static uccs_context_t context;
static uccs_endpoint_t peer;
static uccs_counter_t counter;
static bool helped; /* there is a progress thread */

/* At PE 0; PE 1 reads them from afar. */
static long ran[2][KINDS], answers[2][KINDS];   /* by class */
static long nested_requests, nested_answers[2]; /* of these, inside a handler that replies */
static long asked, replied, parked, ready, flag, stuck;

static long load(long *word)
{
    return shmem_long_atomic_fetch(word, me);
}

static long far(long *word)
{
    return shmem_long_atomic_fetch(word, 0);
}

static long far_sum(long *row)
{
    return far(&row[LIBRARY]) + far(&row[MAIN]) + far(&row[SECOND]);
}

/* At PE 1, without progress: until PE 0 has so many. */
static void far_until(long *row, long value)
{
    while (far_sum(row) < value)
        usleep(100);
    CHECK_EQ(far_sum(row), value);
}

static void far_reaches(long *word, long value)
{
    while (far(word) < value)
        usleep(100);
}

static void tell(long *word)
{
    shmem_long_atomic_inc(word, me);
}

static void run(uccs_am_token_t token, const void *data, size_t length, void *row)
{
    (void)token, (void)data, (void)length;
    if (replying)
        tell(&nested_requests);
    tell(&((long *)row)[who]);
}

static void answer(uccs_am_token_t token, const void *data, size_t length, void *row)
{
    (void)token, (void)data, (void)length;
    if (replying)
        tell(&nested_answers[row == answers[1]]);
    tell(&((long *)row)[who]);
}

static void ask(uccs_am_token_t token, const void *data, size_t length, void *argument)
{
    (void)argument;
    CHECK(!replying);
    tell(&asked);
    replying = true;
    OK(uccs_am_reply(token, STUCK, UCCS_AM_NETWORK_PROTOCOL, data, length));
    replying = false;
    tell(&replied);
}

static void question(uccs_am_token_t token, const void *data, size_t length, void *user)
{
    enum uccs_am_class cls = user ? UCCS_AM_USER : UCCS_AM_NETWORK_PROTOCOL;
    OK(uccs_am_reply(token, user ? ANSWER_USER : ANSWER_NETWORK, cls, data, length));
}

static void count(uccs_am_token_t token, const void *data, size_t length, void *word)
{
    (void)token, (void)data, (void)length;
    if (word)
        tell(word);
}

static void clear(void)
{
    shmem_barrier_all();
    memset(ran, 0, sizeof ran);
    memset(answers, 0, sizeof answers);
    nested_requests = nested_answers[0] = nested_answers[1] = 0;
    asked = replied = parked = ready = flag = stuck = 0;
    shmem_barrier_all();
}

/* PE 1 sends nothing before PE 0 has left the wait before this. */
static void get_ready(void)
{
    if (me == 0)
        tell(&ready);
    else
        far_reaches(&ready, 1);
}

static void send(int id, enum uccs_am_class cls)
{
    OK(uccs_am_short(context, peer, id, cls, 0, 0, 0));
}

static void send_both(int times)
{
    for (int i = 0; i < times; i++) {
        send(USER, UCCS_AM_USER);
        send(NETWORK, UCCS_AM_NETWORK_PROTOCOL);
    }
}

/* At PE 0: all have run, users' on threads of the program alone; the network class may have been helped. */
static void check_ran(long times, enum who where)
{
    CHECK_EQ(load(&ran[1][LIBRARY]), 0);
    CHECK_EQ(load(&ran[1][where]), times);
    CHECK_EQ(load(&ran[0][where]) + load(&ran[0][LIBRARY]), times);
    if (!helped)
        CHECK_EQ(load(&ran[0][LIBRARY]), 0);
}

/* --- Row 1: uccs_progress and every wait of uccs.h run both classes */

/* Every way to be in progress, ended by PE 1 once both classes have run (it would wait for ever else). */
enum wait { PROGRESS, TEST, WAIT, WAIT_ALL, WAIT_ANY, WAIT_SOME, COUNTER, CONSUME, FLUSH, BARRIER, ROOM, WAITS };

static void wait_for(enum wait how)
{
    uccs_request_t desc = UCCS_REQUEST_NULL;
    size_t index, some[1];
    if (how >= TEST && how <= WAIT_SOME)
        OK(uccs_barrier_nb(UCCS_GROUP_WORLD, &desc));
    switch (how) {
    case PROGRESS:
        while (!load(&flag))
            uccs_progress();
        break;
    case TEST:
        while (uccs_test(&desc) == UCCS_IN_PROGRESS)
            ;
        break;
    case WAIT: OK(uccs_wait(&desc)); break;
    case WAIT_ALL: OK(uccs_wait_all(&desc, 1)); break;
    case WAIT_ANY: OK(uccs_wait_any(&desc, 1, &index)); break;
    case WAIT_SOME: OK(uccs_wait_some(&desc, 1, &index, some)); break;
    case COUNTER: OK(uccs_counter_wait(counter, 1)); break;
    case CONSUME: OK(uccs_counter_consume(counter, 1)); break;
    case FLUSH:
        send(LATE, UCCS_AM_USER);
        OK(uccs_flush(context));
        break;
    case ROOM: /* PE 1 takes none of them meanwhile */
        for (int i = 0; i < RING + MORE; i++)
            send(USER, UCCS_AM_USER);
        break;
    default: OK(uccs_barrier(UCCS_GROUP_WORLD));
    }
    OK(uccs_request_release(&desc));
}

static void let_go(enum wait how)
{
    if (how == PROGRESS)
        shmem_long_p(&flag, 1, 0);
    else if (how == COUNTER || how == CONSUME)
        OK(uccs_am_short(context, peer, NOTHING, UCCS_AM_NETWORK_PROTOCOL, 0, 0,
                         &(struct uccs_op){.counter = counter}));
    else if (how == FLUSH)
        OK(uccs_am_register(context, LATE, UCCS_AM_USER, count, &stuck));
    else if (how != ROOM)
        OK(uccs_barrier(UCCS_GROUP_WORLD));
}

static void test_wait(enum wait how)
{
    clear();
    get_ready();
    if (me == 0) {
        wait_for(how);
        check_ran(5, MAIN);
    } else {
        send_both(5);
        far_until(ran[1], 5);
        far_until(ran[0], 5);
        let_go(how);
    }
    if (how == COUNTER && me == 0)
        OK(uccs_counter_consume(counter, 1));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
}

/* --- Row 2: waits of OpenSHMEM run the network class */

static void test_shmem(bool barrier)
{
    clear();
    get_ready();
    if (me == 0) {
        if (barrier)
            shmem_barrier_all();
        else
            shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
        CHECK_EQ(load(&ran[1][MAIN]) + load(&ran[1][LIBRARY]), 0);
        CHECK_EQ(load(&ran[0][MAIN]) + load(&ran[0][LIBRARY]), 5);
        while (load(&ran[1][MAIN]) < 5)
            uccs_progress();
        check_ran(5, MAIN);
    } else {
        send_both(5);
        far_until(ran[0], 5);
        CHECK_EQ(far_sum(ran[1]), 0);
        if (barrier)
            shmem_barrier_all();
        else
            shmem_long_p(&flag, 1, 0);
    }
}

/* --- Row 3: the progress thread runs the network class; users' wait for a thread of the program */

static void *second(void *unused)
{
    who = SECOND;
    while (load(&ran[1][SECOND]) < 50)
        uccs_progress();
    return unused;
}

static void test_helper(void)
{
    pthread_t thread;
    clear();
    get_ready();
    if (me == 1) {
        send_both(50);
        if (helped)
            far_until(ran[0], 50);
        else
            usleep(20000); /* nobody is there to run them */
        CHECK_EQ(far_sum(ran[1]), 0);
        shmem_long_p(&flag, 1, 0);
        far_until(ran[1], 50);
        return;
    }
    while (!load(&flag)) /* not in progress */
        usleep(100);
    CHECK_EQ(load(&ran[0][LIBRARY]), helped ? 50 : 0);
    CHECK_EQ(load(&ran[0][MAIN]), 0);
    CHECK(pthread_create(&thread, 0, second, 0) == 0);
    pthread_join(thread, 0);
    while (load(&ran[0][LIBRARY]) + load(&ran[0][SECOND]) < 50)
        uccs_progress();
    check_ran(50, SECOND);
    CHECK_EQ(load(&ran[1][MAIN]), 0);
}

/* --- Row 4: a handler whose reply finds no room runs handlers of replies, of the classes that its thread may run */

/* PE 1 has not registered STUCK, so its ring of replies of the network class fills, and PE 0's handlers stop in theirs.
 * The first reply is parked, and from then on PE 1 takes none of them; then PE 0 asks its questions, which PE 1 answers only
 * when PE 0 is stuck. */
static void ask_too_much(bool users)
{
    int id = users ? ASK_USER : ASK_NETWORK;
    enum uccs_am_class cls = users ? UCCS_AM_USER : UCCS_AM_NETWORK_PROTOCOL;
    send(id, cls);
    far_reaches(&replied, 1);
    usleep(20000);
    uccs_progress();
    shmem_long_p(&parked, 1, 0);
    far_reaches(&ready, 2);
    for (long i = 2; i <= RING + 1; i++) {
        send(id, cls);
        if (i % 256 == 0) /* my own sending must not wait for room, which would be progress */
            far_reaches(&replied, i);
    }
    far_reaches(&replied, RING + 1);
    for (int i = 0; i < MORE; i++)
        send(id, cls);
    far_reaches(&asked, RING + 2);
}

static void answer_meanwhile(bool users)
{
    ask_too_much(users);
    send_both(1);
    while (far_sum(answers[0]) < 1 || (users && far_sum(answers[1]) < 1))
        uccs_progress(); /* PE 0's questions */
    for (int i = 0; i < 1000; i++)
        uccs_progress();
    CHECK(far(&replied) < RING + 1 + MORE);
    CHECK_EQ(far_sum(ran[1]), 0);
    CHECK_EQ(far_sum(answers[1]), users);
    OK(uccs_am_register(context, STUCK, UCCS_AM_NETWORK_PROTOCOL, count, &stuck));
    while (load(&stuck) < RING + 1 + MORE)
        uccs_progress();
    shmem_long_p(&flag, 1, 0);
}

static void ask_and_reply(bool users)
{
    while (!load(&parked))
        uccs_progress();
    send(QUESTION_NETWORK, UCCS_AM_NETWORK_PROTOCOL);
    send(QUESTION_USER, UCCS_AM_USER);
    tell(&ready);
    while (users && !load(&flag))
        uccs_progress();
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    while (load(&replied) < RING + 1 + MORE) /* the progress thread may still be inside of the last handler */
        usleep(100);
    CHECK_EQ(load(&replied), RING + 1 + MORE);
    CHECK_EQ(load(&nested_requests), 0);
    CHECK_EQ(load(&nested_answers[1]), users);
    if (!helped) /* else the progress thread may have been the one */
        CHECK_EQ(load(&nested_answers[0]), 1);
}

static void test_reply(bool users)
{
    clear();
    get_ready();
    if (me == 0)
        ask_and_reply(users);
    else
        answer_meanwhile(users);
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    while (me == 0 && load(&ran[1][MAIN]) + load(&answers[1][MAIN]) < 2)
        uccs_progress();
    CHECK_EQ(load(&ran[1][LIBRARY]) + load(&answers[1][LIBRARY]), 0);
}

static void open_context(uint32_t id)
{
    OK(uccs_context_create(&(struct uccs_context_attr){.id = id}, &context));
    OK(uccs_endpoint_create(context, UCCS_GROUP_WORLD, 1 - me, &peer));
    OK(uccs_am_register(context, NETWORK, UCCS_AM_NETWORK_PROTOCOL, run, ran[0]));
    OK(uccs_am_register(context, USER, UCCS_AM_USER, run, ran[1]));
    OK(uccs_am_register(context, ASK_NETWORK, UCCS_AM_NETWORK_PROTOCOL, ask, 0));
    OK(uccs_am_register(context, ASK_USER, UCCS_AM_USER, ask, 0));
    OK(uccs_am_register(context, QUESTION_NETWORK, UCCS_AM_NETWORK_PROTOCOL, question, 0));
    OK(uccs_am_register(context, QUESTION_USER, UCCS_AM_USER, question, &flag));
    OK(uccs_am_register(context, NOTHING, UCCS_AM_NETWORK_PROTOCOL, count, 0));
    OK(uccs_am_register(context, ANSWER_NETWORK, UCCS_AM_NETWORK_PROTOCOL, answer, answers[0]));
    OK(uccs_am_register(context, ANSWER_USER, UCCS_AM_USER, answer, answers[1]));
}

int main(void)
{
    const char *how = getenv("LATERAL_PROGRESS");
    int provided;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    check_who();
    OK(uccs_init());
    helped = how && strcmp(how, "thread") == 0;
    who = MAIN;
    OK(uccs_counter_open(&counter));
    open_context(1);
    for (enum wait way = PROGRESS; way < WAITS; way++)
        test_wait(way);
    test_shmem(false);
    test_shmem(true);
    test_helper();
    for (int users = 0; users < 2; users++) {
        OK(uccs_context_destroy(context));
        open_context(2 + (uint32_t)users);
        test_reply(users);
    }
    OK(uccs_context_destroy(context));
    OK(uccs_counter_shut(counter));
    OK(uccs_finalize());
    return check_pass();
}
