/* The way of the PEs' output: whole lines in order, long lines, prompts, marks, files, one PE alone, PEs that
 * cannot be connected. Each test has a process of its own, in which this program is the PEs and the reader; the
 * clock is a stand-in.
 * flags: -D_GNU_SOURCE */
#include "flow.h"

/* ---- lines ---- */

static void lines(void)
{
    job(2);
    CHECK(output_files_per_pe() == 2 && out[0] != err[0] && !output_done() && output_patience() == -1);
    says(out[0], "a\nb");
    OUT("a\n");
    says(out[1], "x\n");
    OUT("x\n");
    says(err[1], "e\n");
    ERR("e\n");
    says(out[0], "c\nd");
    OUT("bc\n");
    says(out[0], "e");
    says(out[0], "f\n\ng");
    OUT("def\n\n");
    ends(&out[0]);
    OUT("g");
    says(out[1], "y\nz");
    OUT("\ny\n");
    says(err[0], "no end");
    ERR("");
    ends(&err[0]);
    ERR("no end");
    output_message("oshrun: x\n", 10);
    output_message("oshrun: y\n", 10);
    ERR("\noshrun: x\noshrun: y\n");
    ends(&out[1]);
    OUT("z");
    CHECK(!output_done());
    ends(&err[1]);
    CHECK(output_done() && output_broken() == 0 && unfinished == 0);
    OUT("");
}

/* Lines of several PEs that come in one turn, and a line with a zero. */
static void together(void)
{
    job(3);
    CHECK(write(out[2], "c1\nc2\nc", 7) == 7 && write(out[0], "a1\n\0\n", 5) == 5 && write(out[1], "b\n", 2) == 2);
    turn();
    const ssize_t got = read(readers[0], come, 100);
    CHECK(got == 13 && memmem(come, 13, "a1\n\0\n", 5) && memmem(come, 13, "b\n", 2) &&
          memmem(come, 13, "c1\nc2\n", 6));
    CHECK(fcntl(1, F_GETFL) == O_WRONLY && lanes[0].sink.fd != 1 &&
          !lanes[0].sink.cautious); /* it is the shell's, too */
}

static void joined_streams(void)
{
    make_pipes(true);
    how.pes = 2;
    open_job();
    CHECK(output_files_per_pe() == 1 && out[0] == err[0] && out[1] == err[1]);
    says(out[0], "a\n");
    says(err[0], "b\n");
    ends(&out[0]);
    says(out[1], "c");
    ends(&out[1]);
    output_message("oshrun: x\n", 10);
    OUT("a\nb\nc\noshrun: x\n");
    CHECK(output_done());
}

static void one_pe(void)
{
    job(1);
    CHECK(out[0] == 1 && err[0] == 2 && output_files_per_pe() == 0 && output_done());
    output_connected(out[0], err[0]);
    says(1, "straight");
    says(2, "wrong");
    OUT("straight");
    ERR("wrong");
    output_message("oshrun: x\n", 10);
    ERR("oshrun: x\n");
}

static void marks(void)
{
    setenv("TZ", "UTC", 1);
    how.tag = true;
    job(1);
    CHECK(output_files_per_pe() == 2);
    says(out[0], "a\nb\n\nc");
    OUT("[0] a\n[0] b\n[0] \n");
    says(err[0], "e\n");
    ERR("[0] e\n");
    ends(&out[0]);
    OUT("[0] c");
}

static void times(void)
{
    setenv("TZ", "UTC", 1);
    how.stamp = true;
    job(11);
    says(out[10], "a\nb\n");
    OUT("2001-09-09 01:46:40.007 a\n2001-09-09 01:46:40.007 b\n");
    tagging = true;
    says(out[10], "c\n");
    OUT("2001-09-09 01:46:40.007 [10] c\n");
}

/* ---- prompts ---- */

static void answers(bool by_pipe)
{
    int ends[2];
    CHECK(pipe(ends) == 0 && dup2(by_pipe ? ends[0] : open("/dev/null", O_RDONLY), 0) == 0);
}

