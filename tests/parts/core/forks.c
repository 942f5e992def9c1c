/* How a forked child gets copies of its memory, by a made-up kernel: what is read from where, holes, short and interrupted reads, calls
 * that fail one by one, and who waits for whom. No process forks. */
#include "forks_kernel.h"

static char memory[2 * SIZE]; /* of the PE */

static void begin(void)
{
    memset(memory, '#', sizeof memory);
    memset(files, 0, sizeof files);
    for (int i = 0; i < SIZE; i++) {
        files[0].bytes[i] = (char)('a' + i % 26);
        files[1].bytes[i] = (char)('A' + i % 26);
    }
    memset(fails, 0, sizeof fails);
    memset(calls, 0, sizeof calls);
    asides = interruptions = data_looks = advices = exits = 0;
    punched = NULL;
    pieces = SIZE;
    line[0] = 0;
    errno = 0;
    guarded = (struct uccs_fork_ranges){.fd = -1};
    notice[0] = notice[1] = -1;
}

static void extents(int fd, off_t data, off_t hole, off_t data2, off_t hole2)
{
    files[fd].extents[0].data = data;
    files[fd].extents[0].hole = hole;
    files[fd].extents[1].data = data2;
    files[fd].extents[1].hole = hole2;
}

static bool called(const char *wanted)
{
    const bool same = strcmp(calls, wanted) == 0;
    if (!same)
        fprintf(stderr, "calls: %s\n", calls);
    memset(calls, 0, sizeof calls);
    return same;
}

/* Are the first bytes of memory these? A hole is a dot. */
static bool holds(const char *wanted)
{
    bool same = true;
    for (size_t i = 0; wanted[i]; i++)
        same &= memory[i] == (wanted[i] == '.' ? 0 : wanted[i]);
    return same;
}

/* --- Copies: bytes 4 to 20 of file 0 lie at the start of memory */

static const struct uccs_fork_range own = {memory, 16, 4, 0};

static void copies(void)
{
    begin();
    extents(0, 0, 64, 64, 64); /* all is data, before and behind it too */
    CHECK(make_private(&own, 0) == 0 && called("mrv") && holds("efghijklmnopqrst##"));
    begin();
    extents(0, 6, 8, 10, 12);
    CHECK(make_private(&own, 0) == 0 && called("mrrvf") && holds("..gh..kl........##"));
    CHECK(mapped.at == memory + 8 && mapped.bytes == 8 && mapped.protection == (PROT_READ | PROT_WRITE));
    begin();
    extents(0, 6, 8, 18, 40); /* up to the end */
    CHECK(make_private(&own, 0) == 0 && called("mrrv") && holds("..gh..........st##") && read_end == 20);
    begin();
    extents(0, 6, 20, 20, 40); /* just up to it */
    CHECK(make_private(&own, 0) == 0 && called("mrv") && holds("..ghijklmnopqrst##"));
    begin();
    extents(0, 0, 4, 20, 22); /* none of it */
    CHECK(make_private(&own, 0) == 0 && called("f") && holds("................##") && mapped.bytes == 16);
    const struct uccs_fork_range first = {memory, 16, 0, 0};
    begin();
    extents(0, 0, 2, 60, 64); /* from the start of the file */
    CHECK(make_private(&first, 0) == 0 && called("mrvf") && holds("ab..............##"));
}

static void far_in_file(void)
{
    const off_t far = (off_t)3 << 40;
    const struct uccs_fork_range there = {memory, 16, far + 4, 0};
    begin();
    extents(0, 6, 8, 10, 12);
    file_at = far;
    CHECK(make_private(&there, 0) == 0 && called("mrrvf") && holds("..gh..kl........##"));
    file_at = 0;
}

static void reads(void)
{
    begin();
    extents(0, 4, 12, 64, 64);
    pieces = 3;
    interruptions = 2;
    CHECK(make_private(&own, 0) == 0 && called("mrrrvf") && holds("efghijkl........##"));
    begin();
    extents(0, 4, 12, 64, 64);
    pieces = 0; /* the file has become shorter */
    errno = EINTR;
    CHECK(make_private(&own, 0) == EIO && called("mr"));
    begin();
    extents(0, 4, 12, 14, 20);
    punched = "the rest"; /* a hole since the first look */
    data_looks = 0;
    CHECK(make_private(&own, 0) == 0 && called("mrv") && holds("efghijkl........##"));
}

/* Each call that fails ends the copying, but the last one is tried in another way. */
static void failures(void)
{
    static const struct {
        const char *fails, *calls;
        int status;
    } rows[] = {{"m", "m", ENOMEM},
                {"r", "mr", ENOMEM},
                {"v", "mrv", ENOMEM},
                {"f", "mrvfn", 0},
                {"fn", "mrvfn", ENOMEM}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        extents(0, 4, 12, 64, 64);
        strcpy(fails, rows[i].fails);
        why = ENOMEM;
        CHECK(make_private(&own, 0) == rows[i].status && called(rows[i].calls));
        CHECK(i != 3 || (mapped.at == memory + 8 && mapped.bytes == 8 && mapped.protection == PROT_NONE));
    }
}

