/* SPDX-License-Identifier: Apache-2.0 */
/* conform.c - one line of a vector file: its graph's load and verdict, then its decodes. */
#include "conform/stage_line.h"

void qp_conform_init(qp_conform *conform, const qp_allocator *allocator)
{
    *conform = (qp_conform){.allocator = qp_allocator_or_default(allocator)};
    qp_json_init(&conform->json, &conform->allocator);
    qp_buffer_init(&conform->graph, &conform->allocator);
    qp_buffer_init(&conform->values, &conform->allocator);
    qp_buffer_init(&conform->verdict, &conform->allocator);
}

void qp_conform_free(qp_conform *conform)
{
    qp_json_free(&conform->json);
    qp_buffer_free(&conform->graph);
    qp_buffer_free(&conform->values);
    qp_buffer_free(&conform->verdict);
}

/* One line while it runs. */
typedef struct line_run {
    qp_conform *conform;
    const qp_conform_rules *rules;
    qp_conform_result *result;
    qp_graph *graph;
    qp_certificate *certificate;
    qp_error refusal; /* where the load is refused */
} line_run;

/* ---- the load (section 10.5) -------------------------------------------------------------- */

/* Loads and certifies the line's graph. *outcome is QP_OK or the refusal; the status is the
 * program's. Profiles are not looked at. */
static qp_status load(line_run *run, qp_status *outcome, qp_error *error)
{
    const qp_buffer *bytes = &run->conform->graph;
    const qp_allocator *allocator = &run->conform->allocator;

    *outcome = qp_graph_load(bytes->bytes, bytes->size, allocator, &run->graph, &run->refusal);
    if (*outcome == QP_OK && run->rules->max_elements > 0 &&
        qp_graph_describe(run->graph).max_elems > run->rules->max_elements) {
        run->result->outcome = QP_CONFORM_PASSED_OVER;
        return QP_OK;
    }
    if (*outcome == QP_OK)
        *outcome = qp_certify(run->graph, allocator, &run->certificate, &run->refusal);
    if (*outcome == QP_OK || *outcome == QP_MODEL_MISMATCH || *outcome == QP_TOO_LARGE)
        return QP_OK;
    if (error != NULL)
        *error = run->refusal;
    return *outcome == QP_NO_MEMORY ? QP_NO_MEMORY : QP_INTERNAL;
}

static qp_status check_load(const line_run *run, qp_json_value load_value, qp_status outcome,
                            qp_error *error)
{
    const char *text;
    size_t size;
    const char *found = outcome == QP_OK ? "ok" : qp_status_token(outcome);

    if (!qp_line_string(load_value, &text, &size))
        return qp_json_expect(load_value, QP_JSON_STRING, error);
    if (size == strlen(found) && memcmp(text, found, size) == 0)
        return QP_OK;
    int shown = (int)(size < 40 ? size : 40);
    if (outcome == QP_OK)
        return qp_fail(error, QP_MALFORMED, "load: expected %.*s, but the graph loads", shown,
                       text);
    return qp_fail(error, QP_MALFORMED, "load: expected %.*s, got %s (%.140s)", shown, text, found,
                   run->refusal.message);
}

/* ---- profiles ----------------------------------------------------------------------------- */

/* Profiles as a set: bit QP_ACC32 and bit QP_ACC64. */
static const char *set_name(unsigned set)
{
    static const char *const names[] = {"none", "acc32", "acc64", "acc32 and acc64"};
    return names[set & 3];
}

static qp_status read_profiles(qp_json_value value, unsigned *set, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value element;

    qp_status status = qp_json_expect(value, QP_JSON_ARRAY, error);
    *set = 0;
    while (status == QP_OK && qp_json_next(&iterator, &element)) {
        bool is_acc64 = qp_json_equals(element, qp_profile_name(QP_ACC64));
        unsigned bit = 1u << (is_acc64 ? QP_ACC64 : QP_ACC32);
        if (!is_acc64 && !qp_json_equals(element, qp_profile_name(QP_ACC32)))
            return qp_json_fail(element, error, "a profile that is neither acc32 nor acc64");
        if (*set >= bit)
            return qp_json_fail(element, error, "profiles not in ascending order");
        *set |= bit;
    }
    return status;
}

