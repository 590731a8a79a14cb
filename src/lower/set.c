/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.c - parameter sets: which files each form has, a set's identity, and the checks of
 * integer-operators.md section 8.6 on its certificate.
 */
#include "base/json.h"
#include "lower/lower.h"

#define PATHS_MAX 11
#define GRAPH_SUFFIX ".whg1"

/* ---- forms -------------------------------------------------------------------------------- */

typedef struct form {
    const char *capability; /* NULL for a form that belongs to none */
    const char *lowering;   /* of that one; otherwise the registry says */
    qp_lower_fn *lower;
    const char *magic; /* of a form of one file, or NULL where a file alone does not tell */
    const char *paths[PATHS_MAX + 1];
    bool in_payload; /* the file came in a payload: there is no set */
} form;

/* Of forms with the same files the first is taken where no capability is named. */
static const form forms[] = {
    {"wai.neural.int_synth", NULL, qp_lower_int_synth, "{", {"int_synth.json"}, false},
    {"wai.neural.int_hyper",
     NULL,
     qp_lower_int_hyper,
     NULL,
     {"h_s.whm", "g_s.whm", "entropy.json"},
     false},
    {"wai.video.int_hyper",
     NULL,
     qp_lower_int_hyper,
     NULL,
     {"h_s.whm", "g_s.whm", "entropy.json"},
     false},
    {"wai.video.int_hyper.frame",
     NULL,
     qp_lower_int_hyper,
     NULL,
     {"h_s.whm", "g_s.whm", "entropy.json"},
     false},
    {"wai.world.model", NULL, qp_lower_world, NULL, {"T.whm", "g_s.whm"}, false},
    {"wai.splat.int_codec", NULL, qp_lower_splat, "WHM1", {"g_s.whm"}, false},
    {"wai.audio.int_codec", NULL, qp_lower_audio, "WAM1", {"g_s.wam"}, false},
    {"wai.neural.int_mlicpp", NULL, qp_lower_wmb1, "WMB1", {"model.wmb"}, false},
    {"wai.video.int_cond", NULL, qp_lower_wcb1, "WCB1", {"model.wcb"}, false},
    {"wai.video.int_cond.frame", NULL, qp_lower_wcb1, "WCB1", {"model.wcb"}, false},
    {"wai.image.jpegai",
     NULL,
     qp_lower_jpegai,
     NULL,
     {"norm.json", "weights/hs_y.json", "weights/hs_uv.json", "weights/hyp_y.json",
      "weights/hyp_uv.json", "weights/mcm0_y.json", "weights/mcm1_y.json", "weights/mcm2_y.json",
      "weights/mcm3_y.json", "weights/synth_y.json", "weights/synth_uv.json"},
     false},
    {"wai.image.int_cond_refine", NULL, qp_lower_correction, NULL, {"correction.whg1"}, true},
    {NULL, "sr2/1", qp_lower_sr2, "WSR1", {"prior.wsr"}, false},
    {NULL, "whg1", qp_lower_graphs, "WHG1", {NULL}, false},
};
#define FORMS (sizeof forms / sizeof *forms)

static size_t count_paths(const form *f)
{
    size_t n = 0;
    while (f->paths[n] != NULL)
        n++;
    return n;
}

static const form *form_of(const char *capability)
{
    for (size_t i = 0; i < FORMS; i++)
        if (forms[i].capability != NULL && strcmp(forms[i].capability, capability) == 0)
            return &forms[i];
    return NULL;
}

const char *qp_set_path(const char *capability, size_t index)
{
    for (size_t i = 0; i < FORMS; i++) {
        const form *f = &forms[i];
        bool asked =
            capability == NULL || (f->capability != NULL && strcmp(f->capability, capability) == 0);
        if (!asked)
            continue;
        size_t n = count_paths(f);
        if (index < n)
            return f->paths[index];
        index -= n;
    }
    return NULL;
}

static const qp_member *find_member(const qp_lower_job *job, const char *path)
{
    for (size_t i = 0; i < job->n_members; i++)
        if (strcmp(job->members[i].path, path) == 0)
            return &job->members[i];
    return NULL;
}

static bool is_complete(const qp_lower_job *job, const form *f)
{
    for (size_t i = 0; f->paths[i] != NULL; i++)
        if (find_member(job, f->paths[i]) == NULL)
            return false;
    return f->paths[0] != NULL;
}

