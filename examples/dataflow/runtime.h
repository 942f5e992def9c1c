/* A dataflow runtime: tasks with inputs and one output, spread over the processes of a job, with work stealing.
 *
 * A datum is an array of bytes with a key, which one task writes once. A task has the key of its output, and names the keys of
 * its inputs. home(key) tells which process owns a task and its output. A task is ready when its inputs have come; the owner
 * runs its newest ready task, since that one's inputs are warm. A process that has none asks another one, drawn at random, for
 * its oldest. So nobody deals tasks out, and the data goes where the task runs.
 *
 *   ASK      to the home of a datum: send it when it is there      DATA     here it is; to its home: a stolen task's output
 *   STEAL    I have nothing to do                                  TASK     take this one, with its inputs; NOTHING
 *
 * Threads: one thread of the program calls these functions. Messages may arrive on another one, the progress thread, while a
 * task runs, so `lock` guards all state; no message is sent and no task runs under it but by net_send, which never waits. A
 * message that finds no room waits in `outbox` until the program's thread comes by.
 *
 * The file that includes this one has included a network before: dataflow/net_uccs.h, or another with the same functions. */
#ifndef DATAFLOW_RUNTIME_H
#define DATAFLOW_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum { DF_INPUTS = 4, DF_BUCKETS = 1 << 16, DF_PATIENCE = 1024, DF_TASKS_A_LOOK = 16 };

typedef void (*df_kernel)(uint64_t key, void *output, const void *const *inputs);

enum df_kind { DF_ASK, DF_DATA, DF_STEAL, DF_TASK, DF_NOTHING };
struct df_header {
    uint32_t kind, kernel, n, bytes; /* of a task: its inputs, and the bytes of its output */
    uint64_t key;
    uint32_t sizes[DF_INPUTS]; /* the inputs follow, each at a multiple of 8 */
};

struct df_task {
    TAILQ_ENTRY(df_task) link; /* in the queue of ready tasks */
    uint64_t key;
    uint32_t kernel, n, bytes;
    uint32_t missing; /* inputs that have not come */
    const struct df_datum *in[DF_INPUTS];
    const void *input[DF_INPUTS]; /* where they are, once the task is ready */
    char *stolen;                 /* holds the inputs of a task from elsewhere; else null */
};

struct df_wish { /* who waits for a datum: a task here, or another process */
    struct df_wish *next;
    struct df_task *task;
    int pe;
};

struct df_datum {
    struct df_datum *next; /* in its bucket */
    uint64_t key;
    void *value; /* null: it has not come */
    uint32_t bytes;
    bool asked;
    struct df_wish *wishes;
};

struct df_letter {
    STAILQ_ENTRY(df_letter) link;
    int to;
    size_t bytes;
    char data[];
};

static struct df {
    pthread_mutex_t lock;
    const df_kernel *kernels;
    int (*home)(uint64_t key);
    struct df_datum *buckets[DF_BUCKETS];
    TAILQ_HEAD(df_ready_head, df_task) ready;
    STAILQ_HEAD(, df_letter) outbox;
    uint64_t left;        /* own tasks whose output has not come */
    bool stealing;        /* an answer is under way */
    uint32_t idle;        /* rounds without a task since the last one, or since it asked for one */
    uint32_t patience;    /* such rounds until it asks */
    uint64_t ran, stolen; /* tasks, for those who ask */
} df = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *df_memory(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "dataflow: no memory\n");
        abort();
    }
    return memory;
}

/* --- Messages out. Under the lock. */

static bool df_try(int to, const void *header, size_t header_bytes, const void *data, size_t bytes)
{
    const net_part parts[] = {{header, header_bytes}, {data, bytes}};
    return net_send(to, parts, bytes ? 2 : 1);
}

/* Messages to one process stay in order: none passes those in the outbox. */
static void df_post(int to, const struct df_header *header, const void *data, size_t bytes)
{
    if (STAILQ_EMPTY(&df.outbox) && df_try(to, header, sizeof *header, data, bytes))
        return;
    struct df_letter *letter = df_memory(sizeof *letter + sizeof *header + bytes);
    letter->to = to;
    letter->bytes = sizeof *header + bytes;
    memcpy(letter->data, header, sizeof *header);
    if (bytes)
        memcpy(letter->data + sizeof *header, data, bytes);
    STAILQ_INSERT_TAIL(&df.outbox, letter, link);
}