/* --- Parent and child */

static void child_copies(void)
{
    begin();
    extents(0, 0, 64, 64, 64);
    extents(1, 0, 64, 64, 64);
    guarded = (struct uccs_fork_ranges){.fd = 0, .own = {{memory, 4, 4}, {memory + SIZE, 4, 8, .fd = 1}}};
    prepare();
    CHECK(called("p") && !line[0]);
    errno = EDOM;
    in_child();
    CHECK(called("mrvmrvW01") && errno == EDOM && holds("efgh#") && memcmp(memory + SIZE, "IJKL#", 5) == 0);
    CHECK(guarded.fd == -1); /* the child's own children need nothing */
    in_child();
    CHECK(called("") && !line[0]);
    begin();
    guarded = (struct uccs_fork_ranges){.fd = 0, .own = {{NULL, 4, 4}}};
    strcpy(fails, "W");
    prepare();
    in_child();
    CHECK(called("pW01") && strstr(line, "the parent does not wait"));
}

static void child_cannot(void)
{
    begin();
    extents(0, 0, 64, 64, 64);
    guarded = (struct uccs_fork_ranges){.fd = 0, .own = {{memory, 4, 4}, {memory + SIZE, 4, 8}}};
    strcpy(fails, "v");
    why = ENOMEM;
    if (setjmp(home) == 0)
        in_child();
    CHECK(exits == LAT_EXIT && called("mrv") && strstr(line, strerror(ENOMEM)) && guarded.fd == 0);
}

static void parent_waits(void)
{
    begin();
    prepare();
    CHECK(called("") && notice[0] == -1 && notice[1] == -1); /* nothing is guarded */
    in_parent();
    CHECK(called(""));
    guarded.fd = 0; /* any descriptor */
    prepare();
    interruptions = 2;
    errno = EDOM;
    in_parent();
    CHECK(called("p1iiw0") && errno == EDOM);
    prepare();
    strcpy(fails, "w");
    why = EIO;
    in_parent();
    CHECK(called("p1w0"));
    strcpy(fails, "p");
    why = EMFILE;
    prepare();
    CHECK(called("p") && strstr(line, strerror(EMFILE)) && notice[1] == -1);
    in_parent();
    CHECK(called(""));
}

/* --- Guarding */

static void guards(void)
{
    struct uccs_fork_ranges ranges = {.fd = 0, .own = {{memory + 16, 16, 4}, {memory + SIZE, 16, 8}}};
    begin();
    CHECK(!uccs_fork_is_child());
    atfork_error = ENOMEM;
    CHECK(uccs_fork_guard(&ranges) == ENOMEM && guarded.fd == -1 && registrations == 0 && !uccs_fork_is_child());
    atfork_error = 0;
    CHECK(uccs_fork_guard(&ranges) == 0 && guarded.fd == 0 && registrations == 1 && called("") && advices == 0);
    this_process = 101;
    CHECK(uccs_fork_is_child());
    this_process = 100;
    CHECK(!uccs_fork_is_child() && uccs_fork_guard(NULL) == 0 && guarded.fd == -1);
    ranges.shared = memory;
    ranges.shared_bytes = SIZE; /* the second range lies just behind it */
    CHECK(uccs_fork_guard(&ranges) == 0 && registrations == 1 && called("xd") && guarded.fd == 0);
    CHECK(advised[0].start == memory && advised[0].bytes == SIZE && advised[1].start == memory + 16);
    CHECK(advised[1].bytes == 16 && advised[1].advice == MADV_DOFORK);
    advices = 0;
    ranges.own[1].start = memory + SIZE - 1;
    CHECK(uccs_fork_guard(&ranges) == 0 && called("xdd"));
    ranges.own[0].start = NULL;
    advices = 0;
    CHECK(uccs_fork_guard(&ranges) == 0 && called("xd"));
    const char *failing[] = {"x", "d"};
    for (int i = 0; i < 2; i++) {
        (void)uccs_fork_guard(NULL);
        strcpy(fails, failing[i]);
        why = EAGAIN;
        advices = 0;
        CHECK(uccs_fork_guard(&ranges) == EAGAIN && called(i ? "xd" : "x") && guarded.fd == -1);
    }
    ranges.shared = (char *)(uintptr_t)1; /* far from the ranges: none of them lies in it */
    ranges.shared_bytes = 16;
    ranges.own[1].start = (char *)(uintptr_t)((UINT64_C(1) << 40) + 9);
    advices = 0;
    CHECK(uccs_fork_guard(&ranges) == 0 && called("x"));
}

int main(void)
{
    copies();
    far_in_file();
    reads();
    failures();
    child_copies();
    child_cannot();
    parent_waits();
    guards();
    return 0;
}
