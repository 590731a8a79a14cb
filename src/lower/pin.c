/* SPDX-License-Identifier: Apache-2.0 */
/* pin.c - pins: canonical JSON that names a set and what the sender claims of it. */
#include "base/json.h"
#include "quipu/lower.h"

/* Every member is printable ASCII, so that the certificate's rule of strings holds for it. */
static qp_status read_text(qp_json_value root, const char *name, char *text, size_t size,
                           qp_error *error)
{
    qp_json_value value;
    qp_status status = qp_json_member(root, name, QP_JSON_STRING, &value, error);
    if (status == QP_OK)
        status = qp_json_copy_string(value, text, size, error);
    for (const char *c = text; status == QP_OK && *c != '\0'; c++)
        if (*c < 0x20 || *c > 0x7E)
            status = qp_json_fail(value, error, "a string is not printable ASCII");
    return status;
}

static qp_status read_profile(qp_json_value root, qp_pin *pin, qp_error *error)
{
    qp_json_value value;
    if (!qp_json_find(root, "ops_profile", &value))
        return QP_OK;
    pin->has_ops_profile = 1;
    for (int p = QP_ACC32; p <= QP_ACC64; p++)
        if (qp_json_equals(value, qp_profile_name((qp_profile)p))) {
            pin->ops_profile = (qp_profile)p;
            return QP_OK;
        }
    return qp_json_fail(value, error, "a profile is \"acc32\" or \"acc64\"");
}

static qp_status check_digest(const qp_pin *pin, qp_error *error)
{
    size_t digits = strspn(pin->sha256, "0123456789abcdef");
    if (digits == 64 && pin->sha256[64] == '\0')
        return QP_OK;
    return qp_fail(error, QP_MALFORMED, "sha256 is not 64 lower-case hexadecimal digits");
}

static qp_status read_members(qp_json_value root, qp_pin *pin, qp_error *error)
{
    qp_json_value value;
    qp_status status =
        read_text(root, "capability", pin->capability, sizeof pin->capability, error);
    if (status == QP_OK)
        status = read_text(root, "sha256", pin->sha256, sizeof pin->sha256, error);
    if (status == QP_OK)
        status = check_digest(pin, error);
    if (status == QP_OK)
        status = read_profile(root, pin, error);
    if (status == QP_OK && qp_json_find(root, "tier", &value))
        status = read_text(root, "tier", pin->tier, sizeof pin->tier, error);
    return status;
}

/* The one text that says what the pin says (section 8.5). */
static void put_canonical(const qp_pin *pin, bool has_tier, qp_buffer *text)
{
    qp_buffer_text(text, "{\"capability\":");
    qp_buffer_json_string(text, pin->capability, strlen(pin->capability));
    if (pin->has_ops_profile)
        qp_buffer_format(text, ",\"ops_profile\":\"%s\"", qp_profile_name(pin->ops_profile));
    qp_buffer_format(text, ",\"sha256\":\"%s\"", pin->sha256);
    if (has_tier) {
        qp_buffer_text(text, ",\"tier\":");
        qp_buffer_json_string(text, pin->tier, strlen(pin->tier));
    }
    qp_buffer_text(text, "}");
}

static qp_status check_canonical(const qp_json *json, const qp_pin *pin, qp_error *error)
{
    qp_buffer text;
    qp_json_value value;
    qp_buffer_init(&text, &json->allocator);
    put_canonical(pin, qp_json_find(qp_json_root(json), "tier", &value), &text);
    bool same =
        !text.failed && text.size == json->size && memcmp(text.bytes, json->text, text.size) == 0;
    qp_status status = QP_OK;
    if (text.failed)
        status = qp_fail_memory(error, "a pin");
    else if (!same)
        status = qp_fail(error, QP_MALFORMED,
                         "a pin is canonical JSON: its members in order, no other, and no space");
    qp_buffer_free(&text);
    return status;
}

qp_status qp_pin_read(const void *bytes, size_t size, const qp_allocator *allocator, qp_pin *pin,
                      qp_error *error)
{
    qp_json json;
    qp_pin read = {0};
    qp_json_init(&json, allocator);
    qp_status status = qp_json_parse(&json, bytes, size, error);
    if (status == QP_OK)
        status = read_members(qp_json_root(&json), &read, error);
    if (status == QP_OK)
        status = check_canonical(&json, &read, error);
    qp_json_free(&json);
    if (status == QP_OK)
        *pin = read;
    if (status != QP_MALFORMED && status != QP_TOO_LARGE)
        return status;
    if (error != NULL)
        error->status = QP_MODEL_MISMATCH;
    return QP_MODEL_MISMATCH;
}
