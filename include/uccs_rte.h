/* The runtime environment beside uccs.h: identity of processes, locality, machines, out-of-band messages, exchange of
 * small data. It is not built for speed.
 *
 * Threads: any thread may call any function at any time between uccs_rte_init and uccs_rte_finalize, but not inside a handler of
 * an active message. Callbacks run on a thread that is in uccs_rte_progress or in another waiting function of this
 * header. The library holds no lock meanwhile, so they may call any function.
 *
 * Returns: a function of type int returns enum uccs_status, 0 for success and negative for an error, unless its
 * description says otherwise: UCCS_ERR_INVALID for a wrong argument, UCCS_ERR_NO_MEMORY, UCCS_ERR_FAILED for all else.
 *
 * Lifetime: the call has copied what a send or a set names when it returns. Host names last to the last finalize, what a
 * callback or a get is given as its description says; handles of processes are values. */
#ifndef UCCS_RTE_H
#define UCCS_RTE_H

#include <uccs.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The paper's names of these. */
enum uccs_rte_status {
    UCCS_RTE_SUCCESS = UCCS_OK,
    UCCS_RTE_ERROR = UCCS_ERR_FAILED,
    UCCS_RTE_ERROR_BAD_INPUT = UCCS_ERR_INVALID,
    UCCS_RTE_ERROR_OUT_OF_RESOURCE = UCCS_ERR_NO_MEMORY,
    UCCS_RTE_ERROR_NOT_IMPLEMENTED = UCCS_ERR_UNREACHABLE, /* no function returns it */
    UCCS_RTE_ERROR_NOT_FOUND = UCCS_ERR_NOT_FOUND,
};

