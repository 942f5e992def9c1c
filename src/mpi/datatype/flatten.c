/* Takes datatypes apart by envelope and contents into loops over pieces of bytes.
 *
 * A draft holds the nodes that loops refer to (`body`) and the sequence under construction (`top`). A node refers to earlier
 * nodes of the body alone. Neighbouring pieces become one, and equal nodes a constant distance apart become one loop. */

#include "mpi/datatype/type.h"

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct nodes {
    struct lmpi_loop *node;
    size_t n, capacity;
};

struct draft {
    struct nodes body, top;
    const struct lmpi_type *imported; /* the part whose nodes were copied last, */
    uint32_t base;                    /* and where they begin in the body */
    enum lmpi_kind kind;
    size_t unit; /* 0: no predefined type yet */
    bool failed;
    const struct lmpi_type *(*part_of)(MPI_Datatype);
};

static void append_nodes(struct draft *draft, struct nodes *to, const struct lmpi_loop *from, size_t n)
{
    if (to->n + n > UINT32_MAX)
        draft->failed = true;
    if (to->n + n > to->capacity && !draft->failed) {
        const size_t capacity = 2 * (to->n + n) + 2;
        struct lmpi_loop *more = realloc(to->node, capacity * sizeof *more);
        draft->failed = !more;
        if (more) {
            to->node = more;
            to->capacity = capacity;
        }
    }
    if (draft->failed)
        return;
    memcpy(to->node + to->n, from, n * sizeof *from);
    to->n += n;
}

static bool is_alike(const struct lmpi_loop *a, const struct lmpi_loop *b)
{
    return a->count == b->count && a->bytes == b->bytes && a->first == b->first && a->n == b->n &&
           (a->count == 1 || a->stride == b->stride);
}

/* Makes a node one that others can refer to, and returns a loop of one repetition over it. */
static struct lmpi_loop refer_node(struct draft *draft, struct lmpi_loop node)
{
    struct nodes *body = &draft->body;
    if (!body->n || !is_alike(&body->node[body->n - 1], &node) || body->node[body->n - 1].at != node.at)
        append_nodes(draft, body, &node, 1);
    return (struct lmpi_loop){.count = 1, .first = (uint32_t)(body->n - 1), .n = 1};
}

/* Returns `count` repetitions of a node. */
static struct lmpi_loop repeat_node(struct draft *draft, struct lmpi_loop node, MPI_Aint count, MPI_Aint stride)
{
    if (count == 1)
        return node;
    if (node.count > 1 && stride == (MPI_Aint)node.count * node.stride) {
        node.count *= (size_t)count;
        return node;
    }
    if (node.count > 1)
        node = refer_node(draft, node);
    if (node.bytes && stride == (MPI_Aint)node.bytes) {
        node.bytes *= (size_t)count;
        return node;
    }
    node.count = (size_t)count;
    node.stride = stride;
    return node;
}

/* The node continues `last`, the end of the sequence: it is one more of its repetitions. */
static bool continues_last(const struct draft *draft, const struct lmpi_loop *last, const struct lmpi_loop *node)
{
    struct lmpi_loop one = *last;
    if (last->count < 2 || node->at != last->at + (MPI_Aint)last->count * last->stride)
        return false;
    one.count = 1;
    if (is_alike(&one, node) || last->n != 1)
        return is_alike(&one, node);
    const struct lmpi_loop *inner = &draft->body.node[last->first];
    return !inner->at && is_alike(inner, node);
}

/* A piece that lies behind the last one makes it longer. Returns whether it does. */
static bool lengthen_last(struct draft *draft, const struct lmpi_loop *node)
{
    struct lmpi_loop *last = &draft->top.node[draft->top.n - 1], end = *last;
    end.at += (MPI_Aint)(last->count - 1) * last->stride;
    if (!last->bytes || !node->bytes || node->count != 1 || end.at + (MPI_Aint)end.bytes != node->at)
        return false;
    if (last->count > 1) {
        last->count--;
        end.count = 1;
        append_nodes(draft, &draft->top, &end, 1);
        last = &draft->top.node[draft->top.n - 1];
    }
    last->bytes += node->bytes;
    return true;
}

/* Adds a node to the sequence. */
static void add_node(struct draft *draft, struct lmpi_loop node)
{
    struct lmpi_loop *last = draft->top.n ? &draft->top.node[draft->top.n - 1] : 0;
    if (draft->failed || (last && lengthen_last(draft, &node)))
        return;
    if (last && continues_last(draft, last, &node)) {
        last->count++;
    } else if (last && is_alike(last, &node)) {
        const MPI_Aint at = last->at, stride = node.at - at;
        node.at = 0;
        node = repeat_node(draft, node, 2, stride);
        node.at += at;
        *last = node;
    } else {
        append_nodes(draft, &draft->top, &node, 1);
    }
}

