/* Extensions of MPI's one-sided communication for programs on Lateral's MPI layer: duplicated windows with thread scope
 * and order, memory handles, requests that complete at the target, notification of the target, and a question about accumulates. They follow the
 * paper "Quo Vadis MPI RMA? Towards a More Efficient Use of MPI One-Sided Communication" (Schuchart et al., EuroMPI 2021).
 *
 * Link with -llateral-mpi-openmpi or -llateral-mpi-mpich before the MPI (pkg-config lateral-mpi-NAME). With
 * MPIX_PAPER_NAMES defined, the names are also those that the paper prints (MPI_ in place of MPIX_).
 *
 * Hints of a window, at its creation, in MPI_Win_set_info and in MPIX_Win_dup_with_info; MPI_Win_get_info tells what is
 * in force under both spellings:
 *
 *   mpi_win_scope = process | thread      (mpi_win_scope_thread = false | true)
 *       thread: flushes wait for the calling thread's operations alone. Unlock, fence, MPI_Win_complete and MPI_Win_free
 *       wait for those of all threads.
 *       A thread that flushes and then loads from its own memory what a peer puts there calls MPI_Win_sync in between.
 *   mpi_win_order = false | true          (mpi_win_ordered = false | true)
 *       true: puts, gets and accumulates to one target complete there in the order of their issue, without flushes; in
 *       thread scope those of each thread.
 *   mpi_win_notify_ids = number           (at the window's creation)
 *       this rank's notifications, 8 bytes each; 1024 where the program does not say. Ranks may differ.
 *   mpi_assert_accumulate_intrinsic = false | true
 *       kept and told. Accumulates are atomic with each other whatever it says. With LATERAL_CHECK=1 an accumulate that
 *       breaks the promise prints a line and is MPI_ERR_ASSERT.
 *
 * Returns: MPI_SUCCESS or an error class, after calling the error handler of the window that was given. A null
 * pointer where a function needs an argument is MPI_ERR_ARG, and MPI_ERR_BUFFER for data of a predefined datatype.
 * Where a window is not Lateral's (LATERAL_MPI=0, or LATERAL_MPI=verbose says why) it is MPI_ERR_WIN.
 *
 * Threads: any thread may call any function as MPI_THREAD_MULTIPLE allows. All are local unless said otherwise.
 *
 * Lifetime: a duplicate, or a window of a memory handle, is freed before its parent (else MPI_ERR_RMA_CONFLICT); memory
 * handles that are left end with the parent. Local memory of an operation stays until its request or a flush is complete. */
#ifndef MPIX_RMA_H
#define MPIX_RMA_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Makes a second handle for the memory of a window with the parent's hints, overridden by those of `info`. Locks and
 * epochs are shared: a lock taken on one of them is held on all. A hint that cannot be honoured keeps its value. The new
 * window has the parent's error handler and none of its attributes. A flush completes, within its window's scope, what
 * was issued through all duplicates. MPI_Win_free of a duplicate is local; the parent goes last (else
 * MPI_ERR_RMA_CONFLICT). MPI_ERR_RMA_FLAVOR: the parent is a window of a memory handle. */
int MPIX_Win_dup_with_info(MPI_Win parentwin, MPI_Info info, MPI_Win *newwin);

/* Bytes that hold any memory handle. */
#define MPIX_MAX_MEMHANDLE_SIZE 320
/* MPI_WIN_CREATE_FLAVOR of a window that was made from a memory handle. */
#define MPIX_WIN_FLAVOR_MEMHANDLE 0x4c01

/* Exposes `size` bytes from `base` to the processes of the window, of any flavor, and writes a handle that they may have by
 * any message. memhandle has room for MPIX_MAX_MEMHANDLE_SIZE bytes; *memhandle_size is set to those that count. Memory
 * from MPI_Alloc_mem is fastest.
 * MPI_ERR_SIZE: size is not positive. MPI_ERR_RMA_ATTACH: the memory cannot be exposed. `info` has no keys. */
int MPIX_Memhandle_create(void *base, MPI_Aint size, MPI_Info info, MPI_Win parentwin, void *memhandle,
                          int *memhandle_size);
/* Makes a window for the first `size` bytes of a handle's memory, with displacements in units of `disp_unit` bytes. Its
 * one target is `target`, the rank of the handle's maker; other ranks are MPI_ERR_RANK. It takes put, get, accumulates
 * and flushes while the parent, or a duplicate of it, has a lock or another epoch open to the target; locks and epochs of
 * its own are MPI_ERR_RMA_SYNC. MPI_Win_free completes its operations; it is local. MPI_ERR_ARG: not a handle of this
 * job, or not of this parent. MPI_ERR_RANK: `target` has not made it. MPI_ERR_SIZE: it has fewer bytes. MPI_ERR_DISP: the
 * unit is not positive. MPI_ERR_RMA_ATTACH: it was released. */
int MPIX_Win_from_memhandle(const void *memhandle, MPI_Aint size, int disp_unit, MPI_Info info, int target,
                            MPI_Win parentwin, MPI_Win *newwin);
