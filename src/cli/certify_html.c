/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certify_html.c - a certificate as one page: the verdict in words, each graph drawn, the room that
 * every operator leaves below the 32-bit and 64-bit limits, and every number of the certificate.
 */
#include "cli/certify_html.h"

#include "cli/certify_style.h"
#include "cli/describe.h"
#include "cli/graph_picture.h"
#include "cli/html.h"

#include <inttypes.h>

typedef struct qp_page {
    const qp_certificate *certificate;
    qp_first_failures *failures; /* of each graph */
    unsigned axis;               /* bits at the right end of every meter */
    qp_buffer *out;
    qp_buffer text; /* for what is to be escaped */
} qp_page;

static void put(qp_page *p, const char *html)
{
    qp_buffer_text(p->out, html);
}

static void take(qp_page *p)
{
    qp_html_take(p->out, &p->text);
}

/* The same as a sentence, without its first `skip` characters: "node 2 fails" is "Node 2 fails." */
static void take_sentence(qp_page *p, size_t skip)
{
    if (!p->text.failed && skip < p->text.size) {
        uint8_t *first = &p->text.bytes[skip];
        if (*first >= 'a' && *first <= 'z')
            *first = (uint8_t)(*first - 'a' + 'A');
        qp_html_text(p->out, (const char *)first, p->text.size - skip);
        put(p, ".");
    }
    p->text.size = 0;
}

static const char *const fit_classes[] = {"ok", "wide", "bad"};

/* ---- meters ------------------------------------------------------------------------------- */

static const unsigned marks[] = {8, 16, 32, 64, 128, 256};

/* The axis ends a little beyond the widest value, or beyond 64 bits. */
static unsigned choose_axis(const qp_certificate *certificate)
{
    unsigned most = 64;
    for (size_t g = 0; g < certificate->n_graphs; g++)
        for (uint32_t i = 0; i < certificate->graphs[g].graph->n_nodes; i++)
            for (uint32_t k = 0; k < qp_fact_count(&certificate->graphs[g], i); k++) {
                unsigned bits = qp_fact_at(&certificate->graphs[g], i, k).bits;
                most = bits > most ? bits : most;
            }
    return most <= 68 ? 72 : most <= 128 ? 136 : 264;
}

/* "left:44.4%" of a number of bits. */
static void put_percent(qp_page *p, const char *property, unsigned bits)
{
    unsigned tenths = (bits < p->axis ? bits : p->axis) * 1000 / p->axis;
    qp_buffer_format(p->out, "%s:%u.%u%%", property, tenths / 10, tenths % 10);
}

static void put_axis(qp_page *p)
{
    put(p, "<div class=\"axis\">");
    for (size_t i = 0; i < QP_COUNT(marks); i++)
        if (marks[i] < p->axis) {
            put(p, "<span style=\"");
            put_percent(p, "left", marks[i]);
            qp_buffer_format(p->out, "\">%u</span>", marks[i]);
        }
    put(p, "</div>");
}

/* The bits of one end, 0 where it lies on the other side of zero. */
static unsigned end_bits(const qp_bound *end, bool negative)
{
    qp_interval only = {*end, *end};
    return end->negative == negative && !qp_bound_is_zero(end) ? qp_interval_bits(&only) : 0;
}

static void put_end(qp_page *p, const qp_fact *fact, unsigned bits)
{
    qp_buffer_format(p->out, "<i class=\"%s\" style=\"", fit_classes[qp_fit_of_fact(fact)]);
    put_percent(p, "width", bits);
    put(p, "\"></i>");
}

static void put_meter(qp_page *p, const qp_fact *fact)
{
    unsigned narrow = qp_profile_width(QP_ACC32, fact->class);
    unsigned wide = qp_profile_width(QP_ACC64, fact->class);

    put(p, "<div class=\"m\" style=\"");
    put_percent(p, "--a", narrow);
    put_percent(p, ";--b", wide);
    put(p, "\" title=\"");
    qp_buffer_format(&p->text, "%s: ", fact->key);
    qp_describe_interval(fact->interval, &p->text);
    qp_buffer_format(&p->text, ": %u bits; acc32 has %u, acc64 %u", fact->bits, narrow, wide);
    take(p);
    put(p, "\">");
    put_end(p, fact, end_bits(&fact->interval->hi, false));
    put_end(p, fact, end_bits(&fact->interval->lo, true));
    put(p, "</div>");
}

