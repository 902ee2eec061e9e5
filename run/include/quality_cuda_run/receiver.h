/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Where lines go while a run lasts, as the front end offers it: a table of functions, with their owner.
 *
 * A thread of its own (live.h) calls these functions, one at a time, and it alone waits for a receiver. What waits asks
 * its patience again and again whether it should go on.
 *
 * Errors are negative: minus an errno, QCR_GAVE_UP, or a number of the receiver's own that only its describe()
 * understands.
 */
#ifndef QUALITY_CUDA_RUN_RECEIVER_H
#define QUALITY_CUDA_RUN_RECEIVER_H

#include <limits.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The receiver stopped because its patience is over. */
#define QCR_GAVE_UP INT_MIN

/** What whoever waits asks, from any thread. */
typedef struct qcr_patience {
    int (*is_over)(const void* opaque); ///< 1: nobody is waited for any more
    const void* opaque;
} qcr_patience;

/**
 * What takes lines.
 *
 * A call may not come back: FFmpeg's protocols ask a name server, and nothing interrupts that. A receiver that has
 * nothing but a state of state_size bytes is then left behind at the end of the run, with its thread; its functions
 * have to stay loaded. Any other one is waited for.
 */
typedef struct qcr_receiver {
    size_t state_size; ///< bytes of its own, zeroed before the first call, in place of opaque; 0: it has opaque
    void* opaque;      ///< outlives the run
    int is_lasting; ///< it keeps what it got, as files do: a lost line is a failure, and after one it is not opened
                    ///< again

    /**
     * @param name     of the lines' target, as the run got it; valid until close()
     * @param patience copied
     * @return 0, or an error: then close() is not called
     */
    int (*open)(void* opaque, const char* name, const qcr_patience* patience);

    /** Hands over a whole line, its end included. @return 0, or an error; where it is lasting, nothing of the line is
     * left then */
    int (*write)(void* opaque, const char* text, size_t size);

    /** @return 0, or the error of what could not be handed over */
    int (*close)(void* opaque);

    /** The text of an error, for a message. */
    void (*describe)(void* opaque, int error, char* text, size_t size);
} qcr_receiver;

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_RECEIVER_H */
