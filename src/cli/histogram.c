/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.c - see histogram.h. */
#include "cli/histogram.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROWS = 8,
    LEVELS = 8,    /* of a block character */
    DEVIATIONS = 5 /* shown on each side of the mean */
};

/* ---- statistics --------------------------------------------------------------------------- */

static void count_special(qp_statistics *s, float value)
{
    if (isnan(value))
        s->nan++;
    else
        s->infinite++;
}

/* The mean and the squares of one run. */
static void measure(const float *values, size_t count, qp_statistics *run)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double v = (double)values[i];
        if (!isfinite(values[i])) {
            count_special(run, values[i]);
            continue;
        }
        if (run->count == 0 || v < run->lowest)
            run->lowest = v;
        if (run->count == 0 || v > run->highest)
            run->highest = v;
        run->zeros += values[i] == 0;
        run->count++;
        sum += v;
    }
    run->mean = run->count == 0 ? 0 : sum / (double)run->count;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            double d = (double)values[i] - run->mean;
            run->squares += d * d;
        }
}

/* Two sets of numbers become one (Chan, Golub and LeVeque): no cancellation, however far the mean
 * lies from zero. */
void qp_statistics_add(qp_statistics *s, const float *values, size_t count)
{
    qp_statistics run = {0};
    measure(values, count, &run);
    s->zeros += run.zeros;
    s->nan += run.nan;
    s->infinite += run.infinite;
    if (run.count == 0)
        return;
    double a = (double)s->count, b = (double)run.count, d = run.mean - s->mean;
    s->lowest = s->count == 0 || run.lowest < s->lowest ? run.lowest : s->lowest;
    s->highest = s->count == 0 || run.highest > s->highest ? run.highest : s->highest;
    s->squares += run.squares + d * d * (a * b / (a + b));
    s->mean += d * (b / (a + b));
    s->count += run.count;
}

double qp_statistics_deviation(const qp_statistics *s)
{
    return s->count == 0 ? 0 : sqrt(s->squares / (double)s->count);
}

/* ---- bins --------------------------------------------------------------------------------- */

void qp_histogram_start(qp_histogram *h, const qp_statistics *s)
{
    double reach = DEVIATIONS * qp_statistics_deviation(s);
    *h = (qp_histogram){0};
    h->lowest = fmax(s->lowest, s->mean - reach);
    h->highest = fmin(s->highest, s->mean + reach);
    if (h->lowest > h->highest) /* by a rounding, where all numbers are the same */
        h->highest = h->lowest;
}

void qp_histogram_add(qp_histogram *h, const float *values, size_t count)
{
    double width = h->highest - h->lowest;
    for (size_t i = 0; i < count; i++) {
        double v = (double)values[i];
        if (!isfinite(values[i]))
            continue;
        if (v < h->lowest) {
            h->below++;
        } else if (v > h->highest) {
            h->above++;
        } else {
            double bin = width > 0 ? (v - h->lowest) / width * QP_HISTOGRAM_BINS : 0;
            h->bins[bin < QP_HISTOGRAM_BINS ? (size_t)bin : QP_HISTOGRAM_BINS - 1]++;
        }
    }
}

/* ---- a picture ---------------------------------------------------------------------------- */

/* What stands in a row for a bar that fills 0 to 8 eighths of it. */
static const char *mark(unsigned level, bool utf8)
{
    static const char *const blocks[LEVELS + 1] = {" ",
                                                   "\xE2\x96\x81",
                                                   "\xE2\x96\x82",
                                                   "\xE2\x96\x83",
                                                   "\xE2\x96\x84",
                                                   "\xE2\x96\x85",
                                                   "\xE2\x96\x86",
                                                   "\xE2\x96\x87",
                                                   "\xE2\x96\x88"};
    static const char *const plain[LEVELS + 1] = {" ", ".", ".", ".", ":", ":", ":", "#", "#"};
    return utf8 ? blocks[level] : plain[level];
}

/* The eighths of a bar, of ROWS * LEVELS; one that is not empty has one at least. */
static unsigned height(uint64_t bin, uint64_t most)
{
    double eighths = (double)bin / (double)most * (ROWS * LEVELS);
    unsigned rounded = (unsigned)(eighths + 0.5);
    return bin > 0 && rounded == 0 ? 1 : rounded;
}

static void put_row(const qp_histogram *h, uint64_t most, unsigned row, bool utf8, qp_buffer *text)
{
    size_t start = text->size;
    qp_buffer_text(text, "  ");
    for (unsigned i = 0; i < QP_HISTOGRAM_BINS; i++) {
        unsigned bar = height(h->bins[i], most), below = row * LEVELS;
        unsigned level = bar <= below ? 0 : bar - below;
        qp_buffer_text(text, mark(level < LEVELS ? level : LEVELS, utf8));
    }
    while (text->size > start && text->bytes[text->size - 1] == ' ')
        text->size--;
    qp_buffer_text(text, "\n");
}

static void put_axis(const qp_histogram *h, qp_buffer *text)
{
    char low[32], high[32];
    snprintf(low, sizeof low, "%.6g", h->lowest);
    snprintf(high, sizeof high, "%.6g", h->highest);
    qp_buffer_text(text, "  ");
    for (unsigned i = 0; i < QP_HISTOGRAM_BINS; i++)
        qp_buffer_text(text, "-");
    qp_buffer_format(text, "\n  %s%*s\n", low, (int)(QP_HISTOGRAM_BINS - strlen(low)), high);
    if (h->below + h->above > 0)
        qp_buffer_format(text, "  not shown: %" PRIu64 " below, %" PRIu64 " above\n", h->below,
                         h->above);
}

void qp_histogram_print(const qp_histogram *h, bool utf8, qp_buffer *text)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < QP_HISTOGRAM_BINS; i++)
        most = h->bins[i] > most ? h->bins[i] : most;
    if (most == 0)
        return;
    for (unsigned row = ROWS; row-- > 0;)
        put_row(h, most, row, utf8, text);
    put_axis(h, text);
}

/* "C.UTF-8", "de_DE.utf8". */
static bool names_utf8(const char *locale)
{
    for (; *locale != '\0'; locale++)
        if (tolower((unsigned char)locale[0]) == 'u' && tolower((unsigned char)locale[1]) == 't' &&
            tolower((unsigned char)locale[2]) == 'f')
            return locale[3] == '8' || (locale[3] == '-' && locale[4] == '8');
    return false;
}

bool qp_terminal_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *terminal = getenv("TERM");
    if (terminal != NULL && strcmp(terminal, "dumb") == 0)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale != NULL && locale[0] != '\0')
            return names_utf8(locale);
    }
    return false;
}