/* "4 bits free" or "3 over acc32". */
static void put_room(qp_page *p, const qp_fact *fact)
{
    int narrow = qp_fact_room(fact, QP_ACC32), wide = qp_fact_room(fact, QP_ACC64);
    if (narrow >= 0)
        qp_buffer_format(p->out, "%d bit%s free", narrow, narrow == 1 ? "" : "s");
    else if (wide >= 0)
        qp_buffer_format(p->out, "<b class=\"t-wide\">%d over acc32</b>", -narrow);
    else
        qp_buffer_format(p->out, "<b class=\"t-bad\">%d over acc64</b>", -wide);
}

/* ---- the top ------------------------------------------------------------------------------ */

static void put_head(qp_page *p, const char *title)
{
    put(p, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>");
    qp_html_string(p->out, title);
    put(p, ": bounds certificate</title>\n<style>\n");
    for (size_t i = 0; i < QP_COUNT(qp_certify_style); i++)
        put(p, qp_certify_style[i]);
    put(p, "</style></head>\n<body><main>\n<p class=\"soft small\">Bounds certificate, "
           "wai-ops/1</p>\n<h1>");
    qp_html_string(p->out, title);
    put(p, "</h1>\n");
}

static void put_certificate_digest(qp_page *p)
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;

    qp_certificate_append(p->certificate, &p->text);
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, p->text.bytes, p->text.size);
    qp_sha256_final(&hash, digest);
    p->out->failed |= p->text.failed;
    p->text.size = 0;
    put(p, "<p class=\"small\"><span class=\"soft\">certificate </span><code>");
    qp_buffer_hex(p->out, digest, sizeof digest);
    put(p, "</code></p>\n");
}

static void start_verdict(qp_page *p, const char *class, const char *name, const char *words)
{
    qp_buffer_format(p->out, "<div class=\"verdict %s\"><b>%s %s</b><p class=\"small\">", class,
                     name, words);
}

static void put_profile(qp_page *p, qp_profile profile, const char *meaning)
{
    bool meets = qp_certificate_meets(p->certificate, profile, NULL) != 0;
    bool wider = profile == QP_ACC32 && qp_certificate_meets(p->certificate, QP_ACC64, NULL);

    start_verdict(p,
                  meets   ? "yes"
                  : wider ? "part"
                          : "no",
                  meets ? "meets" : "does not meet", qp_profile_name(profile));
    if (meets) {
        put(p, meaning);
    } else {
        enum { NO = 4 }; /* the length of "no: " */
        qp_describe_profile(p->certificate, profile, &p->text);
        take_sentence(p, NO);
    }
    put(p, "</p></div>\n");
}

static void put_verdict(qp_page *p)
{
    uint32_t flags = qp_certificate_flags(p->certificate);
    bool npu = qp_certificate_npu(p->certificate) != 0;

    put(p, "<div class=\"verdicts\">\n");
    put_profile(p, QP_ACC32,
                "Every sum, in any order, fits a 32-bit register; products fit 64 "
                "bits. Nothing can overflow.");
    put_profile(p, QP_ACC64,
                "Every sum, in any order, fits 64 bits; products fit 128 bits. "
                "Nothing can overflow.");
    start_verdict(p, npu ? "yes" : "part", npu ? "in" : "outside", "wai-ops/1-npu");
    if (npu) {
        put(p, "It uses only what the accelerator subset has.");
    } else {
        qp_describe_reasons(p->certificate, &p->text);
        take_sentence(p, 0);
    }
    if (flags != 0) {
        put(p, " Features to look out for: ");
        qp_describe_flags(flags, &p->text);
        take(p);
        put(p, ".");
    }
    put(p, "</p></div>\n</div>\n");
}

