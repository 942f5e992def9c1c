#include "picture.h"

#include "base/plain.h"
#include "halt.h"
#include "message.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct picture picture_make(uint32_t total)
{
    return (struct picture){.known = set_make(total)};
}

void picture_free(struct picture *picture)
{
    for (size_t i = 0; i < picture->count; i++)
        set_free(&picture->group[i].pes);
    free(picture->group);
    set_free(&picture->known);
    *picture = (struct picture){0};
}

/* ---- groups ---- */

/* A variable's address differs from PE to PE; the text of its value tells enough. */
static bool same_reason(const struct node_wait_reason *a, const struct node_wait_reason *b)
{
    return a->about == b->about &&
           (a->about != NODE_REASON_PES || (a->start == b->start && a->stride == b->stride && a->size == b->size &&
                                            a->object == b->object && a->number == b->number));
}

static bool same_group(const struct group *a, const struct group *b)
{
    return a->itself == b->itself && a->running == b->running && same_reason(&a->on, &b->on) &&
           strcmp(a->call, b->call) == 0 && strcmp(a->object, b->object) == 0 && strcmp(a->where, b->where) == 0;
}

static struct group *group_like(struct picture *picture, const struct group *like)
{
    static const struct group other = {.running = true, .seconds = -1, .call = "are at further places"};
    for (size_t i = 0; i < picture->count; i++)
        if (same_group(&picture->group[i], like))
            return &picture->group[i];
    if (picture->count == PICTURE_GROUPS)
        return &picture->group[PICTURE_GROUPS - 1];
    picture->group = say_if_null(realloc(picture->group, (picture->count + 1) * sizeof *picture->group));
    struct group *group = &picture->group[picture->count++];
    *group = picture->count == PICTURE_GROUPS ? other : *like;
    group->pes = set_make(picture->known.size);
    return group;
}

/* Adds a PE to the group that is like this one. */
static void add_pe(struct picture *picture, uint32_t pe, const struct group *like)
{
    struct group *group = group_like(picture, like);
    set_add(&group->pes, pe);
    set_add(&picture->known, pe);
    group->seconds = group->seconds > like->seconds ? group->seconds : like->seconds;
}

void picture_add_other(struct picture *picture, const struct set *pes, const char *what, bool running)
{
    struct group like = {.running = running, .seconds = -1};
    snprintf(like.call, sizeof like.call, "%s", what);
    for (uint32_t pe = 0; pe < pes->size; pe++)
        if (set_has(pes, pe))
            add_pe(picture, pe, &like);
}

/* ---- a node's PEs ---- */

/* Returns the line of an earlier waiter at the same place, so that each place is looked up once. */
static const char *line_of(const struct waiters *waiters, size_t number, char (*lines)[320])
{
    const struct waiter *waiter = &waiters->waiter[number];
    for (size_t i = 0; i < number; i++) {
        const struct waiter *other = &waiters->waiter[i];
        if (other->from.elf == waiter->from.elf && other->from.address == waiter->from.address)
            return memcpy(lines[number], lines[i], sizeof lines[i]);
    }
    location_line(waiter->from, lines[number], sizeof lines[number]);
    return lines[number];
}

static void add_waiters(struct picture *picture, const struct view *view, const struct waiters *waiters,
                        struct set *seen)
{
    char(*lines)[320] = say_if_null(calloc(waiters->count + 1, sizeof *lines));
    for (size_t i = 0; i < waiters->count; i++) {
        const struct waiter *waiter = &waiters->waiter[i];
        const uint32_t pe = node_pe_number(view->node, waiter->index);
        struct group like = {.on = waiter->on, .seconds = waiter->seconds};
        like.itself = like.on.about == NODE_REASON_PES && like.on.size == 1 && (uint32_t)like.on.start == pe;
        memcpy(like.call, waiter->call, sizeof like.call);
        memcpy(like.object, waiter->object, sizeof like.object);
        snprintf(like.where, sizeof like.where, "%s", line_of(waiters, i, lines));
        plain_text(like.where, strlen(like.where));
        add_pe(picture, pe, &like);
        set_add(seen, waiter->index);
    }
    free(lines);
}