static bool is_path(const form *f, const char *path)
{
    for (size_t i = 0; f->paths[i] != NULL; i++)
        if (strcmp(f->paths[i], path) == 0)
            return true;
    return false;
}

/* Whether the set holds a file that other forms read and this one does not: a set of another form
 * that lacks a file is not taken for a smaller one. */
static bool has_foreign(const qp_lower_job *job, const form *f)
{
    for (size_t m = 0; m < job->n_members; m++)
        for (size_t i = 0; i < FORMS && !is_path(f, job->members[m].path); i++)
            if (is_path(&forms[i], job->members[m].path))
                return true;
    return false;
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcmp(path + n - m, suffix) == 0;
}

/* The magic of a file: '{' is any JSON object's, whatever space stands before it. */
static bool begins_with(const qp_member *member, const char *magic)
{
    const uint8_t *bytes = member->bytes;
    size_t at = 0, length = strlen(magic);
    while (length == 1 && at < member->size && bytes[at] != '\0' && strchr(" \t\r\n", bytes[at]))
        at++;
    return member->size - at >= length && memcmp(bytes + at, magic, length) == 0;
}

/* The form of a set whose capability nobody named. */
static const form *guess(const qp_lower_job *job)
{
    for (size_t i = 0; i < FORMS; i++)
        if (!forms[i].in_payload && is_complete(job, &forms[i]) && !has_foreign(job, &forms[i]))
            return &forms[i];
    for (size_t i = 0; i < FORMS && job->n_members == 1; i++)
        if (forms[i].magic != NULL && begins_with(&job->members[0], forms[i].magic))
            return &forms[i];
    for (size_t i = 0; i < job->n_members; i++)
        if (!has_suffix(job->members[i].path, GRAPH_SUFFIX))
            return NULL;
    return job->n_members == 0 ? NULL : &forms[FORMS - 1];
}

/* ---- sets that carry graphs --------------------------------------------------------------- */

qp_status qp_lower_correction(qp_lower_job *job)
{
    const qp_member *member;
    qp_status status = qp_lower_member(job, "correction.whg1", &member);
    job->has_graphs = true;
    return status == QP_OK ? qp_lower_add(job, "graph", member->bytes, member->size) : status;
}

/* The role is the file's name without its suffix. */
static qp_status role_name(qp_lower_job *job, const char *path, const char **name)
{
    size_t size = strlen(path);
    if (has_suffix(path, GRAPH_SUFFIX))
        size -= strlen(GRAPH_SUFFIX);
    char *text = qp_arena_allocate(&job->set->arena, size + 1, 1);
    if (text == NULL)
        return qp_fail_memory(job->error, "a role's name");
    memcpy(text, path, size);
    for (size_t i = 0; i < job->set->n_roles; i++)
        if (strcmp(job->set->roles[i].name, text) == 0)
            return qp_lower_refuse(job, -1, "two graphs have the role %.60s", text);
    *name = text;
    return QP_OK;
}

qp_status qp_lower_graphs(qp_lower_job *job)
{
    qp_status status = QP_OK;
    job->has_graphs = true;
    for (size_t i = 0; i < job->n_members && status == QP_OK; i++) {
        const char *name = NULL;
        job->file = job->members[i].path;
        status = role_name(job, job->file, &name);
        if (status == QP_OK)
            status = qp_lower_add(job, name, job->members[i].bytes, job->members[i].size);
    }
    return status;
}

/* ---- identity ----------------------------------------------------------------------------- */

static void digest_hex(const void *bytes, size_t size, char text[QP_SHA256_HEX_SIZE])
{
    uint8_t digest[QP_SHA256_SIZE];
    qp_sha256 hash;
    qp_sha256_init(&hash);
    qp_sha256_update(&hash, bytes, size);
    qp_sha256_final(&hash, digest);
    qp_sha256_hex(digest, text);
}

/* The members that belong to the set: those that the form reads. */
static size_t listed(const qp_lower_job *job, const form *f)
{
    return f->paths[0] == NULL ? job->n_members : count_paths(f);
}

static const qp_member *listed_member(const qp_lower_job *job, const form *f, size_t index)
{
    return f->paths[0] == NULL ? &job->members[index] : find_member(job, f->paths[index]);
}

