/* The head of a node's shared memory: the layout that the launcher and the PEs of one node agree on.
 *
 * The launcher (or a process started without one) makes an anonymous file, sizes it with node_fixed_size, formats it
 * with node_format, seals it against shrinking, and lets PE r inherit it (src/rte/start.c). All other
 * parts of the node's memory follow the head.
 *
 *   struct node | struct node_pe x size | group area (src/uccs/team/row.h) | counters (src/uccs/comp/counter.h)
 *   | what PEs offer to messages (src/uccs/core/pe_shared.h) | cards (exchange.c) | nodes of the job (nodes.c)
 *   | waits that last (wait_record.c) | crashes (crash.c) | places of all PEs, where nodes are scattered (nodes.c)
 *   | globals of PEs that oshrun has started (src/uccs/core/globals.c)
 *
 * Under another launcher, the PEs that meet on a machine (node_bootstrap.c) make the file themselves and pass it on over a socket.
 * A launcher may have dealt the PEs out to machines in turn. Then the node is *scattered*: the numbers of its PEs grow
 * with the index, but not by one.
 *
 * Threads and processes: the comment of a field names the one that writes it. Words that several processes write are
 * atomic and lie on lines of their own. */
#ifndef RTE_NODE_H
#define RTE_NODE_H

#include "base/atomic.h"

#include <stddef.h>
#include <stdint.h>

#define NODE_MAGIC 0x4c61746572616c48ull /* "LateralH"; change it with the layout */
#define NODE_MAX_PES 65536

enum node_state {
    NODE_STARTED = 0, /* not yet in the library */
    NODE_RUNNING,     /* between the first init and the last finalize */
    NODE_FINALISED,   /* after the last finalize; an exit is then no fault */
};

/* One PE. That PE alone writes it, except for app (launcher). */
struct node_pe {
    cache_aligned uint32_t state; /* enum node_state; release by the PE, acquire by the launcher */
    int32_t pid;
    uint32_t app;         /* launcher: the program of an MPMD line */
    uint32_t slice_taken; /* 1: a process of this PE has put its globals into the PE's slice; exchange, relaxed */
    uint64_t heap_bytes;  /* the heap size that the PE asks for; the node takes the maximum */
    uint64_t image_bytes;
    unsigned char image_id[24]; /* equal among PEs whose globals are symmetric */
    int32_t image_fd;           /* NODE_PRIVATE, NODE_SLICE, or its descriptor of the file that holds its globals */
    uint32_t number;            /* of a scattered node alone: its PE number; constant once the file is handed out */
};
_Static_assert(sizeof(struct node_pe) == CACHE_LINE, "one line a PE");

/* Where the globals of a PE are. */
enum { NODE_SLICE = -1, NODE_PRIVATE = 0 };

/* An active set of OpenSHMEM that has the slot NODE_TEAM_AREAS + its index (src/shmem/set.c). A PE claims a free
 * one (cas of state), writes the rest, then marks it valid (release). No PE ever frees one. */
#define NODE_SETS 64
struct node_set {
    uint32_t state; /* 0 free, 1 being written, 2 valid (acquire) */
    int32_t start, stride, size;
    uint64_t where[2]; /* segment and offset of pSync, equal at all members */
};

struct node {
    uint64_t magic;
    uint32_t size;           /* PEs on this node */
    uint32_t cores;          /* processors that this job may use here */
    uint32_t oversubscribed; /* more PEs than cores; waiters yield at once */
    uint32_t first;          /* PE number of node index 0, the lowest */
    uint32_t total;          /* PEs in the job */
    uint32_t check;          /* oshrun --check */
    uint32_t nodes;          /* of the job; 0: not learnt yet */
    uint32_t scattered;      /* 1: node index i is PE pe[i].number; 0: PE first + i */
    uint32_t pes_per_core;   /* PEs on each processor, rounded down */
    uint64_t nonce[2];       /* random, the same in all nodes of the job; the job's key */
    uint32_t placed;         /* 1: some node of the job is scattered, so the file holds the places of all PEs */

    /* Futex barrier for start and end (rte_node_barrier). */
    cache_aligned uint64_t
        arrived;     /* round << 32 | PEs that wait in it; each PE adds with acqrel, the last resets it */
    uint32_t round;  /* release by the last, acquire and futex by the others */
    uint32_t broken; /* a PE cannot start, so barriers end without it; release by that PE, acquire by the others */

    /* How the job ends early. The first PE to claim wins (cas acqrel; the launcher reads acquire). */
    cache_aligned uint32_t ending; /* enum node_ending */
    int32_t end_status;
    int32_t end_pe;

    /* Where the node has a watcher (watch.c): its process; requests of a report, which PEs count (relaxed); 1 + the status with
     * which PEs shall end (release by the watcher, acquire in a PE's handler of the signal); 1: a PE has no such handler, since the
     * program or its MPI has one of its own (relaxed); 1 + a PE of another node whose process is gone, as a PE has seen (relaxed); 1: a PE has
     * crashed, and waits for watch_end (release by the PE, acquire by the watcher). */
    int32_t watcher;
    uint32_t watch_asked;
    uint32_t watch_end;
    uint32_t watch_deaf;
    uint32_t watch_lost;
    uint32_t watch_crashed;

