#include "report.h"

#include "base/where.h"
#include "message.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_MAX 60 /* longer texts of a row push the later ones */

/* One line of the report: groups that read the same. */
struct row {
    struct set pes;
    char what[320];
    const char *where;
    double seconds; /* the longest; below 0: not known */
};

/* ---- who has come to a meeting, and who is missing ---- */

static bool groups_meet(const struct group *one, const struct group *other)
{
    const struct node_wait_reason *a = &one->on, *b = &other->on;
    return a->about == NODE_REASON_PES && b->about == NODE_REASON_PES && a->start == b->start &&
           a->stride == b->stride && a->size == b->size && a->object == b->object && a->number == b->number;
}

/* Adds the PEs that the group waits for. Returns how many of the PEs that meet there the picture knows. */
static uint32_t add_missing(const struct picture *picture, const struct group *group, struct set *missing)
{
    uint32_t known = 0;
    struct set come = set_make(missing->size);
    for (size_t i = 0; i < picture->count && group->on.size > 1; i++)
        if (groups_meet(group, &picture->group[i]))
            set_add_all(&come, &picture->group[i].pes);
    for (int rank = 0; rank < group->on.size; rank++) {
        const uint32_t pe = (uint32_t)(group->on.start + rank * group->on.stride);
        const bool here = set_has(&picture->known, pe);
        known += here;
        if (here && !set_has(&come, pe))
            set_add(missing, pe);
    }
    set_free(&come);
    return known;
}

/* ---- rows ---- */

static void write_what(const struct picture *picture, const struct group *group, char *text, size_t room)
{
    const struct node_wait_reason *on = &group->on;
    const char *object = group->object, *then = *object ? "; " : "";
    if (on->about == NODE_REASON_VARIABLE) {
        snprintf(text, room, "%s(%s)", group->call, object);
    } else if (on->about == NODE_REASON_PES && on->size > 1) {
        struct set missing = set_make(picture->known.size);
        const uint32_t known = add_missing(picture, group, &missing);
        snprintf(text, room, "%s (%s%s%u of %u%s have come)", group->call, object, then, known - missing.count, known,
                 known < (uint32_t)on->size ? " here" : "");
        set_free(&missing);
    } else if (group->itself) {
        snprintf(text, room, "%s (%s%swaits for itself)", group->call, object, then);
    } else if (on->about == NODE_REASON_PES) {
        snprintf(text, room, "%s (%s%swaits for PE %d)", group->call, object, then, on->start);
    } else if (*object) {
        snprintf(text, room, "%s (%s)", group->call, object);
    } else {
        snprintf(text, room, "%s", group->call);
    }
}

/* Returns the number of rows; there is room for one a group. */
static size_t make_rows(const struct picture *picture, struct row *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < picture->count; i++) {
        const struct group *group = &picture->group[i];
        char what[sizeof rows->what];
        size_t at = 0;
        write_what(picture, group, what, sizeof what);
        while (at < count && (strcmp(rows[at].what, what) != 0 || strcmp(rows[at].where, group->where) != 0))
            at++;
        if (at == count) {
            rows[count++] = (struct row){set_make(picture->known.size), "", group->where, -1};
            memcpy(rows[at].what, what, sizeof what);
        }
        set_add_all(&rows[at].pes, &group->pes);
        rows[at].seconds = rows[at].seconds > group->seconds ? rows[at].seconds : group->seconds;
    }
    return count;
}

static void print_rows(const struct picture *picture)
{
    int names = 0, whats = 0;
    char text[256];
    struct row *rows = say_if_null(calloc(picture->count + 1, sizeof *rows));
    const size_t count = make_rows(picture, rows);
    for (size_t i = 0; i < count; i++) {
        int name = set_write(&rows[i].pes, 0, text, sizeof text), what = (int)strlen(rows[i].what);
        names = name > names && name < COLUMN_MAX ? name : names;
        whats = what > whats && what < COLUMN_MAX ? what : whats;
    }
    for (size_t i = 0; i < count; i++) {
        char time[24] = "";
        if (rows[i].seconds >= 0)
            snprintf(time, sizeof time, "%.1f s", rows[i].seconds);
        set_write(&rows[i].pes, 0, text, sizeof text);
        say_more("  PE %-*s  %-*s  %7s  %s", names, text, whats, rows[i].what, time, rows[i].where);
        set_free(&rows[i].pes);
    }
    free(rows);
}

/* ---- the verdict ---- */

/* One sentence: these PEs wait for those, or for a store. */
struct sentence {
    struct set waiting, awaited;
    bool itself, lock; /* one PE waits for itself; it holds the lock that it asks for */
};

