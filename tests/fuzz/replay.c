/* Feeds files to a target: replay.c and target_NAME.c make a program whose arguments are files and folders of them. */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int count;

static void feed_file(const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &info) != 0)
        exit(2);
    uint8_t *data = malloc((size_t)info.st_size + 1);
    size_t bytes = fread(data, 1, (size_t)info.st_size, file);
    fclose(file);
    uint8_t *exact = malloc(bytes ? bytes : 1); /* a sanitizer sees reads behind it */
    memcpy(exact, data, bytes);
    fprintf(stderr, "%s\n", path); /* the last one printed is the one that failed */
    LLVMFuzzerTestOneInput(exact, bytes);
    free(exact);
    free(data);
    count++;
}

static void feed(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        feed_file(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            feed_file(name);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        feed(argv[i]);
    fprintf(stderr, "%d inputs\n", count);
    fflush(stderr);
    _exit(count ? 0 : 2); /* what the library does at exit is another test's subject */
}