    /* Node PE 0 sets these between two node barriers; then they are constant. */
    cache_aligned uint64_t heap_at;
    uint64_t heap_stride;
    uint64_t image_at;
    uint64_t image_stride;
    uint64_t region_at; /* memory of uccs_memory_allocate and staged messages (src/uccs/core/pe_shared.h) */
    uint64_t region_stride;
    uint64_t file_bytes;

    /* Bytes that each PE has for its globals at node_slices_at: what the first PE to be loaded needs (compare and swap,
     * relaxed); 0: none has come. The barrier in init publishes it to those that did not look before. */
    cache_aligned uint64_t slice_stride;

    cache_aligned struct node_set sets[NODE_SETS];

    struct node_pe pe[];
};

enum node_ending {
    NODE_GOES_ON = 0,
    NODE_ENDING_CLAIMED, /* the claiming PE is writing end_status and end_pe */
    NODE_GLOBAL_EXIT,    /* shmem_global_exit: end quietly with end_status */
    NODE_ABORTED,        /* a PE has printed what is wrong: end with end_status */
};

/* A node's watcher: oshrun with this first argument, the node's memory as descriptor 0 and a connection to the lowest PE as descriptor 1.
 * It tells its routes, and then gets a node_watch_start. Watchers are a tree: that of node 0 is its root, and node n talks to node
 * (n - 1) / NODE_WATCH_CHILDREN. */
#define NODE_WATCHER "lateral-watch"
#define NODE_SERVER "lateral-serve" /* name of threads that serve the library, not the program */
#define NODE_FRONT "front:" /* begins LATERAL_JOB where oshrun has handed a job over and listens for PE 0's watcher */
#define NODE_FRONT_BYTES 320
#define NODE_WATCH_CHILDREN 8
#define NODE_ROUTES_BYTES 160
struct node_watch_start {
    uint32_t number, nodes;
    unsigned char routes[NODE_ROUTES_BYTES]; /* to the parent; zeros: none */
    unsigned char
        root[NODE_ROUTES_BYTES]; /* to the root, for a watcher that has lost its parent; zeros: that is the root */
};

/* Groups: a fixed number of slots, each with room for every PE of the node. Untouched slots cost nothing, because the
 * file is sparse. */
#define NODE_TEAM_AREAS 256
#define NODE_GROUP_AREAS (NODE_TEAM_AREAS + NODE_SETS)
#define NODE_GROUP_LINES 4936 /* cache lines of one PE in one slot; src/uccs/team/row.h lays them out */

/* Returns the PE number of a node index. */
static inline uint32_t node_pe_number(const struct node *node, uint32_t index)
{
    return node->scattered ? node->pe[index].number : node->first + index;
}

static inline size_t node_align(size_t bytes)
{
    return (bytes + 65535) & ~(size_t)65535; /* a whole page on every supported machine */
}

static inline size_t node_groups_at(uint32_t size)
{
    return node_align(sizeof(struct node) + size * sizeof(struct node_pe));
}

/* Counters of counting puts, one cache line each. Every PE has this many lines: of counters that all PEs create alike,
 * of counters that a group or one PE opens, and of the latter's generations (comp/counter.h). */
#define NODE_JOB_COUNTERS 65536
#define NODE_OPEN_COUNTERS 32768
#define NODE_COUNTERS (NODE_JOB_COUNTERS + NODE_OPEN_COUNTERS + NODE_OPEN_COUNTERS * 4 / CACHE_LINE)

static inline size_t node_counters_at(uint32_t size)
{
    return node_groups_at(size) + node_align((size_t)NODE_GROUP_AREAS * size * NODE_GROUP_LINES * CACHE_LINE);
}

/* Memory that each PE offers to active messages and to memory handles (src/uccs/core/pe_shared.h). Address space; pages exist
 * once touched. */
#define NODE_PE_SHARED_BYTES (160u << 20)

static inline size_t node_own_at(uint32_t size)
{
    return node_counters_at(size) + (size_t)size * NODE_COUNTERS * CACHE_LINE;
}

/* Cards: the values that each PE has put for the others (exchange.c). */
#define NODE_CARD_BYTES (256u << 10)

static inline size_t node_cards_at(uint32_t size)
{
    return node_own_at(size) + (size_t)size * NODE_PE_SHARED_BYTES;
}

/* The lowest PE of each node of the job, then the number of PEs of the job (nodes.c). */
#define NODE_MAX_NODES 65535

static inline size_t node_table_at(uint32_t size)
{
    return node_cards_at(size) + (size_t)size * NODE_CARD_BYTES;
}

/* What a waiter waits for, for people to read. */
enum node_reason_kind {
    NODE_REASON_NOTHING = 0, /* the call says it all */
    NODE_REASON_VARIABLE,    /* a value of a variable, which any PE may store */
    NODE_REASON_PES,         /* an act of each of some PEs, such as their arrival in a team's meeting */
};