static void df_flush_outbox(void)
{
    struct df_letter *letter;
    while ((letter = STAILQ_FIRST(&df.outbox)) && df_try(letter->to, letter->data, letter->bytes, NULL, 0)) {
        STAILQ_REMOVE_HEAD(&df.outbox, link);
        free(letter);
    }
}

/* --- Data. Under the lock. */

static struct df_datum *df_find(uint64_t key)
{
    struct df_datum **at = &df.buckets[key * 0x9E3779B97F4A7C15u >> 48];
    while (*at && (*at)->key != key)
        at = &(*at)->next;
    if (!*at) {
        *at = df_memory(sizeof **at);
        (*at)->key = key;
    }
    return *at;
}

static void df_make_ready(struct df_task *task)
{
    for (uint32_t i = 0; i < task->n; i++)
        task->input[i] = task->in[i]->value;
    TAILQ_INSERT_TAIL(&df.ready, task, link);
}

static void df_send_datum(const struct df_datum *datum, int to)
{
    df_post(to, &(struct df_header){.kind = DF_DATA, .key = datum->key}, datum->value, datum->bytes);
}

/* The datum has come: `value` is the runtime's from now on. */
static void df_arrive(struct df_datum *datum, void *value, size_t bytes)
{
    datum->value = value;
    datum->bytes = (uint32_t)bytes;
    for (struct df_wish *next, *wish = datum->wishes; wish; wish = next) {
        next = wish->next;
        if (!wish->task)
            df_send_datum(datum, wish->pe);
        else if (--wish->task->missing == 0)
            df_make_ready(wish->task);
        free(wish);
    }
    datum->wishes = NULL;
    df.left -= df.home(datum->key) == net_me;
}

static void df_wish_for(struct df_datum *datum, struct df_task *task, int pe)
{
    struct df_wish *wish = df_memory(sizeof *wish);
    *wish = (struct df_wish){.next = datum->wishes, .task = task, .pe = pe};
    datum->wishes = wish;
}

/* --- Stealing. Under the lock. */

static size_t df_padded(uint32_t bytes)
{
    return ((size_t)bytes + 7) / 8 * 8;
}

/* Gives the oldest ready task to a thief, unless it is the last: its owner runs that one at once. */
static void df_give(int thief)
{
    struct df_task *task = TAILQ_FIRST(&df.ready);
    struct df_header header = {.kind = DF_NOTHING};
    if (!task || !TAILQ_NEXT(task, link) || task->stolen) {
        df_post(thief, &header, NULL, 0);
        return;
    }
    size_t bytes = 0;
    header = (struct df_header){DF_TASK, task->kernel, task->n, task->bytes, task->key, {0}};
    for (uint32_t i = 0; i < task->n; i++)
        bytes += df_padded(header.sizes[i] = task->in[i]->bytes);
    char *inputs = df_memory(bytes), *at = inputs;
    for (uint32_t i = 0; i < task->n; at += df_padded(header.sizes[i++]))
        memcpy(at, task->input[i], header.sizes[i]);
    df_post(thief, &header, inputs, bytes);
    TAILQ_REMOVE(&df.ready, task, link);
    free(inputs);
    free(task);
}

static void df_take(const struct df_header *header, const char *inputs, size_t bytes)
{
    struct df_task *task = df_memory(sizeof *task);
    *task = (struct df_task){.key = header->key, .kernel = header->kernel, .n = header->n, .bytes = header->bytes};
    char *at = task->stolen = memcpy(df_memory(bytes), inputs, bytes);
    for (uint32_t i = 0; i < task->n; at += df_padded(header->sizes[i++]))
        task->input[i] = at;
    TAILQ_INSERT_TAIL(&df.ready, task, link);
    df.stolen++;
    df.patience = 1;
}

/* Asks another process for a task, now and then. */
static void df_steal(void)
{
    if (df.stealing || net_size == 1 || df.idle < df.patience)
        return;
    df.idle = 1;
    df.stealing = true;
    df_post((net_me + 1 + rand() % (net_size - 1)) % net_size, &(struct df_header){.kind = DF_STEAL}, NULL, 0);
}

/* --- Messages in: the network calls it on a thread in progress. */

