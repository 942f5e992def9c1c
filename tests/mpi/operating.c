/* What operations ask of the substrate, or do by load and store: which bytes move, what is refused, the options of messages, updates,
 * swaps, and when their requests are complete. The layer's functions run by themselves, on a window of five ranks.
 * ranks: 1 */
#include "operating_intrinsic.h"
#include "operating_large.h"
#include "operating_moves.h"
#include "operating_requests.h"
#include "operating_updates.h"

int main(void)
{
    check_start(MPI_THREAD_SINGLE);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &lmpi_life.self));
    OK(MPI_Comm_set_errhandler(lmpi_life.self, MPI_ERRORS_RETURN));
    reset();
    CHECK(lmpi_types_begin());
    places();
    wrong_moves();
    refused_moves();
    marks();
    order();
    strided();
    long_pieces();
    bounds();
    sums();
    order_of_updates();
    order_of_words();
    pairs();
    kept_operations();
    wrong_updates();
    apart();
    all_words();
    wrong_words();
    intrinsics();
    promises();
    whole();
    request_forms();
    buffers();
    foreign_requests();
    at_target();
    parts_at_target();
    parts_of_fetches();
    first_is_far();
    words_near();
    large_counts();
    lmpi_types_end();
    OK(MPI_Comm_free(&lmpi_life.self));
    return check_pass();
}
