/* Of options.c: the order of operations, requests, operations that outlast their call, what follows a completion, and memory of other
 * nodes that the network maps. */
#ifndef TESTS_PARTS_OPTIONS_FOLLOWING_H
#define TESTS_PARTS_OPTIONS_FOLLOWING_H

#include "options_world.h"

/* An ordered operation waits for what is under way, and lands behind stores, or reads behind them. */
static void orders(void)
{
    const struct uccs_op ordered = {.ordered = 1};
    const struct uccs_atomic_op op = {UCCS_ATOMIC_ADD, 8, 1, 0};
    for (int by_stream = 0; by_stream < 2; by_stream++) {
        begin();
        there.ordered = by_stream;
        const struct uccs_op *with = by_stream ? NULL : &ordered;
        CHECK(run(operation(RMA_PUT, with)) == UCCS_OK && called("wf"));
        CHECK(run(operation(RMA_GET, with)) == UCCS_OK && called("wq"));
        struct uccs_rma rma = operation(RMA_ATOMIC, with);
        rma.atomic = &op;
        CHECK(run(rma) == UCCS_OK && called("wfa"));
    }
    begin();
    CHECK(run(operation(RMA_GET, NULL)) == UCCS_OK && called(""));
}

/* What is done by the end of the call is complete, or just stored. */
static void requests_here(void)
{
    for (int gets = 0; gets < 2; gets++) {
        uccs_request_t request = NULL, local = NULL;
        const struct uccs_op op = {.request = &request, .local = &local};
        begin();
        CHECK(run(operation(gets ? RMA_GET : RMA_PUT, &op)) == UCCS_OK && called(""));
        CHECK(request == (gets ? UCCS_REQUEST_CLEAN : UCCS_REQUEST_DIRTY) && local == UCCS_REQUEST_CLEAN);
        request = local = NULL;
        memory.near = NULL;
        kernel_reaches = true;
        statuses[0] = UCCS_ERR_UNREACHABLE;
        CHECK(run(operation(gets ? RMA_GET : RMA_PUT, &op)) == UCCS_ERR_UNREACHABLE && called(gets ? "K" : "k"));
        CHECK(!request && !local);
    }
}

/* Only the owner's part can outlast the call, of an operation that tells nothing. */
static void outlasts(void)
{
    uccs_request_t request = NULL, local = NULL;
    struct uccs_op op = {.request = &request, .local = &local, .nonblocking = 1, .nowait = 1};
    const struct uccs_stride three = {.block = 8, .count = 3, .remote_stride = 16, .local_stride = 8};
    begin();
    memory.near = NULL;
    CHECK(run(operation(RMA_GET, &op)) == UCCS_OK && called("R") && request == &objects[0] && local == &objects[1]);
    CHECK(later_then.request == &objects[0] && later_then.local == &objects[1] && later_then.nowait);
    begin();
    memory.near = NULL;
    request = local = NULL;
    struct uccs_rma rma = operation(RMA_PUT, &op);
    rma.blocks = &three;
    CHECK(run(rma) == UCCS_OK && called("rrr") && nowaits[0] && !nowaits[1] && !nowaits[2]);
    CHECK(request == &objects[0] && later_then.request == request && !later_then.local);
    CHECK(local == UCCS_REQUEST_CLEAN); /* the source has been copied */
    local = NULL;
    statuses[0] = UCCS_AGAIN;
    CHECK(run(rma) == UCCS_AGAIN && called("r") && !local);
    op.nowait = 0;
    statuses[0] = UCCS_OK;
    CHECK(run(rma) == UCCS_OK && called("rrr") && !nowaits[0]);
    op.counter = 4; /* the target counts nothing by itself */
    CHECK(run(rma) == UCCS_OK && called("rrrc") && !last_later);
    op.counter = 0;
    kernel_reaches = true;
    CHECK(run(rma) == UCCS_OK && called("kkk"));
    kernel_reaches = false;
    op.nonblocking = 0;
    CHECK(run(rma) == UCCS_OK && called("rrr") && !last_later);
    op.nonblocking = 1;
    const struct uccs_atomic_op add = {UCCS_ATOMIC_ADD, 8, 1, 0};
    const struct uccs_change change = {.type = UCCS_INT32, .n = 2};
    uint64_t old;
    for (int fetches = 0; fetches < 2; fetches++)
        for (int changes_it = 0; changes_it < 2; changes_it++) {
            begin();
            memory.near = NULL;
            request = local = NULL;
            rma = operation(changes_it ? RMA_CHANGE : RMA_ATOMIC, &op);
            rma.atomic = changes_it ? NULL : &add;
            rma.change = changes_it ? &change : NULL;
            rma.result = fetches ? &old : NULL;
            CHECK(run(rma) == UCCS_OK && called(changes_it ? "X" : "x"));
            CHECK(later_then.local == (fetches ? &objects[1] : NULL));
            CHECK(local == (fetches ? (uccs_request_t)&objects[1] : UCCS_REQUEST_CLEAN));
        }
    for (int fails = 1; fails <= 2; fails++) {
        begin();
        memory.near = NULL;
        request = local = NULL;
        no_object = fails;
        CHECK(run(operation(RMA_GET, &op)) == UCCS_ERR_NO_MEMORY && called(""));
    }
}

/* --- What follows */

static int completed, completed_with;

static void complete(void *argument, int status)
{
    CHECK(argument == &completed && owned_count == 0);
    completed++;
    completed_with = status;
}

