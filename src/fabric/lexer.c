/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lexer.c - the tokens of the text form (section 12).
 */
#include "fabric/lexer.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_letter(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c);
}

qp_fabric_lexer qp_fabric_lexer_over(const char *file, const void *bytes, size_t size)
{
    const char *text = size > 0 ? bytes : "";
    return (qp_fabric_lexer){file, text, text + size, text, 1};
}

static void skip_blanks(qp_fabric_lexer *lexer)
{
    bool comment = false;

    for (; lexer->at < lexer->end; lexer->at++) {
        char c = *lexer->at;
        if (c == '\n') {
            comment = false;
            lexer->line += lexer->line < UINT32_MAX;
            lexer->line_start = lexer->at + 1;
        } else if (c == '#') {
            comment = true;
        } else if (!comment && c != ' ' && c != '\t' && c != '\r') {
            break;
        }
    }
}

/* Behind the characters of a class. */
static const char *run(const char *p, const char *end, bool (*member)(char))
{
    while (p < end && member(*p))
        p++;
    return p;
}

static bool is_schema_word(char c)
{
    return is_lower(c) || is_digit(c) || c == '_';
}

static bool is_type_word(char c)
{
    return is_lower(c) || is_digit(c);
}

/* Behind '<[0-9a-z]+>' at `p`, or NULL where it is not there. */
static const char *angle(const char *p, const char *end)
{
    const char *close = run(p + 1, end, is_type_word);
    return close > p + 1 && close < end && *close == '>' ? close + 1 : NULL;
}

/* Behind the segments '.[a-z][a-z0-9_]*' at `p`. */
static const char *segments(const char *p, const char *end)
{
    while (end - p >= 2 && p[0] == '.' && is_lower(p[1]))
        p = run(p + 2, end, is_schema_word);
    return p;
}

