/* Everything that the generated thunks call (api/README.md, "What thunks call"). */
#ifndef SHMEM_KERNELS_H
#define SHMEM_KERNELS_H

#include "shmem/amo.h"
#include "shmem/calls.h"
#include "shmem/coll/coll.h"
#include "shmem/counter.h"
#include "shmem/ctx.h"
#include "base/kind.h"
#include "shmem/p2p.h"
#include "shmem/request.h"
#include "shmem/rma.h"
#include "shmem/signal.h"

#endif
