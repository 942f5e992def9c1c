/* Misspelt words: how far they are from names, and which variable a name of the environment means. Nothing takes long. */
#include "base/meant.h"

#include "unit/child.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Blocks of their own, so that a sanitizer sees what is read beside them. */
static void far(const char *first, const char *second, unsigned mistakes)
{
    char *one = strdup(first), *other = strdup(second);
    unsigned found = meant_distance(one, strlen(one), other, strlen(other));
    if (found != mistakes)
        fprintf(stderr, "\"%s\", \"%s\": %u mistakes\n", one, other, found);
    CHECK(found == mistakes && meant_distance(other, strlen(other), one, strlen(one)) == mistakes);
    free(one);
    free(other);
}

static void distances(void)
{
    far("", "", 0);
    far("", "abc", 3);
    far("timeout", "timeout", 0);
    far("timout", "timeout", 1);
    far("tiemout", "timeout", 1);
    far("timeoutt", "timeout", 1);
    far("tineout", "timeout", 1);
    far("kitten", "sitting", 3);
    far("timeouxy", "timeoutt", 2); /* wrong, not exchanged */
    far("timeotu", "timeoux", 2);
    char text[MEANT_BYTES + 2];
    memset(text, 'a', sizeof text);
    text[MEANT_BYTES] = 0;
    for (int letters = 0; letters < 4; letters++)
        far(text, &"bbb"[3 - letters], MEANT_BYTES);
    text[MEANT_BYTES] = 'a';
    CHECK(meant_distance(text, MEANT_BYTES, text, MEANT_BYTES) == 0);
    CHECK(meant_distance(text, MEANT_BYTES + 1, text, MEANT_BYTES + 1) > MEANT_BYTES);
    CHECK(meant_distance(text, MEANT_BYTES + 1, "a", 1) > MEANT_BYTES);
    CHECK(meant_distance("a", 1, text, MEANT_BYTES + 1) > MEANT_BYTES);
    CHECK(meant_mistakes(3) == 0 && meant_mistakes(4) == 1 && meant_mistakes(7) == 1 && meant_mistakes(8) == 2);
}

static void means(const char *entry, const char *name)
{
    const char *found = meant_variable(entry);
    if (!found != !name || (found && strcmp(found, name) != 0))
        fprintf(stderr, "%s: %s\n", entry, found ? found : "none");
    CHECK(!found == !name && (!found || strcmp(found, name) == 0));
}

static void variables(void)
{
    means("SHMEM_SYMETRIC_SIZE=1g", "SHMEM_SYMMETRIC_SIZE");
    means("SMA_SYMMETRIC_SZIE", "SMA_SYMMETRIC_SIZE");
    means("SHMEM_SYMMETRIC_HEAP_SIZE=1g", "SHMEM_SYMMETRIC_SIZE");
    means("SHMEM_DEBGU=1", "SHMEM_DEBUG");
    means("LATERAL_TRANSPORT=ucx", "LATERAL_TRANSPORTS");
    means("LATERAL_CHEK=1", "LATERAL_CHECK");
    means("LATERAL_COLLS=reduce:pull", "LATERAL_COLL");
    means("LATERAL_LAUNCHR=srun", "LATERAL_LAUNCHER");
}

/* Names that are right, that other libraries read, or that have nothing to do with this one. */
static void no_variables(void)
{
    means("LATERAL_CHECK=1", 0);
    means("SMA_DEBUG=", 0);
    means("LATERAL_CC=gcc", 0);
    means("SHMEM_BARRIER_ALGORITHM=tree", 0);
    means("SHMEM_OFI_PROVIDER=tcp", 0);
    means("NVSHMEM_DEBUG=1", 0);
    means("SHMEM_=1", 0);
    means("LATERAL_SOMETHING_ELSE=1", 0);
    means("=odd", 0);
    means("PATH=/bin", 0);
}

int main(void)
{
    distances();
    in_a_child(variables);
    in_a_child(no_variables);
    return 0;
}
