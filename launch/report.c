#include "report.h"

#include "base/clock.h"
#include "halt.h"
#include "message.h"
#include "segment.h"
#include "set.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The library's thread acts only after somebody has rung it. */
static bool is_our_thread(pid_t pid, const char *thread)
{
    char path[320], name[32] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%s/comm", (int)pid, thread);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool read = fgets(name, sizeof name, file) != NULL;
    fclose(file);
    return read && strcmp(name, "lateral-serve\n") == 0;
}

/* The kernel shows number and arguments of the system call that a thread sleeps in. */
static bool sleeps_until_woken(pid_t pid, const char *thread)
{
    char path[320];
    long number = -1;
    unsigned long operation = 0, limit = 1;
    snprintf(path, sizeof path, "/proc/%d/task/%s/syscall", (int)pid, thread);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    int read = fscanf(file, "%ld %*x %lx %*x %lx", &number, &operation, &limit);
    fclose(file);
    operation &= FUTEX_CMD_MASK;
    return read == 3 && number == SYS_futex && limit == 0 &&
           (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI);
}

/* Returns the record of the thread's wait if it waits for PEs alone, or null. */
static const struct node_wait *wait_of_thread(const struct view *view, uint32_t index, int thread)
{
    for (int i = 0; i < NODE_WAITS; i++) {
        const struct node_wait *wait = view_wait(view, index, i);
        if (atomic_load_acquire(&wait->state) == NODE_WAIT_VALID &&
            wait->thread == thread) /* release: rte_wait_record_begin */
            return wait->on.may_end ? NULL : wait;
    }
    return NULL;
}

/* What a look has seen so far. */
struct seen {
    uint64_t mark, looks;
    uint32_t waiting; /* number of waits */
};

