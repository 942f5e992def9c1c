#include "location.h"

#include "base/plain.h"
#include "base/where.h"
#include "message.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds one line of /proc/PID/maps: "start-end mode offset device inode path". */
static void add_map(struct maps *maps, char *line)
{
    struct map map = {0};
    unsigned long start, end, offset;
    char mode[8];
    int used = 0;
    if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, mode, &offset, &used) != 4 || line[used] != '/')
        return;
    line[strcspn(line, "\n")] = 0;
    map = (struct map){start, end, offset, elf_open(line + used)};
    maps->map = say_if_null(realloc(maps->map, (maps->count + 1) * sizeof *maps->map));
    maps->map[maps->count++] = map;
}

static void find_program(struct maps *maps, pid_t pid)
{
    char link[64], path[PATH_MAX];
    uint64_t address;
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t bytes = readlink(link, path, sizeof path - 1);
    path[bytes > 0 ? bytes : 0] = 0;
    for (size_t i = 0; i < maps->count && !maps->program; i++)
        if (strcmp(maps->map[i].elf->path, path) == 0 && elf_address(maps->map[i].elf, maps->map[i].offset, &address)) {
            maps->program = maps->map[i].elf;
            maps->shift = maps->map[i].start - address;
        }
}

void maps_read(struct maps *maps, pid_t pid)
{
    char path[64], line[PATH_MAX + 256];
    *maps = (struct maps){0};
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file))
        add_map(maps, line);
    fclose(file);
    find_program(maps, pid);
}

void maps_free(struct maps *maps)
{
    free(maps->map);
    *maps = (struct maps){0};
}

struct code_location code_location_of(const struct maps *maps, uint64_t address)
{
    struct code_location place = {NULL, address};
    for (size_t i = 0; i < maps->count; i++) {
        const struct map *map = &maps->map[i];
        if (address >= map->start && address < map->end &&
            elf_address(map->elf, address - map->start + map->offset, &place.address)) {
            place.elf = map->elf;
            return place;
        }
    }
    return place;
}

void location_call(const char *name, char *text, size_t room)
{
    const bool alias = strncmp(name, "pshmem", 6) == 0 || strncasecmp(name, "PMPI", 4) == 0;
    int length = (int)strcspn(name, ".");
    length = length < 60 ? length : 60;
    if (strcmp(name, "rte_leave") == 0)
        snprintf(text, room, "exit");
    else if (strncmp(name, "lat_", 4) == 0)
        snprintf(text, room, "shmem_%.*s", length - 4, name + 4);
    else
        snprintf(text, room, "%.*s", length - alias, name + alias);
}

bool location_variable(const struct maps *maps, uint64_t caller, uint64_t address, char *text, size_t room)
{
    uint64_t start, shift = maps->shift;
    const char *name = maps->program ? elf_variable(maps->program, address - shift, &start) : NULL;
    const struct code_location place = code_location_of(maps, caller);
    if (!name && place.elf) {
        shift = caller - place.address;
        name = elf_variable(place.elf, address - shift, &start);
    }
    if (!name)
        return false;
    char readable[256];
    uint64_t offset = address - shift - start;
    symbolizer_name(name, readable, sizeof readable);
    if (offset)
        snprintf(text, room, "%s + %llu bytes", readable, (unsigned long long)offset);
    else
        snprintf(text, room, "%s", readable);
    return true;
}

/* What has been looked up. */
struct known {
    struct code_location place;
    bool is_line;
    char text[LOCATION_TEXT];
    struct known *next;
};

/* The call lies before its return address. */
static const struct known *look_up(struct code_location place)
{
    static struct known *all;
    for (const struct known *known = all; known; known = known->next)
        if (known->place.elf == place.elf && known->place.address == place.address)
            return known;
    struct known *known = say_if_null(calloc(1, sizeof *known));
    *known = (struct known){.place = place, .next = all};
    known->is_line = symbolizer_place(place.elf->path, place.address - 1, known->text, sizeof known->text);
    plain_text(known->text, strlen(known->text));
    return all = known;
}

bool location_line(struct code_location place, char *text, size_t room)
{
    if (!place.elf) {
        snprintf(text, room, "0x%llx", (unsigned long long)place.address);
        return false;
    }
    const struct known *known = look_up(place);
    snprintf(text, room, "%s", known->text);
    return known->is_line;
}
