/* Out-of-band messages of uccs_rte.h: a queue of messages that have come and a queue of posted receives. One lock
 * guards both, since these messages need no speed. Any thread. */
#include "uccs/coll/coll.h"

#include "base/log.h"
#include "rte/rte.h"
#include "uccs/am/am.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ANY (-1)

struct head {
    uint64_t group;
    int32_t tag, source; /* PE, or ANY in a receive */
    uint64_t number;     /* of the messages from this source to this process, from 0 */
};

/* A message that has come, or a sent message whose callback is due. */
struct arrival {
    struct arrival *next;
    struct head head;
    const char *data;
    size_t bytes;
    struct uccs_bounce *block;
    uccs_rte_callback callback; /* of a send */
    void *argument;
    char copy[];
};

struct posted {
    struct posted *next;
    struct head head;
    uccs_rte_callback callback;
    void *argument;
    bool persistent;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct arrival *arrivals, **last_arrival = &arrivals;
static struct arrival *early;     /* came before one with a lower number, as several threads empty a ring */
static uint64_t *expected, *sent; /* by PE: next number */
static struct posted *receives, **last_receive = &receives;

static uccs_rte_ec_t ec_of(int pe)
{
    return (uccs_rte_ec_t)(uintptr_t)(pe + 1);
}

static bool head_matches(const struct head *wanted, const struct head *have)
{
    return wanted->group == have->group && wanted->tag == have->tag &&
           (wanted->source == ANY || wanted->source == have->source);
}

/* Under the lock. */
static void append_arrival(struct arrival *arrival)
{
    arrival->next = 0;
    *last_arrival = arrival;
    last_arrival = &arrival->next;
}

/* Under the lock. Takes the early message with this number; returns null when it has not come. */
static struct arrival *next_early(int source, uint64_t number)
{
    struct arrival **at = &early;
    while (*at && ((*at)->head.source != source || (*at)->head.number != number))
        at = &(*at)->next;
    struct arrival *found = *at;
    if (found)
        *at = found->next;
    return found;
}

static void file_arrival(struct arrival *arrival)
{
    int source = arrival->head.source;
    uint64_t *due = &expected[source];
    pthread_mutex_lock(&lock);
    arrival->next = early;
    early = arrival;
    while ((arrival = next_early(source, *due))) {
        append_arrival(arrival);
        ++*due;
    }
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static struct arrival *unlink_arrival(struct arrival **at)
{
    struct arrival *found = *at;
    *at = found->next;
    if (last_arrival == &found->next)
        last_arrival = at;
    return found;
}

static void drop_arrival(struct arrival *arrival)
{
    if (arrival->block)
        uccs_am_done(arrival->block);
    free(arrival);
}

void uccs_oob_arrived(uccs_am_token_t token, const void *payload, size_t length, void *argument)
{
    const struct head *head = payload;
    uccs_am_insist(token, length, sizeof *head, (const uint32_t *)&head->source);
    struct uccs_bounce *block = uccs_am_hold(token);
    size_t bytes = length - sizeof *head;
    struct arrival *arrival = malloc(sizeof *arrival + (block ? 0 : bytes));
    (void)argument;
    if (!arrival) {
        log_line("uccs: no memory for an out-of-band message of PE %d", uccs_am_source(token));
        rte_abort(LAT_EXIT);
    }
    *arrival = (struct arrival){.bytes = bytes,
                                .block = block,
                                .data = block ? (const char *)payload + sizeof(struct head) : arrival->copy};
    memcpy(&arrival->head, payload, sizeof arrival->head);
    if (!block)
        memcpy(arrival->copy, (const char *)payload + sizeof(struct head), bytes);
    file_arrival(arrival);
}

/* --- Arguments */

size_t uccs_oob_bytes(const struct uccs_rte_iovec *iov, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += (size_t)iov[i].count * iov[i].type->bytes;
    return bytes;
}

bool uccs_oob_valid(const struct uccs_rte_iovec *iov, uint32_t count)
{
    if (count && !iov)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!iov[i].type || (iov[i].count && !iov[i].iov_base))
            return false;
    return true;
}

void uccs_oob_copy(char *to, const struct uccs_rte_iovec *iov, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const size_t part = uccs_oob_bytes(&iov[i], 1);
        if (part)
            memcpy(to, iov[i].iov_base, part);
        to += part;
    }
}

