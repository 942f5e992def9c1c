#include "report.h"

#include "halt.h"
#include "message.h"
#include "set.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    place_line(waiter->from, lines[number], sizeof lines[number]);
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
