/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_reader.c - any bytes: a graph is loaded or refused with a place in the file, in memory that
 * its length bounds; one that loads has one certificate; and one that meets acc64 runs alike in
 * memory of its own and in reused memory, every tensor within its certified interval.
 */
#include "bounds/bounds.h"
#include "quipu/run.h"

#include "../test/failing_allocator.h"

#define REQUIRE(condition) ((condition) ? (void)0 : __builtin_trap())

/* What a run may cost. */
enum { ELEMENTS_MAX = 1024, WORK_MAX = 1 << 20, SCRATCH_MAX = 1 << 16, INPUTS_MAX = 64 };

/* An arena's first chunk and the tables' heads, whatever the file's length. */
enum { FIXED_BYTES = 1 << 16, BYTES_A_BYTE = 64 };

/* ---- certificates ------------------------------------------------------------------------- */

static void hold_certificate(const qp_certificate *certificate, size_t size)
{
    const qp_graph *graph = certificate->graphs[0].graph;
    char *first, *second;
    size_t first_size, second_size;
    int64_t narrow[2], wide[2];
    uint32_t tensor = (uint32_t)(size % graph->n_tensors);

    REQUIRE(qp_certificate_json(certificate, NULL, &first, &first_size, NULL) == QP_OK);
    REQUIRE(qp_certificate_json(certificate, NULL, &second, &second_size, NULL) == QP_OK);
    REQUIRE(first_size == second_size && memcmp(first, second, first_size) == 0);
    qp_bytes_free(NULL, first, first_size);
    qp_bytes_free(NULL, second, second_size);

    int meets_acc32 = qp_certificate_meets(certificate, QP_ACC32, NULL);
    REQUIRE(!meets_acc32 || qp_certificate_meets(certificate, QP_ACC64, NULL));
    if (qp_certificate_admissible(certificate, 0, tensor, QP_ACC32, &narrow[0], &narrow[1])) {
        REQUIRE(qp_certificate_admissible(certificate, 0, tensor, QP_ACC64, &wide[0], &wide[1]));
        REQUIRE(wide[0] <= narrow[0] && narrow[1] <= wide[1]);
    }
}

/* ---- a decode ----------------------------------------------------------------------------- */

typedef struct attempt {
    const qp_graph *graph;
    qp_array arrays[INPUTS_MAX];
    int64_t values[INPUTS_MAX][ELEMENTS_MAX];
    int64_t scalars[INPUTS_MAX];
    size_t n_arrays;
    uint64_t seed;
} attempt;

static int64_t pick(attempt *a, int64_t lo, int64_t hi)
{
    a->seed = a->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t span = (uint64_t)hi - (uint64_t)lo;
    switch (a->seed >> 62) {
    case 0:
        return lo;
    case 1:
        return hi;
    default:
        return span == UINT64_MAX ? qp_to_i64(a->seed)
                                  : qp_to_i64((uint64_t)lo + (a->seed >> 8) % (span + 1));
    }
}

static qp_shape input_shape(const attempt *a, const qp_graph_input_record *input)
{
    bool sized = input->max_h != 0;
    return (qp_shape){a->graph->tensors[input->tensor].channels, sized ? input->max_h : 4,
                      sized ? input->max_w : 2};
}

/* False where the graph is too large to try. */
static bool make_inputs(attempt *a)
{
    const qp_graph *graph = a->graph;
    if (graph->n_inputs > INPUTS_MAX || graph->n_scalars > INPUTS_MAX)
        return false;
    for (uint32_t i = 0; i < graph->n_scalars; i++)
        a->scalars[i] = pick(a, graph->scalars[i].lo, graph->scalars[i].hi);
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        const qp_graph_input_record *input = &graph->inputs[i];
        const qp_graph_tensor_record *tensor = &graph->tensors[input->tensor];
        qp_shape shape = input_shape(a, input);
        uint64_t total = qp_shape_elements(&shape);
        if (total > ELEMENTS_MAX)
            return false;
        if (input->state)
            continue;
        for (size_t k = 0; k < total; k++)
            a->values[a->n_arrays][k] = pick(a, tensor->lo, tensor->hi);
        a->arrays[a->n_arrays] =
            (qp_array){a->values[a->n_arrays], QP_INT64, shape.channels, shape.height, shape.width};
        a->n_arrays++;
    }
    return true;
}

/* Whether one operator on these shapes is small work. */
static bool affordable(const attempt *a, const qp_node *node, const qp_shape *in,
                       const qp_shape *out)
{
    qp_plan plan = {node->params, in, node->n_in, NULL, a->graph->scalars};
    uint64_t read = node->params_bytes, written = 0;
    for (uint32_t k = 0; k < node->n_in; k++)
        read += qp_shape_elements(&in[k]);
    for (uint32_t k = 0; k < node->n_out; k++)
        written += qp_shape_elements(&out[k]);
    if (written > ELEMENTS_MAX || read * written > WORK_MAX)
        return false;
    return node->op->scratch == NULL || node->op->scratch(&plan, out) <= SCRATCH_MAX;
}