static void prompt(void)
{
    answers(true);
    job(2);
    says(out[0], "a\nname? ");
    CHECK(output_patience() == 100);
    now += 40;
    says(out[1], "of PE 1");
    now += 59;
    turn();
    OUT("a\n");
    CHECK(output_patience() == 1);
    now += 1;
    CHECK(output_patience() == 0);
    turn();
    OUT("name? ");
    CHECK(output_patience() == -1);
    now += 1000;
    turn();
    OUT("");
    says(out[0], "it\n");
    OUT("it\n");
    says(out[0], "more? ");
    says(err[0], "hm? ");
    now += 40;
    CHECK(output_patience() == 60);
    now += 70;
    CHECK(output_patience() == 0);
    turn();
    OUT("more? ");
    ERR("hm? ");
    says(out[1], " goes on\n");
    OUT("\nof PE 1 goes on\n");
}

static void no_prompt(void)
{
    answers(false);
    job(2);
    says(out[0], "name? ");
    CHECK(output_patience() == -1);
    now += 1000;
    turn();
    OUT("");
}

/* ---- long lines ---- */

/* A PE writes so many bytes, which do not end a line, and the reader reads. Returns how many have come. */
static size_t flows(int fd, size_t bytes)
{
    static char part[4096];
    size_t arrived = 0;
    memset(part, 'l', sizeof part);
    while (bytes) {
        const size_t piece = bytes < sizeof part ? bytes : sizeof part;
        CHECK(write(fd, part, piece) == (ssize_t)piece);
        bytes -= piece;
        turn();
        arrived += strspn(read_all(readers[0]), "l");
    }
    for (int quiet = 0; quiet < 3; quiet = *come ? 0 : quiet + 1) {
        turn();
        arrived += strspn(read_all(readers[0]), "l");
    }
    return arrived;
}

static void long_line(void)
{
    answers(true);
    job(3);
    CHECK(flows(out[1], OUTPUT_LINE) == 0); /* as long as a line may be that is held */
    CHECK(flows(out[1], 1) == OUTPUT_LINE + 1 && output_patience() == 1000);
    says(out[0], "a\n");
    says(out[2], "b\nhalf");
    says(out[1], "more");
    OUT(""); /* held until the line has an end */
    now += 999;
    CHECK(output_patience() == 1);
    turn();
    says(out[1], "! ");
    CHECK(output_patience() == 1000);
    says(out[1], "end\nnext");
    OUT("more! end\na\nb\n");
    CHECK(output_patience() == -1);
    says(out[1], " line\n");
    OUT("next line\n");
}

static void long_line_that_ends(void)
{
    job(2);
    CHECK(flows(out[0], OUTPUT_LINE + 5) == OUTPUT_LINE + 5);
    says(out[1], "b\n");
    OUT("");
    ends(&out[0]);
    OUT("\nb\n");
    CHECK(output_patience() == -1);
    says(out[1], "c\n");
    OUT("c\n");
}

static void long_line_that_stops(void)
{
    answers(true);
    job(2);
    CHECK(flows(out[1], OUTPUT_LINE + 5) == OUTPUT_LINE + 5);
    says(out[0], "name? ");
    CHECK(output_patience() == 1000); /* no prompt in the middle of a line */
    now += 999;
    CHECK(write(out[1], "x", 1) == 1);
    now += 1;
    output_tick(); /* there is more of it */
    now += 500;
    turn();
    now += 999;
    turn();
    OUT("");
    now += 1;
    turn();
    OUT("");
    says(out[0], "me\n");
    OUT("\nname? me\n");
    says(out[1], "y\n");
    OUT("xy\n");
}

/* ---- files ---- */

static void holds(const char *name, const char *wanted)
{
    const int fd = open(name, O_RDONLY);
    CHECK(fd >= 0);
    reads(fd, wanted);
    close(fd);
}