static void add_sentence(struct sentence *sentences, size_t *count, const struct group *group,
                         const struct set *awaited)
{
    for (size_t i = 0; i < *count && !group->itself; i++)
        if (!sentences[i].itself && set_equal(&sentences[i].awaited, awaited)) {
            set_add_all(&sentences[i].waiting, &group->pes);
            return;
        }
    sentences[(*count)++] =
        (struct sentence){set_copy(&group->pes), set_copy(awaited), group->itself, strstr(group->call, "lock") != NULL};
}

static const char *plural_end(const struct set *set)
{
    return set->count > 1 ? "s" : "";
}

/* `running`: some PE may still act. */
static void write_sentence(const struct sentence *sentence, bool running, FILE *out)
{
    char waiting[256], awaited[256];
    set_write(&sentence->waiting, 0, waiting, sizeof waiting);
    set_write(&sentence->awaited, 0, awaited, sizeof awaited);
    fprintf(out, "PE%s %s wait%s for ", plural_end(&sentence->waiting), waiting,
            sentence->waiting.count > 1 ? "" : "s");
    if (sentence->itself)
        fprintf(out, "itself%s", sentence->lock ? ": it holds the lock" : "");
    else if (sentence->awaited.count)
        fprintf(out, "PE%s %s", plural_end(&sentence->awaited), awaited);
    else
        fprintf(out, "a store%s", running ? "" : " that no PE is making");
}

static size_t make_sentences(const struct picture *picture, struct sentence *sentences, bool *running)
{
    size_t count = 0;
    for (size_t i = 0; i < picture->count; i++) {
        const struct group *group = &picture->group[i];
        struct set awaited = set_make(picture->known.size);
        *running |= group->running;
        if (group->on.about == NODE_REASON_PES)
            add_missing(picture, group, &awaited);
        if (group->on.about == NODE_REASON_VARIABLE || awaited.count)
            add_sentence(sentences, &count, group, &awaited);
        set_free(&awaited);
    }
    return count;
}

static void print_verdict(const struct picture *picture)
{
    struct sentence *sentences = say_if_null(calloc(picture->count + 1, sizeof *sentences));
    char *text = NULL;
    size_t bytes;
    bool running = false;
    const size_t count = make_sentences(picture, sentences, &running);
    FILE *out = say_if_null(open_memstream(&text, &bytes));
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "; " : "", out);
        write_sentence(&sentences[i], running, out);
        set_free(&sentences[i].waiting);
        set_free(&sentences[i].awaited);
    }
    fclose(out);
    if (count)
        say_more("%s", text);
    free(text);
    free(sentences);
}

