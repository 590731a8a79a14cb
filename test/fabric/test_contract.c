/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_contract.c - resource contracts (section 9): words and hashes of the exact instances, the
 * codec, and every rule of a record.
 */
#include "capability_support.h"

#define VECTORS "integer_element_widths = [8,16], float_element_formats = [], max_payload_bits = 32"

typedef struct instance_row {
    op_text op;
    size_t size;
    const char *sha256;
} instance_row;

static const instance_row rows[] = {
    {{"ScalarIntegerAddSub", "arith.addi", "32,32", "32", "integer_widths = [32]"},
     120,
     "015822b23dedcfbb5743c4c4b4ec820883911ff125c93c1ed845acad12276e4a"},
    {{"FixedVectorParallelize", "dataflow.parallelize", "16,1", "32,4,1", VECTORS},
     380,
     "4020e187a50af4aaac43161071ff3eea9ce044c9ba53cab52f594fdfca32bae8"},
    {{"FixedVectorSerialize", "dataflow.serialize", "32,4,1", "16,1", VECTORS},
     256,
     "4f625c6e10493d23783793085ac5db0bfb10c82499183041521347e2ae60a7d0"},
    {{"LoopCarry", "dataflow.carry", "1,32,32", "32", ""},
     188,
     "bd85caab1f962087dad2f35248de1508d6e10ea16f06b568f2b70ded1bb5036d"},
    {{"LoopInvariant", "dataflow.invariant", "1,32", "32", ""},
     188,
     "bd85caab1f962087dad2f35248de1508d6e10ea16f06b568f2b70ded1bb5036d"},
    {{"LoopGate", "dataflow.gate", "1,32", "1,32", ""},
     236,
     "090c8007ef771f55c49d676399ca2d723228b22ed1486eed7fcd76a303719e14"},
    {{"LoopStream", "dataflow.stream", "32,32,32", "32,1",
      "integer_widths = [32], step_kind = add, predicates = [slt]"},
     300,
     "7591f0efe21f1c0155d6fbea05912729002293a58dd1036cae733de1ad1fb441"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* The instance's bytes of a row. */
static qp_buffer instance(op_case *c, const instance_row *row)
{
    qp_buffer buffer;

    *c = seal_op(&row->op, NULL);
    assert_sealed(c);
    qp_buffer_init(&buffer, NULL);
    qp_fabric_put_contract(&buffer, &c->capability.contract);
    assert_false(buffer.failed);
    return buffer;
}

static uint32_t word_of(const qp_buffer *buffer, size_t word)
{
    const uint8_t *p = buffer->bytes + 4 * word;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The elastic contract word for word. */
static void test_elastic_words(void **state)
{
    static const uint32_t words[] = {1, 1, 1, 0, 1, 1, 3, 0, 1, 1, 1, 0, 0, 0, 2,
                                     1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 3, 0};
    op_case c;
    qp_buffer buffer = instance(&c, &rows[0]);
    (void)state;

    assert_int_equal(buffer.size, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_int_equal(word_of(&buffer, i), words[i]);
    qp_buffer_free(&buffer);
    free_op(&c);
}

static void anchor_17_contracts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        op_case c;
        qp_buffer buffer = instance(&c, &rows[i]), again;
        qp_fabric_contract contract;
        assert_int_equal(buffer.size, rows[i].size);
        assert_sha256(buffer.bytes, buffer.size, rows[i].sha256);
        assert_int_equal(
            qp_fabric_get_contract(buffer.bytes, buffer.size, &c.arena, &contract, NULL), QP_OK);
        qp_buffer_init(&again, NULL);
        qp_fabric_put_contract(&again, &contract);
        assert_int_equal(again.size, buffer.size);
        assert_memory_equal(again.bytes, buffer.bytes, buffer.size);
        assert_int_equal(
            qp_fabric_match_contract(c.node, buffer.bytes, buffer.size, &c.arena, NULL), QP_OK);
        qp_buffer_free(&again);
        qp_buffer_free(&buffer);
        free_op(&c);
    }
}

/* The instance of one family under another family: a valid record that nobody provides. */
static void anchor_17_other_shapes_are_unsupported(void **state)
{
    op_case c, other;
    (void)state;

    for (size_t i = 0; i < ROWS; i++) {
        qp_buffer buffer = instance(&c, &rows[i]);
        for (size_t k = 0; k < ROWS; k++) {
            qp_buffer unused = instance(&other, &rows[k]);
            const bool same = strcmp(rows[i].sha256, rows[k].sha256) == 0;
            const qp_status status = qp_fabric_match_contract(other.node, buffer.bytes, buffer.size,
                                                              &other.arena, &other.error);
            assert_int_equal(status, same ? QP_OK : QP_MODEL_MISMATCH);
            if (!same)
                assert_int_equal(other.error.fault, QP_FABRIC_UNSUPPORTED);
            qp_buffer_free(&unused);
            free_op(&other);
        }
        qp_buffer_free(&buffer);
        free_op(&c);
    }
}

/* One word changed: another valid record (Unsupported), or none at all (Invalid), never this one.
 * A capacity of 2, for one, is valid. */
static void anchor_17_changed_words(void **state)
{
    static const uint32_t values[] = {0, 1, 2, 3, 4, 5, UINT32_MAX};
    size_t unsupported = 0;
    (void)state;

    for (size_t i = 0; i < ROWS; i++) {
        op_case c;
        qp_buffer buffer = instance(&c, &rows[i]);
        for (size_t word = 0; word < buffer.size / 4; word++) {
            uint8_t kept[4];
            memcpy(kept, buffer.bytes + 4 * word, 4);
            for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
                for (unsigned b = 0; b < 4; b++)
                    buffer.bytes[4 * word + b] = (uint8_t)(values[k] >> (24 - 8 * b));
                if (memcmp(kept, buffer.bytes + 4 * word, 4) == 0)
                    continue;
                qp_arena arena;
                qp_arena_init(&arena, NULL);
                const qp_status status =
                    qp_fabric_match_contract(c.node, buffer.bytes, buffer.size, &arena, &c.error);
                qp_arena_free(&arena);
                assert_int_not_equal(status, QP_OK);
                unsupported += c.error.fault == QP_FABRIC_UNSUPPORTED;
            }
            memcpy(buffer.bytes + 4 * word, kept, 4);
        }
        for (size_t size = 0; size < buffer.size; size++)
            assert_int_equal(
                qp_fabric_match_contract(c.node, buffer.bytes, size, &c.arena, &c.error),
                QP_MALFORMED);
        qp_buffer_append(&buffer, "\0\0\0\0", 4);
        assert_int_equal(
            qp_fabric_match_contract(c.node, buffer.bytes, buffer.size, &c.arena, &c.error),
            QP_MALFORMED);
        qp_buffer_free(&buffer);
        free_op(&c);
    }
    assert_true(unsupported > 0);
}

/* The capacity of the elastic result slot changed to two. */
static void anchor_17_capacity_of_two(void **state)
{
    op_case c;
    qp_buffer buffer = instance(&c, &rows[0]);
    (void)state;

    buffer.bytes[4 * 2 + 3] = 2;
    assert_int_equal(
        qp_fabric_match_contract(c.node, buffer.bytes, buffer.size, &c.arena, &c.error),
        QP_MODEL_MISMATCH);
    assert_int_equal(c.error.fault, QP_FABRIC_UNSUPPORTED);
    qp_buffer_free(&buffer);
    free_op(&c);
}

/* ---- the rules of a record ---------------------------------------------------------------- */

/* A record of two requesters, each on a state of its own, that tests change a little. */
typedef struct record {
    qp_fabric_capacity capacities[2];
    qp_fabric_contract_state states[2];
    uint32_t ranks[3];
    qp_fabric_word_list timings[1];
    qp_fabric_claim claims[2][2];
    uint32_t references[1];
    qp_fabric_word_list transactions[1];
    qp_fabric_slot_schema parameters[1];
    qp_fabric_pattern patterns[2];
    uint32_t order[2];
    qp_fabric_contract contract;
} record;

static void make_record(record *r)
{
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; i < 2; i++) {
        r->capacities[i] = (qp_fabric_capacity){2, 1};
        r->states[i] = (qp_fabric_contract_state){1, &r->capacities[i]};
        r->claims[i][0] = (qp_fabric_claim){i, 0, 2};
        r->patterns[i] = (qp_fabric_pattern){.requester = i,
                                             .eligibility = i,
                                             .release = 2,
                                             .commits = true,
                                             .commit_event = 1,
                                             .commit_transition = i,
                                             .claim_count = 1,
                                             .claims = r->claims[i]};
        r->order[i] = 1 - i;
    }
    r->ranks[1] = r->ranks[2] = 1;
    r->timings[0] = (qp_fabric_word_list){3, r->ranks};
    r->transactions[0] = (qp_fabric_word_list){1, r->references};
    r->patterns[0].transaction_count = 1;
    r->patterns[0].transactions = r->transactions;
    r->parameters[0] = (qp_fabric_slot_schema){0, 8};
    r->patterns[1].parameter_count = r->patterns[1].sharing_count = 1;
    r->patterns[1].parameters = r->patterns[1].sharing = r->parameters;
    r->contract = (qp_fabric_contract){.state_count = 2,
                                       .states = r->states,
                                       .transition_count = 2,
                                       .timing_count = 1,
                                       .timings = r->timings,
                                       .pattern_count = 2,
                                       .patterns = r->patterns,
                                       .requester_count = 2,
                                       .eligibility_count = 2,
                                       .event_count = 3,
                                       .grant = QP_FABRIC_GRANT_CYCLE,
                                       .grant_order = {2, r->order},
                                       .reset_cursor = 1};
}