/* What can be done about each profile that fails, beside the graph where it first fails. */
static void put_advice(qp_page *p, size_t graph)
{
    for (int profile = QP_ACC64; profile >= QP_ACC32; profile--) {
        qp_failure failure;
        if (qp_certificate_meets(p->certificate, (qp_profile)profile, &failure) ||
            failure.role != p->certificate->graphs[graph].role)
            continue;
        qp_buffer_format(p->out, "<div class=\"card\"><h2>What keeps it from %s</h2><p>",
                         qp_profile_name((qp_profile)profile));
        qp_describe_advice(p->certificate, (qp_profile)profile, &p->text);
        while (p->text.size > 0 && p->text.bytes[p->text.size - 1] == '\n')
            p->text.size--;
        for (size_t i = 0; i < p->text.size; i++) {
            if (p->text.bytes[i] == '\n')
                put(p, "<br>");
            else
                qp_html_text(p->out, (const char *)p->text.bytes + i, 1);
        }
        p->text.size = 0;
        put(p, "</p></div>\n");
    }
}

/* ---- a graph's tables --------------------------------------------------------------------- */

static void put_input_row(qp_page *p, const qp_graph *graph, uint32_t index)
{
    const qp_graph_input_record *input = &graph->inputs[index];
    const qp_graph_tensor_record *tensor = &graph->tensors[input->tensor];

    qp_buffer_format(p->out, "<tr><td>input %u</td><td>t%u</td><td>%u ch, ", index, input->tensor,
                     tensor->channels);
    if (input->max_h > 0)
        qp_buffer_format(p->out, "at most %u x %u", input->max_h, input->max_w);
    else
        put(p, "any size");
    qp_buffer_format(p->out, "</td><td class=\"num left\">%" PRId64 "..%" PRId64 "</td><td>",
                     tensor->lo, tensor->hi);
    put(p, "a value outside is ");
    put(p, tensor->policy == QP_CHECK ? "refused" : "clamped");
    if (input->state)
        qp_buffer_format(p->out, "; state, from output %u, first %" PRId64, input->src,
                         input->init);
    put(p, "</td></tr>\n");
}

static void put_output_row(qp_page *p, const qp_graph_bounds *bounds, uint32_t index)
{
    uint32_t tensor = bounds->graph->outputs[index];

    qp_buffer_format(p->out, "<tr><td>output %u</td><td>t%u</td><td>", index, tensor);
    qp_describe_shape(bounds->graph, tensor, &p->text);
    take(p);
    put(p, "</td><td class=\"num left\">");
    qp_describe_interval(&bounds->tensors[tensor], &p->text);
    take(p);
    qp_buffer_format(p->out, "</td><td>certified: %u bits</td></tr>\n",
                     qp_interval_bits(&bounds->tensors[tensor]));
}

static void put_ends(qp_page *p, const qp_graph_bounds *bounds)
{
    const qp_graph *graph = bounds->graph;
    char digest[QP_SHA256_HEX_SIZE];

    qp_graph_digest(graph, digest);
    qp_buffer_format(p->out,
                     "<p class=\"small\"><span class=\"soft\">graph </span><code>%s</code>"
                     "</p>\n<p class=\"soft small\">%u operator%s, %u tensor%s, ",
                     digest, graph->n_nodes, graph->n_nodes == 1 ? "" : "s", graph->n_tensors,
                     graph->n_tensors == 1 ? "" : "s");
    qp_buffer_u64_decimal(p->out, graph->size);
    put(p, " bytes</p>\n<div class=\"scroll\"><table><tr><th>what</th><th>tensor</th><th>shape</th>"
           "<th>range</th><th></th></tr>\n");
    for (uint32_t i = 0; i < graph->n_inputs; i++)
        put_input_row(p, graph, i);
    for (uint32_t i = 0; i < graph->n_scalars; i++)
        qp_buffer_format(p->out,
                         "<tr><td>scalar %u</td><td></td><td></td><td class=\"num left\">"
                         "%" PRId64 "..%" PRId64 "</td><td></td></tr>\n",
                         i, graph->scalars[i].lo, graph->scalars[i].hi);
    for (uint32_t i = 0; i < graph->n_outputs; i++)
        put_output_row(p, bounds, i);
    put(p, "</table></div>\n");
}

/* ---- the room of every operator ----------------------------------------------------------- */

