/* SPDX-License-Identifier: Apache-2.0 */
/* one_operator.c - graphs of one operator. */
#include "support/one_operator.h"

#include "support/guard.h"

/* ---- making ------------------------------------------------------------------------------- */

test_operator test_operator_make(unsigned opcode)
{
    test_operator op = {.opcode = opcode};
    qp_buffer_init(&op.params, NULL);
    return op;
}

void test_operator_input(test_operator *op, qp_shape shape, int64_t lo, int64_t hi,
                         const int64_t *values)
{
    assert_true(op->n_in < TEST_INPUTS_MAX);
    op->in[op->n_in++] = (test_input){shape, lo, hi, values};
}

void test_operator_output(test_operator *op, uint32_t channels)
{
    assert_true(op->n_out < QP_OUTPUTS_MAX);
    op->out_channels[op->n_out++] = channels;
}

void test_operator_scalar(test_operator *op, int64_t lo, int64_t hi, int64_t value)
{
    assert_true(op->n_scalars < TEST_INPUTS_MAX);
    op->ranges[op->n_scalars] = (qp_range){lo, hi};
    op->scalars[op->n_scalars++] = value;
}

void test_operator_free(test_operator *op)
{
    qp_buffer_free(&op->params);
}

void test_u32(test_operator *op, size_t count, const uint32_t *values)
{
    for (size_t i = 0; i < count; i++)
        qp_buffer_le(&op->params, values[i], 4);
}

void test_plain_rq(test_operator *op, unsigned shift, qp_round round)
{
    int64_t one_shift = shift;
    qp_writer_rq(&op->params, &(qp_rq_values){.round = round,
                                              .shift_kind = QP_KIND_ONE,
                                              .shift = &one_shift,
                                              .channels = 1});
}

void test_write(const test_operator *op, qp_buffer *bytes)
{
    qp_graph_writer writer;
    uint32_t in[TEST_INPUTS_MAX], out[QP_OUTPUTS_MAX];

    qp_graph_writer_init(&writer, NULL);
    for (uint32_t k = 0; k < op->n_in; k++) {
        const test_input *input = &op->in[k];
        in[k] =
            qp_writer_tensor(&writer, &(qp_graph_tensor_record){.channels = input->shape.channels,
                                                                .exponent = QP_EXPONENT_NONE,
                                                                .policy = QP_CHECK,
                                                                .lo = input->lo,
                                                                .hi = input->hi});
        qp_writer_input(&writer, &(qp_graph_input_record){.tensor = in[k],
                                                          .max_h = input->shape.height,
                                                          .max_w = input->shape.width});
    }
    for (uint32_t k = 0; k < op->n_out; k++) {
        out[k] =
            qp_writer_tensor(&writer, &(qp_graph_tensor_record){.channels = op->out_channels[k],
                                                                .exponent = QP_EXPONENT_NONE});
        qp_writer_output(&writer, out[k]);
    }
    for (uint32_t k = 0; k < op->n_scalars; k++)
        qp_writer_scalar(&writer, op->ranges[k].lo, op->ranges[k].hi);
    qp_buffer *params = qp_writer_begin_operator(&writer, op->opcode, in, op->n_in, out, op->n_out);
    qp_buffer_append(params, op->params.bytes, op->params.size);
    qp_writer_end_operator(&writer);
    assert_int_equal(qp_graph_writer_finish(&writer, QP_ELEMENTS_MAX, bytes, NULL), QP_OK);
    qp_graph_writer_free(&writer);
}

test_run test_load(const test_operator *op)
{
    test_run run = {0};
    qp_error error;

    qp_buffer_init(&run.bytes, NULL);
    test_write(op, &run.bytes);
    if (qp_graph_load(run.bytes.bytes, run.bytes.size, NULL, &run.graph, &error) != QP_OK ||
        qp_certify(run.graph, NULL, &run.certificate, &error) != QP_OK)
        fail_msg("%s", error.message);
    return run;
}

void test_run_free(test_run *run)
{
    for (unsigned k = 0; k < QP_OUTPUTS_MAX; k++)
        free(run->out[k]);
    qp_certificate_free(run->certificate);
    qp_graph_free(run->graph);
    qp_buffer_free(&run->bytes);
}

/* ---- running ------------------------------------------------------------------------------ */

void test_decode(const test_operator *op, test_run *run)
{
    qp_array inputs[TEST_INPUTS_MAX];
    qp_session *session;
    qp_error error;

    for (uint32_t k = 0; k < op->n_in; k++) {
        const test_input *in = &op->in[k];
        inputs[k] =
            (qp_array){in->values, QP_INT64, in->shape.channels, in->shape.height, in->shape.width};
    }
    if (qp_session_create(run->certificate, &(qp_session_options){.profile = QP_ACC64}, NULL,
                          &session, &error) != QP_OK ||
        qp_session_decode(session, inputs, op->n_in, op->scalars, op->n_scalars, &error) != QP_OK)
        fail_msg("%s", error.message);
    for (uint32_t k = 0; k < op->n_out; k++) {
        qp_array array;
        assert_int_equal(qp_session_output(session, k, &array), QP_OK);
        size_t total = (size_t)qp_array_elements(&array);
        run->shape[k] = (qp_shape){array.channels, array.height, array.width};
        run->out[k] = calloc(total, sizeof(int64_t));
        assert_non_null(run->out[k]);
        qp_array_read(&array, 0, total, run->out[k]);
    }
    qp_session_free(session);
}