/* The check and the codec agree: what is valid round-trips, what is not does not decode. */
static void assert_record(const record *r, bool valid)
{
    qp_buffer buffer, again;
    qp_fabric_contract contract;
    qp_fabric_error error;
    qp_arena arena;
    const qp_status expected = valid ? QP_OK : QP_MALFORMED;

    qp_arena_init(&arena, NULL);
    qp_buffer_init(&buffer, NULL);
    qp_buffer_init(&again, NULL);
    assert_int_equal(qp_fabric_check_contract(&r->contract, NULL, &error), expected);
    qp_fabric_put_contract(&buffer, &r->contract);
    assert_int_equal(qp_fabric_get_contract(buffer.bytes, buffer.size, &arena, &contract, &error),
                     expected);
    if (valid) {
        qp_fabric_put_contract(&again, &contract);
        assert_int_equal(buffer.size, again.size);
        assert_memory_equal(buffer.bytes, again.bytes, again.size);
    } else {
        assert_int_equal(error.fault, QP_FABRIC_INVALID);
    }
    qp_buffer_free(&again);
    qp_buffer_free(&buffer);
    qp_arena_free(&arena);
}

/* The record as it is made, with each grant that it may have. */
static void test_valid_records(void **state)
{
    record r;
    (void)state;

    make_record(&r);
    assert_record(&r, true);
    r.contract.grant = QP_FABRIC_GRANT_FIXED;
    r.contract.reset_cursor = 0;
    assert_record(&r, true);
    r.contract.grant = QP_FABRIC_GRANT_NONE; /* nobody contends */
    r.contract.grant_order = (qp_fabric_word_list){0, NULL};
    assert_record(&r, true);
    r.patterns[1].commits = false; /* a pattern without a commit, its transition another's */
    r.patterns[0].commit_transition = 0;
    r.contract.transition_count = 1;
    r.patterns[1].commit_event = r.patterns[1].commit_transition = 0;
    assert_record(&r, true);
}