/* ID, SCHEMA, PORT or TYPE: all begin with a word. */
static const char *lex_word(const char *start, const char *end, int *kind)
{
    const char *p = run(start, end, is_word);
    const char *behind;

    *kind = QP_FABRIC_TOKEN_ID;
    if (end - p >= 2 && p[0] == '.' && is_digit(p[1])) {
        *kind = QP_FABRIC_TOKEN_PORT;
        return run(p + 1, end, is_digit);
    }
    if (end - p >= 2 && p[0] == '.' && is_lower(*start) && run(start, end, is_schema_word) == p) {
        behind = segments(p, end);
        if (behind > p)
            *kind = QP_FABRIC_TOKEN_SCHEMA;
        return behind;
    }
    if (p < end && *p == '<' && is_lower(*start) && run(start, end, is_type_word) == p) {
        behind = angle(p, end);
        if (behind != NULL) {
            *kind = QP_FABRIC_TOKEN_TYPE;
            return behind;
        }
    }
    return p;
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

/* INT or TAGGED; `start` is a digit, or '-' before one. */
static const char *lex_number(const char *start, const char *end, int *kind)
{
    *kind = QP_FABRIC_TOKEN_INT;
    if (end - start >= 3 && start[0] == '0' && start[1] == 'x' && is_hex(start[2]))
        return run(start + 2, end, is_hex);
    const char *p = run(start + 1, end, is_digit);
    if (p < end && *p == 't' && *start != '-') {
        *kind = QP_FABRIC_TOKEN_TAGGED;
        p++;
    }
    return p;
}

/* The end of the token at `start` and its kind; NULL where none starts. */
static const char *lex(const char *start, const char *end, int *kind)
{
    char c = *start;
    char next = '\0';

    if (end - start >= 2)
        next = start[1];
    if (is_letter(c))
        return lex_word(start, end, kind);
    if (is_digit(c) || (c == '-' && is_digit(next)))
        return lex_number(start, end, kind);
    if (c == '%' && is_letter(next)) {
        *kind = QP_FABRIC_TOKEN_VAL;
        return run(start + 1, end, is_word);
    }
    if (c == '-' && next == '>') {
        *kind = QP_FABRIC_TOKEN_ARROW;
        return start + 2;
    }
    if (c != '\0' && strchr("{}()[],:=?", c) != NULL) {
        *kind = c;
        return start + 1;
    }
    return NULL;
}

static qp_status no_token(const qp_fabric_lexer *lexer, qp_fabric_place place,
                          qp_fabric_error *error)
{
    unsigned char c = (unsigned char)*lexer->at;
    if (c > 0x20 && c < 0x7F)
        return qp_fabric_fail(error, QP_FABRIC_INVALID, place, "no token begins with '%c'", c);
    return qp_fabric_fail(error, QP_FABRIC_INVALID, place, "no token begins with the byte 0x%02x",
                          c);
}

static uint32_t column_of(const qp_fabric_lexer *lexer, const char *at)
{
    size_t column = (size_t)(at - lexer->line_start) + 1;
    return column < UINT32_MAX ? (uint32_t)column : UINT32_MAX;
}

qp_status qp_fabric_next_token(qp_fabric_lexer *lexer, qp_fabric_token *token,
                               qp_fabric_error *error)
{
    skip_blanks(lexer);
    const char *start = lexer->at;
    qp_fabric_place place = {lexer->file, lexer->line, column_of(lexer, start)};

    *token = (qp_fabric_token){QP_FABRIC_TOKEN_END, start, 0, place};
    if (start == lexer->end)
        return QP_OK;
    const char *behind = lex(start, lexer->end, &token->kind);
    if (behind == NULL)
        return no_token(lexer, place, error);
    if (token->kind >= QP_FABRIC_TOKEN_ID && behind < lexer->end &&
        (is_word(*behind) || *behind == '.' || *behind == '<')) {
        size_t shown = (size_t)(behind - start) < 40 ? (size_t)(behind - start) : 40;
        place.column = column_of(lexer, behind);
        return qp_fabric_fail(error, QP_FABRIC_INVALID, place, "'%.*s' runs into '%c'", (int)shown,
                              start, *behind);
    }
    size_t percent = token->kind == QP_FABRIC_TOKEN_VAL;
    token->text = start + percent;
    token->size = (size_t)(behind - start) - percent;
    lexer->at = behind;
    return QP_OK;
}

/* ---- numbers ------------------------------------------------------------------------------ */

/* The digits of a number token, without sign, prefix, 't' and leading zeros. */
typedef struct digits {
    const char *text;
    size_t size;
    unsigned base;
    bool negative;
} digits;

static digits digits_of(const qp_fabric_token *token)
{
    digits d = {token->text, token->size, 10, false};

    if (token->kind == QP_FABRIC_TOKEN_TAGGED)
        d.size--;
    if (d.size > 2 && d.text[1] == 'x') {
        d.base = 16;
        d.text += 2;
        d.size -= 2;
    } else if (d.text[0] == '-') {
        d.negative = true;
        d.text++;
        d.size--;
    }
    while (d.size > 1 && *d.text == '0') {
        d.text++;
        d.size--;
    }
    return d;
}

static unsigned digit_value(char c)
{
    return is_digit(c) ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

static bool magnitude(const digits *d, uint64_t *value)
{
    uint64_t v = 0;
    for (size_t i = 0; i < d->size; i++)
        if (!qp_mul_u64(v, d->base, &v) || !qp_add_u64(v, digit_value(d->text[i]), &v))
            return false;
    *value = v;
    return true;
}

bool qp_fabric_token_u64(const qp_fabric_token *token, uint64_t *value)
{
    digits d = digits_of(token);
    uint64_t v;

    if (!magnitude(&d, &v) || (d.negative && v != 0))
        return false;
    *value = v;
    return true;
}

bool qp_fabric_token_u32(const qp_fabric_token *token, uint32_t *value)
{
    uint64_t v;
    if (!qp_fabric_token_u64(token, &v) || v > UINT32_MAX)
        return false;
    *value = (uint32_t)v;
    return true;
}

bool qp_fabric_token_i64(const qp_fabric_token *token, int64_t *value)
{
    digits d = digits_of(token);
    uint64_t v;

    if (!magnitude(&d, &v) || v > (uint64_t)INT64_MAX + d.negative)
        return false;
    *value = qp_to_i64(d.negative ? 0 - v : v);
    return true;
}

/* words = words * factor + term over `count` words; false where it does not fit. */
static bool multiply_add(uint64_t *words, size_t count, uint32_t factor, uint32_t term)
{
    uint64_t carry = term;

    for (size_t i = 0; i < count; i++) {
        uint64_t low = (words[i] & UINT32_MAX) * factor + carry;
        uint64_t high = (words[i] >> 32) * factor + (low >> 32);
        words[i] = high << 32 | (low & UINT32_MAX);
        carry = high >> 32;
    }
    return carry == 0;
}

/* True where the bits above `width` are zero. */
static bool fits(const uint64_t *words, uint32_t width)
{
    return width % 64 == 0 || words[width / 64] >> (width % 64) == 0;
}

/* The magnitude into `words`, digits taken several at a time. */
static bool wide_magnitude(const digits *d, uint64_t *words, uint32_t width)
{
    const size_t count = ((size_t)width + 63) / 64;
    const size_t step = d->base == 10 ? 9 : 7; /* 10^9 and 16^7 fit 32 bits */
    size_t used = 0;

    memset(words, 0, count * sizeof *words);
    if (d->size > (size_t)width + 1) /* a digit is more than a bit */
        return false;
    for (size_t i = 0; i < d->size;) {
        uint32_t factor = 1, term = 0;
        for (size_t k = 0; k < step && i < d->size; k++, i++) {
            factor *= d->base;
            term = term * d->base + digit_value(d->text[i]);
        }
        if (used < count) /* only the words that may be nonzero */
            used++;
        if (!multiply_add(words, used, factor, term))
            return false;
    }
    return fits(words, width);
}

/* True where the magnitude is at most 2^(width-1). */
static bool fits_negative(const uint64_t *words, uint32_t width)
{
    const uint32_t top = width - 1;

    if ((words[top / 64] >> (top % 64) & 1) == 0)
        return true;
    for (uint32_t i = 0; i < top / 64; i++)
        if (words[i] != 0)
            return false;
    return words[top / 64] == UINT64_C(1) << (top % 64);
}

static void negate(uint64_t *words, uint32_t width)
{
    const size_t count = ((size_t)width + 63) / 64;
    uint64_t carry = 1;

    for (size_t i = 0; i < count; i++) {
        words[i] = ~words[i] + carry;
        carry = carry != 0 && words[i] == 0;
    }
    if (width % 64 != 0)
        words[count - 1] &= (UINT64_C(1) << (width % 64)) - 1;
}

bool qp_fabric_token_bits(const qp_fabric_token *token, bool negatives, qp_fabric_bits target,
                          uint64_t *scratch)
{
    digits d = digits_of(token);
    const uint32_t width = target.width;

    if (!wide_magnitude(&d, scratch, width))
        return false;
    if (d.negative) {
        bool zero = d.size == 1 && *d.text == '0';
        if (!zero && (!negatives || !fits_negative(scratch, width)))
            return false;
        negate(scratch, width);
    }
    for (uint32_t i = 0; i < width; i += 64) {
        uint64_t at = target.first + i;
        uint64_t word = scratch[i / 64];
        target.words[at / 64] |= word << (at % 64);
        if (at % 64 != 0 && word >> (64 - at % 64) != 0)
            target.words[at / 64 + 1] |= word >> (64 - at % 64);
    }
    return true;
}

/* words = words / divisor; gives the remainder. */
static uint32_t divide(uint64_t *words, size_t count, uint32_t divisor)
{
    uint64_t rest = 0;

    for (size_t i = count; i-- > 0;) {
        uint64_t high = rest << 32 | words[i] >> 32;
        uint64_t low = high % divisor << 32 | (words[i] & UINT32_MAX);
        words[i] = high / divisor << 32 | low / divisor;
        rest = low % divisor;
    }
    return (uint32_t)rest;
}

void qp_fabric_put_decimal(qp_buffer *buffer, qp_fabric_bits source, uint64_t *scratch)
{
    size_t count = ((size_t)source.width + 63) / 64;
    const size_t start = buffer->size;

    for (uint32_t i = 0; i < source.width; i += 64) {
        uint64_t at = source.first + i;
        uint32_t left = source.width - i;
        uint64_t word = source.words[at / 64] >> (at % 64);
        if (at % 64 != 0 && left > 64 - at % 64)
            word |= source.words[at / 64 + 1] << (64 - at % 64);
        scratch[i / 64] = left < 64 ? word & ((UINT64_C(1) << left) - 1) : word;
    }
    for (;;) { /* nine digits at a time, the last first */
        while (count > 0 && scratch[count - 1] == 0)
            count--;
        if (count == 0)
            break;
        uint32_t nine = divide(scratch, count, 1000000000);
        for (unsigned k = 0; k < 9; k++, nine /= 10) {
            char digit = (char)('0' + nine % 10);
            qp_buffer_append(buffer, &digit, 1);
        }
    }
    if (buffer->failed)
        return;
    while (buffer->size > start && buffer->bytes[buffer->size - 1] == '0')
        buffer->size--;
    if (buffer->size == start)
        qp_buffer_text(buffer, "0");
    for (size_t a = start, b = buffer->size; a + 1 < b; a++) {
        uint8_t swap = buffer->bytes[a];
        buffer->bytes[a] = buffer->bytes[--b];
        buffer->bytes[b] = swap;
    }
}