/* Ends the exposure; the maker calls it when all operations are complete, once (else MPI_ERR_ARG). Handles that are left
 * end with the parent. Memory of MPI_Alloc_mem is not used again while a rank of the node has a window of the handle; with
 * LATERAL_CHECK=1 operations of such a window are MPI_ERR_RMA_ATTACH, with a line. */
int MPIX_Memhandle_release(void *memhandle, MPI_Win parentwin);

/* Sets *flag to 1 when the operations of the list run at every rank of the window by the processor's atomics of this
 * process, for up to max_count aligned elements of the datatype; else to 0. `ops` is a list with commas: the ends of the
 * names of MPI's operations in small letters (sum, prod, max, min, band, bor, bxor, land, lor, lxor, replace, no_op) and
 * cas for MPI_Compare_and_swap. Beyond 4 elements of a predefined type the flag is 0: there a lock and a loop are
 * as fast or faster. (Sums of 8-byte integers, two ranks at once on the same words, medians: 41 ns for one element and 60 for 4, where
 * a lock and a loop take 80 to 90; for 5 and 6 elements as much, for 7 some 105. A rank alone: 18 ns, 5 more for each further
 * element; a lock and a loop 13.) Accumulates of the type go on to be atomic with each other. MPI_ERR_OP: another word, or null.
 * MPI_ERR_COUNT, MPI_ERR_TYPE: as usual. */
int MPIX_Win_op_intrinsic(const char *ops, MPI_Aint max_count, MPI_Datatype type, MPI_Win win, int *flag);

/* As the forms without the second r, and the operation is complete at the target too when the request is. MPI_Wait,
 * MPI_Test and their kin take the request. */
int MPIX_Rrput(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
               int target_count, MPI_Datatype target_type, MPI_Win win, MPI_Request *request);
int MPIX_Rraccumulate(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                      int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request *request);
int MPIX_Rrget_accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, void *result,
                          int result_count, MPI_Datatype result_type, int rank, MPI_Aint disp, int target_count,
                          MPI_Datatype target_type, MPI_Op op, MPI_Win win, MPI_Request *request);
int MPIX_Rrfetch_and_op(const void *origin, void *result, MPI_Datatype type, int rank, MPI_Aint disp, MPI_Op op,
                        MPI_Win win, MPI_Request *request);
int MPIX_Rrcompare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type, int rank,
                            MPI_Aint disp, MPI_Win win, MPI_Request *request);

/* Put, get or accumulate, and behind it the target's notification `notify_id` of that window rises by 1. A target that
 * sees the new value sees the data; after a get it may change the memory. Data and notification are one message between
 * nodes, but for a get: there the notification follows when the data has come. A flush completes both. Duplicates and
 * windows of memory handles notify the parent's target. Errors are those of the form without notification, and
 * MPI_ERR_ARG: the target has no such notification. */
int MPIX_Put_notify(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                    int target_count, MPI_Datatype target_type, int notify_id, MPI_Win win);
int MPIX_Get_notify(void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp, int target_count,
                    MPI_Datatype target_type, int notify_id, MPI_Win win);
int MPIX_Accumulate_notify(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                           int target_count, MPI_Datatype target_type, MPI_Op op, int notify_id, MPI_Win win);
/* Makes a request that completes once this process's notification is at least `count`; it does not change the
 * notification. MPI_Wait, MPI_Test and their kin take the request, beside any others; MPI_Cancel ends it. Requests that
 * are left when the window is freed fail with MPI_ERR_WIN. No epoch is needed. MPI_ERR_ARG: there is no such notification.
 * MPI_ERR_UNSUPPORTED_OPERATION: the MPI (neither Open MPI nor MPICH) cannot look. */
int MPIX_Win_wait_notify(MPI_Win win, int notify_id, long count, MPI_Request *request);
/* Sets *value to this process's notification; reset takes it at once and leaves 0, and `value` may be null. MPI_ERR_ARG:
 * there is no such notification. */
int MPIX_Win_notify_get_value(MPI_Win win, int notify_id, long *value);
int MPIX_Win_notify_reset(MPI_Win win, int notify_id, long *value);

#ifdef MPIX_PAPER_NAMES
#define MPI_MAX_MEMHANDLE_SIZE MPIX_MAX_MEMHANDLE_SIZE
#define MPI_MAX_MEMORY_HANDLE_SIZE MPIX_MAX_MEMHANDLE_SIZE
#define MPI_Win_dup_with_info MPIX_Win_dup_with_info
#define MPI_Memhandle_create MPIX_Memhandle_create
#define MPI_Win_from_memhandle MPIX_Win_from_memhandle
#define MPI_Memhandle_release MPIX_Memhandle_release
#define MPI_Win_op_intrinsic MPIX_Win_op_intrinsic
#define MPI_Rrput MPIX_Rrput
#define MPI_Rraccumulate MPIX_Rraccumulate
#define MPI_Rrget_accumulate MPIX_Rrget_accumulate
/* The paper waits for one notification. */
#define MPI_Win_wait_notify(win, notify_id, request) MPIX_Win_wait_notify(win, notify_id, 1, request)
#endif

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
