/* What a thread does that waits or tests: it calls pollers, runs errands and advances work, each by its rules; and the numbers that tell
 * whether any of it is due. One process of a made-up node, which nobody else uses. */
#include "uccs/core/bell.h"
#include "uccs/core/due.h"
#include "uccs/core/errand.h"
#include "uccs/core/look.h"
#include "uccs/core/poll.h"
#include "uccs/core/poller.h"
#include "uccs/core/turn.h"
#include "uccs/core/work.h"

#include "unit/check.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <uccs.h>

struct uccs_core uccs_core;
bool uccs_progress_on;
_Thread_local bool uccs_progress_me;

static int rings, begins, ends, yields;
static void (*at_yield)(void);

void uccs_bell_ring(struct uccs_own *own)
{
    CHECK(own == uccs_own_mine());
    rings++;
}

void uccs_bell_work_begins(void)
{
    begins++;
}

void uccs_bell_work_ends(void)
{
    ends++;
}

static int yield_now(void)
{
    yields++;
    if (at_yield)
        at_yield();
    return 0;
}

#define sched_yield yield_now
#define writers poll_writers
#include "uccs/core/poll.c"
#undef writers
#include "uccs/core/due.c"
#include "uccs/core/errand.c"
#include "uccs/core/look.c"
#include "uccs/core/own.c"
#include "uccs/core/poller.c"
#include "uccs/core/work.c"

/* --- Pollers of the library */

static int polled[4], finds[4];

#define POLL(i)              \
    static int poll##i(void) \
    {                        \
        polled[i]++;         \
        return finds[i];     \
    }
POLL(0)
POLL(1)
POLL(2)

static bool due_are(uint32_t due, uint32_t endless, uint32_t idle)
{
    return uccs_due == due && uccs_due_endless == endless && uccs_due_idle == idle;
}

static bool polled_are(int zero, int one, int two)
{
    const bool are = polled[0] == zero && polled[1] == one && polled[2] == two;
    memset(polled, 0, sizeof polled);
    return are;
}

static void library_pollers(void)
{
    CHECK(due_are(0, 0, 0) && uccs_poll(UCCS_POLL_ALWAYS) == 0 && !uccs_due_ends());
    uccs_core_poll_add(poll0, UCCS_POLL_ALWAYS);
    CHECK(due_are(1, 1, 0) && !uccs_due_ends());
    uccs_core_poll_add(poll1, UCCS_POLL_ALWAYS);
    uccs_core_poll_add(poll2, UCCS_POLL_ALWAYS); /* there is no room for it */
    CHECK(due_are(2, 2, 0));
    uccs_core_poll_add(poll2, UCCS_POLL_IDLE);
    CHECK(due_are(2, 2, 1));
    CHECK(uccs_poll(UCCS_POLL_ALWAYS) == 0 && polled_are(1, 1, 0) && uccs_poll(UCCS_POLL_IDLE) == 0 &&
          polled_are(0, 0, 1));
    finds[0] = 4;
    CHECK(uccs_poll(UCCS_POLL_ALWAYS) == 4 && polled_are(1, 1, 0));
    finds[1] = 2;
    CHECK(uccs_poll(UCCS_POLL_ALWAYS) == 6 && uccs_poll(UCCS_POLL_IDLE) == 0 && polled_are(1, 1, 1));
    uccs_core_poll_remove(poll0);
    CHECK(due_are(1, 1, 1) && uccs_poll(UCCS_POLL_ALWAYS) == 2 && polled_are(0, 1, 0));
    uccs_core_poll_remove(poll0); /* it is not there */
    CHECK(due_are(1, 1, 1));
    uccs_core_poll_add(poll1, UCCS_POLL_IDLE);
    CHECK(due_are(1, 1, 2) && uccs_poll(UCCS_POLL_IDLE) == 2);
    uccs_core_poll_remove(poll1); /* of both kinds */
    uccs_core_poll_remove(poll2);
    CHECK(due_are(0, 0, 0));
    memset(polled, 0, sizeof polled);
    CHECK(uccs_poll(UCCS_POLL_ALWAYS) == 0 && uccs_poll(UCCS_POLL_IDLE) == 0 && polled_are(0, 0, 0));
}

