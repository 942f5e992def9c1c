/* Group communication of the public interface, as plans for schedules (inner.h). Any thread; different groups at
 * once. */
#include "uccs/am/am.h"
#include "uccs/coll/inner.h"
#include "uccs/core/task.h"
#include "uccs/mem/accumulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_REDUCTION (16u << 10) /* bytes; up to this size a tree reduces, beyond it every member folds its share */

static int rounds_of(int size)
{
    int rounds = 0;
    while (INT64_C(1) << rounds < size)
        rounds++;
    return rounds;
}

/* Plans a step down a binomial tree. In round k the members that have the data send it to the members 2^(last - k)
 * ahead. */
static void step_down(const struct uccs_schedule *s, int level, int root, struct uccs_step *step)
{
    int size = s->group->size, rank = (s->group->rank - root + size) % size, mask = 1 << level;
    if (rank % (2 * mask) == mask) {
        step->from = (rank - mask + root) % size;
        step->receive = s->dest;
        step->receive_bytes = s->bytes;
    } else if (rank % (2 * mask) == 0 && rank + mask < size) {
        step->to = (rank + mask + root) % size;
        step->send = s->dest;
        step->send_bytes = s->bytes;
    }
}

static bool plan_broadcast(const struct uccs_schedule *s, uint32_t round, struct uccs_step *step)
{
    int last = rounds_of(s->group->size) - 1;
    if ((int)round > last)
        return false;
    step_down(s, last - (int)round, s->root, step);
    return true;
}

/* Folds the data up the same tree, then sends the result down again. */
static bool plan_reduce_tree(const struct uccs_schedule *s, uint32_t round, struct uccs_step *step)
{
    int rounds = rounds_of(s->group->size), rank = s->group->rank, mask = 1 << round;
    if ((int)round >= 2 * rounds)
        return false;
    if ((int)round >= rounds) {
        step_down(s, 2 * rounds - 1 - (int)round, 0, step);
    } else if (rank % (2 * mask) == mask) {
        step->to = rank - mask;
        step->send = s->dest;
        step->send_bytes = s->bytes;
    } else if (rank % (2 * mask) == 0 && rank + mask < s->group->size) {
        step->from = rank + mask;
        step->receive = s->dest;
        step->receive_bytes = s->bytes;
        step->fold = true;
    }
    return true;
}

static char *share_of(const struct uccs_schedule *s, int rank, size_t *bytes)
{
    size_t size = (size_t)s->group->size, begin = s->n * (size_t)rank / size, end = s->n * ((size_t)rank + 1) / size;
    *bytes = (end - begin) * s->element;
    return s->dest + begin * s->element;
}

/* Sends shares round a ring, folding them, then sends the results round. */
static bool plan_reduce_ring(const struct uccs_schedule *s, uint32_t round, struct uccs_step *step)
{
    int size = s->group->size, rank = s->group->rank, k = (int)round % (size - 1);
    bool fold = (int)round < size - 1;
    if ((int)round >= 2 * (size - 1))
        return false;
    int mine = (rank + !fold - k + size) % size, theirs = (mine + size - 1) % size;
    step->to = (rank + 1) % size;
    step->from = (rank + size - 1) % size;
    step->send = share_of(s, mine, &step->send_bytes);
    step->receive = share_of(s, theirs, &step->receive_bytes);
    step->fold = fold;
    return true;
}

static bool plan_allgather(const struct uccs_schedule *s, uint32_t round, struct uccs_step *step)
{
    int size = s->group->size, rank = s->group->rank, k = (int)round;
    if (k >= size - 1)
        return false;
    step->to = (rank + 1) % size;
    step->from = (rank + size - 1) % size;
    step->send = s->dest + (size_t)((rank - k + size) % size) * s->bytes;
    step->receive = s->dest + (size_t)((rank - k - 1 + size) % size) * s->bytes;
    step->send_bytes = step->receive_bytes = s->bytes;
    return true;
}

static bool plan_alltoall(const struct uccs_schedule *s, uint32_t round, struct uccs_step *step)
{
    int size = s->group->size, rank = s->group->rank, k = (int)round + 1;
    if (k >= size)
        return false;
    step->to = (rank + k) % size;
    step->from = (rank + size - k) % size;
    step->send = s->source + (size_t)step->to * s->bytes;
    step->receive = s->dest + (size_t)step->from * s->bytes;
    step->send_bytes = step->receive_bytes = s->bytes;
    return true;
}

/* --- Starting */

static bool advance_task(struct uccs_task *task)
{
    struct uccs_schedule *s = (struct uccs_schedule *)task;
    if (!uccs_schedule_advance(s))
        return false;
    struct uccs_request *request = s->request;
    uccs_ranks_drop(s->group);
    free(s);
    uccs_request_finish(request, false);
    return true;
}

static bool task_reason(const struct uccs_task *task, const struct uccs_request *request, struct uccs_reason *reason)
{
    const struct uccs_schedule *s = (const struct uccs_schedule *)task;
    if (!uccs_request_counts(request, s->request))
        return false;
    uccs_schedule_reason(s, reason);
    snprintf(reason->text, sizeof reason->text, "a collective");
    return true;
}

static int start_nb(const struct uccs_schedule *what, uccs_request_t *desc)
{
    struct uccs_schedule *s = malloc(sizeof *s);
    struct uccs_request *request = s ? uccs_request_materialise(desc) : 0;
    if (!request) {
        free(s);
        return UCCS_ERR_NO_MEMORY;
    }
    *s = *what;
    s->task.advance = advance_task;
    s->task.reason = task_reason;
    s->request = request;
    uccs_ranks_hold(s->group); /* the program may release it meanwhile */
    uccs_request_begin(request);
    uccs_schedule_start(s);
    uccs_task_add(&s->task);
    return UCCS_OK;
}