static void put_legend(qp_page *p)
{
    put(p,
        "<p class=\"soft small\">Of each operator the value with the least room under acc32. The "
        "upper bar is the bits that the greatest value needs, the lower bar those of the least; "
        "one bit more is twice the value. Click an operator for all of its values.</p>\n"
        "<ul class=\"key\"><li><i style=\"background:var(--ok)\"></i>fits acc32</li>"
        "<li><i style=\"background:var(--wide)\"></i>fits only acc64</li>"
        "<li><i style=\"background:var(--bad)\"></i>fits neither</li>"
        "<li>the shades behind change at the width of acc32 and of acc64</li></ul>\n");
}

static void put_first_chip(qp_page *p, size_t graph, uint32_t index)
{
    if (p->failures[graph].node[QP_ACC64] == index)
        put(p, " <span class=\"chip c-bad\">first to fail acc64</span>");
    if (p->failures[graph].node[QP_ACC32] == index)
        put(p, " <span class=\"chip c-wide\">first to fail acc32</span>");
}

static void put_room_row(qp_page *p, size_t graph, uint32_t index)
{
    const qp_graph_bounds *bounds = &p->certificate->graphs[graph];
    qp_fact fact = qp_fact_tightest(bounds, index);
    qp_fit fit = qp_fit_of_node(bounds, index);

    qp_buffer_format(p->out, "<span class=\"op\"><a href=\"#op-%zu-%u\">%u %s</a></span>", graph,
                     index, index, bounds->graph->nodes[index].op->name);
    put_meter(p, &fact);
    qp_buffer_format(p->out, "<span class=\"said\">%s, %u bits: ", fact.key, fact.bits);
    if (fit != qp_fit_of_fact(&fact))
        qp_buffer_format(p->out, "<b class=\"t-%s\">%s</b>", fit_classes[fit],
                         bounds->nodes[index].saturated ? "saturated" : "fails a condition");
    else
        put_room(p, &fact);
    put_first_chip(p, graph, index);
    put(p, "</span>\n");
}

static void put_rooms(qp_page *p, size_t graph)
{
    put(p, "<div class=\"card\"><h2>Where the headroom goes</h2>\n");
    put_legend(p);
    put(p, "<div class=\"rows\"><span class=\"soft small\">bits</span>");
    put_axis(p);
    put(p, "<span class=\"said\"></span>\n");
    for (uint32_t i = 0; i < p->certificate->graphs[graph].graph->n_nodes; i++)
        put_room_row(p, graph, i);
    put(p, "</div></div>\n");
}

static void put_picture(qp_page *p, size_t graph)
{
    enum { MOST_BESIDE = 720 }; /* a wider picture stands below the facts, not beside them */
    qp_buffer picture;
    int32_t width = 0;

    qp_buffer_init(&picture, NULL);
    if (qp_graph_picture(&p->certificate->graphs[graph], graph, &p->failures[graph], &picture,
                         &width) != QP_OK)
        qp_buffer_text(&picture,
                       "<p class=\"soft\">It is too large to be drawn; the lists have all "
                       "of it.</p>");
    qp_buffer_format(p->out,
                     "<div class=\"card graph%s\"><h2>The graph</h2>\n"
                     "<div class=\"scroll\">",
                     width > MOST_BESIDE || width == 0 ? "" : " beside");
    qp_buffer_append(p->out, picture.bytes, picture.size);
    put(p, "</div></div>\n");
    p->out->failed |= picture.failed;
    qp_buffer_free(&picture);
}

/* ---- every number ------------------------------------------------------------------------- */

static const char *class_name(qp_class class)
{
    static const char *const names[] = {
        [QP_CLASS_TENSOR] = "tensor",
        [QP_CLASS_ACC] = "sum (acc)",
        [QP_CLASS_WIDE] = "wide",
        [QP_CLASS_PRODUCT] = "product",
    };
    return names[class];
}

static void put_fact_row(qp_page *p, const qp_fact *fact)
{
    char digits[QP_BOUND_TEXT_SIZE];

    qp_buffer_format(p->out, "<tr><td><code>%s</code></td><td class=\"soft nowrap\">%s</td>",
                     fact->key, class_name(fact->class));
    qp_buffer_format(p->out, "<td class=\"num\">%s</td>",
                     qp_bound_text(&fact->interval->lo, digits));
    qp_buffer_format(p->out, "<td class=\"num\">%s</td><td class=\"num\">%u</td><td>",
                     qp_bound_text(&fact->interval->hi, digits), fact->bits);
    put_meter(p, fact);
    put(p, "</td><td class=\"nowrap\">");
    put_room(p, fact);
    put(p, "</td></tr>\n");
}

