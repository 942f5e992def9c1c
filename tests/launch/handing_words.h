/* The options of oshrun in the words of each launcher (handing.c). */
#ifndef TESTS_LAUNCH_HANDING_WORDS_H
#define TESTS_LAUNCH_HANDING_WORDS_H

static const char *exported[] = {"A=1", "V", "NOT_SET"};
static char setting_one[] = "S=1", setting_two[] = "T=2";

/* Everything that the first program can be given. */
static void burden(void)
{
    has("PATH=/b", "V=a b", NULL);
    apps[0].exports = exported;
    apps[0].nexports = 3;
    apps[0].wdir = "/d";
    layer_there = (struct layer){.library = "/l.so", .settings = {setting_one, setting_two}};
}
#define SAYS_NOT_SET "oshrun: -x NOT_SET: not set in the environment of oshrun, so not passed on\n"

static void opening_old(void)
{
    begin(open_mpi);
    options.quiet = false;
    options.root = options.bind_cores = options.tag = options.stamp = true;
    options.out_name = "o/f";
    options.input = 65535;
    hands_over("oshrun: several hosts: handing over to /b/mpirun (mpirun (Open MPI) 4.1.4)\n/b/mpirun "
               "--allow-run-as-root --bind-to core --tag-output --timestamp-output --output-filename o/f --stdin 65535 "
               "--host slice:0+3 -n 3 p x y\noshrun: " FAILED("/b/mpirun"));
    begin(open_mpi);
    options.napps = 3;
    options.pes = 6;
    hosts.count = 1;
    options.input = OPTIONS_INPUT_ALL;
    OPEN("--bind-to none --oversubscribe --quiet --stdin all --host all:slots -n 3 p x y : --host all:slots -n 2 q : "
         "--host all:slots -n 1 p x y");
    host[0].slots = 6;
    options.input = OPTIONS_INPUT_NONE;
    OPEN("--bind-to none --quiet --stdin none --host slice:0+3 -n 3 p x y : --host slice:3+2 -n 2 q : "
         "--host slice:5+1 -n 1 p x y");
    apps[0].count = options.pes = 70000; /* more than 16 bits */
    host[0].slots = 70000;
    options.napps = 2;
    OPEN("--bind-to none --quiet --stdin none --host slice:0+70000 -n 70000 p x y : --host slice:70000+2 -n 2 q");
    host[0].slots = host[1].slots = UINT32_C(1) << 31; /* and than 32 */
    hosts.count = 2;
    OPEN("--bind-to none --quiet --stdin none --host slice:0+70000 -n 70000 p x y : --host slice:70000+2 -n 2 q");
    apps[0].count = options.napps = 3;
    hosts.count = options.pes = 0; /* those of an allocation */
    options.input = 0;
    OPEN("--bind-to none --quiet -n 3 p x y : -n 2 q : -n 1 p x y");
}

static void opening_new(void)
{
    begin(prrte);
    options.bind_cores = options.tag = options.stamp = options.root = true;
    options.out_name = "o/f";
    options.input = 1;
    OPEN("--allow-run-as-root --bind-to core --map-by slot --output=tag --output=timestamp --output file=o/f --stdin 1 "
         "--host slice:0+3 -n 3 p x y");
    begin(prrte);
    options.pes = 5;
    OPEN("--bind-to none --map-by slot:OVERSUBSCRIBE --host all:slots -n 3 p x y");
    begin(prrte);
    *looked = 0;
    real = "/r/prterun";
    OPEN("--bind-to none --map-by slot --host slice:0+3 -n 3 p x y");
    CHECK(strstr(looked, "real:/b/mpirun "));
    real = "/bin/prterun";
    OPEN("--bind-to none --map-by slot --host slice:0+3 -n 3 p x y");
    real = "/r/bin/prterun";
    OPEN("--prefix /r --bind-to none --map-by slot --host slice:0+3 -n 3 p x y");
    begin(open_mpi);
    real = "/r/bin/prterun"; /* of PRRTE alone */
    OPEN(RUN_OPEN);
}