/* True when a signal has stopped the process. */
static bool is_stopped(pid_t pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    bool read = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    if (file)
        fclose(file);
    return read && state == 'T';
}

/* Adds a PE that is in no wait, or stopped. */
static void add_other(struct picture *picture, const struct view *view, uint32_t index, bool stopped)
{
    uint32_t state = atomic_load_acquire(&view->node->pe[index].state); /* release: the PE */
    pid_t pid = view->pids[index];
    bool there = pid && kill(pid, 0) == 0;
    const char *what = !there                    ? "has ended"
                       : stopped                 ? "is stopped by a signal"
                       : state == NODE_STARTED   ? "has not called shmem_init or uccs_init"
                       : state == NODE_FINALISED ? "is behind shmem_finalize"
                                                 : "is in no wait that lasts";
    struct group like = {.running = there && state != NODE_FINALISED, .seconds = -1};
    snprintf(like.call, sizeof like.call, "%s", what);
    if (like.running)
        halt_where(pid, like.where, sizeof like.where);
    plain_text(like.where, strlen(like.where));
    add_pe(picture, node_pe_number(view->node, index), &like);
}

void picture_read(struct picture *picture, const struct view *view)
{
    struct waiters waiters;
    struct set seen = set_make(view->node->size);
    waiters_read(&waiters, view);
    add_waiters(picture, view, &waiters, &seen);
    for (uint32_t index = 0; index < view->node->size; index++) {
        bool stopped = view->pids[index] && is_stopped(view->pids[index]);
        if (stopped || !set_has(&seen, index))
            add_other(picture, view, index, stopped);
    }
    waiters_free(&waiters);
    set_free(&seen);
}

/* ---- as text ---- */

/* Texts hold no control characters, so tabs part them. */
void picture_write(const struct picture *picture, FILE *out)
{
    char *pes = say_if_null(malloc(PICTURE_LINE / 2));
    for (size_t i = 0; i < picture->count; i++) {
        const struct group *group = &picture->group[i];
        const struct node_wait_reason *on = &group->on;
        set_write(&group->pes, 0, pes, PICTURE_LINE / 2);
        fprintf(out, "group %d %d %d %d %d %" PRIu64 " %" PRIu64 " %d %.3f %s\t%s\t%s\t%s\n", on->about, on->start,
                on->stride, on->size, group->itself, on->object, on->number, group->running, group->seconds, pes,
                group->call, group->object, group->where);
    }
    free(pes);
}

static bool cut_text(char **at, char *text, size_t room)
{
    size_t bytes = strcspn(*at, "\t");
    if (bytes >= room)
        return false;
    memcpy(text, *at, bytes);
    text[bytes] = 0;
    plain_text(text, bytes);
    *at += bytes + ((*at)[bytes] == '\t');
    return true;
}

bool picture_add_line(struct picture *picture, char *line)
{
    struct group like = {0};
    int about, itself, running, used = 0;
    struct set pes = set_make(picture->known.size);
    bool good =
        sscanf(line, "group %d %d %d %d %d %" SCNu64 " %" SCNu64 " %d %lf %n", &about, &like.on.start, &like.on.stride,
               &like.on.size, &itself, &like.on.object, &like.on.number, &running, &like.seconds, &used) == 9 &&
        used;
    char *at = line + used + strcspn(line + used, "\t");
    if (good && *at)
        *at++ = 0;
    good = good && set_read(&pes, line + used) && cut_text(&at, like.call, sizeof like.call) &&
           cut_text(&at, like.object, sizeof like.object) && cut_text(&at, like.where, sizeof like.where);
    like.on.about = (uint8_t)about;
    like.itself = itself;
    like.running = running;
    for (uint32_t pe = 0; good && pe < pes.size; pe++)
        if (set_has(&pes, pe))
            add_pe(picture, pe, &like);
    set_free(&pes);
    return good;
}