static void mix(struct seen *seen, uint64_t value)
{
    seen->mark = (seen->mark ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    seen->mark ^= seen->mark >> 29;
}

static bool thread_stuck(const struct view *view, uint32_t index, const char *thread, struct seen *seen)
{
    const struct node_wait *wait = wait_of_thread(view, index, atoi(thread));
    if (!wait)
        return sleeps_until_woken(view->pids[index], thread) || is_our_thread(view->pids[index], thread);
    mix(seen, wait->since);
    mix(seen, atomic_load_relaxed(&wait->value));
    seen->looks += atomic_load_relaxed(&wait->looks);
    seen->waiting++;
    return true;
}

static bool pe_stuck(const struct view *view, uint32_t index, struct seen *seen)
{
    char path[64];
    uint32_t state = atomic_load_acquire(&view->node->pe[index].state); /* release: the PE */
    if (state == NODE_FINALISED || !view->pids[index])
        return true; /* it does nothing for others any more */
    snprintf(path, sizeof path, "/proc/%d/task", (int)view->pids[index]);
    DIR *threads = opendir(path);
    bool stuck = threads != NULL && state == NODE_RUNNING;
    for (struct dirent *entry; stuck && (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            stuck = thread_stuck(view, index, entry->d_name, seen);
    if (threads)
        closedir(threads);
    return stuck;
}

double deadlock_look(struct deadlock *deadlock, const struct view *view)
{
    struct seen seen = {0};
    bool stuck = true;
    for (uint32_t index = 0; stuck && index < view->node->size; index++)
        stuck = pe_stuck(view, index, &seen);
    const uint64_t now = clock_nanoseconds();
    if (!stuck || !seen.waiting || !deadlock->since || seen.mark != deadlock->mark) {
        *deadlock = (struct deadlock){stuck && seen.waiting ? now : 0, seen.mark, seen.looks};
        return 0;
    }
    /* Waiters that have not looked since may be stopped, with what they wait for already there. */
    return seen.looks > deadlock->looks ? 1e-9 * (double)(now - deadlock->since) : 0;
}

#define COLUMN_MAX 60 /* longer texts of a row push the later ones */

/* One line of the report. */
struct row {
    struct set pes;
    char what[320];
    char where[320];
    double seconds; /* the longest; below 0: not known */
};

struct report {
    const struct view *view;
    struct waiters waiters;
    struct row *row;
    size_t rows;
    struct set running; /* PEs that may still act */
};

static struct row *add_row(struct report *report)
{
    report->row = say_if_null(realloc(report->row, (report->rows + 1) * sizeof *report->row));
    struct row *row = &report->row[report->rows++];
    *row = (struct row){.pes = set_make(report->view->node->size), .seconds = -1};
    return row;
}

/* ---- who has come to a meeting, and who is missing ---- */

static uint32_t index_of_member(const struct report *report, const struct node_wait_reason *on, int rank)
{
    return (uint32_t)(on->start + rank * on->stride) - report->view->node->first;
}

/* Adds the PEs that the waiter waits for. Returns how many PEs of this node meet there; those of other nodes are not
 * known here. */
static uint32_t add_missing(const struct report *report, const struct waiter *waiter, struct set *missing)
{
    uint32_t size = report->view->node->size, here = 0;
    struct set come = set_make(size);
    for (size_t i = 0; i < report->waiters.count && waiter->on.size > 1; i++)
        if (waiters_meet(waiter, &report->waiters.waiter[i]))
            set_add(&come, report->waiters.waiter[i].index);
    for (int rank = 0; rank < waiter->on.size; rank++) {
        uint32_t index = index_of_member(report, &waiter->on, rank);
        here += index < size;
        if (!set_has(&come, index)) /* a set takes no number that is not below its size */
            set_add(missing, index);
    }
    set_free(&come);
    return here;
}

/* True when the PE waits for what it has itself, such as a lock that it has set before. */
static bool waits_for_itself(const struct report *report, const struct waiter *waiter)
{
    const struct node_wait_reason *on = &waiter->on;
    return on->about == NODE_REASON_PES && on->size == 1 && index_of_member(report, on, 0) == waiter->index;
}

/* ---- rows ---- */

static void write_what(const struct report *report, const struct waiter *waiter, char *text, size_t room)
{
    const struct node_wait_reason *on = &waiter->on;
    const char *object = waiter->object, *then = *object ? "; " : "";
    if (on->about == NODE_REASON_VARIABLE) {
        snprintf(text, room, "%s(%s)", waiter->call, object);
    } else if (on->about == NODE_REASON_PES && on->size > 1) {
        struct set missing = set_make(report->view->node->size);
        const uint32_t here = add_missing(report, waiter, &missing);
        snprintf(text, room, "%s (%s%s%u of %u%s have come)", waiter->call, object, then, here - missing.count, here,
                 here < (uint32_t)on->size ? " here" : "");
        set_free(&missing);
    } else if (waits_for_itself(report, waiter)) {
        snprintf(text, room, "%s (%s%swaits for itself)", waiter->call, object, then);
    } else if (on->about == NODE_REASON_PES) {
        snprintf(text, room, "%s (%s%swaits for PE %d)", waiter->call, object, then, on->start);
    } else if (*object) {
        snprintf(text, room, "%s (%s)", waiter->call, object);
    } else {
        snprintf(text, room, "%s", waiter->call);
    }
}

static struct row *row_like(struct report *report, const char *what, const char *where)
{
    for (size_t i = 0; i < report->rows; i++)
        if (strcmp(report->row[i].what, what) == 0 && strcmp(report->row[i].where, where) == 0)
            return &report->row[i];
    struct row *row = add_row(report);
    snprintf(row->what, sizeof row->what, "%s", what);
    snprintf(row->where, sizeof row->where, "%s", where);
    return row;
}

/* Returns the line of an earlier waiter at the same place, so that each place is looked up once. */
static const char *line_of(struct report *report, size_t number, char (*lines)[320])
{
    const struct waiter *waiter = &report->waiters.waiter[number];
    for (size_t i = 0; i < number; i++) {
        const struct waiter *other = &report->waiters.waiter[i];
        if (other->from.elf == waiter->from.elf && other->from.address == waiter->from.address)
            return memcpy(lines[number], lines[i], sizeof lines[i]);
    }
    location_line(waiter->from, lines[number], sizeof lines[number]);
    return lines[number];
}

static void add_waiters(struct report *report)
{
    char(*lines)[320] = say_if_null(calloc(report->waiters.count + 1, sizeof *lines));
    for (size_t i = 0; i < report->waiters.count; i++) {
        const struct waiter *waiter = &report->waiters.waiter[i];
        char what[320];
        write_what(report, waiter, what, sizeof what);
        struct row *row = row_like(report, what, line_of(report, i, lines));
        set_add(&row->pes, waiter->index);
        row->seconds = row->seconds > waiter->seconds ? row->seconds : waiter->seconds;
    }
    free(lines);
}

/* Adds the row of a PE that is in no wait. */
static void add_other(struct report *report, uint32_t index)
{
    uint32_t state = atomic_load_acquire(&report->view->node->pe[index].state); /* release: the PE */
    pid_t pid = report->view->pids[index];
    bool there = pid && kill(pid, 0) == 0;
    char where[320] = "";
    const char *what = !there                    ? "has ended"
                       : state == NODE_STARTED   ? "has not called shmem_init or uccs_init"
                       : state == NODE_FINALISED ? "is behind shmem_finalize"
                                                 : "is in no wait that lasts";
    if (state != NODE_FINALISED && there)
        halt_where(pid, where, sizeof where);
    set_add(&row_like(report, what, where)->pes, index);
    if (there && state != NODE_FINALISED)
        set_add(&report->running, index);
}

static void print_rows(const struct report *report)
{
    int names = 0, whats = 0;
    char text[256];
    for (size_t i = 0; i < report->rows; i++) {
        int name = set_write(&report->row[i].pes, report->view->node->first, text, sizeof text);
        int what = (int)strlen(report->row[i].what);
        names = name > names && name < COLUMN_MAX ? name : names;
        whats = what > whats && what < COLUMN_MAX ? what : whats;
    }
    for (size_t i = 0; i < report->rows; i++) {
        const struct row *row = &report->row[i];
        char time[24] = "";
        if (row->seconds >= 0)
            snprintf(time, sizeof time, "%.1f s", row->seconds);
        set_write(&row->pes, report->view->node->first, text, sizeof text);
        say_more("  PE %-*s  %-*s  %7s  %s", names, text, whats, row->what, time, row->where);
    }
}

/* ---- the verdict ---- */

/* One sentence: these PEs wait for those, or for a store. */
struct sentence {
    struct set waiting, awaited;
    bool itself, lock; /* one PE waits for itself; it holds the lock that it asks for */
};

static void add_sentence(struct sentence **sentences, size_t *count, uint32_t index, const struct set *awaited,
                         bool itself, bool lock)
{
    for (size_t i = 0; i < *count && !itself; i++)
        if (!(*sentences)[i].itself && set_equal(&(*sentences)[i].awaited, awaited)) {
            set_add(&(*sentences)[i].waiting, index);
            return;
        }
    *sentences = say_if_null(realloc(*sentences, (*count + 1) * sizeof **sentences));
    struct sentence *sentence = &(*sentences)[(*count)++];
    *sentence = (struct sentence){set_make(awaited->size), set_copy(awaited), itself, lock};
    set_add(&sentence->waiting, index);
}

static const char *plural(const struct set *set)
{
    return set->count > 1 ? "s" : "";
}

static void write_sentence(const struct report *report, const struct sentence *sentence, FILE *out)
{
    char waiting[256], awaited[256];
    uint32_t first = report->view->node->first;
    set_write(&sentence->waiting, first, waiting, sizeof waiting);
    set_write(&sentence->awaited, first, awaited, sizeof awaited);
    fprintf(out, "PE%s %s wait%s for ", plural(&sentence->waiting), waiting, sentence->waiting.count > 1 ? "" : "s");
    if (sentence->itself)
        fprintf(out, "itself%s", sentence->lock ? ": it holds the lock" : "");
    else if (sentence->awaited.count)
        fprintf(out, "PE%s %s", plural(&sentence->awaited), awaited);
    else
        fprintf(out, "a store%s", report->running.count ? "" : " that no PE is making");
}

static void print_verdict(const struct report *report)
{
    struct sentence *sentences = NULL;
    size_t count = 0, bytes;
    char *text = NULL;
    for (size_t i = 0; i < report->waiters.count; i++) {
        const struct waiter *waiter = &report->waiters.waiter[i];
        struct set awaited = set_make(report->view->node->size);
        if (waiter->on.about == NODE_REASON_PES)
            add_missing(report, waiter, &awaited);
        if (waiter->on.about == NODE_REASON_VARIABLE || awaited.count)
            add_sentence(&sentences, &count, waiter->index, &awaited, waits_for_itself(report, waiter),
                         strstr(waiter->call, "lock") != NULL);
        set_free(&awaited);
    }
    FILE *out = say_if_null(open_memstream(&text, &bytes));
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "; " : "", out);
        write_sentence(report, &sentences[i], out);
        set_free(&sentences[i].waiting);
        set_free(&sentences[i].awaited);
    }
    fclose(out);
    if (count)
        say_more("%s", text);
    free(text);
    free(sentences);
}

void report_print(const struct view *view)
{
    struct report report = {.view = view, .running = set_make(view->node->size)};
    waiters_read(&report.waiters, view);
    add_waiters(&report);
    struct set seen = set_make(view->node->size);
    for (size_t i = 0; i < report.waiters.count; i++)
        set_add(&seen, report.waiters.waiter[i].index);
    for (uint32_t index = 0; index < view->node->size; index++)
        if (!set_has(&seen, index))
            add_other(&report, index);
    print_rows(&report);
    print_verdict(&report);
    for (size_t i = 0; i < report.rows; i++)
        set_free(&report.row[i].pes);
    set_free(&seen);
    set_free(&report.running);
    free(report.row);
    waiters_free(&report.waiters);
}

/* Opens a descriptor of another process once more, for reading, if it is a job's memory. Returns it, or -1. */
static int open_memory(int process, const char *fd)
{
    char path[320], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/fd/%s", process, fd);
    if (readlink(path, name, sizeof name - 1) < 0 || strncmp(name, "/memfd:lateral", 14) != 0)
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Returns the memory that this process has open, or -1. */
static int memory_of(int process)
{
    char path[64];
    int found = -1;
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    DIR *files = opendir(path);
    for (struct dirent *entry; files && found < 0 && (entry = readdir(files));)
        found = open_memory(process, entry->d_name);
    if (files)
        closedir(files);
    return found;
}

/* Looks at the process and, as oshrun itself has no such memory, at its descendants. */
static int find_memory(int process)
{
    char path[64];
    int found = memory_of(process), child;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, process);
    FILE *children = found < 0 ? fopen(path, "re") : NULL;
    while (children && found < 0 && fscanf(children, "%d", &child) == 1)
        found = find_memory(child);
    if (children)
        fclose(children);
    return found;
}

/* Returns the head, mapped to be read, or null. */
static const struct node *map_head(int fd)
{
    struct stat info;
    struct node head;
    if (pread(fd, &head, sizeof head, 0) != sizeof head || head.magic != NODE_MAGIC || head.size > NODE_MAX_PES ||
        fstat(fd, &info) != 0 || (uint64_t)info.st_size < node_fixed_size(head.size))
        return NULL;
    void *node = mmap(NULL, node_groups_at(head.size), PROT_READ, MAP_SHARED, fd, 0);
    return node == MAP_FAILED ? NULL : node;
}

int status_print(pid_t pid)
{
    int fd = find_memory(pid);
    const struct node *node = fd >= 0 ? map_head(fd) : NULL;
    const struct node_wait *waits = node ? segment_map_waits(fd, node->size) : NULL;
    if (!waits) {
        say("--status %d: no job of this version of Lateral, or it belongs to another user", (int)pid);
        return STATUS_FAILED;
    }
    pid_t *pids = say_if_null(calloc(node->size, sizeof *pids));
    for (uint32_t i = 0; i < node->size; i++)
        pids[i] = node->pe[i].pid;
    say("where the %u PEs of job %d are:", node->size, (int)pid);
    report_print(&(struct view){node, waits, pids});
    free(pids);
    return 0;
}
