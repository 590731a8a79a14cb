/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_method_cases.c - the cases of test/data/ninfer that name a method: every processor mask
 * gives the encoded bytes, or the refusal.
 */
#include "base/json.h"
#include "method_test.h"

#define CASES_MAX 256

typedef struct one_case {
    qp_json_value json;
    char id[64], format[32], method[32], refusal[32]; /* refusal "" when it must pass */
    uint64_t shape[QP_SHAPE_RANK_MAX], divisors;
    uint32_t rank;
} one_case;

static struct {
    qp_file file;
    qp_json json;
    size_t count;
    one_case cases[CASES_MAX];
} all;

static void copy_member(qp_json_value object, const char *name, char *text, size_t size)
{
    qp_json_value value;
    text[0] = '\0';
    if (qp_json_find(object, name, &value))
        assert_int_equal(qp_json_copy_string(value, text, size, NULL), QP_OK);
}

static void read_case(qp_json_value json, one_case *c)
{
    qp_json_value value, dimension;
    c->json = json;
    copy_member(json, "id", c->id, sizeof c->id);
    copy_member(json, "format", c->format, sizeof c->format);
    copy_member(json, "method", c->method, sizeof c->method);
    copy_member(json, "refusal", c->refusal, sizeof c->refusal);
    c->divisors = 1;
    if (qp_json_find(json, "divisors", &value))
        assert_int_equal(qp_json_get_u64(value, &c->divisors, NULL), QP_OK);
    assert_int_equal(qp_json_member(json, "shape", QP_JSON_ARRAY, &value, NULL), QP_OK);
    qp_json_iterator i = qp_json_iterate(value);
    for (c->rank = 0; qp_json_next(&i, &dimension); c->rank++)
        assert_int_equal(qp_json_get_u64(dimension, &c->shape[c->rank], NULL), QP_OK);
}

static int open_cases(void **state)
{
    qp_json_value cases, value;
    (void)state;
    all.file = format_open("ninfer", "index.json");
    qp_json_init(&all.json, NULL);
    assert_int_equal(qp_json_parse(&all.json, all.file.bytes, all.file.size, NULL), QP_OK);
    assert_true(qp_json_find(qp_json_root(&all.json), "cases", &cases));
    for (qp_json_iterator i = qp_json_iterate(cases); qp_json_next(&i, &value);) {
        assert_true(all.count < CASES_MAX);
        read_case(value, &all.cases[all.count++]);
    }
    return 0;
}

static int close_cases(void **state)
{
    (void)state;
    qp_json_free(&all.json);
    qp_file_close(&all.file);
    return 0;
}

/* The file of the input of that role, and its element type; size 0 without one. */
static qp_file open_input(const one_case *c, const char *role, char dtype[16])
{
    qp_json_value inputs, input, value;
    qp_file none = {.size = 0};
    assert_true(qp_json_find(c->json, "inputs", &inputs));
    for (qp_json_iterator i = qp_json_iterate(inputs); qp_json_next(&i, &input);) {
        char name[96];
        assert_true(qp_json_find(input, "role", &value));
        if (!qp_json_equals(value, role))
            continue;
        copy_member(input, "file", name, sizeof name);
        copy_member(input, "dtype", dtype, 16);
        return format_open("ninfer", name);
    }
    return none;
}

static float *floats_of(const qp_file *file)
{
    float *values = format_values(file->size / 4 + 1);
    for (size_t i = 0; i < file->size / 4; i++)
        values[i] = qp_float_of_bits(qp_load_u32(file->bytes + 4 * i));
    return values;
}

static bool flag(const one_case *c, const char *name)
{
    qp_json_value parameters, value;
    bool set = false;
    if (qp_json_find(c->json, "parameters", &parameters) && qp_json_find(parameters, name, &value))
        assert_int_equal(qp_json_get_bool(value, &set, NULL), QP_OK);
    return set;
}

static void compare_encoded(const one_case *c, const qp_matrix *target, const qp_word_planes *words)
{
    qp_json_value encoded;
    char name[96];
    assert_true(qp_json_find(c->json, "encoded", &encoded));
    copy_member(encoded, "file", name, sizeof name);
    qp_file file = format_open("ninfer", name);
    uint8_t *bytes = format_pack(target, words);
    assert_int_equal(file.size, target->bytes);
    if (memcmp(bytes, file.bytes, file.size) != 0)
        fail_msg("%s: the encoded bytes differ", c->id);
    free(bytes);
    qp_file_close(&file);
}

