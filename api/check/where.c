#include "where.h"

#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint64_t program_base, program_end; /* of the program's file in memory */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The first file is the program. */
static int note_program(struct dl_phdr_info *info, size_t bytes, void *unused)
{
    (void)bytes;
    (void)unused;
    program_base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            program_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}

static void find_program(void)
{
    dl_iterate_phdr(note_program, NULL);
}

uint64_t where_of(const void *address)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    pthread_once(&once, find_program);
    return at >= program_base && at < program_end ? at - program_base : 0;
}

void where_write(uint64_t place, char *text, size_t room)
{
    char command[512], program[256] = "", answer[256] = "";
    text[0] = 0;
    if (!place)
        return;
    snprintf(text, room, "0x%" PRIx64 " of the program", place - 1);
    if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0 || strchr(program, '\''))
        return;
    snprintf(command, sizeof command, "unset LD_PRELOAD; addr2line -e '%s' 0x%" PRIx64 " 2>/dev/null", program,
             place - 1);
    FILE *tool = popen(command, "re");
    if (tool && fgets(answer, sizeof answer, tool)) {
        char *slash = strrchr(answer, '/'), *name = slash ? slash + 1 : answer;
        name[strcspn(name, " \n")] = 0;
        if (*name != '?')
            snprintf(text, room, "%.90s", name);
    }
    if (tool)
        pclose(tool);
}

void where_write_at(uint64_t place, char *text, size_t room)
{
    char line[120];
    where_write(place, line, sizeof line);
    snprintf(text, room, "%s%s", *line ? " at " : "", line);
}