static void put_tensors_read(qp_page *p, const qp_graph_bounds *bounds, const qp_node *node)
{
    put(p, "<p class=\"small\"><span class=\"soft\">reads </span>");
    for (uint32_t k = 0; k < node->n_in; k++) {
        qp_buffer_format(&p->text, "%st%u in ", k > 0 ? ", " : "", node->in[k]);
        qp_describe_interval(&bounds->tensors[node->in[k]], &p->text);
    }
    take(p);
    put(p, "<span class=\"soft\"> writes </span>");
    for (uint32_t k = 0; k < node->n_out; k++) {
        static const char *const policies[] = {
            [QP_DERIVED] = "", [QP_CLAMP] = " (clamped)", [QP_CHECK] = " (checked)"};
        qp_buffer_format(&p->text, "%st%u in ", k > 0 ? ", " : "", node->out[k]);
        qp_describe_interval(&bounds->tensors[node->out[k]], &p->text);
        qp_buffer_text(&p->text, policies[bounds->graph->tensors[node->out[k]].policy]);
    }
    take(p);
    put(p, "</p>\n");
}

static void put_chunk_length(qp_page *p, const qp_node *node, const qp_certified_node *found)
{
    for (uint32_t i = 0; i < found->n_recorded; i++) {
        if (found->recorded[i].key != node->op->k_c)
            continue;
        int64_t length = qp_chunk_length(&found->recorded[i].interval);
        put(p, "<span title=\"so many terms can be added in 32 bits before a wider sum takes "
               "over\"><span class=\"soft\">k_c</span> ");
        if (length < 0)
            put(p, "unbounded</span>");
        else
            qp_buffer_format(p->out, "%" PRId64 "</span>", length);
    }
}

/* k_c, the operands of multiplications, failed conditions and flags. */
static void put_notes(qp_page *p, const qp_graph_bounds *bounds, uint32_t index)
{
    const qp_node *node = &bounds->graph->nodes[index];
    const qp_certified_node *found = &bounds->nodes[index];

    put(p, "<div class=\"notes\">");
    put_chunk_length(p, node, found);
    if (node->op->has_mac) {
        put(p, "<span><span class=\"soft\">multiplies values of</span> ");
        for (uint32_t k = 0; k < node->n_in; k++)
            qp_buffer_format(p->out, "%s%u", k > 0 ? " and " : "",
                             qp_interval_bits(&bounds->tensors[node->in[k]]));
        put(p, " bits");
        if (found->weights.lo <= found->weights.hi) {
            qp_interval weights = qp_interval_of(found->weights.lo, found->weights.hi);
            qp_buffer_format(p->out, " by weights of %u bits", qp_interval_bits(&weights));
        }
        put(p, "</span>");
    }
    for (unsigned c = 0; c < QP_CONDITION_COUNT; c++)
        if ((found->conditions >> c & 1) != 0)
            qp_buffer_format(p->out, "<span class=\"chip c-wide\">fails %s</span> ",
                             qp_condition_name((qp_condition)c));
    if (found->saturated)
        put(p, "<span class=\"chip c-bad\">saturated: a bound passes 2^255</span> ");
    uint32_t flags = qp_node_flags(bounds, index);
    if (flags != 0) {
        put(p, "<span><span class=\"soft\">flags</span> ");
        qp_describe_flags(flags, &p->text);
        take(p);
        put(p, "</span>");
    }
    put(p, "</div>\n");
}

