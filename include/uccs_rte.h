/* The runtime environment beside uccs.h, in the manner of UCCS's own: who am I, where are the others, what machine is
 * this, and a way to tell each other small things before there is anything else.
 *
 * Not for speed. Any thread may call any function at any time between uccs_rte_init and uccs_rte_finalize; none from
 * inside a handler of an active message. Callbacks run on a thread that is in uccs_rte_progress or in another waiting
 * function of this header, holding nothing: they may call whatever they like. */
#ifndef UCCS_RTE_H
#define UCCS_RTE_H

#include <uccs.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum uccs_rte_status {
    UCCS_RTE_SUCCESS = 0,
    UCCS_RTE_ERROR = -1,
    UCCS_RTE_ERROR_BAD_INPUT = -2,
    UCCS_RTE_ERROR_OUT_OF_RESOURCE = -3,
    UCCS_RTE_ERROR_NOT_IMPLEMENTED = -4,
    UCCS_RTE_ERROR_NOT_FOUND = -5,
};

/* --- Life: counted, collective over the job; brings uccs_init with it. */
int uccs_rte_init(uccs_group_t *world); /* world may be null */
int uccs_rte_finalize(void);
/* Prints the description (as printf) and ends the job with this exit status. */
_Noreturn void uccs_rte_abort(int status, const char *description, ...) __attribute__((format(printf, 2, 3)));

/* --- Identity: an execution context is a process of the job. Handles are values; nothing needs to be released. */
typedef struct uccs_rte_ec *uccs_rte_ec_t;
#define UCCS_RTE_EC_NULL ((uccs_rte_ec_t)0)
#define UCCS_RTE_ANYSOURCE ((uccs_rte_ec_t)-1)

uint32_t uccs_rte_job_id(void);
uccs_rte_ec_t uccs_rte_my_ec(void);
uccs_rte_ec_t uccs_rte_group_index_to_ec(uccs_group_t group, uint32_t index); /* null: no such member */
int uccs_rte_group_size(uccs_group_t group);
int uccs_rte_group_rank(uccs_group_t group);
uint32_t uccs_rte_ec_index(uccs_group_t group, uccs_rte_ec_t ec); /* UINT32_MAX: no member */
int uccs_rte_cmp_ec(uccs_rte_ec_t a, uccs_rte_ec_t b);            /* 0: the same */
uint32_t uccs_rte_ec_node_id(uccs_rte_ec_t ec);                   /* UINT32_MAX: no such process */
const char *uccs_rte_ec_node_name(uccs_rte_ec_t ec);              /* null: no such process */
const char *uccs_rte_ec_hostname(uccs_rte_ec_t ec);

/* --- Locality: what this process shares with another one. Bits; what is not known is not set: a process that may run
 * on several cores is on none. */
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
int uccs_rte_ec_locality(uccs_rte_ec_t ec);

/* --- The machine of this process. */
enum uccs_rte_endianness { UCCS_RTE_LITTLE_ENDIAN = 0, UCCS_RTE_BIG_ENDIAN = 1 };
struct uccs_rte_machine {
    char architecture[32]; /* as uname has it: x86_64, aarch64 */
    enum uccs_rte_endianness endianness;
    int pointer_bits, page_bytes;
    int sockets, cores, hwthreads; /* of the machine; 0: not known */
    int usable;                    /* hardware threads that this process may run on */
};
int uccs_rte_machine_query(struct uccs_rte_machine *machine);
/* The machine of another process, as it was when uccs_rte.h started. */
int uccs_rte_ec_machine(uccs_rte_ec_t ec, struct uccs_rte_machine *machine);

/* Network identities: interfaces that are up, and their addresses. Fills up to *count entries; *count becomes how many
 * there are. list may be null when *count is 0. */
struct uccs_rte_network {
    char interface[16];
    char address[48];
    int family; /* 4 or 6 */
    int loopback;
};
int uccs_rte_network_query(struct uccs_rte_network *list, size_t *count);
/* Those of another process, as they were when uccs_rte.h started: so many at most, loopback last. */
#define UCCS_RTE_EC_NETWORKS 4
int uccs_rte_ec_network(uccs_rte_ec_t ec, struct uccs_rte_network *list, size_t *count);

/* Standard streams: where those of this process lead. */
struct uccs_rte_io {
    int launched;         /* by a launcher; else the streams are the shell's */
    int input_here;       /* this process reads the launcher's standard input; others read its end */
    int output_forwarded; /* standard output and error reach the launcher's */
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
/* Takes what `data` describes from src at *offset, and moves *offset on. */
int uccs_rte_unpack(const struct uccs_rte_iovec *data, const void *src, uint32_t *offset);

/* --- Out-of-band messages, matched by group, source and tag, in the order sent. Sources may be changed on return.
 * What has not been received waits in the sender's memory, or at the receiver when it is short. */
typedef void (*uccs_rte_callback)(int status, uccs_rte_ec_t peer, void *data, size_t bytes, int tag, void *argument);
#define UCCS_RTE_RECV_PERSISTENT 1 /* the receive stays, until it is cancelled */

int uccs_rte_send(const struct uccs_rte_iovec *iov, uint32_t count, uccs_rte_ec_t dest, int tag, uccs_group_t group);
int uccs_rte_recv(const struct uccs_rte_iovec *iov, uint32_t count, uccs_rte_ec_t source, int tag, uccs_group_t group);
/* The callback has the data, which is the library's and gone afterwards (recv), or the caller's argument alone (send). */
int uccs_rte_send_nbcb(const struct uccs_rte_iovec *iov, uint32_t count, uccs_rte_ec_t dest, int tag,
                       uccs_group_t group, uccs_rte_callback callback, void *argument);
int uccs_rte_recv_nbcb(uccs_rte_ec_t source, int tag, int flags, uccs_group_t group, uccs_rte_callback callback,
                       void *argument);
/* Takes back the receives posted for just this source and tag; those whose callback runs go on. */
int uccs_rte_cancel(uccs_rte_ec_t source, int tag);
void uccs_rte_progress(void);

int uccs_rte_barrier(uccs_group_t group);

/* --- Data exchange: everybody sets values under keys, all exchange, everybody gets anybody's. Create, exchange and
 * destroy are collective over the group, in one order; one thread at a time per session. */
typedef struct uccs_rte_session *uccs_rte_session_t;
int uccs_rte_session_create(uccs_group_t group, int tag, uccs_rte_session_t *session);
int uccs_rte_session_set(uccs_rte_session_t session, const char *key, const struct uccs_rte_iovec *value,
                         uint32_t count);
int uccs_rte_session_exchange(uccs_rte_session_t session);
/* *value stays valid until the next exchange or destroy. */
int uccs_rte_session_get(uccs_rte_session_t session, uccs_rte_ec_t peer, const char *key, const void **value,
                         size_t *bytes);
int uccs_rte_session_destroy(uccs_rte_session_t session);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