#define BREAKS(statement)                                                                          \
    do {                                                                                           \
        make_record(&r);                                                                           \
        statement;                                                                                 \
        assert_record(&r, false);                                                                  \
    } while (0)

static void test_broken_records(void **state)
{
    record r;
    (void)state;

    BREAKS(r.capacities[0].initial_occupancy = 3);
    BREAKS(r.claims[0][0].amount = 0);
    BREAKS(r.claims[0][0].amount = 3);
    BREAKS(r.claims[0][0].state = 2);
    BREAKS(r.claims[0][0].dimension = 1);
    BREAKS((r.patterns[0].claim_count = 2, r.claims[0][1] = r.claims[0][0]));
    BREAKS(r.timings[0].count = 2);
    BREAKS(r.ranks[0] = 2);
    BREAKS(r.ranks[1] = 2);
    BREAKS(r.patterns[0].requester = 2);
    BREAKS(r.patterns[0].eligibility = 2);
    BREAKS(r.patterns[0].acquire = 3);
    BREAKS(r.patterns[0].release = 3);
    BREAKS(r.patterns[0].commit_event = 3);
    BREAKS(r.patterns[0].commit_transition = 2);
    BREAKS(r.patterns[0].timing = 1);
    BREAKS(r.references[0] = 1);
    BREAKS(r.parameters[0].kind = 1);
    BREAKS(r.parameters[0].width = 0);
    BREAKS(r.patterns[0].requester = 1); /* requester 0 is used by nobody */
    BREAKS(r.patterns[0].eligibility = 1);
    BREAKS(r.patterns[0].commit_transition = 1);
    BREAKS(r.contract.requester_count = 3);
    BREAKS(r.contract.eligibility_count = UINT32_MAX);
    BREAKS(r.contract.transition_count = 3);
    BREAKS(r.contract.reset_cursor = 2);
    BREAKS(r.order[0] = 0);
    BREAKS(r.order[0] = 2);
    BREAKS(r.contract.grant_order.count = 1);
}

/* Without a policy two requesters may not claim one dimension; with one they may. */
static void test_contention(void **state)
{
    record r;
    (void)state;

    make_record(&r);
    r.claims[1][0].state = 0;
    assert_record(&r, true);
    r.contract.grant = QP_FABRIC_GRANT_NONE;
    r.contract.grant_order = (qp_fabric_word_list){0, NULL};
    r.contract.reset_cursor = 0;
    assert_record(&r, false);
    r.patterns[1].requester = 0; /* one requester alone */
    r.contract.requester_count = 1;
    assert_record(&r, true);
}

