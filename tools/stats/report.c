#include "parts.h"
#include "base/where.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 8   /* places that are printed */
#define MATRIX 16 /* PEs of the largest matrix that is printed whole */
#define PAIRS 10  /* of a larger one */

/* Time in calls at one place, of all PEs. */
struct line {
    struct stats_place sum;
    uint64_t most; /* nanoseconds of the PE that spent most there */
    int most_pe;
    char where[96];
};

static const struct stats_total *total_of(const char *all, size_t stride, int pe)
{
    return (const struct stats_total *)(all + (size_t)pe * stride);
}

static const struct stats_cell *cell_of(const char *all, size_t stride, int from, int to)
{
    return (const struct stats_cell *)(all + (size_t)from * stride + sizeof(struct stats_total)) + to;
}

/* ---- numbers for people ---- */

static const char *bytes_text(uint64_t bytes, char text[16])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;
    snprintf(text, 16, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

/* ---- the lines ---- */

static int add_places(struct line *lines, int count, int most, const struct stats_total *total, int pe)
{
    for (int i = 0; i < STATS_PLACES; i++) {
        const struct stats_place *place = &total->places[i];
        int at = 0;
        if (!place->at)
            continue;
        while (at < count && (lines[at].sum.at != place->at || strcmp(lines[at].sum.call, place->call) != 0))
            at++;
        if (at == most)
            continue;
        if (at == count)
            lines[count++] = (struct line){.sum = *place, .most = place->nanoseconds, .most_pe = pe};
        else {
            lines[at].sum.calls += place->calls;
            lines[at].sum.nanoseconds += place->nanoseconds;
        }
        if (place->nanoseconds > lines[at].most) {
            lines[at].most = place->nanoseconds;
            lines[at].most_pe = pe;
        }
    }
    return count;
}

static int compare_lines(const void *one, const void *other)
{
    uint64_t a = ((const struct line *)one)->sum.nanoseconds, b = ((const struct line *)other)->sum.nanoseconds;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Writes the source line "file.c:12", or what else is known of the place. */
static void find_where(struct line *line)
{
    Dl_info info;
    if (line->sum.program) {
        where_write(line->sum.at, line->where, sizeof line->where);
        return;
    }
    if (line->sum.at == UINT64_MAX)
        return;
    const char *name = dladdr((void *)(uintptr_t)line->sum.at, &info) && info.dli_fname ? info.dli_fname : "?";
    const char *slash = strrchr(name, '/');
    snprintf(line->where, sizeof line->where, "in %s", slash ? slash + 1 : name);
}

static void print_lines(const char *all, size_t stride, int pes)
{
    int most = 4 * STATS_PLACES, count = 0;
    struct line *lines = calloc((size_t)most, sizeof *lines);
    for (int pe = 0; pe < pes && lines; pe++)
        count = add_places(lines, count, most, total_of(all, stride, pe), pe);
    if (count)
        qsort(lines, (size_t)count, sizeof *lines, compare_lines);
    if (count)
        fprintf(stderr, "time in calls of all PEs, by line\n  %10s %9s  %-16s\n", "seconds", "calls", "most");
    for (int i = 0; i < count && i < LINES; i++) {
        find_where(&lines[i]);
        fprintf(stderr, "  %10.3f %9" PRIu64 "  PE %d: %.3f s  %s  %s\n", (double)lines[i].sum.nanoseconds * 1e-9,
                lines[i].sum.calls, lines[i].most_pe, (double)lines[i].most * 1e-9, lines[i].sum.call, lines[i].where);
    }
    free(lines);
}

/* ---- who to whom ---- */

static void print_matrix(const char *all, size_t stride, int pes)
{
    char text[16];
    fprintf(stderr, "bytes from (row) to (column)\n  %5s", "");
    for (int to = 0; to < pes; to++)
        fprintf(stderr, " %9d", to);
    for (int from = 0; from < pes; from++) {
        fprintf(stderr, "\n  %5d", from);
        for (int to = 0; to < pes; to++) {
            const struct stats_cell *cell = cell_of(all, stride, from, to);
            fprintf(stderr, " %9s", cell->operations ? bytes_text(cell->bytes, text) : ".");
        }
    }
    fprintf(stderr, "\n");
}

/* Prints the pairs that moved most, from the largest down. */
static void print_pairs(const char *all, size_t stride, int pes)
{
    uint64_t below = UINT64_MAX;
    char text[16];
    fprintf(stderr, "the pairs that moved most\n");
    for (int printed = 0; printed < PAIRS;) {
        uint64_t most = 0;
        for (int i = 0; i < pes * pes; i++) {
            uint64_t bytes = cell_of(all, stride, i / pes, i % pes)->bytes;
            most = bytes < below && bytes > most ? bytes : most;
        }
        for (int i = 0; most && i < pes * pes && printed < PAIRS; i++)
            if (cell_of(all, stride, i / pes, i % pes)->bytes == most) {
                fprintf(stderr, "  PE %d to PE %d: %s\n", i / pes, i % pes, bytes_text(most, text));
                printed++;
            }
        if (!most)
            return;
        below = most;
    }
}

static void print_pe(const struct stats_total *total, int pe)
{
    char text[16];
    const double spent = (double)(total->moving + total->waiting + total->computing);
    fprintf(stderr, "  %5d %12" PRIu64 " %11s %9.3f %9.3f %5.0f%% %9.3f %9.3f\n", pe, total->operations,
            bytes_text(total->bytes, text), (double)total->lived * 1e-9, (double)total->waiting * 1e-9,
            spent > 0 ? 100 * (double)total->waiting / spent : 0, (double)total->moving * 1e-9,
            (double)total->computing * 1e-9);
}

void stats_print(const char *all, size_t stride, int pes)
{
    fprintf(stderr, "what %d PE%s did\n  %5s %12s %11s %9s %9s %6s %9s %9s\n", pes, pes > 1 ? "s" : "", "PE",
            "operations", "bytes", "seconds", "waiting", "share", "moving", "computing");
    for (int pe = 0; pe < pes; pe++)
        print_pe(total_of(all, stride, pe), pe);
    print_lines(all, stride, pes);
    if (pes <= MATRIX)
        print_matrix(all, stride, pes);
    else
        print_pairs(all, stride, pes);
}