static void opening_variables(void)
{
    static const char *const ours[] = {"SHMEM_", "SMA_X", "LATERAL_", "UCX_Y", "LATERAL_JOBS=1", "LATERAL_J"};
    static const char *const others[] = {"SHMEM", "SMA", "LATERAL", "UCX", "LATERAL_JOB=1", "XUCX_", ""};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        CHECK(is_ours(ours[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!is_ours(others[i]));
    begin(open_mpi);
    options.napps = 2;
    options.pes = 5;
    burden();
    own[2] = (char *)(uintptr_t) "UCX_TLS=a=b";
    own[3] = (char *)(uintptr_t) "SHMEM_X=";
    own[4] = NULL;
    hands_over(SAYS_NOT_SET "/b/mpirun --bind-to none --oversubscribe --quiet --host all:slots -x UCX_TLS -x SHMEM_X "
                            "--wdir /d -n 3 env A=1 V=a b S=1 T=2 LD_PRELOAD=/l.so p x y : --host all:slots -x UCX_TLS "
                            "-x SHMEM_X -n 2 env S=1 T=2 LD_PRELOAD=/l.so q\noshrun: " FAILED("/b/mpirun"));
}

static void opening(void)
{
    opening_old();
    opening_new();
    opening_variables();
}

static void speaking_hydra(void)
{
    begin(hydra);
    options.bind_cores = options.tag = true;
    options.out_name = "f";
    OPEN("-hosts all:slots -bind-to core -prepend-rank -outfile-pattern=f.%r -errfile-pattern=f.%r -n 3 p x y");
    begin(hydra);
    hosts.count = 0;
    options.napps = 3;
    burden();
    hands_over(SAYS_NOT_SET "/b/mpirun -bind-to none -wdir /d -n 3 env A=1 V=a b S=1 T=2 LD_PRELOAD=/l.so p x y : -n 2 "
                            "env S=1 T=2 LD_PRELOAD=/l.so q : -n 1 env S=1 T=2 LD_PRELOAD=/l.so p x y\noshrun: " FAILED(
                                "/b/mpirun"));
}

#define SRUN_END "--distribution=block --overcommit --ntasks=3 --nodes=2 --nodelist=all"

static void slurming_programs(void)
{
    static char *quoted[] = {(char *)"it's", (char *)"'", (char *)"", NULL};
    begin(slurm);
    hosts.slurm = true;
    options.napps = 3;
    apps[1].argv = quoted;
    burden();
    hands_over(SAYS_NOT_SET "/b/srun --mpi=pmi2 --kill-on-bad-exit=1 --input=0 " SRUN_END " --quiet --multi-prog "
                            "0-2 'env' '--chdir=/d' 'A=1' 'V=a b' 'S=1' 'T=2' 'LD_PRELOAD=/l.so' 'p' 'x y'\n"
                            "3-4 'env' 'S=1' 'T=2' 'LD_PRELOAD=/l.so' 'it'\\''s' ''\\''' ''\n"
                            "5-5 'env' 'S=1' 'T=2' 'LD_PRELOAD=/l.so' 'p' 'x y'\n\noshrun: " FAILED("/b/srun"));
}

static void slurming(void)
{
    static const struct tool old[] = {{"/b/srun", "slurm\n", "pmi2\n"}, {0}};
    begin(slurm);
    hosts.slurm = has_pmix = options.tag = options.bind_cores = true;
    options.out_name = "f";
    options.input = 65535;
    SRUN_SAYS("--mpi=pmix --kill-on-bad-exit=1 --input=65535 --output=f.%t --cpu-bind=cores " SRUN_END
              " --label --quiet p x y");
    begin(old);
    hosts.slurm = has_pmix = true;
    options.input = OPTIONS_INPUT_ALL;
    apps[0].wdir = "/d";
    SRUN_SAYS("--mpi=pmi2 --kill-on-bad-exit=1 --input=all " SRUN_END " --quiet env --chdir=/d p x y");
    begin(slurm);
    hosts.slurm = true;
    hosts.count = 0;
    options.quiet = false;
    options.input = OPTIONS_INPUT_NONE;
    hands_over("oshrun: several hosts: handing over to /b/srun (slurm 23.11)\n/b/srun --mpi=pmi2 --kill-on-bad-exit=1 "
               "--input=none --distribution=block --overcommit --ntasks=3 p x y\noshrun: " FAILED("/b/srun"));
    slurming_programs();
    begin(slurm);
    hosts.slurm = true;
    options.napps = 2;
    apps[0].count = 70000;
    SRUN_SAYS("--mpi=pmi2 --kill-on-bad-exit=1 --input=0 " SRUN_END " --quiet --multi-prog 0-69999 'p' 'x y'\n"
              "70000-70001 'q'\n");
}

/* ---- how long launchers wait for a host ---- */

static void waits(const char *variable, const char *wanted)
{
    begin(hydra);
    has("PATH=/b", variable, NULL);
    SAYS("/b/mpirun", "-hosts all:slots -bind-to none -n 3 p x y");
    if (strcmp(settings, wanted) != 0)
        fprintf(stderr, "set: %s\n", settings);
    CHECK(strcmp(settings, wanted) == 0);
}

#define KEEPALIVE(front, time, between, probes)                                                           \
    front "_MCA_oob_tcp_keepalive_time=" time " " front "_MCA_oob_tcp_keepalive_intvl=" between " " front \
          "_MCA_oob_tcp_keepalive_probes=" probes " "
#define BOTH(time, between, probes) KEEPALIVE("OMPI", time, between, probes) KEEPALIVE("PRTE", time, between, probes)

static void numbers(void)
{
    waits(NULL, BOTH("2", "3", "7"));
    waits("LATERAL_PEER_TIMEOUT=", BOTH("2", "3", "7"));
    waits("LATERAL_PEER_TIMEOUT=20", BOTH("2", "3", "7"));
    waits("LATERAL_PEER_TIMEOUT=1", BOTH("1", "1", "2"));
    waits("LATERAL_PEER_TIMEOUT=70000", BOTH("2", "768", "92"));
    waits("LATERAL_PEER_TIMEOUT=0", "");
    waits("LATERAL_PEER_TIMEOUT=-1", "");
}

#endif
