#include "report.h"

#include "base/symbolizer.h"
#include "message.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