enum how { BLOCKING, NONBLOCKING };

/* Starts a collective. The member's own part is in place already. */
static int start(struct uccs_schedule *s, enum how how, uccs_request_t *desc)
{
    if (how == NONBLOCKING)
        return start_nb(s, desc);
    uccs_schedule_start(s);
    uccs_schedule_run(s, true);
    return UCCS_OK;
}

/* Checks the arguments that all collectives have. Returns UCCS_OK and sets *members, or returns an error. */
static int check(uccs_group_t group, enum how how, const uccs_request_t *desc, struct uccs_group_impl **members)
{
    if (!uccs_running() || uccs_handlers_running)
        return UCCS_ERR_STATE;
    if (!group || (how == NONBLOCKING && !desc))
        return UCCS_ERR_INVALID;
    *members = uccs_group_of(group);
    return UCCS_OK;
}

static int barrier(uccs_group_t group, enum how how, uccs_request_t *desc)
{
    struct uccs_schedule s = {.plan = uccs_schedule_plan_barrier};
    int status = check(group, how, desc, &s.group);
    return status == UCCS_OK ? start(&s, how, desc) : status;
}

static int broadcast(uccs_group_t group, void *buffer, size_t length, int root, enum how how, uccs_request_t *desc)
{
    struct uccs_schedule s = {.plan = plan_broadcast, .rooted = true, .dest = buffer, .bytes = length, .root = root};
    int status = check(group, how, desc, &s.group);
    if (status == UCCS_OK && (root < 0 || root >= s.group->size || (length && !buffer)))
        status = UCCS_ERR_INVALID;
    return status == UCCS_OK ? start(&s, how, desc) : status;
}

static int allgather(uccs_group_t group, const void *source, void *dest, size_t length, enum how how,
                     uccs_request_t *desc)
{
    struct uccs_schedule s = {.plan = plan_allgather, .dest = dest, .bytes = length};
    int status = check(group, how, desc, &s.group);
    if (status == UCCS_OK && length && (!source || !dest))
        status = UCCS_ERR_INVALID;
    if (status != UCCS_OK)
        return status;
    if (length)
        memmove(s.dest + (size_t)s.group->rank * length, source, length);
    return start(&s, how, desc);
}

static int allreduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                     enum uccs_reduction reduction, enum how how, uccs_request_t *desc)
{
    struct uccs_schedule s = {.dest = dest, .n = n};
    int status = check(group, how, desc, &s.group);
    s.kernel = uccs_type_fold(type, reduction);
    s.element = uccs_type_size(type);
    if (status == UCCS_OK && (!s.kernel || (n && (!source || !dest)) || n > SIZE_MAX / s.element))
        status = UCCS_ERR_INVALID;
    if (status != UCCS_OK)
        return status;
    s.bytes = n * s.element;
    s.plan = s.bytes <= SMALL_REDUCTION || s.group->size == 1 ? plan_reduce_tree : plan_reduce_ring;
    if (n && source != dest)
        memcpy(dest, source, s.bytes);
    return start(&s, how, desc);
}

static int alltoall(uccs_group_t group, const void *source, void *dest, size_t length, enum how how,
                    uccs_request_t *desc)
{
    struct uccs_schedule s = {.plan = plan_alltoall, .source = source, .dest = dest, .bytes = length};
    int status = check(group, how, desc, &s.group);
    if (status == UCCS_OK && length && (!source || !dest || source == dest))
        status = UCCS_ERR_INVALID;
    if (status != UCCS_OK)
        return status;
    size_t mine = (size_t)s.group->rank * length;
    if (length)
        memcpy(s.dest + mine, s.source + mine, length);
    return start(&s, how, desc);
}

int uccs_barrier(uccs_group_t group)
{
    return barrier(group, BLOCKING, 0);
}

int uccs_barrier_nb(uccs_group_t group, uccs_request_t *desc)
{
    return barrier(group, NONBLOCKING, desc);
}

int uccs_broadcast(uccs_group_t group, void *buffer, size_t length, int root)
{
    return broadcast(group, buffer, length, root, BLOCKING, 0);
}

int uccs_broadcast_nb(uccs_group_t group, void *buffer, size_t length, int root, uccs_request_t *desc)
{
    return broadcast(group, buffer, length, root, NONBLOCKING, desc);
}

int uccs_allgather(uccs_group_t group, const void *source, void *dest, size_t length)
{
    return allgather(group, source, dest, length, BLOCKING, 0);
}

int uccs_allgather_nb(uccs_group_t group, const void *source, void *dest, size_t length, uccs_request_t *desc)
{
    return allgather(group, source, dest, length, NONBLOCKING, desc);
}

int uccs_allreduce(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                   enum uccs_reduction how)
{
    return allreduce(group, source, dest, n, type, how, BLOCKING, 0);
}

int uccs_allreduce_nb(uccs_group_t group, const void *source, void *dest, size_t n, enum uccs_type type,
                      enum uccs_reduction how, uccs_request_t *desc)
{
    return allreduce(group, source, dest, n, type, how, NONBLOCKING, desc);
}

int uccs_alltoall(uccs_group_t group, const void *source, void *dest, size_t length)
{
    return alltoall(group, source, dest, length, BLOCKING, 0);
}

int uccs_alltoall_nb(uccs_group_t group, const void *source, void *dest, size_t length, uccs_request_t *desc)
{
    return alltoall(group, source, dest, length, NONBLOCKING, desc);
}