/* The member that follows `after` in the order of the paths' bytes; the first for NULL. */
static const qp_member *next_member(const qp_lower_job *job, const form *f, const char *after)
{
    const qp_member *next = NULL;
    for (size_t i = 0; i < listed(job, f); i++) {
        const qp_member *member = listed_member(job, f, i);
        if ((after == NULL || strcmp(member->path, after) > 0) &&
            (next == NULL || strcmp(member->path, next->path) < 0))
            next = member;
    }
    return next;
}

/* One canonical JSON object from path to digest. Role names are printable ASCII, or the certificate
 * was refused; the other paths are the forms' own. */
static qp_status digest_listing(const qp_lower_job *job, const form *f)
{
    qp_buffer text;
    const char *path = NULL;
    qp_buffer_init(&text, job->allocator);
    for (const qp_member *m; (m = next_member(job, f, path)) != NULL; path = m->path) {
        char hex[QP_SHA256_HEX_SIZE];
        digest_hex(m->bytes, m->size, hex);
        qp_buffer_text(&text, path == NULL ? "{" : ",");
        qp_buffer_json_string(&text, m->path, strlen(m->path));
        qp_buffer_format(&text, ":\"%s\"", hex);
    }
    qp_buffer_text(&text, "}");
    qp_status status = text.failed ? qp_fail_memory(job->error, "a set's listing") : QP_OK;
    if (status == QP_OK)
        digest_hex(text.bytes, text.size, job->set->sha256);
    qp_buffer_free(&text);
    return status;
}

static qp_status identify(const qp_lower_job *job, const form *f)
{
    if (f->in_payload)
        return QP_OK;
    job->set->has_sha256 = true;
    if (job->one_file || listed(job, f) == 1) {
        digest_hex(job->members[0].bytes, job->members[0].size, job->set->sha256);
        return QP_OK;
    }
    return digest_listing(job, f);
}

/* ---- certificates ------------------------------------------------------------------------- */

/* A failure of the bounds pass or of a profile, with the form's code. */
static qp_status recode(const qp_lower_job *job, const qp_lowered *set, qp_status status)
{
    bool made = set->roles[0].made.bytes != NULL;
    if (status == QP_OK)
        return QP_OK;
    if (made)
        qp_lower_forget_place(job->error);
    return qp_lower_recode(job, status);
}

static qp_status certify(qp_lower_job *job)
{
    qp_lowered *set = job->set;
    qp_set_info info = {set->capability == NULL ? NULL : set->capability->name, set->lowering,
                        qp_lowered_sha256(set)};
    qp_role *roles = qp_arena_allocate(&set->arena, set->n_roles, sizeof *roles);
    if (roles == NULL)
        return qp_fail_memory(job->error, "the roles of a set");
    for (size_t i = 0; i < set->n_roles; i++)
        roles[i] = (qp_role){set->roles[i].name, set->roles[i].graph};
    job->file = NULL;
    qp_status status =
        qp_certify_set(roles, set->n_roles, &info, job->allocator, &set->certificate, job->error);
    return recode(job, set, status);
}

static qp_status refusal_of(const qp_capability *capability)
{
    bool synth = capability != NULL && strcmp(capability->name, "wai.neural.int_synth") == 0;
    return synth ? QP_PAYLOAD_MALFORMED : QP_MODEL_MISMATCH;
}

static qp_status require_pin(const qp_lowered *set, const qp_pin *pin, const qp_lower_job *job)
{
    const char *sha256 = qp_lowered_sha256(set);
    if (set->capability == NULL || strcmp(set->capability->name, pin->capability) != 0)
        return qp_lower_refuse(job, -1, "the pin is for the capability %.100s", pin->capability);
    if (sha256 == NULL || strcmp(sha256, pin->sha256) != 0)
        return qp_lower_refuse(job, -1, "the pin names the set %s", pin->sha256);
    if (!pin->has_ops_profile)
        return QP_OK;
    qp_status status =
        qp_certificate_require(set->certificate, pin->ops_profile, NULL, 0, job->error);
    return recode(job, set, status);
}

