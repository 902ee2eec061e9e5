/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * A score beyond a threshold for some time; see alerts.h. Depends on the C
 * library alone.
 */

#include <math.h>
#include <string.h>

#include "alerts.h"

#define ROUNDING 1e-6 /* seconds by which sums of frames' durations may be off */
#define MOST_DIGITS 15 /* of a number: so many a double holds exactly */

static const char *after_sign(const char *at, const char *end, int *is_negative)
{
    *is_negative = at < end && *at == '-';
    return at + (at < end && (*at == '-' || *at == '+'));
}

/** A decimal number, in every locale the same. @return behind it, NULL for none */
static const char *parse_number(const char *at, const char *end, double *number)
{
    double digits = 0, scale = 1;
    int count = 0, is_negative, is_fraction = 0;

    at = after_sign(at, end, &is_negative);
    for (; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && !is_fraction)); at++) {
        if (*at == '.') {
            is_fraction = 1;
            continue;
        }
        digits = digits * 10 + (*at - '0');
        scale *= is_fraction ? 10 : 1;
        count++;
    }
    *number = (is_negative ? -digits : digits) / scale;
    return count && count <= MOST_DIGITS ? at : NULL;
}

static const char *parse_comparison(const char *at, const char *end, int *comparison)
{
    const int or_equal = at + 1 < end && at[1] == '=';

    *comparison = *at == '<' ? (or_equal ? QC_NOT_ABOVE : QC_BELOW) : (or_equal ? QC_NOT_BELOW : QC_ABOVE);
    return at + 1 + or_equal;
}

/** @return 1: there is nothing behind it */
static int parse_duration(const char *at, const char *end, double *duration)
{
    at = parse_number(at, end, duration);
    if (!at || *duration < 0)
        return 0;
    if (end - at == 2 && !memcmp(at, "ms", 2))
        *duration /= 1000;
    else if (end - at > 1 || (at < end && *at != 's'))
        return 0;
    return 1;
}

const char *ff_qc_alert_parse(const char *text, size_t length, QCAlert *alert)
{
    const char *end = text + length, *at = text, *condition_end;

    memset(alert, 0, sizeof(*alert));
    while (at < end && *at != '<' && *at != '>')
        at++;
    if (at == text)
        return "a score is missing";
    if (at == end)
        return "a comparison (< <= > >=) is missing";
    if (length >= QC_ALERT_NAME)
        return "it is too long";
    memcpy(alert->score, text, at - text);
    at = parse_comparison(at, end, &alert->comparison);
    at = condition_end = parse_number(at, end, &alert->threshold);
    if (!at)
        return "there is no number behind the comparison";
    if (at < end && ((*at != ':' && *at != '@') || !parse_duration(at + 1, end, &alert->duration)))
        return "the duration is none";
    memcpy(alert->name, text, condition_end - text);
    return NULL;
}

static int meets(const QCAlert *alert, double value)
{
    switch (alert->comparison) {
    case QC_BELOW:     return value <  alert->threshold;
    case QC_NOT_ABOVE: return value <= alert->threshold;
    case QC_ABOVE:     return value >  alert->threshold;
    default:           return value >= alert->threshold;
    }
}

static double worse_of(const QCAlert *alert, double a, double b)
{
    return alert->comparison == QC_BELOW || alert->comparison == QC_NOT_ABOVE ? fmin(a, b) : fmax(a, b);
}

enum QCAlertChange ff_qc_alert_update(QCAlert *alert, double value, double time)
{
    const double gap = time - alert->latest;

    if (isnan(value))
        return QC_ALERT_UNCHANGED;
    if (!meets(alert, value)) {
        const int was_active = alert->is_active;

        alert->is_met = alert->is_active = 0;
        return was_active ? QC_ALERT_ENDS : QC_ALERT_UNCHANGED;
    }
    if (!alert->is_met || (!alert->is_active && (gap < 0 || gap > alert->duration + ROUNDING))) {
        alert->since = time;
        alert->worst = value;
    }
    alert->is_met = 1;
    alert->latest = time;
    alert->worst  = worse_of(alert, alert->worst, value);
    if (alert->is_active || time - alert->since < alert->duration - ROUNDING)
        return QC_ALERT_UNCHANGED;
    alert->is_active = 1;
    alert->times++;
    return QC_ALERT_BEGINS;
}
