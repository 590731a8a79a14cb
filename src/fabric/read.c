/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c - text files into a model (section 12): fabrics and graphs first, then the maps, which may
 * stand anywhere.
 */
#include "fabric/text.h"

/* A map that waits: where its "of" stands. */
typedef struct waiting_map {
    qp_fabric_map_item map;
    qp_fabric_lexer lexer;
} waiting_map;

typedef struct reader {
    qp_fabric_parser parser;
    qp_fabric_list fabrics, graphs, maps; /* maps: waiting_map */
} reader;

/* NAME behind the keyword, unique among the items of its kind. */
static bool take_item_name(qp_fabric_parser *p, qp_fabric_scope_id scope, size_t number,
                           qp_fabric_symbol *name, qp_fabric_place *place)
{
    return qp_fabric_take(p) && qp_fabric_take_name(p, "a name", name, place) &&
           qp_fabric_define(p, scope, *name, (uint32_t)number, *place);
}

static bool read_fabric(reader *r)
{
    qp_fabric_fabric fabric = {0};

    return take_item_name(&r->parser, QP_FABRIC_SCOPE_FABRICS, r->fabrics.count, &fabric.name,
                          &fabric.place) &&
           qp_fabric_parse_fabric(&r->parser, &fabric) &&
           qp_fabric_list_add(&r->parser, &r->fabrics, &fabric);
}

static bool read_graph(reader *r)
{
    qp_fabric_graph graph = {0};

    return take_item_name(&r->parser, QP_FABRIC_SCOPE_GRAPHS, r->graphs.count, &graph.name,
                          &graph.place) &&
           qp_fabric_parse_graph(&r->parser, &graph) &&
           qp_fabric_list_add(&r->parser, &r->graphs, &graph);
}

/* Goes past "of GRAPH on FABRIC { .. }", to be read once everything is there. */
static bool skip_map(reader *r)
{
    qp_fabric_parser *p = &r->parser;
    waiting_map waiting = {0};
    qp_fabric_lexer body;

    if (!take_item_name(p, QP_FABRIC_SCOPE_MAPS, r->maps.count, &waiting.map.name,
                        &waiting.map.place))
        return false;
    waiting.lexer = p->lexer; /* behind the token "of": it is taken again from here */
    waiting.lexer.at = p->token.text;
    return qp_fabric_take_word(p, "of") &&
           qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ID, "a graph", NULL) &&
           qp_fabric_take_word(p, "on") &&
           qp_fabric_take_kind(p, QP_FABRIC_TOKEN_ID, "a fabric", NULL) &&
           qp_fabric_skip_braces(p, &body) && qp_fabric_list_add(p, &r->maps, &waiting);
}

static bool read_text(reader *r, const qp_fabric_text *text)
{
    static const struct {
        const char *word;
        bool (*read)(reader *r);
    } items[] = {{"fabric", read_fabric}, {"graph", read_graph}, {"map", skip_map}};
    qp_fabric_parser *p = &r->parser;
    const char *name = text->name != NULL ? text->name : "";
    const size_t length = strlen(name);
    char *file = qp_arena_allocate(&p->model->arena, length + 1, 1);

    if (file == NULL)
        return qp_fabric_parse_no_memory(p);
    memcpy(file, name, length); /* the places of the model keep it */
    p->lexer = qp_fabric_lexer_over(file, text->bytes, text->size);
    if (!qp_fabric_take(p))
        return false;
    while (!qp_fabric_next_is(p, QP_FABRIC_TOKEN_END)) {
        unsigned i = 0;
        while (i < 3 && !qp_fabric_next_is_word(p, items[i].word))
            i++;
        if (i == 3)
            return qp_fabric_take_kind(p, QP_FABRIC_TOKEN_END, "'fabric', 'graph' or 'map'", NULL);
        if (!items[i].read(r))
            return false;
    }
    return true;
}

/* Moves a list of items into the model. */
static bool end_items(qp_fabric_parser *p, qp_fabric_list *list, void **items, uint32_t *count)
{
    *items = qp_arena_allocate(&p->model->arena, list->count, list->item_size);
    if (*items == NULL)
        return qp_fabric_parse_no_memory(p);
    if (list->count > 0)
        memcpy(*items, list->items, list->count * list->item_size);
    *count = (uint32_t)list->count;
    return true;
}