static bool is_small(const attempt *a)
{
    const qp_graph *graph = a->graph;
    qp_shape *shapes = calloc(graph->n_tensors, sizeof *shapes);
    bool small = shapes != NULL;

    for (uint32_t i = 0; small && i < graph->n_inputs; i++) {
        /* a state starts with the size of input 0 */
        shapes[graph->inputs[i].tensor] =
            input_shape(a, &graph->inputs[graph->inputs[i].state ? 0 : i]);
        shapes[graph->inputs[i].tensor].channels = graph->tensors[graph->inputs[i].tensor].channels;
    }
    for (uint32_t i = 0; small && i < graph->n_nodes; i++) {
        const qp_node *node = &graph->nodes[i];
        qp_shape in[QP_INPUTS_MAX], out[QP_OUTPUTS_MAX];
        const char *why;
        for (uint32_t k = 0; k < node->n_in; k++)
            in[k] = shapes[node->in[k]];
        if (qp_graph_plan_node(graph, node, in, a->scalars, out, &why) != QP_OK)
            break; /* the decode will be refused here */
        small = affordable(a, node, in, out);
        for (uint32_t k = 0; k < node->n_out; k++)
            shapes[node->out[k]] = out[k];
    }
    free(shapes);
    return small;
}

static void hold_tensors(const qp_session *session, const qp_graph_bounds *bounds)
{
    for (uint32_t t = 0; t < bounds->graph->n_tensors; t++) {
        qp_array array;
        REQUIRE(qp_session_tensor(session, t, &array) == QP_OK);
        for (size_t k = 0; k < qp_array_elements(&array); k++) {
            int64_t value;
            qp_array_read(&array, k, 1, &value);
            REQUIRE(qp_interval_contains_i128(&bounds->tensors[t], qp_i128_from_i64(value)));
        }
    }
}

static void hold_outputs(const qp_graph *graph, const qp_session *a, const qp_session *b)
{
    for (uint32_t o = 0; o < graph->n_outputs; o++) {
        qp_array x, y;
        REQUIRE(qp_session_output(a, o, &x) == QP_OK && qp_session_output(b, o, &y) == QP_OK);
        REQUIRE(x.type == y.type && qp_array_elements(&x) == qp_array_elements(&y));
        REQUIRE(memcmp(x.data, y.data, (size_t)qp_array_elements(&x) * qp_type_size(x.type)) == 0);
    }
}

static void decode_both(const qp_certificate *certificate, const attempt *a)
{
    qp_session_options options = {.profile = QP_ACC64};
    qp_session *reusing, *keeping;

    REQUIRE(qp_session_create(certificate, &options, NULL, &reusing, NULL) == QP_OK);
    options.keep_tensors = options.reference = 1;
    REQUIRE(qp_session_create(certificate, &options, NULL, &keeping, NULL) == QP_OK);
    for (int decode = 0; decode < 2; decode++) { /* the second reads carried states */
        qp_status first = qp_session_decode(reusing, a->arrays, a->n_arrays, a->scalars,
                                            a->graph->n_scalars, NULL);
        qp_status second = qp_session_decode(keeping, a->arrays, a->n_arrays, a->scalars,
                                             a->graph->n_scalars, NULL);
        REQUIRE(first == second && first != QP_INTERNAL && first != QP_INVALID_ARGUMENT);
        if (first != QP_OK)
            break;
        hold_tensors(keeping, &certificate->graphs[0]);
        hold_outputs(a->graph, reusing, keeping);
    }
    qp_session_free(reusing);
    qp_session_free(keeping);
}

static void run(const qp_certificate *certificate, size_t size)
{
    static attempt a;
    a.graph = certificate->graphs[0].graph;
    a.n_arrays = 0;
    a.seed = size;
    if (qp_certificate_meets(certificate, QP_ACC64, NULL) && make_inputs(&a) && is_small(&a))
        decode_both(certificate, &a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    failing_allocator memory = failing_allocator_make(0);
    qp_allocator allocator = failing_allocator_use(&memory);
    qp_graph *graph;
    qp_certificate *certificate = NULL;
    qp_error error = {.offset = -1};

    qp_status status = qp_graph_load(data, size, &allocator, &graph, &error);
    if (status == QP_OK)
        status = qp_certify(graph, &allocator, &certificate, &error);
    REQUIRE(status == QP_OK || status == QP_MODEL_MISMATCH || status == QP_TOO_LARGE);
    REQUIRE(error.offset <= (int64_t)size);
    if (status == QP_OK) {
        hold_certificate(certificate, size);
        run(certificate, size);
    }
    REQUIRE(memory.high_water <= FIXED_BYTES + BYTES_A_BYTE * size);
    qp_certificate_free(certificate);
    qp_graph_free(graph);
    REQUIRE(memory.blocks == 0 && !memory.has_fault);
    return 0;
}