static void check_outcome(const one_case *c, const qp_matrix *target, qp_status status,
                          const qp_error *error, const qp_word_planes *words)
{
    if (c->refusal[0] == '\0') {
        if (status != QP_OK)
            fail_msg("%s: %s", c->id, error->message);
        compare_encoded(c, target, words);
    } else if (status == QP_OK || error->check == NULL || strcmp(error->check, c->refusal) != 0) {
        fail_msg("%s: %s instead of %s", c->id, status == QP_OK ? "success" : error->message,
                 c->refusal);
    }
}

/* The inputs of a case, as a job and its rows. */
static void run_on_masks(const one_case *c, const qp_matrix *target, qp_method_job job,
                         qp_method_rows rows)
{
    for (size_t m = 0; m < TEST_COUNT(method_masks); m++) {
        qp_error error = {.status = QP_OK};
        rows.words = format_words(target, target->rows);
        job.cpu = method_mask(m);
        qp_status status = job.encoding != NULL ? qp_method_prepare(&job, &error) : QP_OK;
        rows.count = target->rows;
        if (job.encoding == NULL)
            status = method_run(job, &rows, m % 2 == 0 ? target->rows : 1, &error);
        else if (status == QP_OK)
            status = qp_method_encode(&job, &rows, &error);
        check_outcome(c, target, status, &error, &rows.words);
        format_words_free(&rows.words);
    }
}

static void run_values(const one_case *c, const qp_matrix *target, qp_method_job job)
{
    char dtype[16];
    qp_file in = open_input(c, "in", dtype), importance = open_input(c, "importance", dtype);
    float *values = floats_of(&in), *weights = floats_of(&importance);

    job.element = qp_element_find("F32");
    job.negative_scales = flag(c, "negative_scales");
    if (importance.size == 4 * target->columns)
        job.importance = weights;
    else
        assert_true(importance.size == 0 || strcmp(c->refusal, "importance_length") == 0);
    if (strcmp(c->refusal, "importance_length") != 0) /* which the caller looks at */
        run_on_masks(c, target, job, (qp_method_rows){.values = values, .elements = in.bytes});
    free(values);
    free(weights);
    qp_file_close(&in);
    if (importance.size != 0)
        qp_file_close(&importance);
}

static void run_encoded(const one_case *c, const qp_matrix *target, qp_method_job job)
{
    char dtype[16] = "", ignored[16];
    qp_file planes[4] = {open_input(c, "codes", ignored), open_input(c, "scales", ignored),
                         open_input(c, "divisors", ignored), open_input(c, "blocks", dtype)};
    uint8_t *copies[4];
    for (size_t i = 0; i < 4; i++) {
        copies[i] = format_bytes(planes[i].size);
        if (planes[i].size > 0)
            memcpy(copies[i], planes[i].bytes, planes[i].size);
    }
    bool blocks = planes[3].size > 0;
    job.encoding = !blocks                           ? c->format
                   : strcmp(dtype, "ggml_q8_0") == 0 ? "gguf_q8_0"
                                                     : "gguf_q2_0";
    qp_word_planes encoded = {copies[blocks ? 3 : 0], copies[1], copies[2]};
    run_on_masks(c, target, job, (qp_method_rows){.encoded = encoded});
    for (size_t i = 0; i < 4; i++) {
        free(copies[i]);
        if (planes[i].size > 0)
            qp_file_close(&planes[i]);
    }
}

/* Whether the geometry of the case is one; a refusal of it must be the expected one. */
static bool plan_case(const one_case *c, qp_matrix *target)
{
    qp_status status = qp_matrix_plan(qp_format_find(c->format), NULL, c->shape, c->rank,
                                      c->divisors, target, NULL);
    assert_int_equal(status != QP_OK, strcmp(c->refusal, "geometry") == 0);
    return status == QP_OK;
}

static void test_cases(void **state)
{
    size_t run = 0;
    (void)state;
    for (size_t i = 0; i < all.count; i++) {
        const one_case *c = &all.cases[i];
        qp_matrix target;
        qp_method_job job = {.method = qp_method_find(c->method), .target = &target};
        if (job.method == NULL || !plan_case(c, &target))
            continue;
        run++;
        if (job.method->input == QP_INPUT_ENCODED)
            run_encoded(c, &target, job);
        else
            run_values(c, &target, job);
    }
    assert_true(run >= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, open_cases, close_cases);
}