/* Makes a node of the sequence so far, which is not empty, and begins a new one. */
static struct lmpi_loop gather_top(struct draft *draft)
{
    struct lmpi_loop whole = draft->top.node[0];
    if (draft->top.n > 1) {
        whole = (struct lmpi_loop){.count = 1, .first = (uint32_t)draft->body.n, .n = (uint32_t)draft->top.n};
        append_nodes(draft, &draft->body, draft->top.node, draft->top.n);
    }
    draft->top.n = 0;
    return whole;
}

static void add_kind(struct draft *draft, const struct lmpi_type *type)
{
    if (!draft->unit) {
        draft->kind = type->kind;
        draft->unit = type->unit;
    } else if (draft->kind != type->kind || draft->unit != type->unit) {
        draft->kind = LMPI_MIXED;
    }
}

/* Returns the node of one element of a part that has data. */
static struct lmpi_loop element_node(struct draft *draft, const struct lmpi_type *type)
{
    const struct lmpi_loop *top = &type->loop[type->top];
    const size_t tops = type->nodes - type->top, copied = tops == 1 ? type->top : type->nodes;
    if (copied && draft->imported != type) {
        draft->imported = type;
        draft->base = (uint32_t)draft->body.n;
        append_nodes(draft, &draft->body, type->loop, copied);
        for (size_t i = draft->base; i < draft->body.n; i++)
            draft->body.node[i].first += draft->body.node[i].n ? draft->base : 0;
    }
    add_kind(draft, type);
    struct lmpi_loop node = {.count = 1, .first = (uint32_t)type->top, .n = (uint32_t)tops};
    if (tops == 1)
        node = *top;
    node.first += node.n ? draft->base : 0;
    return node;
}

/* Adds `count` blocks of `length` elements. */
static void add_blocks(struct draft *draft, const struct lmpi_type *type, MPI_Aint at, MPI_Aint length, MPI_Aint count,
                       MPI_Aint stride)
{
    if (draft->failed || !type->size || length <= 0 || count <= 0)
        return;
    struct lmpi_loop node = repeat_node(draft, element_node(draft, type), length, type->extent);
    node = repeat_node(draft, node, count, stride);
    node.at += at;
    add_node(draft, node);
}

static void add_indexed(struct draft *draft, const struct lmpi_contents *c, const struct lmpi_type *type, bool bytes,
                        bool one_length)
{
    const MPI_Aint n = c->numbers[0];
    for (MPI_Aint i = 0; i < n; i++) {
        const MPI_Aint length = one_length ? c->numbers[1] : c->numbers[1 + i];
        add_blocks(draft, type, bytes ? c->addresses[i] : c->numbers[(one_length ? 2 : 1 + n) + i] * type->extent,
                   length, 1, 0);
    }
}

/* A block of an array of n dimensions, from the fastest dimension on. */
static void add_subarray(struct draft *draft, const struct lmpi_contents *c, const struct lmpi_type *type)
{
    const MPI_Aint n = c->numbers[0], *sizes = c->numbers + 1, *counts = sizes + n, *starts = counts + n;
    MPI_Aint at = 0, step = type->extent;
    if (!type->size)
        return;
    struct lmpi_loop node = element_node(draft, type);
    for (MPI_Aint i = 0; i < n; i++) {
        const MPI_Aint d = c->numbers[3 * n + 1] == MPI_ORDER_FORTRAN ? i : n - 1 - i;
        if (counts[d] <= 0)
            return;
        node = repeat_node(draft, node, counts[d], step);
        at += starts[d] * step;
        step *= sizes[d];
    }
    node.at += at;
    add_node(draft, node);
}

/* Adds what a process has of one dimension of a distributed array: `block` of `size` places in turn for each of `processes`. Nodes
 * lie `step` apart. */
static void add_dimension(struct draft *draft, struct lmpi_loop node, MPI_Aint step, MPI_Aint size, MPI_Aint block,
                          MPI_Aint process, MPI_Aint processes)
{
    const MPI_Aint from = process * block, round = processes * block, left = size - from;
    const MPI_Aint whole = left < block ? 0 : 1 + (left - block) / round, rest = left - whole * round;
    if (whole) {
        struct lmpi_loop blocks = repeat_node(draft, repeat_node(draft, node, block, step), whole, round * step);
        blocks.at += from * step;
        add_node(draft, blocks);
    }
    if (rest > 0) {
        node = repeat_node(draft, node, rest, step);
        node.at += (from + whole * round) * step;
        add_node(draft, node);
    }
}

