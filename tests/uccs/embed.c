/* A program that brings its own environment (uccs_embed): no launcher is asked, and OpenSHMEM shares the job. Started by
 * embed.py without a launcher: embed FOLDER RANK RANKS WAY.
 *
 * The environment is a folder: a value is a file, a fence a set of files. */
#include "check.h"

#include <shmem.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

static const char *folder;
static int rank, ranks, fences;

static void name_file(char path[512], const char *kind, const char *key, int of)
{
    snprintf(path, 512, "%s/%s.%s.%d", folder, kind, key, of);
}

static int write_file(const char *kind, const char *key, const void *value, size_t bytes)
{
    char path[512], draft[600];
    name_file(path, kind, key, rank);
    snprintf(draft, sizeof draft, "%s.draft", path);
    FILE *file = fopen(draft, "w");
    if (!file || fwrite(value, 1, bytes, file) != bytes || fclose(file) != 0)
        return -1;
    return rename(draft, path);
}

static int put(void *self, const char *key, const void *value, size_t bytes)
{
    CHECK(self == &fences);
    CHECK(strlen(key) <= 64);
    return write_file("value", key, value, bytes);
}

static int fence(void *self)
{
    char number[16], path[512];
    struct stat info;
    CHECK(self == &fences);
    snprintf(number, sizeof number, "%d", fences++);
    if (write_file("fence", number, "", 0) != 0)
        return -1;
    for (int i = 0; i < ranks; i++) {
        name_file(path, "fence", number, i);
        while (stat(path, &info) != 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, 0);
    }
    return 0;
}

static int get(void *self, int from, const char *key, void **value, size_t *bytes)
{
    char path[512];
    struct stat info;
    CHECK(self == &fences);
    name_file(path, "value", key, from);
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0)
        return -1;
    *bytes = (size_t)info.st_size;
    *value = malloc(*bytes + 1);
    ssize_t got = read(fd, *value, *bytes);
    close(fd);
    return got == (ssize_t)*bytes ? 0 : -1;
}

static void end_all(void *self, int status)
{
    (void)self;
    printf("ABORT %d\n", status);
    fflush(stdout);
}

static int is_ending;

static int ending(void *self)
{
    CHECK(self == &fences);
    return is_ending;
}

static struct uccs_environment environment(void)
{
    return (struct uccs_environment){sizeof(struct uccs_environment),
                                     rank,
                                     ranks,
                                     put,
                                     fence,
                                     get,
                                     end_all,
                                     &fences,
                                     ending};
}

static void refuses_nonsense(void)
{
    struct uccs_environment bad = environment();
    bad.size = 8;
    CHECK_EQ(uccs_embed(&bad), UCCS_ERR_INVALID);
    bad = environment();
    bad.rank = ranks;
    CHECK_EQ(uccs_embed(&bad), UCCS_ERR_INVALID);
    bad = environment();
    bad.get = 0;
    CHECK_EQ(uccs_embed(&bad), UCCS_ERR_INVALID);
}

/* Everybody puts its rank into the memory of the next process. */
static void puts_to_next(void)
{
    uccs_context_t context;
    uccs_memory_t own, all[16];
    int64_t value = 100 + me, sum = 0;
    OK(uccs_context_create(0, &context));
    OK(uccs_memory_allocate(context, 64, &own));
    check_share(context, own, all);
    uccs_endpoint_t endpoint = check_endpoint(context, next_pe);
    OK(uccs_put_short_contiguous(context, endpoint, all[next_pe], 8, &value, sizeof value, 0));
    OK(uccs_flush(context));
    OK(uccs_barrier(UCCS_GROUP_WORLD));
    struct uccs_memory_attr attr;
    OK(uccs_memory_query(own, &attr));
    CHECK_EQ(((int64_t *)attr.address)[1], 100 + prev_pe);
    OK(uccs_allreduce(UCCS_GROUP_WORLD, &value, &sum, 1, UCCS_INT64, UCCS_SUM));
    CHECK_EQ(sum, 100 * npes + npes * (npes - 1) / 2);
    OK(uccs_context_destroy(context));
    OK(uccs_memory_release(own));
}

static void shares_with_openshmem(void)
{
    shmem_init();
    CHECK_EQ(shmem_my_pe(), rank);
    CHECK_EQ(shmem_n_pes(), ranks);
    long *word = shmem_calloc(1, sizeof *word);
    shmem_long_p(word, 7 + me, next_pe);
    shmem_barrier_all();
    CHECK_EQ(*word, 7 + prev_pe);
    shmem_free(word);
}

int main(int argc, char **argv)
{
    CHECK(argc == 5);
    folder = argv[1];
    rank = atoi(argv[2]);
    ranks = atoi(argv[3]);
    struct uccs_environment mine = environment();
    refuses_nonsense();
    OK(uccs_embed(&mine));
    if (strcmp(argv[4], "back") == 0) { /* taken back before the start: a job of its own, for which nobody is asked */
        OK(uccs_embed(0));
        check_start();
        CHECK_EQ(npes, 1);
        CHECK_EQ(fences, 0);
        return check_pass();
    }
    check_start();
    CHECK_EQ(me, rank);
    CHECK_EQ(npes, ranks);
    CHECK_EQ(uccs_embed(&mine), UCCS_ERR_STATE);
    CHECK_EQ(uccs_embed(0), UCCS_ERR_STATE);
    if (strcmp(argv[4], "leave") == 0 && rank == 1)
        exit(5);                         /* before uccs_finalize: the environment has to end the job */
    if (strcmp(argv[4], "ended") == 0) { /* by the owner: nobody waits, and nothing is said */
        is_ending = 1;
        exit(0);
    }
    puts_to_next();
    shares_with_openshmem();
    OK(uccs_finalize());
    shmem_finalize();
    check_start(); /* another life in the same place */
    puts_to_next();
    CHECK(check_pass() == 0);
    if (strcmp(argv[4], "owner_ends") == 0) {
        OK(uccs_embed(0));
        check_start(); /* the node needs the environment no more */
        OK(uccs_finalize());
    }
    return 0;
}
