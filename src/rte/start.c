/* rte_init: finds the launcher of this process, opens the way to it, maps the node's head and takes this PE's seat. */
#include "base/env.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "rte/backend.h"
#include "rte/rte.h"
#include "rte/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* A PE started by oshrun: LATERAL_JOB=<fd>:<node index>:<parent_pipe> names the inherited memory file, and the descriptor that
 * ends this PE with its supervisor (-1: none). Or a program started without a launcher: a job of one PE with its own memory file. */

/* Reads a number and the character behind it. Returns false when it is none, or no int. */
static bool read_number(const char **text, char behind, int *number)
{
    char *end;
    errno = 0;
    long value = strtol(*text, &end, 10);
    if (end == *text || *end != behind || errno || value < INT_MIN || value > INT_MAX)
        return false;
    *number = (int)value;
    *text = end + 1;
    return true;
}

static bool read_job(const char *job, int *fd, int *index, int *parent_pipe)
{
    return read_number(&job, ':', fd) && read_number(&job, ':', index) && read_number(&job, 0, parent_pipe) &&
           *index >= 0;
}

/* Returns the descriptor that LATERAL_JOB names, and this PE's index, without a look at the file; -1 when it names none. */
static int find_inherited(const char *job, int *index)
{
    int fd, parent_pipe;
    return read_job(job, &fd, index, &parent_pipe) ? fd : -1;
}

/* Return 0, or -1 after one line. self and local fill rte.fd, node_index, launched. */
static int open_inherited(const char *job)
{
    int fd, index, parent_pipe;
    struct stat file;
    if (!read_job(job, &fd, &index, &parent_pipe)) {
        log_line("LATERAL_JOB=%s is not one of oshrun's; unset it, or start the program with oshrun", job);
        return -1;
    }
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size < (off_t)sizeof(struct node)) {
        log_line("LATERAL_JOB=%s: file descriptor %d is not a job's memory (closed on the way by a wrapper?); "
                 "start the program with oshrun",
                 job, fd);
        return -1;
    }
    parent_death_follow(parent_pipe);
    rte.fd = fd;
    rte.node_index = index;
    rte.launched = true;
    return 0;
}