static bool read_maps(reader *r)
{
    qp_fabric_parser *p = &r->parser;
    qp_fabric_model *model = p->model;
    const waiting_map *waiting = r->maps.items;

    model->maps = qp_arena_allocate(&model->arena, r->maps.count, sizeof *model->maps);
    if (model->maps == NULL)
        return qp_fabric_parse_no_memory(p);
    model->n_maps = (uint32_t)r->maps.count;
    for (size_t i = 0; i < r->maps.count; i++) {
        model->maps[i] = waiting[i].map;
        if (!qp_fabric_resume(p, &waiting[i].lexer) || !qp_fabric_parse_map(p, &model->maps[i]))
            return false;
    }
    return true;
}

static bool read_all(reader *r, const qp_fabric_text *texts, size_t count)
{
    qp_fabric_model *model = r->parser.model;
    void *fabrics, *graphs;

    for (size_t i = 0; i < count; i++)
        if (!read_text(r, &texts[i]))
            return false;
    if (!end_items(&r->parser, &r->fabrics, &fabrics, &model->n_fabrics) ||
        !end_items(&r->parser, &r->graphs, &graphs, &model->n_graphs))
        return false;
    model->fabrics = fabrics;
    model->graphs = graphs;
    return read_maps(r);
}

/* From the digest of all that is read: whoever changes a name changes every name's place. */
static uint64_t seed_of(const qp_fabric_text *texts, size_t count)
{
    qp_sha256 hash;
    uint8_t digest[QP_SHA256_SIZE];

    qp_sha256_init(&hash);
    for (size_t i = 0; i < count; i++)
        if (texts[i].size > 0) /* an empty one has no address */
            qp_sha256_update(&hash, texts[i].bytes, texts[i].size);
    qp_sha256_final(&hash, digest);
    return qp_load_u64(digest);
}

static qp_fabric_model *new_model(const qp_allocator *allocator, uint64_t seed)
{
    qp_fabric_model *model = qp_allocate(allocator, 1, sizeof *model);

    if (model == NULL)
        return NULL;
    qp_arena_init(&model->arena, allocator);
    model->names = qp_allocate(allocator, 1, sizeof *model->names);
    if (model->names == NULL) {
        qp_release(allocator, model, 1, sizeof *model);
        return NULL;
    }
    qp_fabric_names_init(model->names, &model->arena, seed);
    return model;
}

void qp_fabric_free(qp_fabric_model *model)
{
    if (model == NULL)
        return;
    const qp_allocator allocator = model->arena.allocator;
    qp_fabric_names_free(model->names);
    qp_release(&allocator, model->names, 1, sizeof *model->names);
    qp_arena_free(&model->arena);
    qp_release(&allocator, model, 1, sizeof *model);
}

qp_status qp_fabric_read(const qp_fabric_text *texts, size_t count, const qp_allocator *allocator,
                         qp_fabric_model **model, qp_fabric_error *error)
{
    qp_fabric_model *made = new_model(allocator, seed_of(texts, count));
    reader r = {.parser = {.model = made,
                           .allocator = qp_allocator_or_default(allocator),
                           .next_scope = QP_FABRIC_SCOPE_FIRST_FREE,
                           .status = QP_OK,
                           .error = error},
                .fabrics = qp_fabric_list_of(sizeof(qp_fabric_fabric)),
                .graphs = qp_fabric_list_of(sizeof(qp_fabric_graph)),
                .maps = qp_fabric_list_of(sizeof(waiting_map))};

    *model = NULL;
    if (made == NULL)
        return qp_fabric_fail_memory(error, "a model");
    bool good = read_all(&r, texts, count);
    qp_fabric_list_free(&r.parser, &r.maps);
    qp_fabric_list_free(&r.parser, &r.graphs);
    qp_fabric_list_free(&r.parser, &r.fabrics);
    if (!good) {
        qp_fabric_free(made);
        return r.parser.status;
    }
    *model = made;
    return QP_OK;
}
