/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_weights_html.c - the page of `quipu compare --html`: the measures of each tensor, how the
 * values of both files are spread, and how the errors are.
 */
#include "cli/compare_weights.h"

#include "cli/certify_style.h"
#include "cli/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    BAR = 7,     /* the width of a bin */
    HEIGHT = 110 /* of a picture */
};

static const char style[] =
    ".plots{display:flex;flex-wrap:wrap;gap:8px 28px;margin-top:8px}\n"
    ".plots figure{margin:0}.plots figcaption{font-size:12.5px;color:var(--soft)}\n"
    ".ha{fill:var(--wire);opacity:.75}.hb{fill:none;stroke:var(--link);stroke-width:1.6}\n"
    ".he{fill:var(--wide)}.base{stroke:var(--line)}\n";

/* ---- pictures ----------------------------------------------------------------------------- */

static uint64_t most_of(const qp_histogram *h, uint64_t most)
{
    for (int i = 0; i < QP_HISTOGRAM_BINS; i++)
        most = h->bins[i] > most ? h->bins[i] : most;
    return most;
}

static double height_of(uint64_t bin, uint64_t most)
{
    return most == 0 ? 0 : (double)bin / (double)most * HEIGHT;
}

static void put_bars(const qp_histogram *h, uint64_t most, const char *class_name, qp_buffer *page)
{
    for (int i = 0; i < QP_HISTOGRAM_BINS; i++) {
        double height = height_of(h->bins[i], most);
        if (h->bins[i] > 0)
            qp_buffer_format(page,
                             "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%d\" "
                             "height=\"%.1f\"/>",
                             class_name, i * BAR, HEIGHT - height, BAR - 1, height);
    }
}

/* The outline of a histogram, over the bars of another. */
static void put_outline(const qp_histogram *h, uint64_t most, qp_buffer *page)
{
    qp_buffer_format(page, "<path class=\"hb\" d=\"M0 %d", HEIGHT);
    for (int i = 0; i < QP_HISTOGRAM_BINS; i++)
        qp_buffer_format(page, "V%.1fH%d", HEIGHT - height_of(h->bins[i], most), (i + 1) * BAR);
    qp_buffer_format(page, "V%d\"/>", HEIGHT);
}

static void put_axis(const qp_histogram *h, qp_buffer *page)
{
    enum { WIDTH = QP_HISTOGRAM_BINS * BAR };
    qp_buffer_format(page,
                     "<path class=\"base\" d=\"M0 %d.5H%d\"/><text class=\"sm\" x=\"0\" y=\"%d\">"
                     "%.5g</text><text class=\"sm rt\" x=\"%d\" y=\"%d\">%.5g</text></svg>",
                     HEIGHT, WIDTH, HEIGHT + 14, h->lowest, WIDTH, HEIGHT + 14, h->highest);
}

static void start_picture(const char *label, qp_buffer *page)
{
    qp_buffer_format(page,
                     "<figure><svg width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
                     "aria-label=\"%s\">",
                     QP_HISTOGRAM_BINS * BAR, HEIGHT + 18, QP_HISTOGRAM_BINS * BAR, HEIGHT + 18,
                     label);
}

static void put_pictures(const qp_weights_pair *pair, qp_buffer *page)
{
    uint64_t most = most_of(&pair->values_b, most_of(&pair->values_a, 0));
    qp_buffer_text(page, "<div class=\"plots\">");
    start_picture("values of both files", page);
    put_bars(&pair->values_a, most, "ha", page);
    put_outline(&pair->values_b, most, page);
    put_axis(&pair->values_a, page);
    qp_buffer_text(page, "<figcaption>values: filled the first file, outlined the second"
                         "</figcaption></figure>\n");
    start_picture("errors", page);
    put_bars(&pair->errors, most_of(&pair->errors, 0), "he", page);
    put_axis(&pair->errors, page);
    qp_buffer_format(page,
                     "<figcaption>errors, second less first: mean %.4g, deviation %.4g"
                     "</figcaption></figure></div>\n",
                     pair->of_error.mean, qp_statistics_deviation(&pair->of_error));
}

/* ---- words -------------------------------------------------------------------------------- */

static void put_decibels(const qp_weights_pair *pair, qp_buffer *page)
{
    double sqnr = qp_pair_sqnr(pair);
    if (isfinite(sqnr))
        qp_buffer_format(page, "%.2f dB", sqnr);
    else
        qp_buffer_text(page, "-");
}

static void put_types(const qp_weights_pair *pair, qp_buffer *page)
{
    qp_html_string(page, pair->a->type);
    if (strcmp(pair->a->type, pair->b->type) != 0) {
        qp_buffer_text(page, " &rarr; ");
        qp_html_string(page, pair->b->type);
    }
}