/* --- Pollers of the program */

static struct mine {
    int calls, finds, inner;
    bool leaves;
} mine[3];

static int count_a(void *argument)
{
    struct mine *me = argument;
    me->calls++;
    me->inner += uccs_pollers(); /* none inside one */
    if (me->leaves)
        CHECK(uccs_poller_remove(count_a, me) == UCCS_OK);
    return me->finds;
}

static int count_b(void *argument)
{
    ((struct mine *)argument)->calls += 100;
    return 0;
}

static bool calls_are(int zero, int one, int two)
{
    const bool are = mine[0].calls == zero && mine[1].calls == one && mine[2].calls == two;
    for (int i = 0; i < 3; i++)
        mine[i].calls = 0;
    return are;
}

static void program_pollers(void)
{
    CHECK(uccs_pollers() == 0 && uccs_poller_add(0, 0) == UCCS_ERR_INVALID &&
          uccs_poller_remove(0, 0) == UCCS_ERR_INVALID);
    CHECK(uccs_poller_remove(count_a, &mine[0]) == UCCS_ERR_INVALID && uccs_pollers_there == 0 && due_are(0, 0, 0));
    CHECK(uccs_poller_add(count_a, &mine[0]) == UCCS_OK && uccs_pollers_there == 1 && due_are(0, 0, 1));
    CHECK(uccs_poller_add(count_a, &mine[0]) == UCCS_ERR_INVALID && uccs_pollers_there == 1);
    CHECK(uccs_pollers() == 0 && calls_are(1, 0, 0));
    CHECK(uccs_poller_add(count_a, &mine[1]) == UCCS_OK && uccs_poller_add(count_b, &mine[0]) == UCCS_OK);
    CHECK(uccs_pollers() == 0 && calls_are(101, 1, 0) && uccs_pollers_there == 3 && due_are(0, 0, 3));
    mine[1].finds = 8;
    mine[0].finds = 1;
    CHECK(uccs_pollers() == 9 && calls_are(101, 1, 0) && mine[0].inner == 0 && mine[1].inner == 0);
    uccs_pollers_barred++;
    CHECK(uccs_pollers() == 0 && calls_are(0, 0, 0));
    uccs_pollers_barred--;
    CHECK(uccs_pollers() == 9 && uccs_pollers_barred == 0 && calls_are(101, 1, 0));
    CHECK(uccs_poller_remove(count_b, &mine[1]) == UCCS_ERR_INVALID && uccs_pollers_there == 3);
    CHECK(uccs_poller_remove(count_a, &mine[0]) == UCCS_OK && uccs_pollers_there == 2 && due_are(0, 0, 2));
    CHECK(uccs_poller_remove(count_a, &mine[0]) == UCCS_ERR_INVALID);
    CHECK(uccs_pollers() == 8 && calls_are(100, 1, 0));
    mine[1].leaves = true; /* it waits for the other threads alone */
    CHECK(uccs_pollers() == 8 && calls_are(100, 1, 0) && uccs_pollers_there == 1);
    mine[1].leaves = false;
    CHECK(uccs_pollers() == 0 && calls_are(100, 0, 0));
    CHECK(uccs_poller_add(count_a, &mine[1]) == UCCS_OK && uccs_pollers() == 8 && calls_are(100, 1, 0)); /* again */
    CHECK(uccs_poller_remove(count_a, &mine[1]) == UCCS_OK && uccs_poller_remove(count_b, &mine[0]) == UCCS_OK);
    CHECK(uccs_pollers_there == 0 && due_are(0, 0, 0));
}

static void full_table(void)
{
    static char arguments[UCCS_PROGRAM_POLLERS + 1];
    for (int i = 0; i < UCCS_PROGRAM_POLLERS; i++)
        CHECK(uccs_poller_add(count_b, &arguments[i]) == UCCS_OK);
    CHECK(uccs_poller_add(count_b, &arguments[UCCS_PROGRAM_POLLERS]) == UCCS_ERR_NO_MEMORY);
    CHECK(uccs_pollers_there == UCCS_PROGRAM_POLLERS && due_are(0, 0, UCCS_PROGRAM_POLLERS));
    for (int i = 0; i < UCCS_PROGRAM_POLLERS; i++)
        CHECK(uccs_poller_remove(count_b, &arguments[i]) == UCCS_OK);
    CHECK(uccs_pollers_there == 0);
}

