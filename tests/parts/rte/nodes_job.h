/* Jobs of several nodes in this program: each PE is a process, and the launcher is memory that they share. For nodes.c. */
#ifndef TESTS_TRUST_NODES_JOB_H
#define TESTS_TRUST_NODES_JOB_H

#include "rte/backend.h"

#include "unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

enum { MOST = 12, VALUES = 8, ROOM = 512 };

/* The launcher's memory. */
static struct {
    uint32_t arrived, round;
    int npes, fences, gets[MOST];
    struct value {
        char key[RTE_KEY_BYTES + 1];
        size_t bytes;
        char data[ROOM];
    } values[MOST][VALUES];
    int used[MOST];
} * shared;

/* ---- a launcher ---- */

static int launcher_puts(const char *key, const void *data, size_t bytes)
{
    struct value *value = &shared->values[rte.pe][shared->used[rte.pe]++];
    CHECK(shared->used[rte.pe] <= VALUES && bytes <= ROOM);
    strcpy(value->key, key);
    memcpy(value->data, data, bytes);
    value->bytes = bytes;
    return 0;
}

static int launcher_gets(int pe, const char *key, void **data, size_t *bytes)
{
    shared->gets[rte.pe]++;
    for (int i = 0; i < shared->used[pe]; i++)
        if (strcmp(shared->values[pe][i].key, key) == 0) {
            *bytes = shared->values[pe][i].bytes;
            *data = malloc(*bytes ? *bytes : 1);
            CHECK(*data);
            memcpy(*data, shared->values[pe][i].data, *bytes);
            return 0;
        }
    return -1;
}

static int launcher_fences(int seconds, pthread_mutex_t *held)
{
    CHECK(seconds >= 0 && pthread_mutex_trylock(held) == EBUSY);
    const uint32_t round = atomic_load_acquire(&shared->round);
    if (atomic_fetch_add_acqrel(&shared->arrived, 1) + 1 == (uint32_t)shared->npes) {
        shared->arrived = 0;
        shared->fences++;
        atomic_store_release(&shared->round, round + 1);
    }
    while (atomic_load_acquire(&shared->round) == round)
        usleep(200);
    return 0;
}

static const struct rte_backend made_up = {.name = "made up",
                                           .put = launcher_puts,
                                           .get = launcher_gets,
                                           .fence = launcher_fences};

/* ---- jobs ---- */

static int node_of_pe[MOST], leads[MOST + 1], nodes, npes; /* of the job, as it is */
static struct node *heads[MOST];
static int files[MOST];

static int size_of_node(int node)
{
    int size = 0;
    for (int pe = 0; pe < npes; pe++)
        size += node_of_pe[pe] == node;
    return size;
}

/* Makes the memory of a node of two processors. */
static void make_node(int number)
{
    const uint32_t size = (uint32_t)size_of_node(number);
    files[number] = memfd_create("lateral", MFD_CLOEXEC);
    CHECK(files[number] >= 0 && ftruncate(files[number], (off_t)node_fixed_size(size)) == 0);
    struct node *head = heads[number] =
        mmap(0, node_groups_at(size), PROT_READ | PROT_WRITE, MAP_SHARED, files[number], 0);
    CHECK(head != MAP_FAILED);
    node_format(head, size, 2, (uint64_t[2]){(uint64_t)number + 1, 7});
    uint32_t index = 0;
    for (int pe = 0; pe < npes; pe++)
        if (node_of_pe[pe] == number)
            head->pe[index++].number = (uint32_t)pe;
    head->first = head->pe[0].number;
    head->total = (uint32_t)npes;
    head->nodes = nodes == 1;
    head->scattered = head->pe[size - 1].number != head->first + size - 1;
    leads[number] = (int)head->first;
}

static void be_pe(int pe)
{
    struct node *head = heads[node_of_pe[pe]];
    rte = (struct rte){.pe = pe, .npes = npes, .node_size = (int)head->size, .node_first = (int)head->first};
    rte.fd = files[node_of_pe[pe]];
    rte.node = head;
    rte.launched = true;
    while (node_pe_number(head, (uint32_t)rte.node_index) != (uint32_t)pe)
        rte.node_index++;
    rte.me = &head->pe[rte.node_index];
    rte_backend = &made_up;
    rte_is_this_process();
}

