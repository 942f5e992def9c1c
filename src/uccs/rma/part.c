/* Divides an operation into parts; inner.h describes them. */
#include "uccs/rma/inner.h"

bool uccs_rma_next(const struct uccs_rma *rma, size_t pack, struct uccs_rma_part *part)
{
    size_t i = part->next;
    const struct uccs_stride *s = rma->blocks;
    if (rma->pieces) {
        while (i < rma->n && !rma->pieces[i].length)
            i++;
        if (i >= rma->n)
            return false;
        *part = (struct uccs_rma_part){.offset = rma->pieces[i].offset,
                                       .bytes = rma->pieces[i].length,
                                       .local = rma->pieces[i].local};
        while (++i < rma->n && !rma->pieces[i].length)
            ;
        part->last = i == rma->n;
    } else if (s) {
        if (i >= s->count || !s->block)
            return false;
        const size_t most = s->block < pack ? pack / s->block : 1, count = s->count - i < most ? s->count - i : most;
        *part = (struct uccs_rma_part){.offset = rma->offset + i * (size_t)s->remote_stride,
                                       .bytes = s->block,
                                       .local = rma->local + (ptrdiff_t)i * s->local_stride};
        if (pack)
            part->blocks = (struct proto_blocks){s->block, count, s->remote_stride, s->local_stride};
        i += count;
        part->last = i == s->count;
    } else {
        if (i++ || !rma->length)
            return false;
        *part = (struct uccs_rma_part){.offset = rma->offset, .bytes = rma->length, .local = rma->local, .last = true};
    }
    part->next = i;
    return true;
}