#define NODE_NO_TEAM UINT64_MAX /* a barrier of start or end, in which a PE waits without a look */
struct node_wait_reason {
    uint8_t about;        /* enum node_reason_kind */
    uint8_t kind;         /* VARIABLE: enum kind, an integer */
    char compare[2];      /* VARIABLE: "==", "!=", ">=", "<=", "> ", "< " */
    uint32_t may_end;     /* the waiter itself may end the wait, or act in it: a time limit, pollers of the program */
    int32_t start;        /* PES: the lowest */
    int32_t stride, size; /* PES: how far they are apart, and how many they are */
    uint64_t object;      /* VARIABLE: its address in the waiting PE; PES: number of the team, or NODE_NO_TEAM */
    uint64_t number;      /* VARIABLE: the value waited for; PES: number of the meeting */
};

/* A wait that lasts. One thread of one PE writes it while it waits; anybody reads it: the launcher, or a person's
 * oshrun --status. The waiter may write anew what it waits for; `version` is odd meanwhile. */
#define NODE_WAITS 16 /* of a PE; when more of its threads wait, the others leave no record */
#define NODE_WAIT_FRAMES 26
#define NODE_WAIT_TEXT 48
struct node_wait {
    cache_aligned uint32_t state; /* enum node_wait_state; release by the waiter, acquire by readers */
    int32_t thread;               /* the kernel's number of the waiting thread */
    uint64_t looks;               /* grows while the waiter looks again and again; relaxed */
    uint64_t since;               /* nanoseconds of CLOCK_MONOTONIC */
    uint64_t value;               /* of the variable, a little while ago at most; relaxed */
    uint64_t heap;                /* where the waiting PE's symmetric heap begins, and its bytes; 0: not known */
    uint64_t heap_bytes;
    uint32_t version;          /* grows by 2 when text or `on` change; release by the waiter, acquire by readers */
    char text[NODE_WAIT_TEXT]; /* names the object that the wait is about; empty: its call or address says enough */
    struct node_wait_reason on;
    uint32_t depth;                    /* number of frames */
    uint64_t frames[NODE_WAIT_FRAMES]; /* return addresses, the innermost first */
};
_Static_assert(sizeof(struct node_wait) % CACHE_LINE == 0, "records share no line");

enum node_wait_state { NODE_WAIT_FREE = 0, NODE_WAIT_CLAIMED, NODE_WAIT_VALID };

static inline size_t node_waits_at(uint32_t size)
{
    return node_table_at(size) + node_align((NODE_MAX_NODES + 1) * sizeof(uint32_t));
}

/* The crash of a PE. The thread that dies writes it, the launcher reads it after the death, when the process has no maps
 * any more; so it names files and places in them. */
#define NODE_CRASH_FRAMES 16
#define NODE_CRASH_FILES 6
#define NODE_CRASH_PATH 240
struct node_crash {
    cache_aligned uint32_t
        state;            /* 0, then 1 once the rest is there: release by the thread that dies, acquire by readers */
    int32_t signal, code; /* as in siginfo_t */
    uint32_t depth;       /* number of frames; grows: release and acquire, too */
    uint64_t address;     /* that the fault is about */
    struct node_crash_frame {
        uint64_t address; /* the first: of the instruction; the others: return addresses */
        uint64_t offset;  /* the same place in the file */
        uint64_t file;    /* 1 + index of files; 0: in none */
    } frames[NODE_CRASH_FRAMES];
    char files[NODE_CRASH_FILES][NODE_CRASH_PATH];
};
_Static_assert(sizeof(struct node_crash) % CACHE_LINE == 0, "crashes share no line");

static inline size_t node_crashes_at(uint32_t size)
{
    return node_waits_at(size) + node_align((size_t)size * NODE_WAITS * sizeof(struct node_wait));
}

/* Returns the bytes of the part whose size depends on the number of PEs alone. */
static inline size_t node_fixed_size(uint32_t size)
{
    return node_crashes_at(size) + node_align((size_t)size * sizeof(struct node_crash));
}

/* The place of each PE of the job, by its number (nodes.c): NODE_NEAR and its index, or 1 and the number of its node. */
#define NODE_NEAR (UINT32_C(1) << 31)

static inline size_t node_places_bytes(const struct node *node)
{
    return node->placed ? node_align((size_t)node->total * sizeof(uint32_t)) : 0;
}

static inline size_t node_places_at(const struct node *node)
{
    return node_fixed_size(node->size);
}

/* Returns where the slices for globals begin. Only oshrun's nodes have any, and they are not scattered, so no places lie there. */
static inline size_t node_slices_at(uint32_t size)
{
    return node_align(node_fixed_size(size));
}

/* Writes the header of a zeroed file for a one-node job. The launcher or a lone process calls it. */
static inline void node_format(struct node *node, uint32_t size, uint32_t cores, const uint64_t nonce[2])
{
    node->size = node->total = size;
    node->nodes = 1;
    node->cores = cores;
    node->oversubscribed = size > cores;
    node->pes_per_core = size / cores;
    node->nonce[0] = nonce[0];
    node->nonce[1] = nonce[1];
    node->magic = NODE_MAGIC;
}

#endif
