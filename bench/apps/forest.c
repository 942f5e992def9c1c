/* PETSc's star forest (PetscSF) over MPI windows: each rank's leaves refer to roots all over the job. A broadcast gets the roots'
 * values, a reduction adds the leaves' ones. Options of PETSc choose the window: -sf_type window -sf_window_flavor allocate.
 * Rank 0 prints the time of each when all values are right. */
#include <petscsf.h>
#include <petsctime.h>

enum { ROOTS = 4096, LEAVES = 1024, ROUNDS = 50 };

static PetscMPIInt rank, ranks;

/* Leaves refer to ranks in turns, and there to roots at irregular distances, each once. */
static PetscInt root_of(int leaf)
{
    return (PetscInt)(leaf / ranks * (ROOTS / LEAVES) + (unsigned)leaf * 2654435761u % (ROOTS / LEAVES));
}

static PetscErrorCode make_forest(PetscSF *forest)
{
    static PetscSFNode remote[LEAVES];
    for (int i = 0; i < LEAVES; i++) {
        remote[i].rank = (rank + i) % ranks;
        remote[i].index = root_of(i);
    }
    PetscCall(PetscSFCreate(PETSC_COMM_WORLD, forest));
    PetscCall(PetscSFSetFromOptions(*forest));
    PetscCall(PetscSFSetGraph(*forest, ROOTS, LEAVES, NULL, PETSC_COPY_VALUES, remote, PETSC_COPY_VALUES));
    return PetscSFSetUp(*forest);
}

/* Returns the number of wrong leaves: each has its root's number. */
static PetscErrorCode broadcast(PetscSF forest, double *seconds, int *wrong)
{
    static PetscInt roots[ROOTS], leaves[LEAVES];
    PetscLogDouble start, end;
    PetscCall(PetscTime(&start));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < ROOTS; i++)
            roots[i] = rank * ROOTS + i + round;
        PetscCall(PetscSFBcastBegin(forest, MPIU_INT, roots, leaves, MPI_REPLACE));
        PetscCall(PetscSFBcastEnd(forest, MPIU_INT, roots, leaves, MPI_REPLACE));
        for (int i = 0; i < LEAVES; i++)
            *wrong += leaves[i] != (rank + i) % ranks * ROOTS + root_of(i) + round;
    }
    PetscCall(PetscTime(&end));
    *seconds = end - start;
    return 0;
}

/* A round adds one for each leaf; all leaves together are counted in the end. */
static PetscErrorCode reduce(PetscSF forest, double *seconds, int *wrong)
{
    static PetscInt roots[ROOTS], leaves[LEAVES];
    PetscInt sum = 0, all;
    PetscLogDouble start, end;
    for (int i = 0; i < LEAVES; i++)
        leaves[i] = 1;
    PetscCall(PetscTime(&start));
    for (int round = 0; round < ROUNDS; round++) {
        PetscCall(PetscSFReduceBegin(forest, MPIU_INT, leaves, roots, MPI_SUM));
        PetscCall(PetscSFReduceEnd(forest, MPIU_INT, leaves, roots, MPI_SUM));
    }
    PetscCall(PetscTime(&end));
    for (int i = 0; i < ROOTS; i++)
        sum += roots[i];
    PetscCallMPI(MPI_Allreduce(&sum, &all, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    *wrong += all != (PetscInt)ROUNDS * LEAVES * ranks;
    *seconds = end - start;
    return 0;
}

int main(int argc, char **argv)
{
    PetscSF forest;
    double times[2];
    int wrong = 0, all = 0;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    PetscCall(make_forest(&forest));
    PetscCall(broadcast(forest, &times[0], &wrong));
    PetscCall(reduce(forest, &times[1], &wrong));
    PetscCallMPI(MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
    if (rank == 0 && !all)
        printf("{\"results\": {\"bcast\": [%.9g, \"us\"], \"reduce\": [%.9g, \"us\"]}}\n", times[0] / ROUNDS * 1e6,
               times[1] / ROUNDS * 1e6);
    PetscCall(PetscSFDestroy(&forest));
    PetscCall(PetscFinalize());
    return all != 0;
}