/* A refused load is every profile's; one that is not lists what its verdict meets (14.1). */
static unsigned own_profiles(const line_run *run, qp_status outcome)
{
    unsigned set = 0;
    if (outcome != QP_OK)
        return 1u << QP_ACC32 | 1u << QP_ACC64;
    if (qp_certificate_meets(run->certificate, QP_ACC32, NULL))
        set |= 1u << QP_ACC32;
    if (qp_certificate_meets(run->certificate, QP_ACC64, NULL))
        set |= 1u << QP_ACC64;
    return set;
}

/* Checks the line's profiles; *tagged says whether the rules ask for the vector. */
static qp_status check_profiles(const line_run *run, qp_json_value value, qp_status outcome,
                                bool *tagged, qp_error *error)
{
    unsigned given, own = own_profiles(run, outcome);
    qp_status status = read_profiles(value, &given, error);
    if (status != QP_OK)
        return status;
    if (given != own)
        return qp_fail(error, QP_MALFORMED, "profiles: expected %s, got %s%s", set_name(given),
                       set_name(own), outcome == QP_OK ? "" : ", for a refused load");
    *tagged = !run->rules->one_profile || (given >> run->rules->profile & 1) != 0;
    return QP_OK;
}

/* ---- the accelerator subset's line (section 14.5) ----------------------------------------- */

/* Keeps the end of the canonical certificate from the verdict's "npu" on: the same members, in the
 * same spelling, as in npu.jsonl. */
static qp_status keep_npu(line_run *run, qp_error *error)
{
    static const char mark[] = ",\"npu\":";
    const size_t length = sizeof mark - 1;
    qp_buffer *verdict = &run->conform->verdict;
    char *json;
    size_t size;

    qp_status status =
        qp_certificate_json(run->certificate, &run->conform->allocator, &json, &size, error);
    if (status != QP_OK)
        return status;
    size_t start = size - length;
    while (start > 0 && memcmp(json + start, mark, length) != 0)
        start--;
    verdict->size = 0;
    verdict->failed = false;
    qp_buffer_append(verdict, json + start + 1, size - start - 2); /* one brace less */
    qp_bytes_free(&run->conform->allocator, json, size);
    if (verdict->failed)
        return qp_fail_memory(error, "a line of npu.jsonl");
    run->result->npu = (const char *)verdict->bytes;
    run->result->npu_size = verdict->size;
    return QP_OK;
}

/* ---- the forms ---------------------------------------------------------------------------- */

static qp_status check_operator(const line_run *run, qp_error *error)
{
    const char *name = run->rules->operator_name;
    if (name == NULL || (qp_graph_describe(run->graph).n_operators == 1 &&
                         strcmp(qp_graph_operator(run->graph, 0).name, name) == 0))
        return QP_OK;
    return qp_fail(error, QP_MALFORMED, "the graph is not one %.40s, the operator of this file",
                   name);
}

static qp_status run_decodes(line_run *run, qp_json_value decodes, qp_error *error)
{
    const qp_conform_rules *rules = run->rules;
    qp_session_options options = {.profile = rules->one_profile ? rules->profile : QP_ACC64};
    qp_session *session;

    qp_status status =
        qp_session_create(run->certificate, &options, &run->conform->allocator, &session, error);
    if (status != QP_OK)
        return status == QP_NO_MEMORY ? status : QP_INTERNAL;
    status = qp_conform_decodes(run->conform, session, decodes, error);
    qp_session_free(session);
    return status;
}

static qp_status run_vector(line_run *run, qp_json_value root, qp_error *error)
{
    static const char *const names[] = {"decodes", "graph", "id", "load", "profiles"};
    qp_json_value members[5];
    qp_status outcome = QP_OK;
    bool tagged = false;

    qp_status status = qp_line_members(root, names, 5, members, error);
    if (status == QP_OK)
        status = qp_json_expect(members[0], QP_JSON_ARRAY, error);
    if (status == QP_OK)
        status = qp_line_hex(members[1], &run->conform->graph, error);
    if (status == QP_OK)
        status = load(run, &outcome, error);
    if (status != QP_OK || run->result->outcome == QP_CONFORM_PASSED_OVER)
        return status;
    if (outcome == QP_OK)
        outcome = qp_certificate_require(run->certificate, QP_ACC64, NULL, 0, &run->refusal);
    if (outcome == QP_OK)
        status = keep_npu(run, error);
    if (status == QP_OK)
        status = check_load(run, members[3], outcome, error);
    if (status == QP_OK)
        status = check_profiles(run, members[4], outcome, &tagged, error);
    if (status != QP_OK)
        return status;
    if (outcome != QP_OK)
        return qp_json_count(members[0]) == 0
                   ? QP_OK
                   : qp_json_fail(members[0], error, "a refused load has no decodes");
    if (!tagged) {
        run->result->outcome = QP_CONFORM_PASSED_OVER;
        return QP_OK;
    }
    status = check_operator(run, error);
    return status != QP_OK ? status : run_decodes(run, members[0], error);
}

