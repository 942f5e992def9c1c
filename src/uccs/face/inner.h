/* Functions that the files of this folder share. */
#ifndef UCCS_FACE_INNER_H
#define UCCS_FACE_INNER_H

/* At the end of a life: releases the contexts that the program has left. Nothing of theirs is under way. */
void uccs_contexts_close(void);

#endif