static void print_stack(const struct stack *stack)
{
    char names[256];
    set_write(&stack->pes, 0, names, sizeof names);
    if (stack->text[0] == '!') {
        say_more("no stacks of %u PE%s: %s", stack->pes.count, plural_end(&stack->pes), stack->text + 1);
        return;
    }
    say_more("stack of PE%s %s:", plural_end(&stack->pes), names);
    for (const char *line = stack->text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        say_more("%.*s", (int)strcspn(line, "\n"), line);
}

void report_print(const struct picture *picture)
{
    print_rows(picture);
    print_verdict(picture);
    for (size_t i = 0; i < picture->stacks; i++)
        print_stack(&picture->stack[i]);
}

/* ---- PEs that have crashed ---- */

/* PEs that have crashed alike. */
struct crash {
    struct set pes;
    const struct node_crash *first;
    bool one_address; /* of all PEs of the set */
};

struct crashes {
    struct crash *crash;
    size_t count;
};

static bool has_file(const struct node_crash_frame *frame)
{
    return frame->file && frame->file <= NODE_CRASH_FILES;
}

static const char *file_of(const struct node_crash *crash, const struct node_crash_frame *frame)
{
    return has_file(frame) ? crash->files[frame->file - 1] : "";
}

static uint32_t depth_of(const struct node_crash *crash)
{
    uint32_t depth = atomic_load_acquire(&crash->depth); /* release: the PE */
    return depth < NODE_CRASH_FRAMES ? depth : NODE_CRASH_FRAMES;
}

/* A PE that was killed as it looked for its callers has none, and is like one that was at the same place. */
static bool is_alike(const struct node_crash *one, const struct node_crash *other)
{
    uint32_t depth = depth_of(one) < depth_of(other) ? depth_of(one) : depth_of(other);
    if (one->signal != other->signal || one->code != other->code || (depth > 1 && depth_of(one) != depth_of(other)))
        return false;
    for (uint32_t i = 0; i < depth; i++)
        if (one->frames[i].offset != other->frames[i].offset ||
            strncmp(file_of(one, &one->frames[i]), file_of(other, &other->frames[i]), NODE_CRASH_PATH) != 0)
            return false;
    return true;
}

static void add_crash(struct crashes *crashes, uint32_t index, uint32_t pes, const struct node_crash *record)
{
    for (size_t i = 0; i < crashes->count; i++)
        if (is_alike(crashes->crash[i].first, record)) {
            set_add(&crashes->crash[i].pes, index);
            crashes->crash[i].one_address &= crashes->crash[i].first->address == record->address;
            if (depth_of(record) > depth_of(crashes->crash[i].first))
                crashes->crash[i].first = record;
            return;
        }
    crashes->crash = say_if_null(realloc(crashes->crash, (crashes->count + 1) * sizeof *crashes->crash));
    crashes->crash[crashes->count] = (struct crash){set_make(pes), record, true};
    set_add(&crashes->crash[crashes->count++].pes, index);
}

/* ---- what has happened ---- */

/* Returns words for the number behind a signal; "%s" stands for the address. */
static const char *words_of(const struct node_crash *crash)
{
    static const struct {
        int signal, code;
        const char *words;
    } rows[] = {
        {SIGSEGV, SEGV_MAPERR, "nothing is mapped at %s"}, {SIGSEGV, SEGV_ACCERR, "no right to this access at %s"},
        {SIGBUS, BUS_ADRALN, "%s is not aligned"},         {SIGBUS, BUS_ADRERR, "there is no memory behind %s"},
        {SIGFPE, FPE_INTDIV, "integer divided by zero"},   {SIGILL, ILL_ILLOPN, "no instruction at %s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].signal == crash->signal && rows[i].code == crash->code)
            return rows[i].words;
    if (crash->signal == SIGABRT)
        return "abort was called";
    if (crash->code <= 0)
        return "a process sent it";
    return crash->signal == SIGSEGV ? "an address that no memory can have" : "at %s";
}

static void print_head(const struct crash *crash, uint32_t first)
{
    char names[256], address[64] = "several addresses", what[160];
    const char *words = words_of(crash->first), *hole = strstr(words, "%s");
    set_write(&crash->pes, first, names, sizeof names);
    if (crash->one_address)
        snprintf(address, sizeof address, "address 0x%" PRIx64, crash->first->address);
    if (hole)
        snprintf(what, sizeof what, "%.*s%s%s", (int)(hole - words), words, address, hole + 2);
    else
        snprintf(what, sizeof what, "%s", words);
    say_more("  PE %s died of signal %d (%s): %s", names, crash->first->signal, strsignal(crash->first->signal), what);
}

/* ---- where ---- */

static struct code_location location_of_frame(const struct node_crash *crash, const struct node_crash_frame *frame)
{
    struct code_location place = {NULL, frame->address};
    char path[NODE_CRASH_PATH + 1];
    if (!has_file(frame))
        return place;
    snprintf(path, sizeof path, "%.*s", NODE_CRASH_PATH, file_of(crash, frame));
    const struct elf *elf = elf_open(path);
    if (elf_address(elf, frame->offset, &place.address))
        place.elf = elf;
    return place;
}

/* Prints a function and its source line. Returns false behind main, where the rest is of no interest. */
static bool print_frame(const struct node_crash *crash, uint32_t number)
{
    struct code_location place = location_of_frame(crash, &crash->frames[number]);
    char line[320], readable[256] = "";
    uint64_t start;
    place.address += number == 0 && place.elf; /* location_line looks before a return address */
    const char *name = place.elf ? elf_function(place.elf, place.address - 1, &start) : NULL;
    if (name)
        symbolizer_name(name, readable, sizeof readable);
    location_line(place, line, sizeof line);
    if (!name || strstr(line, " + 0x")) /* the line names the function, or there is none to name */
        say_more("    %s", line);
    else
        say_more("    %-20s %s", readable, line);
    return strcmp(readable, "main") != 0;
}

void crash_print(const struct view *view)
{
    const struct node *node = view->node;
    struct crashes found = {0};
    for (uint32_t index = 0; index < node->size; index++)
        if (atomic_load_acquire(&view->crashes[index].state)) /* release: the PE */
            add_crash(&found, index, node->size, &view->crashes[index]);
    for (size_t i = 0; i < found.count; i++) {
        const struct node_crash *first = found.crash[i].first;
        print_head(&found.crash[i], node->first);
        for (uint32_t f = 0; f < depth_of(first) && print_frame(first, f); f++)
            ;
        set_free(&found.crash[i].pes);
    }
    free(found.crash);
}