static const struct uccs_op ends = {.complete = complete,
                                    .argument = &completed,
                                    .queue = (uccs_queue_t)0x7000,
                                    .tag = &memory};

static void follows(void)
{
    uccs_request_t request = NULL;
    struct uccs_op op = ends;
    begin();
    completed = 0;
    CHECK(run(operation(RMA_GET, &op)) == UCCS_OK && called("e-+") && completed == 1 && completed_with == UCCS_OK);
    op.queue = NULL;
    CHECK(run(operation(RMA_GET, &op)) == UCCS_OK && called("-") && completed == 2);
    op = ends;
    op.complete = NULL;
    CHECK(run(operation(RMA_GET, &op)) == UCCS_OK && called("e-+") && completed == 2 && owned_count == 0);
    begin();
    op = ends;
    op.request = &request; /* counts the operation's own request as one */
    CHECK(run(operation(RMA_GET, &op)) == UCCS_OK && called("e-+") && request == &objects[0]);
    CHECK(objects[0].pending == 2 && objects[0].sources == 2 && objects[1].parent == &objects[0]);
    begin();
    memory.near = NULL;
    request = NULL;
    op.nonblocking = 1;
    CHECK(run(operation(RMA_PUT, &op)) == UCCS_OK && called("er-+") && later_then.request == &objects[1]);
    begin();
    CHECK(run(operation(RMA_PUT, &ends)) == UCCS_OK && called("eq-+")); /* the store is visible before the end */
}

/* An operation that has failed after the call began tells so; one that was not issued tells nothing. */
static void follows_error(void)
{
    begin();
    completed = 0;
    run_end(memcpy(owned_malloc(sizeof(struct end)), &(struct end){complete, &completed, entry}, sizeof(struct end)),
            true);
    CHECK(called("!") && completed == 1 && completed_with == UCCS_ERR_FAILED && owned_count == 0);
    memory.near = NULL;
    kernel_reaches = true;
    statuses[1] = UCCS_ERR_UNREACHABLE;
    CHECK(run(operation(RMA_PUT, &ends)) == UCCS_ERR_UNREACHABLE && called("ek0-") && completed == 1);
    CHECK(owned_count == 0);
    there.pe = 3;
    CHECK(run(operation(RMA_PUT, &ends)) == UCCS_ERR_INVALID && called("") && owned_count == 0);
}

static void follows_without_memory(void)
{
    uccs_request_t request = NULL;
    struct uccs_op op = ends;
    op.request = &request;
    begin();
    completed = 0;
    owned_left = 0;
    CHECK(run(operation(RMA_PUT, &ends)) == UCCS_ERR_NO_MEMORY && called("") && owned_count == 0);
    no_entry = true;
    CHECK(run(operation(RMA_PUT, &ends)) == UCCS_ERR_NO_MEMORY && called("") && owned_count == 0);
    no_entry = false;
    no_object = 1; /* of the operation's own */
    CHECK(run(operation(RMA_PUT, &ends)) == UCCS_ERR_NO_MEMORY && called("e0") && owned_count == 0);
    for (int fails = 1; fails <= 2; fails++) {
        no_object = fails; /* the program's, the operation's own */
        CHECK(run(operation(RMA_PUT, &op)) == UCCS_ERR_NO_MEMORY && called("e0") && owned_count == 0);
        CHECK(!request || (request == &objects[0] && objects[0].pending == 1));
    }
    CHECK(completed == 0);
}

/* --- Other nodes */

/* The network maps memory there: then the node's rules hold, unless the operation needs locks or counters of the owner's node. */
static void mapped_far(void)
{
    const struct uccs_op counts = {.counter = 4};
    const struct uccs_change change = {.type = UCCS_INT32, .n = 2};
    begin();
    memory.owner = there.pe = 9;
    memory.near = NULL;
    CHECK(run(operation(RMA_PUT, NULL)) == UCCS_OK && called("F") && memory_then == &memory && parts[0] == 16);
    uccs_reach = reaches;
    CHECK(run(operation(RMA_PUT, NULL)) == UCCS_OK && called("F")); /* not that memory */
    CHECK(reached_address == 0x10000 && reached_length == 200 && reached_pe == 9);
    reached = bytes;
    struct uccs_rma rma = operation(RMA_PUT, NULL);
    strcpy(rma.local, "1234567");
    memset(bytes, 0, sizeof bytes);
    CHECK(uccs_rma_run(&rma) == UCCS_OK && called("") && rma.memory == &memory && strcmp(bytes + 16, "1234567") == 0);
    CHECK(!memory.near);
    CHECK(run(operation(RMA_PUT, &counts)) == UCCS_OK && called("F"));
    memory.domain = UCCS_DOMAIN_LOCKED;
    CHECK(run(operation(RMA_PUT, NULL)) == UCCS_OK && called("F"));
    memory.domain = UCCS_DOMAIN_CPU;
    for (int atomic = 0; atomic < 2; atomic++) {
        rma = operation(RMA_CHANGE, NULL);
        rma.change = &change;
        atomic_there = atomic;
        CHECK(run(rma) == UCCS_OK && called(atomic ? "A" : "F") && atomic_address == 0x10010);
    }
    uccs_reach = NULL;
    statuses[0] = UCCS_ERR_STALE;
    CHECK(run(operation(RMA_PUT, NULL)) == UCCS_ERR_STALE && called("F"));
}

#endif