/* This PE knows the job as it is. */
static void knows_the_job(void)
{
    bool scattered = false;
    for (int node = 0; node < nodes; node++) {
        CHECK(rte_node_lead(node) == leads[node]);
        scattered |= heads[node]->scattered != 0;
    }
    CHECK(rte.nodes == nodes && rte.node_number == node_of_pe[rte.pe] && rte_node_lead(nodes) == npes);
    CHECK((nodes > 1 && scattered) == (rte.places != 0) && (rte.node->placed != 0) == (rte.places != 0));
    for (int pe = 0, index = 0; pe < npes; pe++) {
        const bool near = node_of_pe[pe] == node_of_pe[rte.pe];
        CHECK(nodes == 1 || rte_node_of(pe) == node_of_pe[pe]);
        CHECK(rte_on_my_node(pe) == near);
        if (near)
            CHECK(rte_index_of(pe) == (uint32_t)index && rte_pe_at((uint32_t)index++) == pe);
    }
    CHECK(!rte_on_my_node(npes) && !rte_on_my_node(-1));
    CHECK(rte.node->nonce[0] == 1 && rte.node->nonce[1] == 7);
    CHECK(rte.node->crowd == (uint32_t)npes / 2 && rte.node->oversubscribed == (npes > 2));
}

static void tells_values(void)
{
    static const char many[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    char key[] = "key-of-another";
    CHECK(rte_put("key", many, (size_t)rte.pe) == 0 && rte_put("last", &rte.pe, sizeof rte.pe) == 0);
    CHECK(rte_put(key, many + 1, 1) == 0 && rte_commit_fence() == 0);
    for (int pe = 0; pe < npes; pe++) {
        void *value = 0;
        size_t bytes = 99;
        CHECK(rte_get(pe, "key", &value, &bytes) == 0 && bytes == (size_t)pe && memcmp(value, many, bytes) == 0);
        free(value);
        CHECK(rte_get(pe, "last", &value, &bytes) == 0 && bytes == sizeof pe && memcmp(value, &pe, bytes) == 0);
        free(value);
    }
    CHECK(rte_put("key", many, 1) == -1); /* told before */
}

/* The leads ask for the one value of all, PE 0 each lead; nobody else asks. */
static void have_asked(void)
{
    for (int pe = 0; pe < npes; pe++) {
        const bool lead = leads[node_of_pe[pe]] == pe;
        CHECK(shared->gets[pe] == (nodes == 1 ? 0 : pe == 0 ? nodes - 1 : lead));
    }
    CHECK(shared->fences == (nodes == 1 ? 0 : 2));
}

static void job_learns(int pe)
{
    be_pe(pe);
    CHECK(rte_nodes_learn() == 0);
    knows_the_job();
    rte_job_barrier();
    CHECK(pe != 0 || shared->fences == (nodes == 1 ? 0 : 3));
    rte_job_barrier();
    tells_values();
    CHECK(rte_job_barrier_within(60));
}

/* A job whose PE i is on node places[i] - '0'; nodes are numbered by their lowest PEs. */
static void job(const char *places)
{
    int status;
    memset(shared, 0, sizeof *shared);
    npes = shared->npes = (int)strlen(places);
    nodes = 0;
    for (int pe = 0; pe < npes; pe++) {
        node_of_pe[pe] = places[pe] - '0';
        nodes = node_of_pe[pe] + 1 > nodes ? node_of_pe[pe] + 1 : nodes;
    }
    for (int node = 0; node < nodes; node++)
        make_node(node);
    for (int pe = 0; pe < npes; pe++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            job_learns(pe);
            _exit(0);
        }
    for (int pe = 0; pe < npes; pe++)
        CHECK(wait(&status) > 0 && status == 0);
    for (int node = 0; node < nodes; node++)
        CHECK(munmap(heads[node], node_groups_at((uint32_t)size_of_node(node))) == 0 && close(files[node]) == 0);
}

#endif