/* The poller's thread has left it when the removal returns. */
static void leave_poller(void)
{
    if (yields == 3)
        atomic_fetch_sub_acqrel(&made->inside, 1);
}

static void awaited_removal(void)
{
    CHECK(uccs_poller_add(count_a, &mine[2]) == UCCS_OK);
    made->inside = 1; /* another thread, as it were */
    CHECK(made->argument == &mine[2]);
    yields = 0;
    at_yield = leave_poller;
    CHECK(uccs_poller_remove(count_a, &mine[2]) == UCCS_OK && yields == 3 && made->inside == 0);
    at_yield = 0;
    CHECK(uccs_poller_add(count_a, &mine[2]) == UCCS_OK && uccs_poller_remove(count_a, &mine[2]) == UCCS_OK &&
          yields == 3);
}

/* --- Errands */

static struct uccs_errand errands[4];
static char ran[8];
static int inner_errands;

static void run_errand(struct uccs_errand *errand)
{
    ran[strlen(ran)] = (char)('0' + (errand - errands));
    if (errand == &errands[1])
        uccs_errand_leave(&errands[3]);
    inner_errands += uccs_errands_run();
}

static void errands_in_order(void)
{
    CHECK(uccs_errands_run() == 0);
    for (int i = 0; i < 3; i++) {
        errands[i].run = run_errand;
        uccs_errand_leave(&errands[i]);
        CHECK(uccs_due == (uint32_t)i + 1 && uccs_due_ends());
    }
    errands[3].run = run_errand;
    CHECK(uccs_errands_run() == 3 && strcmp(ran, "012") == 0 && uccs_due == 1 && inner_errands == 0);
    CHECK(uccs_look() == 1 && strcmp(ran, "0123") == 0 && uccs_due == 0 && !uccs_due_ends());
    CHECK(uccs_look() == 0 && uccs_errands == 0);
}

/* --- Work */

static struct piece {
    struct uccs_work work;
    int advances, labours, after; /* after: it is finished at this advance */
    int labour_at;                /* the advance that asks for labour; 0: none */
    bool wants_again;
    char name;
} pieces[4];
static char order[64];

static void labour(struct uccs_work *work)
{
    struct piece *piece = (struct piece *)work;
    CHECK(work->busy && work->labour == 0 && uccs_pollers_barred);
    CHECK(pthread_mutex_trylock(&list) == 0); /* it is free meanwhile */
    pthread_mutex_unlock(&list);
    piece->labours++;
    order[strlen(order)] = (char)(piece->name - 'a' + 'A');
}

static bool advance(struct uccs_work *work)
{
    struct piece *piece = (struct piece *)work;
    CHECK(!work->busy && pthread_mutex_trylock(&list) != 0 && uccs_pollers_barred);
    order[strlen(order)] = piece->name;
    work->again = piece->wants_again;
    if (++piece->advances == piece->labour_at)
        work->labour = labour;
    return piece->advances == piece->after;
}

static bool tell(const struct uccs_work *work, const struct uccs_request *request, struct uccs_told *told)
{
    const struct piece *piece = (const struct piece *)work;
    told->value = (uint64_t)piece->name;
    return (const void *)request == (const void *)piece;
}

static bool order_is(const char *wanted)
{
    const bool is = strcmp(order, wanted) == 0;
    if (!is)
        fprintf(stderr, "%s, not %s\n", order, wanted);
    memset(order, 0, sizeof order);
    return is;
}

static void add_piece(int i, int after, int labour_at)
{
    pieces[i] = (struct piece){.work = {.advance = advance, .tell = tell, .labour = labour, .busy = true},
                               .after = after,
                               .labour_at = labour_at,
                               .name = (char)('a' + i)};
    uccs_work_add(&pieces[i].work);
}

