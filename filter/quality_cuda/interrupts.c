/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Whether the program was told to stop; see interrupts.h. Depends on compat only.
 */

#include "compat.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "libavutil/macros.h"
#include "libavutil/thread.h"

#include "interrupts.h"

#ifdef SA_SIGINFO

typedef struct QCSignal {
    int number;
    const char *name;
    struct sigaction previous; ///< the program's
    int wrapped;
} QCSignal;

static QCSignal signals[] = { { .number = SIGINT, .name = "SIGINT" }, { .number = SIGTERM, .name = "SIGTERM" } };
static atomic_int noted, last_number; ///< a handler runs on any thread, filters read on theirs
static AVMutex watchers_mutex = AV_MUTEX_INITIALIZER;
static int watchers;

/** Runs as a signal handler: notes and hands on. */
static void take_note(int number, siginfo_t *info, void *context)
{
    atomic_store(&last_number, number);
    atomic_fetch_add(&noted, 1);
    for (size_t i = 0; i < FF_ARRAY_ELEMS(signals); i++) {
        const struct sigaction *previous = &signals[i].previous;

        if (signals[i].number != number)
            continue;
        if (previous->sa_flags & SA_SIGINFO)
            previous->sa_sigaction(number, info, context);
        else
            previous->sa_handler(number);
    }
}

static int is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == take_note;
}

static int is_handled(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static void wrap(QCSignal *signal)
{
    struct sigaction action;

    /* Still wrapped: somebody's later handler may call ours, and must not be called by it. */
    if (signal->wrapped || sigaction(signal->number, NULL, &action) || is_ours(&action) || !is_handled(&action))
        return;
    signal->previous    = action;
    action.sa_flags    |= SA_SIGINFO;
    action.sa_sigaction = take_note;
    signal->wrapped     = !sigaction(signal->number, &action, NULL);
}

/** Whoever wrapped the handler later than we did goes on calling ours. */
static void unwrap(QCSignal *signal)
{
    struct sigaction action;

    if (!signal->wrapped || sigaction(signal->number, NULL, &action) || !is_ours(&action))
        return;
    signal->wrapped = !!sigaction(signal->number, &signal->previous, NULL);
}

void ff_qc_watch_interrupts(QCInterrupts *watch)
{
    ff_mutex_lock(&watchers_mutex);
    for (size_t i = 0; !watchers && i < FF_ARRAY_ELEMS(signals); i++)
        wrap(&signals[i]);
    watchers++;
    ff_mutex_unlock(&watchers_mutex);
    watch->watching = 1;
    watch->before   = noted;
}

const char *ff_qc_interrupted_by(const QCInterrupts *watch)
{
    if (!watch->watching || noted == watch->before)
        return NULL;
    for (size_t i = 0; i < FF_ARRAY_ELEMS(signals); i++)
        if (signals[i].number == last_number)
            return signals[i].name;
    return "a signal";
}

void ff_qc_unwatch_interrupts(QCInterrupts *watch)
{
    if (!watch->watching)
        return;
    watch->watching = 0;
    ff_mutex_lock(&watchers_mutex);
    watchers--;
    for (size_t i = 0; !watchers && i < FF_ARRAY_ELEMS(signals); i++)
        unwrap(&signals[i]);
    ff_mutex_unlock(&watchers_mutex);
}

#else /* no such signals */

void ff_qc_watch_interrupts(QCInterrupts *watch)
{
    watch->watching = 1;
}

const char *ff_qc_interrupted_by(const QCInterrupts *watch)
{
    (void)watch;
    return NULL;
}

void ff_qc_unwatch_interrupts(QCInterrupts *watch)
{
    watch->watching = 0;
}

#endif
