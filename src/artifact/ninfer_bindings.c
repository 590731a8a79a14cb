/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ninfer_bindings.c - the components, bindings and uses of a .ninfer directory
 * (artifact-container.md sections 3.4 to 3.6): references are checked, values are the binder's.
 */
#include "artifact/ninfer_directory.h"

/* A member's name that is an ID, for searches. */
typedef struct name_record {
    const char *name;
} name_record;

typedef struct name_set {
    name_record *records;
    uint32_t *order;
    size_t count;
} name_set;

static qp_named named_of(const name_set *set)
{
    return (qp_named){set->records, set->count, sizeof *set->records};
}

/* The names of an object's members, each an ID, in their order. The reader of the JSON text has
 * seen to it that none is there twice. */
static qp_status read_names(ninfer_directory *directory, qp_json_value object, name_set *set,
                            qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(object);
    qp_json_value name, value;
    qp_status status = QP_OK;

    set->count = 0;
    set->records =
        qp_arena_allocate(&directory->arena, qp_json_count(object), sizeof *set->records);
    if (set->records == NULL)
        return qp_fail_memory(error, "a set of names");
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &value))
        status = qp_ninfer_keep_id(directory, &directory->arena, name,
                                   &set->records[set->count++].name, error);
    if (status != QP_OK)
        return status;
    qp_named named = named_of(set);
    set->order = qp_named_order(&directory->arena, &named);
    return set->order != NULL ? QP_OK : qp_fail_memory(error, "the order of names");
}

/* The place of a name in a set, or the set's count: C-ID where it is no ID. */
static qp_status find_name(ninfer_directory *directory, const name_set *set, qp_json_value value,
                           size_t *index, qp_error *error)
{
    qp_named named = named_of(set);
    const char *id;
    qp_status status = qp_ninfer_id(directory, value, &id, error);
    if (status == QP_OK)
        *index = qp_named_find(&named, set->order, id);
    return status;
}

/* ---- components ----------------------------------------------------------------------------- */

static qp_status check_resources(ninfer_directory *directory, qp_json_value resources,
                                 qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(resources);
    qp_json_value role, value;
    const ninfer_object *object;
    const char *id;
    qp_status status = QP_OK;

    if (qp_json_kind_of(resources) != QP_JSON_OBJECT)
        return qp_json_fail_check(resources, error, "C-RESOURCES",
                                  "`resources` is an object, not %s",
                                  qp_json_kind_name(qp_json_kind_of(resources)));
    while (status == QP_OK && qp_json_next_member(&iterator, &role, &value)) {
        status = qp_ninfer_id(directory, role, &id, error);
        if (status == QP_OK)
            status = qp_ninfer_reference(directory, value, false, &object, error);
    }
    return status;
}

static qp_status check_proposal(qp_json_value component, qp_json_value proposal, qp_error *error)
{
    static const ninfer_member members[] = {{"domain", true}, {"rows", false}};
    qp_json_value values[2];
    uint64_t rows;

    if (!qp_json_equals(component, "text"))
        return qp_json_fail_check(proposal, error, "C-PROPOSAL",
                                  "only the component `text` has a proposal");
    qp_status status = qp_ninfer_members(proposal, members, 2, values, error);
    if (status != QP_OK)
        return status;
    bool full = qp_json_equals(values[0], "full"), has_rows = values[1].json != NULL;
    if (!full && !qp_json_equals(values[0], "indexed"))
        return qp_json_fail_check(values[0], error, "C-PROPOSAL",
                                  "a proposal's domain is \"full\" or \"indexed\"");
    if (full == has_rows)
        return qp_json_fail_check(proposal, error, "C-PROPOSAL",
                                  "a proposal has rows when its domain is indexed, and only then");
    return has_rows ? qp_ninfer_u64(values[1], true, &rows, error) : QP_OK;
}

static qp_status check_component(ninfer_directory *directory, const name_set *names,
                                 qp_json_value name, qp_json_value record, qp_error *error)
{
    static const ninfer_member members[] = {
        {"config", true}, {"target", false}, {"resources", false}, {"proposal", false}};
    qp_json_value values[4];
    size_t target = 0;

    qp_status status = qp_ninfer_members(record, members, 4, values, error);
    if (status == QP_OK && qp_json_kind_of(values[0]) != QP_JSON_OBJECT)
        return qp_json_fail_check(values[0], error, "C-CONFIG", "`config` is an object, not %s",
                                  qp_json_kind_name(qp_json_kind_of(values[0])));
    if (status == QP_OK && values[1].json != NULL)
        status = find_name(directory, names, values[1], &target, error);
    if (status == QP_OK && target == names->count)
        return qp_json_fail_check(values[1], error, "C-TARGET",
                                  "there is no component of that name");
    if (status == QP_OK && values[2].json != NULL)
        status = check_resources(directory, values[2], error);
    if (status == QP_OK && values[3].json != NULL)
        status = check_proposal(name, values[3], error);
    return status;
}

