/* A small network of PEs for the contract suite of src/net/transport.h: several PEs in one process, each with a copy
 * of the transport's module of its own, since the state of a transport belongs to its module. A process that is forked may
 * hold further PEs; the addresses of all lie in memory that the processes share.
 *
 * The network numbers all messages, and checks of each that arrives: it is whole, it comes once, short ones come in the order of sending, a
 * long one does not come before those that were sent before it. After DONE or `finished` it overwrites header and data. A token ends once.
 *
 * Threads: everything of a worker belongs to the thread that drives it. */
#ifndef TEST_TRANSPORT_NET_H
#define TEST_TRANSPORT_NET_H

#include "net/transport.h"

#include <stdbool.h>
#include <stdint.h>

enum { NET_PES = 8, NET_WORKERS = 2, NET_ADDRESS = 2048, NET_LONGS = 4096 };

/* A slot that is under way: what tells of its end. */
struct net_op {
    bool pending;
    int ended, failed;
    void (*end)(struct net_op *op); /* may be null */
    struct net_worker *worker;
};

/* What one worker has sent to another, by the sender's count, and what has come, by the receiver's. */
struct net_pair {
    uint64_t shorts, longs;
    uint64_t got_shorts, got_longs;
    bool came[NET_LONGS];
};

struct net_kept; /* long data that nobody has fetched yet */

struct net_worker {
    int pe, number;
    void *at;
    void *to[NET_PES][NET_WORKERS]; /* connections; null: none yet */
    uint64_t random;
    uint32_t under_way; /* sends and receives */
    struct net_kept *kept;
    uint32_t late; /* percent of long messages that are fetched later */
    uint64_t broken[NET_PES];
    bool failed;                                                  /* a slot has reported a failure */
    void (*heard)(struct net_worker *worker, int pe, int number); /* a message has come from there; may be null */
};

struct net {
    const char *name, *list, *modules; /* of the case, of LATERAL_TRANSPORTS, of the folder with the modules */
    uint64_t seed;
    unsigned onesided; /* argument of open */
    int pes, workers;
    bool may_fail;                       /* calls may fail: then the worker's `failed` tells */
    const struct transport *at[NET_PES]; /* null: of another process */
    struct net_worker worker[NET_PES][NET_WORKERS];
    struct net_pair (*pairs)[NET_WORKERS][NET_PES][NET_WORKERS];
    struct net_shared {
        char address[NET_PES][NET_WORKERS][NET_ADDRESS];
        size_t bytes[NET_PES][NET_WORKERS]; /* 0: not there yet; release, acquire */
        uint32_t word[8];                   /* for the case's own use; release, acquire */
        unsigned char memory[64 << 10];
    } * shared;
};
extern struct net net;

void net_fail(const char *place, const char *condition, const char *text, ...)
    __attribute__((format(printf, 3, 4), noreturn));
#define NET_TEXT(line) #line
#define NET_PLACE(line) __FILE__ ":" NET_TEXT(line)
#define CHECK(condition, ...)                                       \
    do {                                                            \
        if (!(condition))                                           \
            net_fail(NET_PLACE(__LINE__), #condition, __VA_ARGS__); \
    } while (0)

uint64_t net_random(struct net_worker *worker);
static inline uint64_t net_below(struct net_worker *worker, uint64_t limit)
{
    return net_random(worker) % limit;
}
void net_fill(void *data, size_t bytes, uint64_t seed);
bool net_same(const void *data, size_t bytes, uint64_t seed);
void *net_alloc(size_t bytes);

/* Gives the network for tests of this name, if the list has it, a plan, or more of one. */
void net_plan(const char *wrapper, const char *plan, bool more);
/* Opens modules for PEs [first, first + count) of a job of so many, and publishes their addresses. Returns null, or a slot's reason. */
const char *net_open(int first, int count, int pes, int workers);
/* All PEs in this process, and no failure. */
void net_start(int pes, int workers);
/* Opens the PE of this process again after close. */
const char *net_reopen(int pe);
void net_close(int pe);

struct net_worker *net_worker(int pe, int number);
const struct transport *net_of(const struct net_worker *worker);
/* Returns the connection, made on first use; null when that fails, which may_fail allows. */
void *net_to(struct net_worker *from, int pe, int number);
/* Sends a numbered message of so many bytes of data; returns what send has. */
enum transport_status net_send(struct net_worker *from, int pe, int number, size_t bytes);
/* Starts and ends a slot's operation. */
struct net_op net_begin(struct net_worker *worker);
void net_judge(struct net_op *op, enum transport_status status);
void net_wait(struct net_op *op);

/* Progress of all workers of this process, in a random order. Returns 0 when nothing happened. */
int net_pump(void);
int net_progress(struct net_worker *worker);
/* Fetches one piece of long data that was left, if there is one. */
void net_fetch(struct net_worker *worker);
/* Until all that was sent between PEs of this process is there, fetched, and done. */
void net_settle(void);
bool net_settled(void);
#define NET_UNTIL(condition) \
    while (!(condition))     \
    net_idle(net_pump())
void net_idle(int happened);

/* Cases: a function for each, in the files of this folder. */
struct net_case {
    const char *name;
    void (*run)(void);
    const char *only; /* a transport that must be in the list of the row, or what the row must claim; or null */
};
extern const struct net_case cases_messages[], cases_connect[], cases_sleep[], cases_loss[], cases_onesided[],
    cases_schedule[], cases_switches[], cases_tcp[];
/* What the row claims, such as "onesided". */
bool net_claims(const char *what);

#endif
