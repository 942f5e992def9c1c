#include "base/symbolizer.h"

#include "base/elf.h"
#include "base/tool.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOOL_MS 5000 /* time for all runs of the tool together; a file with much debug information is slow to read */

/* Returns the bytes of the tool's answer. All three print "path/file.c:12", llvm's with a column behind it; of an inlined
 * function's code first its own line, then those of its callers. */
static size_t ask_tool(const char *path, uint64_t address, char *text, size_t room)
{
    static int left = TOOL_MS;
    char number[32], *file = (char *)path;
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)address);
    char *const gnu[] = {"addr2line", "-i", "-e", file, number, NULL};
    char *const elfutils[] = {"eu-addr2line", "-i", "-e", file, number, NULL};
    char *const llvm[] = {"llvm-symbolizer", "--functions=none", "-e", file, number, NULL};
    char *const *const commands[] = {gnu, elfutils, llvm, NULL};
    return tool_run(commands, &left, text, room);
}

/* Writes "file.c:12" for a line of the answer, whose path may have blanks. Returns false when it tells no source line. */
static bool write_line(const char *line, char *text, size_t room)
{
    const char *behind = strstr(line, " (discriminator");
    const int bytes = (int)(behind ? (size_t)(behind - line) : strlen(line));
    const char *slash = memrchr(line, '/', (size_t)bytes), *base = slash ? slash + 1 : line;
    const char *colon = memchr(base, ':', (size_t)(line + bytes - base));
    if (!colon || colon[1] == '?' || colon[1] == '0' || base[0] == '?')
        return false;
    snprintf(text, room, "%.*s:%.*s", (int)(colon - base), base, (int)strspn(colon + 1, "0123456789"), colon + 1);
    return true;
}

/* Headers of the system, and the library's own, are inlined into programs; their callers say more. */
static bool is_of_program(const char *line)
{
    return strncmp(line, "/usr/", 5) != 0 && !strstr(line, "/uccs_classic.h:");
}

static bool find_line(const char *path, uint64_t address, char *text, size_t room)
{
    char answer[4096], *rest = NULL;
    bool found = false, own = false;
    if (!ask_tool(path, address, answer, sizeof answer))
        return false;
    for (char *line = strtok_r(answer, "\n", &rest); line && !own; line = strtok_r(NULL, "\n", &rest)) {
        own = is_of_program(line);
        if (own || !found)
            found |= write_line(line, text, room);
    }
    return found;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A process with C++ names has a library that reads them; the launcher loads one. The linker would warn of dlopen itself in a program that is
 * linked with -static, which has none (module.c). */
const char *symbolizer_name(const char *symbol, char *text, size_t room)
{
    typedef char *demangle(const char *, char *, size_t *, int *);
    char *plain = NULL;
    snprintf(text, room, "%.*s", (int)strcspn(symbol, "."), symbol);
    if (strncmp(symbol, "_Z", 2) != 0)
        return text;
    demangle *read = (demangle *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *(*open)(const char *, int) = read ? NULL : (void *(*)(const char *, int))dlsym(RTLD_DEFAULT, "dlopen");
    void *library = open ? open("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (library)
        read = (demangle *)dlsym(library, "__cxa_demangle");
    if (read && (plain = read(text, NULL, NULL, NULL)))
        snprintf(text, room, "%s", plain);
    free(plain);
    return text;
}

bool symbolizer_place(const char *path, uint64_t address, char *text, size_t room)
{
    uint64_t start;
    if (find_line(path, address, text, room))
        return true;
    char readable[256];
    const char *name = elf_function(elf_open(path), address, &start);
    if (name)
        snprintf(text, room, "%s + 0x%llx (%s)", symbolizer_name(name, readable, sizeof readable),
                 (unsigned long long)(address - start), base_name(path));
    else
        snprintf(text, room, "%s + 0x%llx", base_name(path), (unsigned long long)address);
    return false;
}
