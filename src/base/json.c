/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - the JSON reader: one pass over the text that writes the tokens, without recursion, and
 * the search for duplicate names as each object ends. The values are in json_value.c.
 */
#include "base/json.h"

#include "base/json_string.h"

typedef struct parser {
    qp_json *json;
    const uint8_t *text;
    uint32_t size;
    uint32_t at;
    uint32_t depth;
    uint32_t open[QP_JSON_MAX_DEPTH]; /* the tokens of the containers that are not closed */
    const char *reason;               /* of a failure, and where it is */
    uint32_t place;
} parser;

static bool refuse(parser *p, qp_json_fault fault, uint32_t place, const char *reason)
{
    p->json->fault = fault;
    p->place = place;
    p->reason = reason;
    return false;
}

static bool refuse_syntax(parser *p, const char *reason)
{
    return refuse(p, QP_JSON_FAULT_SYNTAX, p->at, reason);
}

/* ---- tokens --------------------------------------------------------------------------------- */

/* Room for at least `needed` elements of `size` bytes, twice as many as before as a rule. The new
 * block, or NULL, and then the old one stands. */
static void *grow(const qp_allocator *allocator, void *block, size_t size, size_t *capacity,
                  size_t needed)
{
    size_t wanted = *capacity < 32 ? 64 : *capacity;
    size_t bytes;
    if (*capacity >= 32 && !qp_mul_size(wanted, 2, &wanted))
        return NULL;
    if (wanted < needed)
        wanted = needed;
    if (!qp_mul_size(wanted, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    void *grown = allocator->reallocate(allocator->context, block, *capacity * size, bytes);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

static bool add_token_room(parser *p)
{
    qp_json *json = p->json;
    void *tokens = grow(&json->allocator, json->tokens, sizeof *json->tokens, &json->token_capacity,
                        json->token_count + 1);
    if (tokens == NULL)
        return refuse(p, QP_JSON_FAULT_MEMORY, p->at, "tokens");
    json->tokens = tokens;
    return true;
}

static inline bool add_token(parser *p, uint32_t offset, uint32_t extent)
{
    if (p->json->token_count == p->json->token_capacity && !add_token_room(p))
        return false;
    p->json->tokens[p->json->token_count++] = (qp_json_token){offset, extent};
    return true;
}

/* ---- duplicate names ------------------------------------------------------------------------ */

/* The index of the token behind a value's last one. */
static uint32_t token_after(const parser *p, uint32_t index)
{
    uint8_t first = p->text[p->json->tokens[index].offset];
    return first == '[' || first == '{' ? p->json->tokens[index].extent : index + 1;
}

static qp_json_cursor name_cursor(const parser *p, uint32_t index)
{
    qp_json_token token = p->json->tokens[index];
    return qp_json_cursor_at(p->text + token.offset + 1, token.extent);
}

static int compare_names(const parser *p, uint32_t a, uint32_t b)
{
    if (p->json->has_escapes)
        return qp_json_compare(name_cursor(p, a), name_cursor(p, b));
    qp_json_token x = p->json->tokens[a], y = p->json->tokens[b];
    if (x.extent != y.extent)
        return x.extent < y.extent ? -1 : 1;
    return memcmp(p->text + x.offset + 1, p->text + y.offset + 1, x.extent);
}

/* FNV-1a of the decoded name. The choice is of no consequence for the result, and no names can be
 * made for which the sort is quadratic: it falls back on comparing them. */
static uint32_t hash_name(const parser *p, uint32_t index)
{
    uint32_t hash = 0x811c9dc5u; /* derived: the FNV offset basis for 32 bits */
    qp_json_cursor cursor = name_cursor(p, index);
    for (int byte; (byte = qp_json_cursor_next(&cursor)) >= 0;)
        hash = (hash ^ (uint32_t)byte) * 0x01000193u; /* derived: 2^24 + 2^8 + 0x93 */
    return hash;
}

/* A name in the sort: its hash above, its token below. */
static bool name_not_after(const parser *p, uint64_t a, uint64_t b)
{
    if (a >> 32 != b >> 32)
        return a >> 32 < b >> 32;
    return compare_names(p, (uint32_t)(a & UINT32_MAX), (uint32_t)(b & UINT32_MAX)) <= 0;
}

static void merge(const parser *p, const uint64_t *from, uint64_t *to, size_t middle, size_t count)
{
    size_t a = 0, b = middle;
    for (size_t i = 0; i < count; i++) {
        bool take_a = a < middle && (b == count || name_not_after(p, from[a], from[b]));
        to[i] = take_a ? from[a++] : from[b++];
    }
}

/* A merge sort, stable and never worse than n log n, between `names` and the `count` places behind
 * it. Returns where the result is. */
static const uint64_t *sort_names(const parser *p, uint64_t *names, size_t count)
{
    uint64_t *from = names, *to = names + count;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t left = count - start;
            merge(p, from + start, to + start, width < left ? width : left,
                  2 * width < left ? 2 * width : left);
        }
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static bool refuse_duplicate(parser *p, uint32_t name)
{
    return refuse(p, QP_JSON_FAULT_DUPLICATE, p->json->tokens[name].offset,
                  "the object has a member of this name already");
}

#define FEW_NAMES 8

/* For few names every pair is compared. The first repetition in the text is the one reported. */
static bool check_few_names(parser *p, const uint32_t *names, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (compare_names(p, names[i], names[j]) == 0)
                return refuse_duplicate(p, names[i]);
        }
    }
    return true;
}

static bool check_many_names(parser *p, uint32_t object, size_t count)
{
    qp_json *json = p->json;
    uint32_t repeated = UINT32_MAX;
    size_t n = 0;

    if (2 * count > json->name_capacity) { /* no overflow: a name takes over two bytes of text */
        void *names = grow(&json->allocator, json->names, sizeof *json->names, &json->name_capacity,
                           2 * count);
        if (names == NULL)
            return refuse(p, QP_JSON_FAULT_MEMORY, p->at, "names");
        json->names = names;
    }
    for (uint32_t i = object + 1; i < json->token_count; i = token_after(p, i + 1))
        json->names[n++] = (uint64_t)hash_name(p, i) << 32 | i;

    const uint64_t *sorted = sort_names(p, json->names, n);
    for (size_t i = 1; i < n; i++) {
        uint32_t name = (uint32_t)(sorted[i] & UINT32_MAX);
        if (name < repeated && name_not_after(p, sorted[i], sorted[i - 1]))
            repeated = name;
    }
    return repeated == UINT32_MAX || refuse_duplicate(p, repeated);
}

/* The object's members are the tokens from `object` + 1 to the last. */
static bool check_names(parser *p, uint32_t object)
{
    uint32_t few[FEW_NAMES];
    size_t count = 0;

    for (uint32_t i = object + 1; i < p->json->token_count; i = token_after(p, i + 1)) {
        if (count < FEW_NAMES)
            few[count] = i;
        count++;
    }
    return count <= FEW_NAMES ? check_few_names(p, few, count) : check_many_names(p, object, count);
}

/* ---- scalars -------------------------------------------------------------------------------- */

static inline void skip_whitespace(parser *p)
{
    while (p->at < p->size) {
        uint8_t c = p->text[p->at];
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return;
        p->at++;
    }
}

/* The byte at hand, 0 at the end: a 0 in the text is nowhere allowed, so the two may be one. */
static inline uint8_t peek(const parser *p)
{
    return p->at < p->size ? p->text[p->at] : 0;
}

static inline bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static inline bool skip_digits(parser *p)
{
    if (!is_digit(peek(p)))
        return refuse_syntax(p, "expected a digit");
    do
        p->at++;
    while (is_digit(peek(p)));
    return true;
}

static bool skip_exponent(parser *p)
{
    p->at++;
    if (peek(p) == '+' || peek(p) == '-')
        p->at++;
    return skip_digits(p);
}

static bool read_number(parser *p)
{
    uint32_t start = p->at;

    if (peek(p) == '-')
        p->at++;
    bool zero = peek(p) == '0';
    if (!skip_digits(p))
        return false;
    if (zero && p->at - start > (p->text[start] == '-' ? 2u : 1u))
        return refuse(p, QP_JSON_FAULT_SYNTAX, start, "a number has a leading zero");
    if (peek(p) == '.') {
        p->at++;
        if (!skip_digits(p))
            return false;
    }
    if ((peek(p) == 'e' || peek(p) == 'E') && !skip_exponent(p))
        return false;
    return add_token(p, start, p->at - start);
}

/* 1 for the bytes that stand for themselves in a string: ASCII but controls, quote, backslash. */
static inline bool is_plain(uint8_t c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* One character of a string that is not plain, at p->at. */
static bool read_special(parser *p)
{
    const uint8_t *here = p->text + p->at;
    size_t left = p->size - p->at;

    if (*here < 0x20)
        return refuse_syntax(p, "a control character stands in a string");
    if (*here != '\\') {
        unsigned length = qp_utf8_length(here, left);
        if (length == 0)
            return refuse(p, QP_JSON_FAULT_ENCODING, p->at, "a string is not UTF-8");
        p->at += length;
        return true;
    }
    qp_json_escape escape = qp_json_escape_at(here, left);
    if (escape.kind == QP_JSON_ESCAPE_WRONG)
        return refuse_syntax(p, "a string has an escape that JSON does not know");
    if (escape.kind == QP_JSON_ESCAPE_LONE && !p->json->allow_lone_surrogates)
        return refuse(p, QP_JSON_FAULT_SURROGATE, p->at, "a string has half a surrogate pair");
    p->at += escape.length;
    p->json->has_escapes = true;
    return true;
}

static bool read_string(parser *p)
{
    uint32_t start = p->at++;
    for (;;) {
        while (p->at < p->size && is_plain(p->text[p->at]))
            p->at++;
        if (p->at == p->size)
            return refuse(p, QP_JSON_FAULT_SYNTAX, start, "a string does not end");
        if (p->text[p->at] == '"')
            break;
        if (!read_special(p))
            return false;
    }
    p->at++;
    return add_token(p, start, p->at - start - 2);
}

static bool read_word(parser *p, const char *word)
{
    uint32_t length = (uint32_t)strlen(word);
    if (p->size - p->at < length || memcmp(p->text + p->at, word, length) != 0)
        return refuse_syntax(p, "expected a value");
    p->at += length;
    return add_token(p, p->at - length, length);
}

/* ---- structure ------------------------------------------------------------------------------ */

/* A member's name and its colon: what follows is its value. */
static bool read_name(parser *p)
{
    skip_whitespace(p);
    if (peek(p) != '"')
        return refuse_syntax(p, "expected a member's name in quotes");
    if (!read_string(p))
        return false;
    skip_whitespace(p);
    if (peek(p) != ':')
        return refuse_syntax(p, "expected ':'");
    p->at++;
    return true;
}

/* The innermost container ends at p->at. */
static bool close_container(parser *p)
{
    uint32_t container = p->open[--p->depth];
    p->at++;
    p->json->tokens[container].extent = (uint32_t)p->json->token_count;
    if (p->text[p->json->tokens[container].offset] == '[' || p->json->allow_duplicates)
        return true;
    return check_names(p, container);
}

/* An array or object begins at p->at. *complete tells whether it also ended. */
static bool open_container(parser *p, bool *complete)
{
    uint8_t bracket = p->text[p->at];

    if (p->depth == QP_JSON_MAX_DEPTH)
        return refuse(p, QP_JSON_FAULT_DEPTH, p->at, "more than 128 arrays and objects are nested");
    p->open[p->depth] = (uint32_t)p->json->token_count;
    if (!add_token(p, p->at, 0))
        return false;
    p->depth++;
    p->at++;
    skip_whitespace(p);
    *complete = peek(p) == (bracket == '[' ? ']' : '}');
    if (*complete)
        return close_container(p);
    return bracket == '[' || read_name(p);
}

/* One value, or the start of one up to where its first inner value is expected. */
static bool read_value(parser *p, bool *complete)
{
    skip_whitespace(p);
    *complete = true;
    uint8_t c = peek(p);
    if (is_digit(c) || c == '-')
        return read_number(p);
    switch (c) {
    case '"':
        return read_string(p);
    case '[':
    case '{':
        return open_container(p, complete);
    case 't':
        return read_word(p, "true");
    case 'f':
        return read_word(p, "false");
    case 'n':
        return read_word(p, "null");
    default:
        return refuse_syntax(p, p->at == p->size ? "the text ends where a value is expected"
                                                 : "expected a value");
    }
}

/* After a complete value: closes what ends here. On return the next value is expected (in an
 * object, its name is read), or p->depth is 0 and the document is complete. */
static bool read_separator(parser *p)
{
    while (p->depth > 0) {
        bool array = p->text[p->json->tokens[p->open[p->depth - 1]].offset] == '[';
        skip_whitespace(p);
        uint8_t c = peek(p);
        if (c == ',') {
            p->at++;
            return array || read_name(p);
        }
        if (c != (array ? ']' : '}'))
            return refuse_syntax(p, array ? "expected ',' or ']'" : "expected ',' or '}'");
        if (!close_container(p))
            return false;
    }
    return true;
}

static bool read_document(parser *p)
{
    do {
        bool complete;
        if (!read_value(p, &complete))
            return false;
        if (complete && !read_separator(p))
            return false;
    } while (p->depth > 0);
    skip_whitespace(p);
    return p->at == p->size || refuse_syntax(p, "text follows the value");
}

/* ---- a document ----------------------------------------------------------------------------- */

void qp_json_init(qp_json *json, const qp_allocator *allocator)
{
    memset(json, 0, sizeof *json);
    json->allocator = qp_allocator_or_default(allocator);
    json->first_line = 1;
}

void qp_json_free(qp_json *json)
{
    qp_allocator *owner = &json->allocator;
    if (json->names != NULL)
        owner->reallocate(owner->context, json->names, json->name_capacity * sizeof *json->names,
                          0);
    if (json->tokens != NULL)
        owner->reallocate(owner->context, json->tokens, json->token_capacity * sizeof *json->tokens,
                          0);
    json->names = NULL;
    json->tokens = NULL;
    json->name_capacity = json->token_capacity = json->token_count = 0;
}

/* The token of a failure is put where the failure is, so that its place is told like a value's. */
static qp_status report(parser *p, qp_error *error)
{
    if (p->json->fault == QP_JSON_FAULT_MEMORY)
        return qp_fail(error, QP_NO_MEMORY, "no memory for the %s of a JSON text", p->reason);

    qp_json_token here = {p->place, 0};
    qp_json place = *p->json;
    place.tokens = &here;
    place.token_count = 1;
    return qp_json_fail((qp_json_value){&place, 0}, error, "%s", p->reason);
}

qp_status qp_json_parse(qp_json *json, const void *text, size_t size, qp_error *error)
{
    json->text = text;
    json->size = size;
    json->token_count = 0;
    json->has_escapes = false;
    json->fault = QP_JSON_FAULT_NONE;
    if (size >= UINT32_MAX) {
        json->fault = QP_JSON_FAULT_SIZE;
        return qp_fail(error, QP_TOO_LARGE, "a JSON text of 4 GiB or more is not read");
    }
    parser p = {.json = json, .text = text, .size = (uint32_t)size};
    if (read_document(&p))
        return QP_OK;
    json->token_count = 0;
    return report(&p, error);
}

qp_json_value qp_json_root(const qp_json *json)
{
    return json->token_count > 0 ? (qp_json_value){json, 0} : QP_JSON_NO_VALUE;
}