/* --- Life: counted and collective over the job. uccs_rte_init calls uccs_init. */
int uccs_rte_init(uccs_group_t *world); /* world may be null */
int uccs_rte_finalize(void);
/* Prints the description as printf does and ends the job with this exit status. */
void uccs_rte_abort(int status, const char *description, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* --- Identity: an execution context (ec) is a process of the job. Handles are values and need no release. */
typedef struct uccs_rte_ec *uccs_rte_ec_t;
#define UCCS_RTE_EC_NULL ((uccs_rte_ec_t)0)
#define UCCS_RTE_ANYSOURCE ((uccs_rte_ec_t)-1)

uint32_t uccs_rte_job_id(void); /* equal in all processes of the job */
uccs_rte_ec_t uccs_rte_my_ec(void);
uccs_rte_ec_t uccs_rte_group_index_to_ec(uccs_group_t group, uint32_t index); /* null: no such member */
int uccs_rte_group_size(uccs_group_t group); /* returns the number of members; -1 for a null group */
int uccs_rte_group_rank(uccs_group_t group); /* returns my rank; -1 for a null group */
uint32_t uccs_rte_ec_index(uccs_group_t group, uccs_rte_ec_t ec); /* UINT32_MAX: no member */
int uccs_rte_cmp_ec(uccs_rte_ec_t a, uccs_rte_ec_t b);            /* returns 0 for the same process, else -1 or 1 */
uint32_t uccs_rte_ec_node_id(uccs_rte_ec_t ec);                   /* UINT32_MAX: no such process */
const char *uccs_rte_ec_node_name(uccs_rte_ec_t ec);              /* null: no such process */
const char *uccs_rte_ec_hostname(uccs_rte_ec_t ec);

/* --- Locality: the parts of the machine that this process shares with another one, as bits. The bit of an unknown part
 * is not set; a process that may run on several cores is on none of them. */
enum uccs_rte_locality {
    UCCS_RTE_PROC_NON_LOCAL = 0,
    UCCS_RTE_PROC_ON_CLUSTER = 1,
    UCCS_RTE_PROC_ON_NODE = 2,
    UCCS_RTE_PROC_ON_NUMA = 4,
    UCCS_RTE_PROC_ON_SOCKET = 8,
    UCCS_RTE_PROC_ON_L3CACHE = 16,
    UCCS_RTE_PROC_ON_CORE = 32,
    UCCS_RTE_PROC_ON_HWTHREAD = 64,
    UCCS_RTE_PROC_LOCALITY_UNKNOWN = -1,
};
int uccs_rte_ec_locality(uccs_rte_ec_t ec); /* returns bits of enum uccs_rte_locality */

/* --- The machine of this process. */
enum uccs_rte_endianness { UCCS_RTE_LITTLE_ENDIAN = 0, UCCS_RTE_BIG_ENDIAN = 1 };
struct uccs_rte_machine {
    char architecture[32]; /* the machine name of uname: x86_64, aarch64 */
    enum uccs_rte_endianness endianness;
    int pointer_bits, page_bytes;
    int sockets, cores, hwthreads; /* of the machine; 0: unknown */
    int usable;                    /* hardware threads that this process may run on */
};
int uccs_rte_machine_query(struct uccs_rte_machine *machine);
/* Describes the machine of another process, as it was when that process called uccs_rte_init. */
int uccs_rte_ec_machine(uccs_rte_ec_t ec, struct uccs_rte_machine *machine);

/* Network identities: interfaces that are up, and their addresses. Fills at most *count entries and sets *count to the
 * number of addresses. list may be null when *count is 0. */
struct uccs_rte_network {
    char interface[16];
    char address[48];
    int family; /* 4 or 6 */
    int loopback;
};
int uccs_rte_network_query(struct uccs_rte_network *list, size_t *count);
/* The addresses of another process, as they were when it called uccs_rte_init: at most UCCS_RTE_EC_NETWORKS, loopback
 * last. */
#define UCCS_RTE_EC_NETWORKS 4
int uccs_rte_ec_network(uccs_rte_ec_t ec, struct uccs_rte_network *list, size_t *count);

/* Standard streams of this process. */
struct uccs_rte_io {
    int launched;         /* a launcher started the process; else its streams are those of the shell */
    int input_here;       /* this process reads the launcher's standard input; others read end of file */
    int output_forwarded; /* the launcher forwards standard output and error */
};
int uccs_rte_io_query(struct uccs_rte_io *io);

/* --- Typed data */
struct uccs_rte_dt {
    uint32_t bytes;
};
extern const struct uccs_rte_dt uccs_rte_int1, uccs_rte_int2, uccs_rte_int4, uccs_rte_int8;
extern const struct uccs_rte_dt uccs_rte_uint1, uccs_rte_uint2, uccs_rte_uint4, uccs_rte_uint8;
extern const struct uccs_rte_dt uccs_rte_float4, uccs_rte_float8, uccs_rte_bool;

struct uccs_rte_iovec {
    void *iov_base;
    const struct uccs_rte_dt *type;
    uint32_t count;
};
/* Copies the values that `data` describes from src at *offset, and advances *offset. */
int uccs_rte_unpack(const struct uccs_rte_iovec *data, const void *src, uint32_t *offset);

/* --- Out-of-band messages: matched by group, source and tag, in the order of sending. The program may change the
 * source when a send returns. A message that is not received yet waits in the sender's memory; a short one may wait at
 * the receiver. */
typedef void (*uccs_rte_callback)(int status, uccs_rte_ec_t peer, void *data, size_t bytes, int tag, void *argument);
#define UCCS_RTE_RECV_PERSISTENT 1 /* the receive stays until it is cancelled */

int uccs_rte_send(const struct uccs_rte_iovec *iov, uint32_t count, uccs_rte_ec_t dest, int tag, uccs_group_t group);
int uccs_rte_recv(const struct uccs_rte_iovec *iov, uint32_t count, uccs_rte_ec_t source, int tag, uccs_group_t group);
/* The callback of a receive gets the data, which is valid until the callback returns; that of a send gets only the
 * argument. */
int uccs_rte_send_nbcb(const struct uccs_rte_iovec *iov, uint32_t count, uccs_rte_ec_t dest, int tag,
                       uccs_group_t group, uccs_rte_callback callback, void *argument);
int uccs_rte_recv_nbcb(uccs_rte_ec_t source, int tag, int flags, uccs_group_t group, uccs_rte_callback callback,
                       void *argument);
/* Cancels the receives for exactly this source and tag; a callback that is running goes on. Returns
 * UCCS_ERR_NOT_FOUND when there is none. */
int uccs_rte_cancel(uccs_rte_ec_t source, int tag);
void uccs_rte_progress(void);

int uccs_rte_barrier(uccs_group_t group);

/* --- Data exchange: members set values under keys, exchange them, and then get the values of any member. Create,
 * exchange and destroy are collective over the group, in one order. One thread at a time uses a session. */
typedef struct uccs_rte_session *uccs_rte_session_t;
int uccs_rte_session_create(uccs_group_t group, int tag, uccs_rte_session_t *session);
int uccs_rte_session_set(uccs_rte_session_t session, const char *key, const struct uccs_rte_iovec *value,
                         uint32_t count);
int uccs_rte_session_exchange(uccs_rte_session_t session);
/* *value stays valid until the next exchange or destroy. Returns UCCS_ERR_NOT_FOUND when the peer has not set the
 * key. */
int uccs_rte_session_get(uccs_rte_session_t session, uccs_rte_ec_t peer, const char *key, const void **value,
                         size_t *bytes);
int uccs_rte_session_destroy(uccs_rte_session_t session);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