qp_status qp_lowered_require(const qp_lowered *set, const qp_pin *pin, qp_error *error)
{
    const qp_capability *capability = set->capability;
    qp_lower_job job = {.refusal = refusal_of(capability), .layer = -1, .error = error};
    qp_status status = QP_OK;
    if (capability != NULL)
        status =
            qp_certificate_require(set->certificate, capability->profile, capability->role_profiles,
                                   capability->n_role_profiles, error);
    if (status != QP_OK)
        return recode(&job, set, status);
    if (capability != NULL && strcmp(capability->subset, "npu") == 0 &&
        !qp_certificate_npu(set->certificate))
        return qp_lower_refuse(&job, -1, "the set is outside the subset wai-ops/1-npu");
    return pin == NULL ? QP_OK : require_pin(set, pin, &job);
}

/* ---- the front door ----------------------------------------------------------------------- */

static qp_status refuse_form(const qp_lower_job *job, const char *capability)
{
    if (capability == NULL)
        return qp_lower_refuse(job, -1, "the files are no set of a form that is known");
    return qp_lower_refuse(
        job, -1, "no capability of the registry that runs graphs has the name %.100s", capability);
}

static qp_status lower(qp_lower_job *job, const qp_lower_options *options)
{
    qp_lowered *set = job->set;
    const form *f = options->capability == NULL ? guess(job) : form_of(options->capability);
    if (f == NULL)
        return refuse_form(job, options->capability);
    set->capability = f->capability == NULL ? NULL : qp_capability_find(f->capability);
    set->lowering = set->capability == NULL ? f->lowering : set->capability->lowering;
    job->refusal = refusal_of(set->capability);
    job->one_file = count_paths(f) == 1 && job->n_members == 1;

    size_t most = job->n_members > QP_LOWER_ROLES_MAX ? job->n_members : QP_LOWER_ROLES_MAX;
    set->roles = qp_arena_allocate(&set->arena, most, sizeof *set->roles);
    if (set->roles == NULL)
        return qp_fail_memory(job->error, "the roles of a set");
    qp_status status = f->lower(job);
    if (status == QP_OK)
        status = identify(job, f);
    if (status == QP_OK)
        status = certify(job);
    if (status == QP_OK && !options->any_verdict)
        status = qp_lowered_require(set, options->pin, job->error);
    return status;
}

qp_status qp_lower(const qp_member *members, size_t n_members, const qp_lower_options *options,
                   const qp_allocator *allocator, qp_lowered **set, qp_error *error)
{
    *set = NULL;
    qp_lowered *made = qp_allocate(allocator, 1, sizeof *made);
    if (made == NULL)
        return qp_fail_memory(error, "a set");
    qp_arena_init(&made->arena, allocator);
    qp_lower_job job = {.allocator = allocator,
                        .set = made,
                        .members = members,
                        .n_members = n_members,
                        .refusal = QP_MODEL_MISMATCH,
                        .layer = -1,
                        .error = error};
    qp_status status = lower(&job, options);
    if (status == QP_OK)
        *set = made;
    else
        qp_lowered_free(made);
    return status;
}

void qp_lowered_free(qp_lowered *set)
{
    if (set == NULL)
        return;
    qp_allocator allocator = set->arena.allocator;
    qp_certificate_free(set->certificate);
    for (size_t i = set->n_roles; i > 0; i--) {
        qp_graph_free(set->roles[i - 1].graph);
        if (set->roles[i - 1].made.bytes != NULL)
            qp_buffer_free(&set->roles[i - 1].made);
    }
    qp_arena_free(&set->arena);
    qp_release(&allocator, set, 1, sizeof *set);
}

/* ---- what it holds ------------------------------------------------------------------------ */

size_t qp_lowered_count(const qp_lowered *set)
{
    return set->n_roles;
}

qp_lowered_role qp_lowered_at(const qp_lowered *set, size_t index)
{
    const qp_lower_role *role = &set->roles[index];
    return (qp_lowered_role){role->name, role->bytes, role->size, role->graph};
}

const qp_certificate *qp_lowered_certificate(const qp_lowered *set)
{
    return set->certificate;
}

const qp_capability *qp_lowered_capability(const qp_lowered *set)
{
    return set->capability;
}

const char *qp_lowered_lowering(const qp_lowered *set)
{
    return set->lowering;
}

const char *qp_lowered_sha256(const qp_lowered *set)
{
    return set->has_sha256 ? set->sha256 : NULL;
}