qp_status qp_ninfer_components(ninfer_directory *directory, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(directory->components);
    qp_json_value name, record;
    name_set names;

    if (qp_json_kind_of(directory->components) != QP_JSON_OBJECT)
        return qp_json_fail_check(directory->components, error, "C-COMPONENTS",
                                  "`components` is an object, not %s",
                                  qp_json_kind_name(qp_json_kind_of(directory->components)));
    qp_status status = read_names(directory, directory->components, &names, error);
    if (status == QP_OK && names.count == 0)
        return qp_json_fail_check(directory->components, error, "C-COMPONENTS",
                                  "there is no component");
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &record))
        status = check_component(directory, &names, name, record, error);
    return status;
}

/* ---- bindings ------------------------------------------------------------------------------- */

static qp_status read_range(qp_json_value value, uint64_t elements, uint64_t *length,
                            qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(value);
    qp_json_value end;
    uint64_t ends[2] = {0, 0};
    size_t count = 0;
    bool integers = qp_json_kind_of(value) == QP_JSON_ARRAY;

    while (integers && qp_json_next(&iterator, &end)) {
        integers = count < 2 && qp_json_get_u64(end, &ends[count], NULL) == QP_OK;
        count++;
    }
    if (!integers || count != 2)
        return qp_json_fail_check(value, error, "C-RANGE", "a range is an array of two integers");
    if (ends[0] >= ends[1] || ends[1] > elements)
        return qp_json_fail_check(value, error, "C-RANGE",
                                  "the range is empty or ends behind the tensor's elements");
    *length = ends[1] - ends[0];
    return QP_OK;
}

static qp_status check_part(ninfer_directory *directory, qp_json_value part, uint64_t *total,
                            qp_error *error)
{
    static const ninfer_member members[] = {{"object", true}, {"range", true}};
    const ninfer_object *object;
    qp_json_value values[2];
    uint64_t length = 0;

    qp_status status = qp_ninfer_members(part, members, 2, values, error);
    if (status == QP_OK)
        status = qp_ninfer_reference(directory, values[0], true, &object, error);
    if (status == QP_OK)
        status = read_range(values[1], object->elements, &length, error);
    if (status == QP_OK && !qp_add_u64(*total, length, total))
        return qp_json_fail_check(part, error, "C-INT", "the parts have over 2^64 - 1 elements");
    return status;
}

static qp_status check_parts(ninfer_directory *directory, qp_json_value parts, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(parts);
    qp_json_value part;
    qp_status status = QP_OK;
    uint64_t total = 0;

    if (qp_json_kind_of(parts) == QP_JSON_ARRAY) {
        while (status == QP_OK && qp_json_next(&iterator, &part))
            status = check_part(directory, part, &total, error);
    }
    if (status == QP_OK && total == 0)
        return qp_json_fail_check(parts, error, "C-PARTS",
                                  "`parts` is an array of one part or more");
    return status;
}

/* The whole of one tensor, or parts of several. */
static qp_status check_binding(ninfer_directory *directory, qp_json_value binding, qp_error *error)
{
    static const ninfer_member whole = {"object", true}, parts = {"parts", true};
    const ninfer_object *object;
    qp_json_value value;

    bool in_parts = qp_json_find(binding, "parts", &value);
    qp_status status = qp_ninfer_members(binding, in_parts ? &parts : &whole, 1, &value, error);
    if (status != QP_OK)
        return status;
    return in_parts ? check_parts(directory, value, error)
                    : qp_ninfer_reference(directory, value, true, &object, error);
}

static qp_status check_bindings(ninfer_directory *directory, name_set *names, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(directory->bindings);
    qp_json_value name, binding;

    if (qp_json_kind_of(directory->bindings) != QP_JSON_OBJECT)
        return qp_json_fail_check(directory->bindings, error, "C-BINDINGS",
                                  "`bindings` is an object, not %s",
                                  qp_json_kind_name(qp_json_kind_of(directory->bindings)));
    qp_status status = read_names(directory, directory->bindings, names, error);
    while (status == QP_OK && qp_json_next_member(&iterator, &name, &binding))
        status = check_binding(directory, binding, error);
    return status;
}

/* ---- uses ----------------------------------------------------------------------------------- */

typedef struct use_record {
    size_t parameter; /* its binding */
    const char *input;
    qp_json_value record;
} use_record;

static bool policy_is_known(qp_json_value value)
{
    static const char *const policies[] = {"A16Only", "AllowA8", "AllowA4"};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        if (qp_json_equals(value, policies[i]))
            return true;
    }
    return false;
}