/* Returns false when the peer is no member or there is no group, when uccs.h is not in use, and in a handler. */
static bool make_head(uccs_rte_ec_t peer, int tag, uccs_group_t group, struct head *head)
{
    if (!group || !uccs_running() || uccs_handlers_running)
        return false;
    *head = (struct head){.group = uccs_group_of(group)->number, .tag = tag, .source = (int)(uintptr_t)peer - 1};
    if (peer == UCCS_RTE_ANYSOURCE)
        head->source = ANY;
    return peer == UCCS_RTE_ANYSOURCE || uccs_ranks_find(group, head->source) >= 0;
}

/* --- Sending */

/* Fills a block with everything but the head. Returns null when no room can come. */
static struct uccs_bounce *fill_block(size_t bytes, const struct uccs_rte_iovec *iov, uint32_t count)
{
    struct uccs_wait wait uccs_scoped = {0};
    struct uccs_bounce *block;
    int vain = 0;
    while (!(block = uccs_bounce_get(UCCS_ARENA_PROGRAM, sizeof(struct head) + bytes))) {
        if (!uccs_bounce_expected(UCCS_ARENA_PROGRAM, &vain))
            return 0;
        uccs_am_serve(&wait);
    }
    uccs_oob_copy(block->payload + sizeof(struct head), iov, count);
    return block;
}

int uccs_rte_send(const struct uccs_rte_iovec *iov, uint32_t count, uccs_rte_ec_t dest, int tag, uccs_group_t group)
{
    struct head head;
    if (dest == UCCS_RTE_ANYSOURCE || !uccs_oob_valid(iov, count) || !make_head(dest, tag, group, &head))
        return UCCS_ERR_INVALID;
    int pe = head.source;
    head.source = uccs_core.me;
    size_t bytes = uccs_oob_bytes(iov, count);
    struct uccs_bounce *block = fill_block(bytes, iov, count);
    if (!block)
        return UCCS_ERR_NO_MEMORY;
    head.number = atomic_fetch_add_relaxed(&sent[pe], 1); /* from here on the message is sent in any case */
    memcpy(block->payload, &head, sizeof head);
    struct uccs_wait wait uccs_scoped = {0};
    while (!uccs_am_try(uccs_index(pe), UCCS_INNER_OOB, 0, sizeof head + bytes, block))
        uccs_am_serve(&wait);
    return UCCS_OK;
}

int uccs_rte_send_nbcb(const struct uccs_rte_iovec *iov, uint32_t count, uccs_rte_ec_t dest, int tag,
                       uccs_group_t group, uccs_rte_callback callback, void *argument)
{
    struct arrival *told = callback ? calloc(1, sizeof *told) : 0;
    if (!told)
        return callback ? UCCS_ERR_NO_MEMORY : UCCS_ERR_INVALID;
    int status = uccs_rte_send(iov, count, dest, tag, group);
    if (status != UCCS_OK) {
        free(told);
        return status;
    }
    told->head = (struct head){.tag = tag, .source = (int)(uintptr_t)dest - 1};
    told->callback = callback;
    told->argument = argument;
    pthread_mutex_lock(&lock);
    append_arrival(told);
    pthread_mutex_unlock(&lock);
    return UCCS_OK;
}

/* --- Receiving */

static struct arrival *take_arrival(const struct head *wanted)
{
    struct arrival *found = 0;
    pthread_mutex_lock(&lock);
    struct arrival **at = &arrivals;
    while (*at && ((*at)->callback || !head_matches(wanted, &(*at)->head)))
        at = &(*at)->next;
    if (*at)
        found = unlink_arrival(at);
    pthread_mutex_unlock(&lock);
    return found;
}

int uccs_rte_unpack(const struct uccs_rte_iovec *data, const void *src, uint32_t *offset)
{
    if (!data || !src || !offset || !uccs_oob_valid(data, 1))
        return UCCS_ERR_INVALID;
    size_t bytes = uccs_oob_bytes(data, 1);
    if (bytes)
        memcpy(data->iov_base, (const char *)src + *offset, bytes);
    *offset += (uint32_t)bytes;
    return UCCS_OK;
}

