/* Calls on requests and on variables of sets.c while the library does not run, and how many looks a fruitless one takes. */
#ifndef TESTS_PARTS_SHMEM_SETS_STATES_H
#define TESTS_PARTS_SHMEM_SETS_STATES_H

#define REFUSES(expression, name) REFUSED(expression, name ": called before shmem_init")

static shmemx_request_t clean[2], kept = UCCS_REQUEST_CLEAN;

static void requests_not_running(void)
{
    size_t where[2];
    REFUSES(lat_request_create(SHMEMX_REQUEST_PRIVATE, &kept), "shmemx_request_create");
    REFUSES(lat_request_free(&kept), "shmemx_request_free");
    REFUSES(lat_request_merge(&kept, 2, clean), "shmemx_request_merge");
    REFUSES(lat_request_fence(&kept), "shmemx_request_fence");
    REFUSES(lat_request_pending(kept), "shmemx_request_pending");
    REFUSES(lat_request_test_slow(&kept), "shmemx_request_test");
    REFUSES(lat_request_test_local(&kept), "shmemx_request_test_local");
    REFUSES(lat_request_wait(&kept), "shmemx_request_wait");
    REFUSES(lat_request_wait_free(&kept), "shmemx_request_wait_free");
    REFUSES(lat_request_wait_local(&kept), "shmemx_request_wait_local");
    REFUSES(lat_request_test_all(clean, 2, 0), "shmemx_request_test_all");
    REFUSES(lat_request_test_any(clean, 2, 0), "shmemx_request_test_any");
    REFUSES(lat_request_test_some(clean, 2, where, 0), "shmemx_request_test_some");
    REFUSES(lat_request_wait_all(clean, 2, 0), "shmemx_request_wait_all");
    REFUSES(lat_request_wait_all_free(clean, 2, 0), "shmemx_request_wait_all_free");
    REFUSES(lat_request_wait_any(clean, 2, 0), "shmemx_request_wait_any");
    REFUSES(lat_request_wait_any(clean, 0, 0), "shmemx_request_wait_any"); /* an empty set, too */
    REFUSES(lat_request_wait_some(clean, 2, where, 0), "shmemx_request_wait_some");
    REFUSES(lat_request_wait_some(clean, 0, where, 0), "shmemx_request_wait_some");
}

static void not_running(void)
{
    static int16_t one = 1;
    clean[0] = clean[1] = UCCS_REQUEST_CLEAN;
    dones = quiets = frees = merges = fences = 0;
    lat_state = LAT_BEFORE;
    requests_not_running();
    REFUSES(lat_test("call", KIND_I16, &one, SHMEM_CMP_EQ, 1), "call");
    REFUSES(lat_wait_until("call", KIND_I16, &one, SHMEM_CMP_EQ, 1), "call");
    lat_state = LAT_RUNNING;
    CHECK(dones == 0 && quiets == 0 && frees == 0 && merges == 0 && fences == 0);
    CHECK(kept == UCCS_REQUEST_CLEAN && clean[0] == kept && clean[1] == kept);
}

/* Each member is looked at once, and the first one alone keeps a wait from being an empty one. */
static void looks(void)
{
    struct uccs_request pending[3] = {{.pending = 2}, {.pending = 2}, {.pending = 2}};
    shmemx_request_t reqs[] = {&pending[0], &pending[1], &pending[2]};
    size_t where[3];
    dones = 0;
    CHECK(lat_request_test_any(reqs, 3, 0) == SIZE_MAX && dones == 3);
    CHECK(lat_request_test_some(reqs, 3, where, 0) == 0 && dones == 6);
    CHECK(lat_request_test_all(reqs, 3, 0) == 0 && dones == 9);
    pending[0].pending = 1;
    static const int first_alone[] = {0, 1, 1};
    CHECK(lat_request_wait_any(reqs, 3, first_alone) == 0);
    CHECK(lat_request_wait_some(reqs, 3, where, first_alone) == 1 && where[0] == 0);
}

#endif