/* Counts that the bytes cannot hold are refused before anything is made for them. */
static void test_hostile_counts(void **state)
{
    (void)state;
    for (size_t word = 0; word < 30; word++) {
        op_case c;
        qp_buffer buffer = instance(&c, &rows[0]);
        qp_fabric_contract contract;
        memset(buffer.bytes + 4 * word, 0xff, 4);
        failing_allocator memory = failing_allocator_make(0);
        const qp_allocator allocator = failing_allocator_use(&memory);
        qp_arena arena;
        qp_arena_init(&arena, &allocator);
        const qp_status status =
            qp_fabric_get_contract(buffer.bytes, buffer.size, &arena, &contract, NULL);
        assert_true(status == QP_OK || status == QP_MALFORMED);
        assert_true(memory.high_water < 65536);
        qp_arena_free(&arena);
        qp_buffer_free(&buffer);
        free_op(&c);
    }
}

static void test_failing_allocator(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        op_case c;
        qp_buffer buffer = instance(&c, &rows[i]);
        for (size_t k = 1;; k++) {
            failing_allocator memory = failing_allocator_make(k);
            const qp_allocator allocator = failing_allocator_use(&memory);
            qp_arena arena;
            qp_arena_init(&arena, &allocator);
            const qp_status status =
                qp_fabric_match_contract(c.node, buffer.bytes, buffer.size, &arena, &c.error);
            qp_arena_free(&arena);
            assert_int_equal(memory.blocks, 0);
            assert_false(memory.has_fault);
            assert_int_equal(status, memory.has_failed ? QP_NO_MEMORY : QP_OK);
            if (!memory.has_failed)
                break;
        }
        qp_buffer_free(&buffer);
        free_op(&c);
    }
}

/* Serialize's M is of the record: floor(max_payload_bits / narrowest element), whatever the
 * ports. */
static void test_serialize_slots(void **state)
{
    static const struct {
        const char *params;
        uint32_t lanes;
    } cases[] = {
        {"integer_element_widths = [8,16], float_element_formats = [], max_payload_bits = 39", 4},
        {"integer_element_widths = [16], float_element_formats = [f16], max_payload_bits = 48", 3},
        {"integer_element_widths = [], float_element_formats = [f32,f64], max_payload_bits = 64",
         2},
        {"integer_element_widths = [1], float_element_formats = [], max_payload_bits = 65536",
         65536},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const op_text op = {"FixedVectorSerialize", "dataflow.serialize", "64,2,1", "64,1",
                            cases[i].params};
        op_case c = seal_op(&op, NULL);
        assert_sealed(&c);
        assert_int_equal(c.capability.contract.pattern_count, 2);
        assert_int_equal(c.capability.contract.patterns[0].transaction_count, cases[i].lanes);
        assert_int_equal(c.capability.contract.patterns[1].transaction_count, 1);
        free_op(&c);
    }
}

/* An actor of two lanes on hardware for four: admitted, and the contract keeps four slots. That
 * lanes 2 and 3 are never looked at is the simulator's test. */
static void anchor_14_two_lanes_on_four(void **state)
{
    static const char graph[] =
        "graph g { input %t : none\n"
        "%v = dataflow.constant %t { value = [1,2] } : (none) -> (vector<2xi8>)\n"
        "%m = dataflow.constant %t { value = [1,1] } : (none) -> (vector<2xi1>)\n"
        "%p = dataflow.constant %t { value = 1 } : (none) -> (i1)\n"
        "%d, %q = dataflow.serialize %v, %m, %p : (vector<2xi8>,vector<2xi1>,i1) -> (i8,i1)\n"
        "output %d output %q }";
    op_case c = seal_op(&rows[2].op, graph);
    (void)state;

    assert_sealed(&c);
    project_actor(&c, 3);
    assert_int_equal(c.capability.contract.patterns[0].transaction_count, 4);
    free_op(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elastic_words),
        cmocka_unit_test(anchor_17_contracts),
        cmocka_unit_test(anchor_17_other_shapes_are_unsupported),
        cmocka_unit_test(anchor_17_changed_words),
        cmocka_unit_test(anchor_17_capacity_of_two),
        cmocka_unit_test(test_valid_records),
        cmocka_unit_test(test_broken_records),
        cmocka_unit_test(test_contention),
        cmocka_unit_test(test_hostile_counts),
        cmocka_unit_test(test_failing_allocator),
        cmocka_unit_test(test_serialize_slots),
        cmocka_unit_test(anchor_14_two_lanes_on_four),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