static void files(void)
{
    char folder[] = "/tmp/lateral-outputs-XXXXXX", name[64], path[80], old[80], clean[64];
    struct stat info;
    CHECK(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/a/b/f", folder);
    snprintf(old, sizeof old, "%s/a/b/f.03", folder);
    how.out_name = name;
    make_pipes(false);
    how.pes = 11;
    CHECK(output_open(&how) && output_files_per_pe() == 0); /* makes the folders */
    CHECK(files_make_folder(name));
    const int before = open(old, O_WRONLY | O_CREAT, 0600);
    CHECK(before >= 0 && write(before, "old old old", 11) == 11);
    for (uint32_t pe = 0; pe < 11; pe++)
        CHECK(output_connect(pe, &out[pe], &err[pe]) == 0 && out[pe] == err[pe] && out[pe] > 2);
    says(out[3], "new");
    CHECK(lseek(out[3], 0, SEEK_SET) == 0);
    says(out[3], "er");
    holds(old, "newer");
    says(out[10], "last");
    snprintf(path, sizeof path, "%s/a/b/f.10", folder);
    holds(path, "last");
    CHECK(output_done());
    output_connected(out[3], err[3]);
    CHECK(fcntl(out[3], F_GETFD) == -1);
    CHECK(files_open("no/folder/f", 1, 2) == -1 && errno == EIO);
    ERR("oshrun: --output-filename: no/folder/f.1: No such file or directory\n");
    how.out_name = "/no/folder/f";
    file_name = how.out_name;
    CHECK(output_connect(0, &out[0], &err[0]) == -1);
    ERR("oshrun: --output-filename: /no/folder/f.00: No such file or directory\n");
    snprintf(path, sizeof path, "%s/file", folder);
    CHECK(mknod(path, S_IFREG | 0600, 0) == 0);
    snprintf(path, sizeof path, "%s/file/b/f", folder);
    how.out_name = path;
    CHECK(!output_open(&how));
    char wanted[256];
    snprintf(wanted, sizeof wanted, "oshrun: --output-filename %s: %s/file: File exists\n", path, folder);
    ERR(wanted);
    CHECK(files_make_folder("plain") && files_make_folder("/plain") && stat("plain", &info) != 0);
    file_name = name;
    close(0);
    CHECK(output_connect(9, &out[9], &err[9]) == 0 && out[9] == 0); /* any number is good */
    snprintf(clean, sizeof clean, "rm -r %s", folder);
    CHECK(system(clean) == 0);
}

/* ---- PEs that cannot be connected ---- */

/* Returns how many of the first numbers are those of open files. */
static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < READERS; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void no_connection(void)
{
    make_pipes(false);
    how.pes = 3;
    CHECK(loop_open() == 0 && output_open(&how) && output_connect(0, &out[0], &err[0]) == 0);
    const int number = open_files();
    adds_until_failure = 0;
    CHECK(output_connect(1, &out[1], &err[1]) == -1 && errno == ENOSPC && open_files() == number);
    CHECK(unfinished == 2);
    adds_until_failure = 1; /* standard error alone */
    CHECK(output_connect(1, &out[1], &err[1]) == -1 && errno == ENOSPC);
    turn(); /* the pipe that was made is over */
    CHECK(unfinished == 2 && open_files() == number);
    adds_until_failure = -1;
    CHECK(output_connect(2, &out[2], &err[2]) == 0 && unfinished == 4);
    output_connected(out[2], err[2]);
    CHECK(fcntl(out[2], F_GETFD) == -1 && fcntl(err[2], F_GETFD) == -1);
    output_connected(-1, -1);
    turn();
    CHECK(unfinished == 2 && !output_done());
}

int main(void)
{
    static void (*const tests[])(void) = {lines,
                                          together,
                                          joined_streams,
                                          one_pe,
                                          marks,
                                          times,
                                          prompt,
                                          no_prompt,
                                          long_line,
                                          long_line_that_ends,
                                          long_line_that_stops,
                                          files,
                                          no_connection};
    run_apart(tests, sizeof tests / sizeof *tests);
    return 0;
}