int uccs_rte_recv(const struct uccs_rte_iovec *iov, uint32_t count, uccs_rte_ec_t source, int tag, uccs_group_t group)
{
    struct head wanted;
    struct uccs_wait wait uccs_scoped = {0};
    struct arrival *found;
    if (!uccs_oob_valid(iov, count) || !make_head(source, tag, group, &wanted))
        return UCCS_ERR_INVALID;
    while (!(found = take_arrival(&wanted)))
        if (uccs_oob_deliver() == 0)
            uccs_am_serve(&wait);
    int status = found->bytes == uccs_oob_bytes(iov, count) ? UCCS_OK : UCCS_ERR_FAILED;
    uint32_t offset = 0;
    for (uint32_t i = 0; i < count && status == UCCS_OK; i++)
        status = uccs_rte_unpack(&iov[i], found->data, &offset);
    drop_arrival(found);
    return status;
}

int uccs_rte_recv_nbcb(uccs_rte_ec_t source, int tag, int flags, uccs_group_t group, uccs_rte_callback callback,
                       void *argument)
{
    struct head wanted;
    if (!callback || flags & ~UCCS_RTE_RECV_PERSISTENT || !make_head(source, tag, group, &wanted))
        return UCCS_ERR_INVALID;
    struct posted *made = malloc(sizeof *made);
    if (!made)
        return UCCS_ERR_NO_MEMORY;
    *made = (struct posted){.head = wanted,
                            .callback = callback,
                            .argument = argument,
                            .persistent = flags & UCCS_RTE_RECV_PERSISTENT};
    pthread_mutex_lock(&lock);
    *last_receive = made;
    last_receive = &made->next;
    pthread_mutex_unlock(&lock);
    return UCCS_OK;
}

/* Under the lock. */
static void unlink_receive(struct posted **at)
{
    struct posted *gone = *at;
    *at = gone->next;
    if (last_receive == &gone->next)
        last_receive = at;
    free(gone);
}

int uccs_rte_cancel(uccs_rte_ec_t source, int tag)
{
    int wanted = source == UCCS_RTE_ANYSOURCE ? ANY : (int)(uintptr_t)source - 1, count = 0;
    pthread_mutex_lock(&lock);
    for (struct posted **at = &receives; *at;)
        if ((*at)->head.source == wanted && (*at)->head.tag == tag) {
            unlink_receive(at);
            count++;
        } else {
            at = &(*at)->next;
        }
    pthread_mutex_unlock(&lock);
    return count ? UCCS_OK : UCCS_ERR_NOT_FOUND;
}

/* Under the lock. Finds the receive that matches the message, and removes it unless it is persistent. Returns false
 * when there is none. */
static bool find_receive(const struct head *head, struct posted *found)
{
    for (struct posted **at = &receives; *at; at = &(*at)->next)
        if (head_matches(&(*at)->head, head)) {
            *found = **at;
            if (!found->persistent)
                unlink_receive(at);
            return true;
        }
    return false;
}

static struct arrival *next_due(struct posted *receive)
{
    struct arrival *due = 0;
    pthread_mutex_lock(&lock);
    for (struct arrival **at = &arrivals; *at && !due; at = &(*at)->next) {
        struct arrival *candidate = *at;
        if (candidate->callback)
            *receive = (struct posted){.callback = candidate->callback, .argument = candidate->argument};
        else if (!find_receive(&candidate->head, receive))
            continue;
        due = unlink_arrival(at);
        break;
    }
    pthread_mutex_unlock(&lock);
    return due;
}

int uccs_oob_deliver(void)
{
    int count = 0;
    struct posted receive;
    for (struct arrival *due; (due = next_due(&receive)); count++) {
        receive.callback(UCCS_OK, ec_of(due->head.source), (void *)(uintptr_t)due->data, due->bytes, due->head.tag,
                         receive.argument);
        drop_arrival(due);
    }
    return count;
}

bool uccs_oob_open(void)
{
    expected = calloc((size_t)uccs_core.npes, sizeof *expected); /* the kernel allocates pages when they are written */
    sent = calloc((size_t)uccs_core.npes, sizeof *sent);
    return expected && sent;
}

void uccs_oob_close(void)
{
    while (arrivals)
        drop_arrival(unlink_arrival(&arrivals));
    while (receives)
        unlink_receive(&receives);
    free(expected);
    free(sent);
    expected = sent = 0;
}