static void work_in_order(void)
{
    const uint64_t before = uccs_work_polls();
    uccs_work_advance();
    CHECK(order_is("") && uccs_work_polls() == before + 1 && uccs_work_serve() == UCCS_SERVED_NOTHING);
    add_piece(0, 2, 0);
    add_piece(1, 1, 0);
    add_piece(2, 3, 0);
    CHECK(order_is("") && uccs_due == 3 && rings == 0 && begins == 0);
    uccs_work_advance();
    CHECK(order_is("abc") && uccs_due == 2 && uccs_pollers_barred == 0);
    add_piece(3, 1, 0); /* behind the last one */
    uccs_work_advance();
    CHECK(order_is("acd") && uccs_due == 1);
    add_piece(1, 1, 0);
    CHECK(uccs_look() == 0 && order_is("cb") && uccs_due == 0);
    add_piece(0, 1, 0); /* when all are gone */
    CHECK(uccs_look() == 0 && order_is("a") && uccs_due == 0 && uccs_look() == 0 && order_is(""));
    CHECK(uccs_work_polls() == before + 5);
}

static void labours(void)
{
    add_piece(0, 2, 1);
    add_piece(1, 9, 0);
    uccs_work_advance(); /* after the labour the walk begins anew */
    CHECK(order_is("aAab") && uccs_due == 1 && pieces[0].labours == 1);
    pieces[1].labour_at = 2;
    CHECK(uccs_work_serve() == UCCS_SERVED_SOME && order_is("bBb") && uccs_due == 1);
    CHECK(uccs_work_serve() == UCCS_SERVED_NOTHING && order_is("b"));
    pieces[1].wants_again = true;
    CHECK(uccs_work_serve() == UCCS_SERVED_LATER && order_is("b"));
    pieces[1].after = 6;
    CHECK(uccs_work_serve() == UCCS_SERVED_SOME && order_is("b") && uccs_due == 0);
    CHECK(uccs_work_serve() == UCCS_SERVED_NOTHING && order_is(""));
    add_piece(0, 9, 0);
    add_piece(1, 1, 0);
    pieces[0].work.busy = true; /* another thread runs its labour */
    uccs_work_advance();
    CHECK(order_is("b") && uccs_due == 1);
    pieces[0].work.busy = false;
    pieces[0].after = 1;
    uccs_work_advance();
    CHECK(order_is("a") && uccs_due == 0);
    add_piece(0, 1, 0);
    CHECK(pthread_mutex_lock(&list) == 0); /* another thread advances */
    uccs_work_advance();
    CHECK(order_is(""));
    pthread_mutex_unlock(&list);
    uccs_work_advance();
    CHECK(order_is("a") && uccs_due == 0);
}

static void told_work(void)
{
    struct uccs_told told = {0};
    const void *of[] = {&pieces[0], &pieces[1], &pieces[2]};
    CHECK(!uccs_work_tell(of[0], &told));
    add_piece(0, 1, 0);
    add_piece(1, 1, 0);
    pieces[0].work.tell = 0;
    CHECK(!uccs_work_tell(of[0], &told) && uccs_work_tell(of[1], &told) && told.value == 'b');
    pieces[0].work.tell = tell;
    CHECK(uccs_work_tell(of[0], &told) && told.value == 'a' && !uccs_work_tell(of[2], &told));
    pthread_mutex_lock(&list);
    CHECK(!uccs_work_tell(of[0], &told));
    pthread_mutex_unlock(&list);
    CHECK(uccs_work_tell(of[1], &told));
    uccs_work_advance();
    CHECK(order_is("ab") && !uccs_work_tell(of[0], &told));
}

/* With a progress thread, which sleeps until others post: what is added is advanced once, and the thread is woken for the rest. */
static void with_thread(void)
{
    struct uccs_own *own = uccs_own_mine();
    uccs_progress_on = true;
    own->asleep = 1;
    add_piece(0, 2, 0);
    CHECK(order_is("a") && begins == 1 && ends == 0 && rings == 0);
    add_piece(1, 1, 0);
    CHECK(order_is("ab") && begins == 1 && ends == 1 && rings == 0 && uccs_due == 0); /* nothing is left */
    add_piece(0, 9, 1);
    CHECK(order_is("a") && begins == 2 && rings == 1 && pieces[0].labours == 0); /* the labour is the thread's */
    pieces[0].labour_at = 0;
    pieces[1] = (struct piece){.work = {.advance = advance}, .after = 9, .wants_again = true, .name = 'b'};
    uccs_work_add(&pieces[1].work);
    CHECK(order_is("ab") && rings == 2 && begins == 2);
    pieces[1].wants_again = false;
    add_piece(2, 9, 0);
    CHECK(order_is("abc") && rings == 2);
    own->asleep = 0;
    pieces[1].wants_again = true;
    add_piece(3, 9, 0);
    CHECK(order_is("abcd") && rings == 2 && ends == 1); /* it does not sleep */
    for (int i = 0; i < 4; i++)
        pieces[i].after = pieces[i].advances + 1;
    CHECK(uccs_work_serve() == UCCS_SERVED_SOME && order_is("abcd") && ends == 2 && uccs_due == 0);
    uccs_work_advance();
    CHECK(ends == 2);
    uccs_progress_on = false;
}