static void put_row(const qp_weights_pair *pair, size_t index, qp_buffer *page)
{
    qp_buffer_format(page, "<tr><td><a href=\"#t%zu\">", index);
    qp_html_string(page, pair->a->name);
    qp_buffer_text(page, "</a></td><td>");
    put_types(pair, page);
    qp_buffer_format(page,
                     "</td><td class=\"num\">%.2f%%</td><td class=\"num\">%.4g</td>"
                     "<td class=\"num\">%.4g</td><td class=\"num\">",
                     100 * (double)pair->differ / (double)pair->a->elements, qp_pair_rmse(pair),
                     pair->most);
    put_decibels(pair, page);
    qp_buffer_text(page, "</td></tr>\n");
}

static void put_details(const qp_weights_pair *pair, size_t index, qp_buffer *page)
{
    uint64_t columns = pair->a->columns;
    qp_buffer_format(page, "<details id=\"t%zu\"><summary><b>", index);
    qp_html_string(page, pair->a->name);
    qp_buffer_text(page, "</b><span class=\"soft\">");
    put_types(pair, page);
    qp_buffer_text(page, "</span><span class=\"num\">");
    put_decibels(pair, page);
    qp_buffer_text(page, "</span></summary>\n<p>shape ");
    qp_weights_shape(pair->a->shape, pair->a->rank, page);
    qp_buffer_format(page,
                     "; first difference at row %" PRIu64 ", column %" PRIu64
                     ": %.9g and %.9g; largest at row %" PRIu64 ", column %" PRIu64 ": %.9g</p>\n",
                     pair->first / columns, pair->first % columns, (double)pair->first_a,
                     (double)pair->first_b, pair->most_at / columns, pair->most_at % columns,
                     pair->most);
    put_pictures(pair, page);
    qp_buffer_text(page, "</details>\n");
}

static bool differs(const qp_weights_pair *pair)
{
    return pair->fault == QP_PAIR_MEASURED && pair->differ > 0;
}

static void put_unmeasured(const qp_weights_comparison *c, qp_buffer *page)
{
    if (c->n_unmeasured == 0)
        return;
    qp_buffer_text(page, "<section class=\"card\"><h2>Not compared</h2>\n");
    for (size_t i = 0; i < c->count; i++) {
        const qp_weights_pair *pair = &c->pairs[i];
        if (pair->fault == QP_PAIR_MEASURED)
            continue;
        qp_buffer_text(page, "<p><code>");
        qp_html_string(page, pair->a != NULL ? pair->a->name : pair->b->name);
        static const char *const faults[] = {
            [QP_PAIR_SHAPE] = "another shape",
            [QP_PAIR_ALONE] = "only in the first file",
            [QP_PAIR_UNREAD] = "a type that is not read",
        };
        qp_buffer_format(page, "</code>: %s</p>\n",
                         pair->a == NULL ? "only in the second file" : faults[pair->fault]);
    }
    qp_buffer_text(page, "</section>\n");
}

static void put_head(const qp_weights_comparison *c, qp_buffer *page)
{
    qp_buffer_text(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                         "<title>Weights compared</title>\n<style>\n");
    for (size_t i = 0; i < sizeof qp_certify_style / sizeof *qp_certify_style; i++)
        qp_buffer_text(page, qp_certify_style[i]);
    qp_buffer_text(page, style);
    qp_buffer_text(page, "</style></head>\n<body><main>\n<p class=\"soft small\">Weights "
                         "compared</p>\n<h1>");
    qp_html_string(page, c->paths[0]);
    qp_buffer_text(page, " and ");
    qp_html_string(page, c->paths[1]);
    qp_buffer_format(page, "</h1>\n<p>%zu tensor%s the same, %zu differ, %zu not compared</p>\n",
                     c->n_same, c->n_same == 1 ? "" : "s", c->n_differ, c->n_unmeasured);
}

void qp_compare_weights_html(const qp_weights_comparison *c, qp_buffer *page)
{
    put_head(c, page);
    if (c->n_differ > 0) {
        qp_buffer_text(page, "<section class=\"card scroll\"><table><tr><th>tensor</th><th>type"
                             "</th><th class=\"right\">differ</th><th class=\"right\">RMSE</th>"
                             "<th class=\"right\">maximum</th><th class=\"right\">SQNR</th></tr>"
                             "\n");
        for (size_t i = 0; i < c->count; i++)
            if (differs(&c->pairs[i]))
                put_row(&c->pairs[i], i, page);
        qp_buffer_text(page, "</table></section>\n<section class=\"card\">\n");
        for (size_t i = 0; i < c->count; i++)
            if (differs(&c->pairs[i]))
                put_details(&c->pairs[i], i, page);
        qp_buffer_text(page, "</section>\n");
    }
    put_unmeasured(c, page);
    qp_buffer_text(page, "</main></body></html>\n");
}