/* Block-wise distribution is the cyclic one of a block that goes around once. The grid of processes is in C's order. */
static void add_darray(struct draft *draft, const struct lmpi_contents *c, const struct lmpi_type *type)
{
    const MPI_Aint n = c->numbers[2], *sizes = c->numbers + 3, *how = sizes + n, *args = how + n, *grid = args + n;
    MPI_Aint step = type->extent;
    if (!type->size)
        return;
    struct lmpi_loop node = element_node(draft, type);
    for (MPI_Aint i = 0; i < n && !draft->failed; i++) {
        const MPI_Aint d = grid[n] == MPI_ORDER_FORTRAN ? i : n - 1 - i;
        MPI_Aint behind = 1, block = args[d];
        for (MPI_Aint k = d + 1; k < n; k++)
            behind *= grid[k];
        if (how[d] == MPI_DISTRIBUTE_NONE)
            block = sizes[d];
        else if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = how[d] == MPI_DISTRIBUTE_BLOCK ? (sizes[d] + grid[d] - 1) / grid[d] : 1;
        add_dimension(draft, node, step, sizes[d], block, c->numbers[1] / behind % grid[d], grid[d]);
        if (!draft->top.n)
            return; /* this process has nothing */
        if (i < n - 1)
            node = gather_top(draft);
        step *= sizes[d];
    }
}

static void add_struct(struct draft *draft, const struct lmpi_contents *c)
{
    for (MPI_Aint i = 0; i < c->numbers[0]; i++) {
        const struct lmpi_type *part = draft->part_of(c->types[i]);
        draft->failed |= !part;
        if (part)
            add_blocks(draft, part, c->addresses[i], c->numbers[1 + i], 1, 0);
    }
}

static void add_any(struct draft *draft, const struct lmpi_contents *c)
{
    const struct lmpi_type *type = c->n_types ? draft->part_of(c->types[0]) : 0;
    if (c->combiner == MPI_COMBINER_STRUCT) {
        add_struct(draft, c);
        return;
    }
    if (!type) {
        draft->failed = true;
        return;
    }
    const MPI_Aint *numbers = c->numbers;
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: add_blocks(draft, type, 0, 1, 1, 0); break;
    case MPI_COMBINER_CONTIGUOUS: add_blocks(draft, type, 0, numbers[0], 1, 0); break;
    case MPI_COMBINER_VECTOR: add_blocks(draft, type, 0, numbers[1], numbers[0], numbers[2] * type->extent); break;
    case MPI_COMBINER_HVECTOR: add_blocks(draft, type, 0, numbers[1], numbers[0], c->addresses[0]); break;
    case MPI_COMBINER_INDEXED: add_indexed(draft, c, type, false, false); break;
    case MPI_COMBINER_HINDEXED: add_indexed(draft, c, type, true, false); break;
    case MPI_COMBINER_INDEXED_BLOCK: add_indexed(draft, c, type, false, true); break;
    case MPI_COMBINER_HINDEXED_BLOCK: add_indexed(draft, c, type, true, true); break;
    case MPI_COMBINER_SUBARRAY: add_subarray(draft, c, type); break;
    case MPI_COMBINER_DARRAY: add_darray(draft, c, type); break;
    default: draft->failed = true; /* no constructor of MPI's */
    }
}

/* Returns true for a real of more digits than C's long double has. MPI_UNDEFINED is a negative number. */
static bool is_quad(MPI_Datatype type)
{
    struct lmpi_contents contents;
    const bool quad = lmpi_contents_get(type, &contents) && contents.numbers[0] > LDBL_DIG;
    lmpi_contents_free(&contents);
    return quad;
}

/* A predefined type that the table does not know. */
static struct lmpi_type *plain_of(int combiner, MPI_Datatype type, size_t size)
{
    switch (combiner) {
    case MPI_COMBINER_F90_INTEGER: return lmpi_type_plain(LMPI_SIGNED, size);
    case MPI_COMBINER_F90_REAL: return lmpi_type_plain(is_quad(type) ? LMPI_QUAD : LMPI_FLOATING, size);
    case MPI_COMBINER_F90_COMPLEX: return lmpi_type_plain(is_quad(type) ? LMPI_QUAD_COMPLEX : LMPI_COMPLEX, size);
    }
    return lmpi_type_plain(LMPI_TEXT, size);
}

struct lmpi_type *lmpi_type_plain(enum lmpi_kind kind, size_t size)
{
    struct lmpi_type *made = malloc(sizeof *made + sizeof *made->loop);
    if (!made)
        return 0;
    *made = (struct lmpi_type){.size = size,
                               .extent = (MPI_Aint)size,
                               .high = (MPI_Aint)size,
                               .kind = kind,
                               .unit = size,
                               .predefined = true,
                               .dense = true,
                               .nodes = size ? 1 : 0,
                               .depth = 1};
    made->loop[0] = (struct lmpi_loop){.count = 1, .bytes = size};
    return made;
}