/* A look calls what is there at every look, then errands, then advances work. */
static int look_poll(void)
{
    order[strlen(order)] = 'p';
    return finds[3];
}

static void whole_look(void)
{
    uccs_core_poll_add(look_poll, UCCS_POLL_ALWAYS);
    CHECK(uccs_look() == 0 && order_is("p"));
    add_piece(0, 2, 0);
    CHECK(uccs_look() == 0 && order_is("pa"));
    finds[3] = 1;
    memset(ran, 0, sizeof ran);
    uccs_errand_leave(&errands[0]);
    CHECK((uccs_look() & 1) == 1 && order_is("pa") && strcmp(ran, "0") == 0 && due_are(1, 1, 0));
    uccs_core_poll_remove(look_poll);
    CHECK(uccs_look() == 0 && order_is(""));
}

/* --- Rings that are opened when they are needed */

static void open_it(void)
{
    if (yields == 2)
        uccs_own_of(0)->open[7] = OWN_OPEN;
}

static void rings_open(void)
{
    struct uccs_own *own = uccs_own_of(0);
    CHECK(own->open[5] == OWN_SHUT);
    uccs_own_open(0, 5);
    CHECK(own->open[5] == OWN_OPEN);
    for (uint32_t which = 0; which < OWN_RINGS; which++) {
        struct ring *ring = uccs_own_ring(0, 5, which);
        CHECK(ring->cells == OWN_RING_CELLS && ring->cell_bytes == OWN_CELL_BYTES);
        ring->tail = 9;
    }
    CHECK(uccs_own_ring(0, 6, 0)->cells == 0 && uccs_own_ring(0, 4, OWN_RINGS - 1)->cells == 0);
    CHECK(own->open[6] == OWN_SHUT && own->open[4] == OWN_SHUT);
    uccs_own_open(0, 5); /* once */
    CHECK(uccs_own_ring(0, 5, 0)->tail == 9);
    own->open[7] = OWN_OPENING; /* by another process */
    yields = 0;
    at_yield = open_it;
    uccs_own_open(0, 7);
    CHECK(yields == 2 && own->open[7] == OWN_OPEN && uccs_own_ring(0, 7, 0)->cells == 0);
    at_yield = 0;
    CHECK(uccs_own_of(1) == (void *)(uccs_core.own + NODE_OWN_BYTES) && uccs_own_mine() == own);
}

/* Sets far from each other have turns of their own, mostly. */
static void turns_of_sets(void)
{
    const uintptr_t base = 0x1000;
    size_t *first_turn = uccs_turn_of((void *)base);
    int others = 0, high = 0;
    CHECK(uccs_turn_of((void *)base) == first_turn && *first_turn == 0);
    for (uintptr_t i = 1; i <= 64; i++) {
        others += uccs_turn_of((void *)(base + 8 * i)) != first_turn;
        high += uccs_turn_of((void *)(base + (i << 32))) != first_turn;
    }
    CHECK(others > 32 && others <= 64 && high > 32 && high <= 64);
}

int main(void)
{
    uccs_core.own =
        mmap(0, 2 * (size_t)NODE_OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(uccs_core.own != MAP_FAILED);
    library_pollers();
    program_pollers();
    full_table();
    awaited_removal();
    errands_in_order();
    work_in_order();
    labours();
    told_work();
    with_thread();
    whole_look();
    rings_open();
    turns_of_sets();
    return 0;
}
