#include "report.h"

#include "channel.h"
#include "message.h"

#include <dirent.h>
#include <stdbool.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Opens a descriptor of another process once more, for reading, if it is a job's memory. Returns it, or -1. */
static int open_memory(int process, const char *fd)
{
    char path[320], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/fd/%s", process, fd);
    if (readlink(path, name, sizeof name - 1) < 0 || strcmp(name, "/memfd:lateral (deleted)") != 0)
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

/* Asks the watcher of a job that another launcher has started, or the oshrun in front of that. Returns false when it does not
 * answer. */
static bool ask_watcher(pid_t process, const char *title)
{
    char line[PICTURE_LINE];
    int fd = channel_ask(process);
    FILE *in = fd >= 0 && dprintf(fd, "ask 0 -1 %s\n", title) > 0 ? fdopen(fd, "r") : NULL;
    bool told = false;
    while (in && !told && fgets(line, sizeof line, in)) {
        int used = 0;
        line[strcspn(line, "\n")] = 0;
        told = strncmp(line, "told ", 5) == 0;
        if (sscanf(line, "text %*d:%n", &used) == 0 && used)
            say_more("%s", line + used);
    }
    if (in)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    return told;
}

int status_print(pid_t pid)
{
    char title[96];
    snprintf(title, sizeof title, "where the PEs of job %d are:", (int)pid);
    if (ask_watcher(pid, title))
        return 0;
    int fd = find_memory(pid);
    struct view view;
    if (fd < 0 || !view_open(&view, fd, PROT_READ)) {
        say("--status %d: no job of this version of Lateral, or it belongs to another user", (int)pid);
        return STATUS_FAILED;
    }
    const struct node *node = view.node;
    snprintf(title, sizeof title, "where the %u PEs of job %d are:", node->total, (int)pid);
    if (node->watcher && ask_watcher(node->watcher, title))
        return 0;
    if (node->size < node->total)
        say("where %u of the %u PEs of job %d are; LATERAL_TIMEOUT=0 lets one see all:", node->size, node->total,
            (int)pid);
    else
        say("%s", title);
    struct picture picture = picture_make(node->total);
    picture_read(&picture, &view, false);
    report_print(&picture);
    picture_free(&picture);
    free(view.pids);
    return 0;
}