static void put_operator(qp_page *p, size_t graph, uint32_t index)
{
    enum { MOST_OPEN = 24 }; /* operators of a graph that is shown opened */
    const qp_graph_bounds *bounds = &p->certificate->graphs[graph];
    const qp_node *node = &bounds->graph->nodes[index];
    qp_fit fit = qp_fit_of_node(bounds, index);
    bool open = bounds->graph->n_nodes <= MOST_OPEN || p->failures[graph].node[0] == index ||
                p->failures[graph].node[1] == index;

    qp_buffer_format(p->out,
                     "<details id=\"op-%zu-%u\"%s><summary><b>%u %s</b>"
                     "<span class=\"chip c-%s\">%s</span>",
                     graph, index, open ? " open" : "", index, node->op->name, fit_classes[fit],
                     fit == QP_FIT_BOTH    ? "fits acc32"
                     : fit == QP_FIT_ACC64 ? "acc64 only"
                                           : "fits neither");
    put_first_chip(p, graph, index);
    put(p, "<span class=\"soft small\">");
    qp_describe_parameters(bounds->graph, node, &p->text);
    take(p);
    put(p, "</span></summary>\n");
    put_tensors_read(p, bounds, node);
    put(p, "<div class=\"scroll\"><table class=\"values\"><tr><th class=\"c1\">value</th>"
           "<th class=\"c2\">class</th><th class=\"right c3\">least</th><th class=\"right c3\">"
           "greatest</th><th class=\"right c5\">bits</th><th></th><th class=\"c7\">under acc32"
           "</th></tr>\n");
    for (uint32_t i = 0; i < qp_fact_count(bounds, index); i++) {
        qp_fact fact = qp_fact_at(bounds, index, i);
        put_fact_row(p, &fact);
    }
    put(p, "</table></div>\n");
    put_notes(p, bounds, index);
    put(p, "</details>\n");
}

static void put_graph(qp_page *p, size_t graph)
{
    const qp_graph_bounds *bounds = &p->certificate->graphs[graph];

    put(p, "<div class=\"cols\">\n<div class=\"facts\">\n");
    put_advice(p, graph);
    put(p, "<div class=\"card\"><h2>");
    if (p->certificate->n_graphs > 1) {
        put(p, "Graph ");
        qp_html_string(p->out, bounds->role);
        put(p, ": ");
    }
    put(p, "What goes in and comes out</h2>\n");
    put_ends(p, bounds);
    put(p, "</div>\n");
    put_rooms(p, graph);
    put(p, "</div>\n");
    put_picture(p, graph);
    put(p, "</div>\n<div class=\"card\"><h2>Every value of every operator</h2>\n");
    for (uint32_t i = 0; i < bounds->graph->n_nodes; i++)
        put_operator(p, graph, i);
    put(p, "</div>\n");
}

/* ---- the page ----------------------------------------------------------------------------- */

static void find_failures(qp_page *p)
{
    for (size_t g = 0; g < p->certificate->n_graphs; g++)
        for (int profile = QP_ACC32; profile <= QP_ACC64; profile++) {
            qp_failure failure;
            bool fails =
                qp_graph_failure(&p->certificate->graphs[g], (qp_profile)profile, &failure);
            bool node = fails && strcmp(failure.where, "node") == 0;
            p->failures[g].node[profile] = node ? (int64_t)failure.index : -1;
        }
}

/* Opens the list entry that a link leads to; without it the link leads there all the same. */
static const char open_target[] =
    "<script>function o(){var d=document.getElementById(location.hash.slice(1));"
    "if(d)d.open=true}addEventListener('hashchange',o);o()</script>\n";

void qp_certify_html(const qp_certificate *certificate, const char *title, qp_buffer *page)
{
    size_t n_graphs = certificate->n_graphs;
    qp_page p = {.certificate = certificate, .axis = choose_axis(certificate), .out = page};

    qp_buffer_init(&p.text, NULL);
    p.failures = qp_allocate(NULL, n_graphs, sizeof *p.failures);
    if (p.failures == NULL) {
        page->failed = true;
        return;
    }
    find_failures(&p);
    put_head(&p, title);
    put_certificate_digest(&p);
    put_verdict(&p);
    for (size_t g = 0; g < n_graphs; g++)
        put_graph(&p, g);
    put(&p, "<p class=\"soft small\">Made by quipu ");
    qp_html_string(page, qp_version());
    put(&p, ". The certificate is a function of the graph's bytes alone: anyone can compute it "
            "again and compare the digest.</p>\n</main>\n");
    put(&p, open_target);
    put(&p, "</body></html>\n");
    page->failed |= p.text.failed;
    qp_buffer_free(&p.text);
    qp_release(NULL, p.failures, n_graphs, sizeof *p.failures);
}