/* The int lies at its alignment behind the value. */
struct lmpi_type *lmpi_type_pair(enum lmpi_kind kind, size_t size, size_t extent)
{
    const size_t value = size - sizeof(int), at = (value + _Alignof(int) - 1) & -_Alignof(int);
    struct lmpi_type *made = malloc(sizeof *made + 2 * sizeof *made->loop), *filled = lmpi_type_plain(kind, extent);
    if (!made || !filled) {
        free(made);
        free(filled);
        return 0;
    }
    *made = *filled;
    made->size = size;
    made->high = (MPI_Aint)(at + sizeof(int));
    made->dense = false;
    made->filled = filled;
    made->nodes = at == value ? 1 : 2;
    made->loop[0] = (struct lmpi_loop){.count = 1, .bytes = at == value ? size : value};
    made->loop[1] = (struct lmpi_loop){.at = (MPI_Aint)at, .count = 1, .bytes = sizeof(int)};
    return made;
}

void lmpi_type_free(struct lmpi_type *type)
{
    if (type)
        free(type->filled);
    free(type);
}

/* What a sequence of nodes holds. */
struct measure {
    size_t size;
    MPI_Aint low, high;
    unsigned depth;
};

/* Adds a node to the measure of its sequence; `all` has those of earlier nodes. */
static void measure_node(struct measure *sequence, const struct lmpi_loop *node, const struct measure *all)
{
    struct measure one = {.size = node->bytes, .high = (MPI_Aint)node->bytes};
    const MPI_Aint far = (MPI_Aint)(node->count - 1) * node->stride;
    for (uint32_t i = 0; i < node->n; i++) {
        const struct measure *inner = &all[node->first + i];
        one.low = !i || inner->low < one.low ? inner->low : one.low;
        one.high = !i || inner->high > one.high ? inner->high : one.high;
        one.depth = inner->depth > one.depth ? inner->depth : one.depth;
        one.size += inner->size;
    }
    one.low += node->at + (far < 0 ? far : 0);
    one.high += node->at + (far > 0 ? far : 0);
    sequence->low = !sequence->size || one.low < sequence->low ? one.low : sequence->low;
    sequence->high = !sequence->size || one.high > sequence->high ? one.high : sequence->high;
    sequence->depth = one.depth + 1 > sequence->depth ? one.depth + 1 : sequence->depth;
    sequence->size += one.size * node->count;
}

/* Measures the element. Returns false without memory. */
static bool measure_type(struct lmpi_type *type)
{
    struct measure *all = calloc(type->top + 1, sizeof *all), element_node = {0};
    if (!all)
        return false;
    for (size_t i = 0; i < type->top; i++)
        measure_node(&all[i], &type->loop[i], all);
    for (size_t i = type->top; i < type->nodes; i++)
        measure_node(&element_node, &type->loop[i], all);
    free(all);
    type->size = element_node.size;
    type->low = element_node.low;
    type->high = element_node.high;
    type->depth = element_node.depth;
    return true;
}

/* Completes the draft by what the MPI says of the whole, and frees it. */
static struct lmpi_type *finish_draft(struct draft *draft, MPI_Datatype type)
{
    const size_t top = draft->body.n, nodes = top + draft->top.n;
    struct lmpi_type *made = draft->failed ? 0 : malloc(sizeof *made + (nodes + 1) * sizeof *made->loop);
    if (made) {
        *made = (struct lmpi_type){.kind = draft->kind, .unit = draft->unit, .nodes = nodes, .top = top};
        if (top)
            memcpy(made->loop, draft->body.node, top * sizeof *made->loop);
        if (nodes > top)
            memcpy(made->loop + top, draft->top.node, (nodes - top) * sizeof *made->loop);
        PMPI_Type_get_extent(type, &made->lb, &made->extent);
    }
    free(draft->body.node);
    free(draft->top.node);
    if (!made || !measure_type(made)) {
        free(made);
        return 0;
    }
    const struct lmpi_loop *only = &made->loop[top];
    made->dense = nodes == top + 1 && only->bytes && only->count == 1 && only->at == made->lb &&
                  made->extent == (MPI_Aint)made->size;
    return made;
}

struct lmpi_type *lmpi_type_flatten(MPI_Datatype type, const struct lmpi_type *(*part_of)(MPI_Datatype))
{
    struct lmpi_contents contents;
    struct draft draft = {.part_of = part_of};
    const int combiner = lmpi_combiner(type);
    int size = 0;
    if (combiner == MPI_UNDEFINED)
        return 0;
    if (lmpi_combiner_is_plain(combiner))
        return PMPI_Type_size(type, &size) == MPI_SUCCESS ? plain_of(combiner, type, (size_t)size) : 0;
    draft.failed = !lmpi_contents_get(type, &contents);
    if (!draft.failed)
        add_any(&draft, &contents);
    lmpi_contents_free(&contents);
    return finish_draft(&draft, type);
}