static void df_arrived(int from, const char *message, size_t length)
{
    struct df_header header;
    memcpy(&header, message, sizeof header);
    const char *data = message + sizeof header;
    const size_t bytes = length - sizeof header;
    pthread_mutex_lock(&df.lock);
    struct df_datum *datum = header.kind == DF_ASK || header.kind == DF_DATA ? df_find(header.key) : NULL;
    switch ((enum df_kind)header.kind) {
    case DF_ASK: datum->value ? df_send_datum(datum, from) : df_wish_for(datum, NULL, from); break;
    case DF_DATA: df_arrive(datum, memcpy(df_memory(bytes), data, bytes), bytes); break;
    case DF_STEAL: df_give(from); break;
    case DF_TASK: df_take(&header, data, bytes); break;
    case DF_NOTHING: df.patience = df.patience < DF_PATIENCE ? 2 * df.patience : DF_PATIENCE; break;
    }
    if (header.kind == DF_TASK || header.kind == DF_NOTHING)
        df.stealing = false;
    pthread_mutex_unlock(&df.lock);
}

/* --- For programs */

/* All processes call it, with the same kernels in the same order. */
static void df_start(const df_kernel *kernels, int (*home)(uint64_t key))
{
    df.kernels = kernels;
    df.home = home;
    df.patience = 1;
    TAILQ_INIT(&df.ready);
    STAILQ_INIT(&df.outbox);
    net_start();
}

/* A task of the kernel with this number: its output has `bytes` bytes, its n inputs the outputs of the tasks of these keys. All
 * processes may name all tasks, or each those that it owns. */
static void df_task(uint32_t kernel, uint64_t key, uint32_t bytes, uint32_t n, const uint64_t *inputs)
{
    if (df.home(key) != net_me)
        return;
    struct df_task *task = df_memory(sizeof *task);
    *task = (struct df_task){.key = key, .kernel = kernel, .n = n, .bytes = bytes};
    pthread_mutex_lock(&df.lock);
    df.left++;
    for (uint32_t i = 0; i < n; i++) {
        struct df_datum *datum = df_find(inputs[i]);
        task->in[i] = datum;
        if (datum->value)
            continue;
        task->missing++;
        df_wish_for(datum, task, -1);
        if (df.home(inputs[i]) != net_me && !datum->asked)
            df_post(df.home(inputs[i]), &(struct df_header){.kind = DF_ASK, .key = inputs[i]}, NULL, 0);
        datum->asked = true;
    }
    if (!task->missing)
        df_make_ready(task);
    pthread_mutex_unlock(&df.lock);
}

static void df_run_task(struct df_task *task)
{
    void *output = df_memory(task->bytes);
    df.kernels[task->kernel](task->key, output, task->input);
    const int home = df.home(task->key);
    pthread_mutex_lock(&df.lock);
    df.ran++;
    if (home == net_me) {
        df_arrive(df_find(task->key), output, task->bytes);
    } else {
        df_post(home, &(struct df_header){.kind = DF_DATA, .key = task->key}, output, task->bytes);
        free(output);
    }
    pthread_mutex_unlock(&df.lock);
    free(task->stolen);
    free(task);
}

/* One round: a ready task, or an attempt to steal. While there are tasks, few rounds look at the network. Returns true when all own
 * tasks are done and nothing is left to send, or to hear where nobody steals any more. */
static bool df_round(bool steals)
{
    static uint32_t rounds;
    if (df.idle || ++rounds % DF_TASKS_A_LOOK == 0)
        net_progress();
    pthread_mutex_lock(&df.lock);
    df_flush_outbox();
    struct df_task *task = TAILQ_LAST(&df.ready, df_ready_head);
    df.idle = task ? 0 : df.idle + 1;
    if (task)
        TAILQ_REMOVE(&df.ready, task, link);
    else if (steals)
        df_steal();
    const bool done = !task && !df.left && STAILQ_EMPTY(&df.outbox) && (steals || !df.stealing);
    pthread_mutex_unlock(&df.lock);
    if (task)
        df_run_task(task);
    return done;
}

/* Runs tasks until those of all processes are done: each says so when its own are, and goes on to steal. Then nobody steals any more,
 * and each waits until its last question is answered, before all leave together. */
static void df_run(void)
{
    while (!df_round(true))
        ;
    net_leave();
    while (!net_all_left())
        df_round(true);
    while (!df_round(false))
        ;
    net_leave();
    while (!net_all_left())
        df_round(false);
}

/* The output of a task that this process owns, or has had as an input. Until df_end. */
static const void *df_value(uint64_t key)
{
    return df_find(key)->value;
}

static void df_end(void)
{
    net_end();
    for (uint32_t i = 0; i < DF_BUCKETS; i++)
        for (struct df_datum *next, *datum = df.buckets[i]; datum; datum = next) {
            next = datum->next;
            free(datum->value);
            free(datum);
        }
    memset(df.buckets, 0, sizeof df.buckets);
}

#endif