static int open_alone(void)
{
    size_t bytes = node_fixed_size(1);
    int fd = memfd_create("lateral", MFD_CLOEXEC);
    if (fd < 0 || file_resize(fd, bytes) != 0)
        goto err_file;
    struct node *node = mmap(0, sizeof *node, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (node == MAP_FAILED)
        goto err_file;
    uint64_t nonce[2] = {0, 0};
    if (getrandom(nonce, sizeof nonce, 0) < 0)
        log_debug("no random numbers: %s", strerror(errno));
    node_format(node, 1, 1, nonce);
    munmap(node, sizeof *node);
    rte.fd = fd;
    rte.node_index = 0;
    rte.launched = false;
    return 0;

err_file:
    log_line("cannot make the job's memory: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Anybody could have written the file's descriptor into the environment, so the header is not believed. */
static bool head_is_valid(const struct node *head, int index, uint64_t file_bytes)
{
    uint64_t after_last = (uint64_t)head->first + head->size;
    bool alone = head->first == 0 && head->total == head->size && head->nodes == 1 && !head->scattered && !head->placed;
    return head->magic == NODE_MAGIC && (alone || rte_backend) && head->size <= NODE_MAX_PES &&
           (uint32_t)index < head->size && head->total <= INT_MAX && after_last <= head->total &&
           head->nodes <= NODE_MAX_NODES && head->cores > 0 && file_bytes >= node_fixed_size(head->size);
}

/* The numbers of a scattered node grow. Returns false when they do not, or do not fit the job. */
static bool numbers_are_valid(const struct node *head)
{
    uint32_t least = head->first;
    for (uint32_t i = 0; head->scattered && i < head->size; least = head->pe[i++].number + 1)
        if (head->pe[i].number < least || head->pe[i].number >= head->total || (i == 0 && head->pe[i].number != least))
            return false;
    return true;
}

/* Returns the head of the node's memory with the records of its PEs, or null with errno set. */
static struct node *map_head(int fd, int index)
{
    struct stat file;
    if (fstat(fd, &file) != 0)
        return NULL;
    struct node *head = mmap(0, sizeof *head, PROT_READ, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED)
        return NULL;
    size_t bytes = node_groups_at(head->size);
    bool valid = head_is_valid(head, index, (uint64_t)file.st_size);
    munmap(head, sizeof *head);
    if (!valid)
        return errno = EPROTO, NULL;
    head = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED)
        return NULL;
    if (!numbers_are_valid(head)) {
        munmap(head, bytes);
        return errno = EPROTO, NULL;
    }
    return head;
}

/* Starts the library once more in the same process. Returns 0. */
static int come_back(void)
{
    atomic_store_release(&rte.me->state, NODE_RUNNING);
    return 0;
}

/* The launcher that started this process. find_launcher looks at our own variable first, because it is for this process
 * alone. */
enum launcher { ALONE, OURS, PMIX, PMI, UNKNOWN, EMBEDDED };

/* Programs that a PE starts inherit the variables of its launcher, but the place in the job is taken. They are jobs of
 * their own, unless another launcher comes between. So the PE leaves this, and its place, in LATERAL_JOB. */
#define TAKEN "taken"

static bool is_taken(const char *job)
{
    return strncmp(job, TAKEN, strlen(TAKEN)) == 0;
}

/* Puts the place in the job into text. */
static void name_place(char *text, size_t room)
{
    static const char *const words[] = {"PMIX_NAMESPACE", "PMIX_RANK", "PMI_FD", "PMI_RANK", "PMI_PORT", "PMI_ID"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words && used < room; i++) {
        const char *word = getenv(words[i]);
        used += (size_t)snprintf(text + used, room - used, "/%s", word ? word : "");
    }
}

static bool place_is_taken(void)
{
    char place[512];
    const char *job = getenv("LATERAL_JOB");
    name_place(place, sizeof place);
    return job && is_taken(job) && strcmp(job + strlen(TAKEN), place) == 0 && !rte_pmi_is_open();
}

static void take_place(void)
{
    char place[512];
    memcpy(place, TAKEN, sizeof TAKEN);
    name_place(place + strlen(TAKEN), sizeof place - strlen(TAKEN));
    setenv("LATERAL_JOB", place, 1);
}

static enum launcher find_launcher(void)
{
    static const char *const names[] = {"alone", "oshrun", "pmix", "pmi"};
    const char *chosen = env_text(ENV_RTE);
    if (rte_host_is_there())
        return EMBEDDED;
    for (int i = 0; i < UNKNOWN; i++)
        if (strcmp(chosen, names[i]) == 0)
            return i;
    if (*chosen && strcmp(chosen, "auto") != 0)
        return UNKNOWN;
    const char *job = env_text(ENV_JOB); /* NODE_FRONT: oshrun has handed the job over to another launcher */
    if (*job && !is_taken(job) && strncmp(job, NODE_FRONT, strlen(NODE_FRONT)) != 0)
        return OURS;
    if (place_is_taken())
        return ALONE;
    if (rte_pmi_is_open()) /* the innermost launcher; others close descriptors that they inherit */
        return PMI;
    if (rte_pmix_is_there())
        return PMIX;
    return rte_pmi_is_there() ? PMI : ALONE;
}

bool rte_launcher_is_there(void)
{
    enum launcher launcher = find_launcher();
    return launcher != ALONE && launcher != UNKNOWN;
}

struct node *rte_node_ahead(int *fd, int *index)
{
    struct stat file;
    *fd = find_launcher() == OURS ? find_inherited(env_text(ENV_JOB), index) : -1;
    if (*fd < 0 || fstat(*fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size < (off_t)sizeof(struct node))
        return NULL;
    int seals = fcntl(*fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) ? map_head(*fd, *index) : NULL;
}

/* Warns when a launcher has started several processes without a way for them to meet: each is a job of one PE. The first
 * of them says so. A process that is to be alone, or whose parent has the place, is no such. */
static void warn_lonely(void)
{
    static const struct {
        const char *size, *number, *launcher, *remedy;
    } launchers[] = {
        {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun", "use srun --mpi=pmix, srun --mpi=pmi2 or oshrun"},
        {"SLURM_NTASKS", "SLURM_PROCID", "Slurm", "use srun --mpi=pmix, srun --mpi=pmi2 or oshrun"},
        {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun", "it gives no PMIx; use oshrun"},
        {"PMI_SIZE", "PMI_RANK", "a launcher with PMI", "it left no way to it open; use oshrun"},
    };
    if (strcmp(env_text(ENV_RTE), "alone") == 0 || place_is_taken())
        return;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *size = getenv(launchers[i].size), *number = getenv(launchers[i].number);
        if (!size || !number || atoi(size) < 2)
            continue;
        if (atoi(number) == 0)
            log_line("%s started %s tasks that know nothing of each other (%s): each is a job of one PE; %s",
                     launchers[i].launcher, size, launchers[i].size, launchers[i].remedy);
        return;
    }
}

/* Returns 0, or -1 when the launcher did not answer, or the PEs do not meet. */
static int join_job(const struct rte_backend *backend, const struct rte_rank *place)
{
    if (!backend)
        return -1;
    rte_backend = backend;
    rte_is_this_process();
    rte_note_exit();
    rte.pe = place->pe;
    log_identity(rte.pe);
    log_debug("started by %s: PE %d of %d, job %s", backend->name, place->pe, place->npes, place->job);
    return rte_node_bootstrap(place);
}

/* Ends the job, because other PEs would wait for this one; but for a program that ends its job itself. Returns -1. */
static int give_up(void)
{
    if (rte_backend && !(rte_backend->ending && rte_backend->ending()))
        rte_abort(LAT_EXIT);
    return -1;
}

static int open_node(enum launcher launcher)
{
    struct rte_rank place;
    if (launcher == PMIX || launcher == PMI || launcher == EMBEDDED)
        take_place(); /* before a module starts threads */
    switch (launcher) {
    case OURS: return open_inherited(env_text(ENV_JOB));
    case PMIX: return join_job(rte_pmix_open(&place), &place);
    case PMI: return join_job(rte_pmi_open(&place), &place);
    case EMBEDDED: return join_job(rte_host_open(&place), &place);
    case ALONE: warn_lonely(); return open_alone();
    case UNKNOWN: break;
    }
    log_line("LATERAL_RTE=%s is not one of auto, oshrun, pmix, pmi, alone", env_text(ENV_RTE));
    return -1;
}

/* reads_crashes: the launcher reads from the node's memory how a PE has crashed. */
static int take_seat(bool reads_crashes)
{
    rte.node_size = (int)rte.node->size;
    rte.node_first = (int)rte.node->first;
    rte.npes = (int)rte.node->total;
    rte.pe = rte_pe_at((uint32_t)rte.node_index);
    rte.me = &rte.node->pe[rte.node_index];
    log_identity(rte.pe);
    if (atomic_load_relaxed(&rte.me->state) != NODE_STARTED) {
        log_line("this PE was already used by another process; start one OpenSHMEM program per PE");
        return -1;
    }
    rte_is_this_process();
    rte_note_exit();
    rte.me->pid = getpid();
    if (reads_crashes)
        rte_crash_watch();
    atomic_store_release(&rte.me->state, NODE_RUNNING); /* acquire: launcher */
    rte_watch_start();
    if (rte_nodes_learn(rte_watch_root()) != 0)
        return -1;
    rte_watch_connect();
    return 0;
}

int rte_init(void)
{
    if (rte.node)
        return come_back();
    const enum launcher launcher = find_launcher();
    rte_watch_prepare();
    if (open_node(launcher) != 0)
        return give_up();
    fcntl(rte.fd, F_SETFD, FD_CLOEXEC);
    const char *job = getenv("LATERAL_JOB");
    if (job && !is_taken(job))
        unsetenv("LATERAL_JOB"); /* programs that a PE starts are jobs of their own */
    rte.node = map_head(rte.fd, rte.node_index);
    int status = -1;
    if (!rte.node)
        log_line("cannot map the job's memory: %s",
                 errno == EPROTO
                     ? "it is of another version: oshrun and the program's library must be of one installation"
                     : strerror(errno));
    else
        status = take_seat(launcher == OURS || rte_watch_is_wanted());
    return status == 0 ? 0 : give_up();
}
