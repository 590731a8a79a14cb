/* SPDX-License-Identifier: Apache-2.0 */
/* open_set.c - see open_set.h. */
#include "cli/open_set.h"

#include "cli/model.h"

static qp_status open_files(const char *path, const qp_set_options *options, qp_opened_set *opened,
                            qp_error *error)
{
    qp_status status = qp_set_files_open(path, options->capability, &opened->files, error);
    if (status == QP_OK)
        status = qp_set_open(opened->files.members, opened->files.count, options, NULL,
                             &opened->set, error);
    if (status != QP_OK)
        qp_opened_set_close(opened);
    return status;
}

static qp_status open_model(const qp_model *model, const qp_set_options *options,
                            qp_opened_set *opened, qp_error *error)
{
    return qp_set_open(model->members, model->n_set, options, NULL, &opened->set, error);
}

/* The quality whose set has that digest. */
static qp_status find_model(const qp_set_options *options, qp_opened_set *opened, qp_error *error)
{
    qp_set_options plain = *options;
    plain.pin = NULL; /* a pin is checked where the set is found */
    for (int i = 0; i < QP_MODELS; i++) {
        if (qp_models[i].count == 0 || open_model(&qp_models[i], &plain, opened, error) != QP_OK)
            continue;
        qp_status status = QP_OK;
        if (options->pin != NULL)
            status = qp_lowered_require(qp_set_lowered(opened->set), options->pin, error);
        if (status != QP_OK)
            qp_opened_set_close(opened);
        return status;
    }
    return qp_fail(error, QP_MODEL_MISMATCH,
                   "it needs the set %s, which is not in this command; name its directory with "
                   "--set",
                   options->sha256);
}

static bool is_zero(const char *sha256)
{
    return strspn(sha256, "0") == strlen(sha256);
}

qp_status qp_opened_set_find(const char *path, const qp_container *wanted, const qp_pin *pin,
                             qp_opened_set *opened, qp_error *error)
{
    qp_set_options options = {
        .capability = wanted->capability, .pin = pin, .sha256 = wanted->set_sha256};
    *opened = (qp_opened_set){0};
    if (is_zero(wanted->set_sha256))
        return QP_OK;
    return path == NULL ? find_model(&options, opened, error)
                        : open_files(path, &options, opened, error);
}

qp_status qp_opened_set_open(const char *path, const char *capability, int quality,
                             const qp_pin *pin, qp_opened_set *opened, qp_error *error)
{
    qp_set_options options = {.capability = capability, .pin = pin};
    *opened = (qp_opened_set){0};
    if (qp_set_path(capability, 0) == NULL)
        return QP_OK;
    if (path != NULL)
        return open_files(path, &options, opened, error);
    if (qp_models[quality - 1].count == 0)
        return qp_fail(error, QP_MODEL_MISMATCH,
                       "this command was built without a model of quality %d; name a directory "
                       "with --set",
                       quality);
    return open_model(&qp_models[quality - 1], &options, opened, error);
}

void qp_opened_set_close(qp_opened_set *opened)
{
    qp_set_close(opened->set);
    opened->set = NULL;
    qp_set_files_close(&opened->files);
}

qp_status qp_cli_pin(const char *path, qp_pin *pin, qp_error *error)
{
    qp_file file;
    qp_status status = qp_cli_read(path, &file, error);
    if (status != QP_OK)
        return status;
    status = qp_pin_read(file.bytes, file.size, NULL, pin, error);
    qp_file_close(&file);
    return status;
}

bool qp_cli_quality(const char *text, int *quality)
{
    if (text[0] < '1' || text[0] > '0' + QP_MODELS || text[1] != '\0')
        return false;
    *quality = text[0] - '0';
    return true;
}