static qp_status check_auxiliaries(ninfer_directory *directory, qp_json_value auxiliaries,
                                   qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(auxiliaries);
    qp_json_value role, binding;
    const char *id;
    qp_status status = QP_OK;

    if (qp_json_kind_of(auxiliaries) != QP_JSON_OBJECT)
        return qp_json_fail_check(auxiliaries, error, "C-AUX", "`auxiliaries` is an object, not %s",
                                  qp_json_kind_name(qp_json_kind_of(auxiliaries)));
    while (status == QP_OK && qp_json_next_member(&iterator, &role, &binding)) {
        status = qp_ninfer_id(directory, role, &id, error);
        if (status == QP_OK)
            status = check_binding(directory, binding, error);
    }
    return status;
}

static qp_status read_use(ninfer_directory *directory, const name_set *parameters,
                          qp_json_value record, use_record *use, qp_error *error)
{
    static const ninfer_member members[] = {
        {"parameter", true}, {"input", true}, {"activation_policy", false}, {"auxiliaries", false}};
    qp_json_value values[4];

    use->record = record;
    qp_status status = qp_ninfer_members(record, members, 4, values, error);
    if (status == QP_OK)
        status = find_name(directory, parameters, values[0], &use->parameter, error);
    if (status == QP_OK && use->parameter == parameters->count)
        return qp_json_fail_check(values[0], error, "C-USEPARAM",
                                  "no binding has the name of this parameter");
    if (status == QP_OK)
        status = qp_ninfer_keep_id(directory, &directory->arena, values[1], &use->input, error);
    if (status == QP_OK && values[2].json != NULL && !policy_is_known(values[2]))
        return qp_json_fail_check(values[2], error, "C-POLICY",
                                  "an activation policy is A16Only, AllowA8 or AllowA4");
    if (status == QP_OK && values[3].json != NULL)
        status = check_auxiliaries(directory, values[3], error);
    return status;
}

static bool use_not_after(const void *context, uint32_t a, uint32_t b)
{
    const use_record *uses = context;
    if (uses[a].parameter != uses[b].parameter)
        return uses[a].parameter < uses[b].parameter;
    return strcmp(uses[a].input, uses[b].input) <= 0;
}

/* The uses of a directory; the table grows with what has been read. */
typedef struct use_table {
    use_record *records;
    size_t count, capacity;
} use_table;

/* The first use whose parameter and input an earlier one has. */
static qp_status check_repeated(ninfer_directory *directory, const use_table *uses, qp_error *error)
{
    uint32_t *order = qp_arena_allocate(&directory->arena, uses->count, sizeof *order);
    uint32_t *scratch = qp_arena_allocate(&directory->arena, uses->count, sizeof *scratch);
    size_t repeated = uses->count;

    if (order == NULL || scratch == NULL)
        return qp_fail_memory(error, "the order of the uses");
    for (size_t i = 0; i < uses->count; i++)
        order[i] = (uint32_t)i;
    qp_sort_indices(order, scratch, uses->count, use_not_after, uses->records);
    for (size_t i = 1; i < uses->count; i++) {
        if (order[i] < repeated && use_not_after(uses->records, order[i], order[i - 1]))
            repeated = order[i];
    }
    if (repeated == uses->count)
        return QP_OK;
    return qp_json_fail_check(uses->records[repeated].record, error, "C-DUPUSE",
                              "an earlier use has this parameter and input");
}

static qp_status add_use(ninfer_directory *directory, const name_set *parameters,
                         qp_json_value record, use_table *uses, qp_error *error)
{
    use_record *grown = qp_table_grow(&directory->artifact->allocator, uses->records,
                                      &uses->capacity, uses->count, sizeof *grown);
    if (grown == NULL)
        return qp_fail_memory(error, "a table of uses");
    uses->records = grown;
    return read_use(directory, parameters, record, &grown[uses->count++], error);
}

qp_status qp_ninfer_bindings_and_uses(ninfer_directory *directory, qp_error *error)
{
    qp_json_iterator iterator = qp_json_iterate(directory->uses);
    qp_json_value record;
    name_set parameters;
    use_table uses = {0};

    qp_status status = check_bindings(directory, &parameters, error);
    if (status != QP_OK)
        return status;
    if (qp_json_kind_of(directory->uses) != QP_JSON_ARRAY)
        return qp_json_fail_check(directory->uses, error, "C-USES", "`uses` is an array, not %s",
                                  qp_json_kind_name(qp_json_kind_of(directory->uses)));
    while (status == QP_OK && qp_json_next(&iterator, &record))
        status = add_use(directory, &parameters, record, &uses, error);
    if (status == QP_OK)
        status = check_repeated(directory, &uses, error);
    qp_release(&directory->artifact->allocator, uses.records, uses.capacity, sizeof *uses.records);
    return status;
}