static void fill_tensor(void *data, qp_storage storage, const int64_t *values, size_t count)
{
    qp_output output = {{data, storage, {1, 1, (uint32_t)count}}, QP_DERIVED, INT64_MIN, INT64_MAX};
    qp_evaluation e = {.out = &output};
    assert_int_equal(qp_emit(&e, 0, 0, values, count), QP_OK);
}

static uint64_t scratch_words(const test_operator *op, const test_run *run,
                              const qp_tensor *tensors)
{
    const qp_node *node = &run->graph->nodes[0];
    qp_shape shapes[TEST_INPUTS_MAX];
    for (uint32_t k = 0; k < op->n_in; k++)
        shapes[k] = tensors[k].shape;
    qp_plan plan = {node->params, shapes, op->n_in, op->scalars, op->ranges};
    return node->op->scratch == NULL ? 0 : node->op->scratch(&plan, run->shape);
}

void test_evaluate_framed(const test_operator *op, const test_run *run, qp_storage storage)
{
    const qp_node *node = &run->graph->nodes[0];
    test_guarded in[TEST_INPUTS_MAX], out[QP_OUTPUTS_MAX];
    qp_tensor tensors[TEST_INPUTS_MAX];
    qp_output outputs[QP_OUTPUTS_MAX];

    for (uint32_t k = 0; k < op->n_in; k++) {
        size_t count = (size_t)qp_shape_elements(&op->in[k].shape);
        in[k] = test_guard(count * qp_storage_bytes(storage));
        fill_tensor(in[k].data, storage, op->in[k].values, count);
        tensors[k] = (qp_tensor){in[k].data, storage, op->in[k].shape};
    }
    for (uint32_t k = 0; k < op->n_out; k++) {
        out[k] = test_guard((size_t)qp_shape_elements(&run->shape[k]) * sizeof(int64_t));
        outputs[k] = (qp_output){
            {out[k].data, QP_STORAGE_I64, run->shape[k]}, QP_DERIVED, INT64_MIN, INT64_MAX};
    }
    test_guarded scratch = test_guard((size_t)scratch_words(op, run, tensors) * sizeof(int64_t));
    qp_refusal refusal;
    qp_evaluation e = {.params = node->params,
                       .in = tensors,
                       .n_in = op->n_in,
                       .out = outputs,
                       .scalars = op->scalars,
                       .scratch = (int64_t *)scratch.data,
                       .refusal = &refusal};
    assert_int_equal(node->op->evaluate(&e), QP_OK);
    for (uint32_t k = 0; k < op->n_out; k++) {
        size_t bytes = (size_t)qp_shape_elements(&run->shape[k]) * sizeof(int64_t);
        assert_memory_equal(out[k].data, run->out[k], bytes);
        test_unguard(&out[k]);
    }
    for (uint32_t k = 0; k < op->n_in; k++)
        test_unguard(&in[k]);
    test_unguard(&scratch);
}

static bool holds(const test_operator *op, qp_storage storage)
{
    static const qp_range ranges[] = {
        [QP_STORAGE_I8] = {INT8_MIN, INT8_MAX},    [QP_STORAGE_U8] = {0, UINT8_MAX},
        [QP_STORAGE_I16] = {INT16_MIN, INT16_MAX}, [QP_STORAGE_U16] = {0, UINT16_MAX},
        [QP_STORAGE_I32] = {INT32_MIN, INT32_MAX}, [QP_STORAGE_U32] = {0, UINT32_MAX},
        [QP_STORAGE_I64] = {INT64_MIN, INT64_MAX},
    };
    for (uint32_t k = 0; k < op->n_in; k++)
        if (op->in[k].lo < ranges[storage].lo || op->in[k].hi > ranges[storage].hi)
            return false;
    return true;
}

void test_expect(const test_operator *op, uint32_t k, qp_shape shape, const int64_t *expected)
{
    test_run run = test_load(op);
    test_decode(op, &run);
    assert_memory_equal(&run.shape[k], &shape, sizeof shape);
    for (size_t i = 0; i < qp_shape_elements(&shape); i++)
        if (run.out[k][i] != expected[i])
            fail_msg("%s: element %zu of output %u is %lld, not %lld", run.graph->nodes[0].op->name,
                     i, k, (long long)run.out[k][i], (long long)expected[i]);
    for (qp_storage storage = QP_STORAGE_I8; storage <= QP_STORAGE_I64; storage++)
        if (holds(op, storage))
            test_evaluate_framed(op, &run, storage);
    test_run_free(&run);
}
