/* Memory that another process lends: it is taken only if the descriptor still leads to the same file, and the file holds it. */
#include "../../src/transport/lent.c"

#include "unit/check.h"

static int file_of(off_t bytes)
{
    const int fd = memfd_create("lent", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, bytes) == 0);
    return fd;
}

int main(void)
{
    const int fd = file_of(8192), other = file_of(65536);
    struct stat file;
    CHECK(fstat(fd, &file) == 0);
    const struct lent right = {.bytes = 4096, .at = 4096, .device = file.st_dev, .inode = file.st_ino};
    struct lent wrong = right;
    CHECK(is_that_file(fd, &right));
    CHECK(!is_that_file(other, &right));
    CHECK(!is_that_file(-1, &right));
    wrong.inode++;
    CHECK(!is_that_file(fd, &wrong));
    wrong = right;
    wrong.device++;
    CHECK(!is_that_file(fd, &wrong));
    wrong = right;
    wrong.bytes = 0;
    CHECK(!is_that_file(fd, &wrong));
    wrong.bytes = 4097;
    CHECK(!is_that_file(fd, &wrong));
    wrong.bytes = UINT64_MAX;
    CHECK(!is_that_file(fd, &wrong));
    wrong = right;
    wrong.at = 8193;
    CHECK(!is_that_file(fd, &wrong));
    wrong.at = 8192;
    CHECK(!is_that_file(fd, &wrong));
    wrong.at = 0;
    wrong.bytes = 8192;
    CHECK(is_that_file(fd, &wrong));
    return 0;
}
