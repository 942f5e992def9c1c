#include "picture.h"

#include "base/clock.h"
#include "base/kind.h"
#include "base/plain.h"
#include "base/tool.h"
#include "base/where.h"
#include "loop.h"
#include "message.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 1000      /* to copy a record that its waiter writes anew */
#define STACKS_MS 15000 /* time for all PEs of a node together */
#define STACKS_ROOM (256u << 10)

struct picture picture_make(uint32_t total)
{
    return (struct picture){.known = set_make(total)};
}

void picture_free(struct picture *picture)
{
    for (size_t i = 0; i < picture->count; i++)
        set_free(&picture->group[i].pes);
    for (size_t i = 0; i < picture->stacks; i++) {
        set_free(&picture->stack[i].pes);
        free(picture->stack[i].text);
    }
    free(picture->group);
    free(picture->stack);
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

static void add_pes(struct picture *picture, const struct set *pes, const struct group *like)
{
    if (!pes->count)
        return;
    struct group *group = group_like(picture, like);
    set_add_all(&group->pes, pes);
    set_add_all(&picture->known, pes);
    group->seconds = group->seconds > like->seconds ? group->seconds : like->seconds;
}

static void add_pe(struct picture *picture, uint32_t pe, const struct group *like)
{
    struct set one = set_make(picture->known.size);
    set_add(&one, pe);
    add_pes(picture, &one, like);
    set_free(&one);
}

void picture_add_other(struct picture *picture, const struct set *pes, const char *what)
{
    struct group like = {.running = true, .seconds = -1};
    snprintf(like.call, sizeof like.call, "%s", what);
    add_pes(picture, pes, &like);
}

static void add_stack(struct picture *picture, const struct set *pes, const char *text)
{
    size_t i = 0;
    while (i < picture->stacks && strcmp(picture->stack[i].text, text) != 0 && i + 1 < PICTURE_GROUPS)
        i++;
    if (i == picture->stacks) {
        picture->stack = say_if_null(realloc(picture->stack, (i + 1) * sizeof *picture->stack));
        picture->stack[picture->stacks++] = (struct stack){set_make(picture->known.size), say_if_null(strdup(text))};
    }
    set_add_all(&picture->stack[i].pes, pes);
}

/* ---- a wait ---- */

/* Copies a record. Returns false when it is none, or was taken back or written anew meanwhile. */
static bool try_copy(struct node_wait *copy, const struct node_wait *wait)
{
    uint32_t version = atomic_load_acquire(&wait->version);                  /* release: rte_wait_record_renew */
    if (version % 2 || atomic_load_acquire(&wait->state) != NODE_WAIT_VALID) /* release: rte_wait_record_begin */
        return false;
    memcpy(copy, wait, sizeof *copy);
    copy->text[sizeof copy->text - 1] = 0;
    atomic_fence_acquire();
    return atomic_load_relaxed(&wait->state) == NODE_WAIT_VALID && atomic_load_relaxed(&wait->since) == copy->since &&
           atomic_load_relaxed(&wait->version) == version && copy->depth <= NODE_WAIT_FRAMES;
}

static bool copy_wait(struct node_wait *copy, const struct node_wait *wait)
{
    bool copied = false;
    for (int i = 0; i < TRIES && !copied && atomic_load_relaxed(&wait->state) == NODE_WAIT_VALID; i++)
        copied = try_copy(copy, wait);
    return copied;
}

static bool is_of_library(struct code_location place)
{
    const char *slash = place.elf ? strrchr(place.elf->path, '/') : NULL;
    return slash && strncmp(slash, "/liblateral", 11) == 0;
}

/* Writes the outermost function of the library, and the place that called it. Returns its address, or 0. */
static uint64_t find_call(struct group *group, const struct node_wait *wait, const struct maps *maps)
{
    uint32_t outside = wait->depth;
    bool inside = false; /* some frame was of the library as a file of its own */
    snprintf(group->call, sizeof group->call, "a wait");
    for (uint32_t i = 0; i < wait->depth; i++) {
        struct code_location place = code_location_of(maps, wait->frames[i]);
        uint64_t start;
        const char *name = place.elf ? elf_function(place.elf, place.address - 1, &start) : NULL;
        bool shared = is_of_library(place);
        if (inside && !shared)
            break;
        inside |= shared;
        if (shared ? !name : !name || !where_is_library_name(name))
            continue;
        if (where_is_library_name(name))
            location_call(name, group->call, sizeof group->call);
        outside = i + 1;
    }
    struct code_location from = {0};
    for (bool wrapper = true; wrapper && outside < wait->depth; outside++) {
        uint64_t start;
        from = code_location_of(maps, wait->frames[outside]);
        const char *name = from.elf ? elf_function(from.elf, from.address - 1, &start) : NULL;
        wrapper = (name && where_is_wrapper_name(name)) || (from.elf && where_is_library_file(from.elf->path));
    }
    location_line(from, group->where, sizeof group->where);
    return outside ? wait->frames[outside - 1] : 0;
}

static void write_value(char *text, size_t room, enum kind kind, uint64_t value)
{
    bool is_signed = kind == KIND_I16 || kind == KIND_I32 || kind == KIND_I64;
    if (is_signed)
        snprintf(text, room, "%" PRId64, (int64_t)value);
    else
        snprintf(text, room, "%" PRIu64, value);
}

static void describe_variable(struct group *group, const struct node_wait *wait, const struct maps *maps,
                              uint64_t caller)
{
    char name[96] = "value", wanted[24], now[24];
    const struct node_wait_reason *on = &wait->on;
    if (wait->text[0])
        snprintf(name, sizeof name, "%s", wait->text);
    else if (on->object - wait->heap < wait->heap_bytes)
        snprintf(name, sizeof name, "heap + 0x%" PRIx64, on->object - wait->heap);
    else
        location_variable(maps, caller, on->object, name, sizeof name);
    write_value(wanted, sizeof wanted, on->kind, on->number);
    write_value(now, sizeof now, on->kind, wait->value);
    snprintf(group->object, sizeof group->object, "%s %.*s %s, is %s", name, on->compare[1] == ' ' ? 1 : 2, on->compare,
             wanted, now);
}

/* ---- a node's PEs ---- */

/* Adds the waits of a PE. Returns false when it is in none that lasts. */
static bool add_waits(struct picture *picture, const struct view *view, uint32_t index)
{
    const uint32_t pe = node_pe_number(view->node, index);
    struct maps maps = {0};
    bool waits = false;
    for (int i = 0; i < NODE_WAITS && view->pids[index]; i++) {
        struct node_wait wait;
        if (!copy_wait(&wait, view_wait(view, index, i)))
            continue;
        if (!maps.count)
            maps_read(&maps, view->pids[index]);
        if (!maps.count) /* the process is gone */
            break;
        struct group like = {.on = wait.on, .seconds = 1e-9 * ((double)clock_nanoseconds() - (double)wait.since)};
        like.itself = like.on.about == NODE_REASON_PES && like.on.size == 1 && (uint32_t)like.on.start == pe;
        const uint64_t caller = find_call(&like, &wait, &maps);
        if (wait.on.about == NODE_REASON_VARIABLE)
            describe_variable(&like, &wait, &maps, caller);
        else
            snprintf(like.object, sizeof like.object, "%s", wait.text);
        plain_text(like.object, strlen(like.object));
        add_pe(picture, pe, &like);
        waits = true;
    }
    maps_free(&maps);
    return waits;
}

/* True when a signal has stopped the process. */
static bool is_stopped(pid_t pid)
{
    char text[64];
    file_read(text, sizeof text, "/proc/%d/stat", (int)pid);
    const char *behind = strrchr(text, ')');
    return behind && strncmp(behind, ") T", 3) == 0;
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
    add_pe(picture, node_pe_number(view->node, index), &like);
}

/* ---- stacks ---- */

/* Writes a frame without what differs between equal stacks: "#1  0x7f.. in wait (p=0x..) at a.c:5" becomes
 * "#1 wait at a.c:5". eu-stack has no "in". */
static void write_frame(const char *line, FILE *out)
{
    int digits = 0;
    char *name;
    long number = strtol(line + 1, &name, 10);
    name += strspn(name, " ");
    if (strncmp(name, "0x", 2) == 0)
        sscanf(name, "0x%*[0-9a-f] %n", &digits);
    name += digits;
    name += strncmp(name, "in ", 3) == 0 ? 3 : 0;
    size_t bytes = strcspn(name, " (");
    const char *place = NULL;
    for (const char *at = strstr(name, " at "); at; at = strstr(at + 1, " at "))
        place = at;
    place = place ? place : strstr(name, " from ");
    fprintf(out, "    #%ld %.*s%s\n", number, (int)bytes, name, place ? place : "");
}

/* Returns the frames of the tool's answer, one a line, and a line in front of each further thread. */
static char *tidy_frames(char *answer)
{
    char *text, *rest = NULL;
    size_t bytes;
    int threads = 0, frames = 0;
    FILE *out = say_if_null(open_memstream(&text, &bytes));
    for (char *line = strtok_r(answer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        bool head = strncmp(line, "Thread ", 7) == 0 || strncmp(line, "TID ", 4) == 0;
        if (head && threads++)
            fprintf(out, "    another thread:\n");
        if (line[0] == '#')
            write_frame(line, out);
        frames += line[0] == '#';
    }
    fclose(out);
    if (frames)
        return text;
    free(text);
    return NULL;
}

/* Returns the frames of each thread of a process, a line each, without what differs between equal stacks; or "!" and why there is none.
 * The caller frees it. Takes the time from *ms. */
static char *stacks_of(pid_t pid, int *ms)
{
    static char answer[STACKS_ROOM];
    char number[16];
    snprintf(number, sizeof number, "%d", (int)pid);
    char *const gdb[] = {"gdb", "-nx", "-batch", "-p", number, "-ex", "thread apply all backtrace", NULL};
    char *const elfutils[] = {"eu-stack", "-p", number, NULL};
    char *const *const commands[] = {gdb, elfutils, NULL};
    char *text = tool_run(commands, ms, answer, STACKS_ROOM) ? tidy_frames(answer) : NULL;
    if (text)
        return text;
    return say_if_null(strdup(*ms <= 0 ? "!the debugger took too long"
                                       : "!neither gdb nor eu-stack is here, or it may not look at them"));
}

static void read_stacks(struct picture *picture, const struct view *view)
{
    int ms = STACKS_MS;
    for (uint32_t index = 0; index < view->node->size; index++) {
        if (!view->pids[index] || kill(view->pids[index], 0) != 0)
            continue;
        struct set pe = set_make(picture->known.size);
        char *text = stacks_of(view->pids[index], &ms);
        set_add(&pe, node_pe_number(view->node, index));
        add_stack(picture, &pe, text);
        set_free(&pe);
        free(text);
    }
}

void picture_read(struct picture *picture, const struct view *view, bool stacks)
{
    for (uint32_t index = 0; index < view->node->size; index++) {
        const bool stopped = view->pids[index] && is_stopped(view->pids[index]);
        if (!add_waits(picture, view, index) || stopped)
            add_other(picture, view, index, stopped);
    }
    if (stacks)
        read_stacks(picture, view);
}

/* ---- as text ---- */

/* Texts hold no control characters, so tabs part them, and this one the frames of a stack. */
#define FRAME_END '\x1f'

static void replace_ends(char *text, char from, char to)
{
    while ((text = strchr(text, from)))
        *text = to;
}

char *picture_write(const struct picture *picture)
{
    char *pes = say_if_null(malloc(PICTURE_LINE / 2)), *text = NULL;
    size_t bytes;
    FILE *out = say_if_null(open_memstream(&text, &bytes));
    for (size_t i = 0; i < picture->count; i++) {
        const struct group *group = &picture->group[i];
        const struct node_wait_reason *on = &group->on;
        for (uint32_t from = 0; from < group->pes.size;) { /* a line for as many PEs as it has room for */
            from = set_write_part(&group->pes, from, pes, PICTURE_LINE / 2);
            fprintf(out, "group %d %d %d %d %d %" PRIu64 " %" PRIu64 " %d %.3f %s\t%s\t%s\t%s\n", on->about, on->start,
                    on->stride, on->size, group->itself, on->object, on->number, group->running, group->seconds, pes,
                    group->call, group->object, group->where);
        }
    }
    for (size_t i = 0; i < picture->stacks; i++) {
        const struct stack *stack = &picture->stack[i];
        replace_ends(stack->text, '\n', FRAME_END);
        for (uint32_t from = 0; from < stack->pes.size;) {
            from = set_write_part(&stack->pes, from, pes, PICTURE_LINE / 2);
            fprintf(out, "stack %s\t%.*s\n", pes, (int)(PICTURE_LINE / 2), stack->text);
        }
    }
    free(pes);
    fclose(out);
    return text;
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

static bool add_stack_line(struct picture *picture, char *line)
{
    struct set pes = set_make(picture->known.size);
    char *text = line + strcspn(line, "\t");
    if (*text)
        *text++ = 0;
    replace_ends(text, FRAME_END, '\n');
    const bool good = set_read(&pes, line) && *text;
    if (good)
        add_stack(picture, &pes, text);
    set_free(&pes);
    return good;
}

bool picture_add_line(struct picture *picture, char *line)
{
    struct group like = {0};
    int about, itself, running, used = 0;
    if (strncmp(line, "stack ", 6) == 0)
        return add_stack_line(picture, line + 6);
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
    if (good)
        add_pes(picture, &pes, &like);
    set_free(&pes);
    return good;
}