/* The bytes of the first member's value: from its start to the comma before the second's name. */
static qp_status compare_certificate(line_run *run, qp_json_value root, qp_error *error)
{
    const qp_json *json = &run->conform->json;
    qp_json_iterator iterator = qp_json_iterate(root);
    qp_json_value name, value, next;
    char *own;
    size_t size, i = 0;

    (void)qp_json_next_member(&iterator, &name, &value);
    (void)qp_json_next(&iterator, &next);
    size_t start = (size_t)(qp_json_place_of(value).offset - json->first_offset);
    size_t given = (size_t)(qp_json_place_of(next).offset - json->first_offset) - 1 - start;
    const char *text = (const char *)json->text + start;

    qp_status status =
        qp_certificate_json(run->certificate, &run->conform->allocator, &own, &size, error);
    if (status != QP_OK)
        return status;
    while (i < size && i < given && own[i] == text[i])
        i++;
    if (i < size || i < given) {
        size_t from = i < 24 ? 0 : i - 24;
        status = qp_fail(error, QP_MALFORMED,
                         "the certificate differs at its byte %zu: expected ...%.*s, got ...%.*s",
                         i, (int)(given - from < 64 ? given - from : 64), text + from,
                         (int)(size - from < 64 ? size - from : 64), own + from);
    }
    qp_bytes_free(&run->conform->allocator, own, size);
    return status;
}

static qp_status run_certificate(line_run *run, qp_json_value root, qp_error *error)
{
    static const char *const names[] = {"certificate", "graph", "id"};
    qp_json_value members[3];
    qp_status outcome = QP_OK;

    qp_status status = qp_line_members(root, names, 3, members, error);
    if (status == QP_OK)
        status = qp_line_hex(members[1], &run->conform->graph, error);
    if (status == QP_OK)
        status = load(run, &outcome, error);
    if (status != QP_OK || run->result->outcome == QP_CONFORM_PASSED_OVER)
        return status;
    if (outcome != QP_OK)
        return qp_fail(error, QP_MALFORMED, "the graph has no certificate: %s (%.140s)",
                       qp_status_token(outcome), run->refusal.message);
    return compare_certificate(run, root, error);
}

/* ---- the line ----------------------------------------------------------------------------- */

/* Only a stage operator's line has the member "op". */
static bool is_stage(const qp_conform_rules *rules, qp_json_value root)
{
    qp_json_value op;
    if (rules->form == QP_CONFORM_VECTOR && rules->operator_name == NULL)
        return qp_json_find(root, "op", &op);
    return rules->form == QP_CONFORM_STAGE;
}

static qp_status run_line(line_run *run, const char *line, size_t size, qp_error *error)
{
    qp_conform_result *result = run->result;
    qp_json_value id;

    qp_status status = qp_line_parse(&run->conform->json, line, size, error);
    if (status != QP_OK)
        return status;
    qp_json_value root = qp_json_root(&run->conform->json);
    if (qp_json_find(root, "id", &id) && !qp_line_string(id, &result->id, &result->id_size))
        return qp_json_expect(id, QP_JSON_STRING, error);
    if (is_stage(run->rules, root))
        return qp_stage_line_check(root, run->rules->operator_name, &run->conform->allocator,
                                   error);
    return run->rules->form == QP_CONFORM_VECTOR ? run_vector(run, root, error)
                                                 : run_certificate(run, root, error);
}

qp_status qp_conform_line(qp_conform *conform, const qp_conform_rules *rules,
                          const qp_conform_text *text, qp_conform_result *result, qp_error *error)
{
    line_run run = {.conform = conform, .rules = rules, .result = result};
    qp_error found = {0};

    *result = (qp_conform_result){.outcome = QP_CONFORM_PASSED};
    conform->json.first_line = text->number;
    qp_status status = run_line(&run, text->line, text->size, &found);
    qp_certificate_free(run.certificate);
    qp_graph_free(run.graph);
    if (status == QP_OK)
        return QP_OK;
    if (status != QP_MALFORMED) {
        found.status = status;
        if (error != NULL)
            *error = found;
        return status;
    }
    result->outcome = QP_CONFORM_FAILED;
    memcpy(result->what, found.message, sizeof result->what);
    return QP_OK;
}
