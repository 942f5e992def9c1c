/* The parts of flattened.c about what a datatype was made of. The layer's files come before. */
#ifndef MPI_TEST_FLATTENED_CONTENTS_H
#define MPI_TEST_FLATTENED_CONTENTS_H

/* Datatypes with these combiners are the MPI's own: nobody frees them. */
static void combiners(void)
{
    const int plain[] = {MPI_COMBINER_NAMED, MPI_COMBINER_F90_INTEGER, MPI_COMBINER_F90_REAL, MPI_COMBINER_F90_COMPLEX};
    const int made[] = {MPI_COMBINER_DUP,      MPI_COMBINER_CONTIGUOUS,    MPI_COMBINER_VECTOR,
                        MPI_COMBINER_HVECTOR,  MPI_COMBINER_INDEXED,       MPI_COMBINER_HINDEXED,
                        MPI_COMBINER_STRUCT,   MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK,
                        MPI_COMBINER_SUBARRAY, MPI_COMBINER_DARRAY,        MPI_COMBINER_RESIZED};
    for (int i = 0; i < 4; i++)
        CHECK(lmpi_combiner_is_plain(plain[i]));
    for (int i = 0; i < 12; i++)
        CHECK(!lmpi_combiner_is_plain(made[i]));
    CHECK(!lmpi_combiner_is_plain(MPI_UNDEFINED));
    CHECK_EQ(lmpi_combiner(MPI_INT), MPI_COMBINER_NAMED);
}

/* What a type consists of is freed, but for the MPI's own. */
static void contents_freed(void)
{
    const int lengths[] = {1, 1, 1};
    const MPI_Aint at[] = {0, 64, 128};
    struct lmpi_contents contents;
    MPI_Datatype made;
    for (int own = 0; own < 3; own++) {
        MPI_Datatype parts[3];
        for (int i = 0; i < 3; i++)
            if (i == own)
                parts[i] = MPI_INT;
            else
                OK(MPI_Type_vector(2, 1, 2, MPI_INT, &parts[i]));
        OK(MPI_Type_create_struct(3, lengths, at, parts, &made));
        const int before = alive;
        types_freed = 0;
        CHECK(lmpi_contents_get(made, &contents) && contents.n_types == 3 && contents.combiner == MPI_COMBINER_STRUCT);
        lmpi_contents_free(&contents);
        CHECK(types_freed == 2 && alive == before);
        OK(MPI_Type_free(&made));
        for (int i = 0; i < 3; i++)
            if (i != own)
                OK(MPI_Type_free(&parts[i]));
    }
}

#endif
