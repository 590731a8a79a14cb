/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_work.c - tiles: what is read of the sources, encoded by the method, packed by the layout
 * and written (artifact-container.md sections 7 and 9.1).
 */
#include "artifact/convert_work.h"

/* Elements of a tile: enough that its work hides what surrounds it, and few enough that the rooms
 * of all workers, some 20 bytes an element, stay far below 256 MiB. */
#define ALL_ELEMENTS ((uint64_t)1 << 22)
#define MOST_ELEMENTS ((uint64_t)1 << 17)
#define LEAST_ELEMENTS ((uint64_t)1 << 15)

/* ---- cutting --------------------------------------------------------------------------------- */

static bool may_cut(const qp_plan_object *object)
{
    bool cuts = qp_tile_cuts(&object->target);
    for (size_t i = 0; i < object->n_inputs; i++)
        cuts = cuts && qp_parameter_cuts(object->inputs[i].parameter);
    return cuts;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static void cut_object(const qp_plan_object *object, uint64_t elements, uint64_t most_rows,
                       qp_work_object *work)
{
    const qp_matrix *target = &object->target;
    uint64_t step = target->row_step, columns = target->columns;

    work->columns = columns;
    work->rows = elements / columns;
    if (work->rows < step && may_cut(object)) {
        uint64_t cut = elements / step / QP_TILE_COLUMNS * QP_TILE_COLUMNS;
        cut = cut > 0 ? cut : QP_TILE_COLUMNS;
        work->columns = cut < columns ? cut : columns;
    }
    work->rows = work->rows < most_rows ? work->rows : most_rows;
    work->rows = work->rows < target->rows ? work->rows : target->rows;
    work->rows = work->rows / step * step;
    work->rows = work->rows > 0 ? work->rows : step;
    work->row_tiles = ceil_div(target->rows, work->rows);
    work->column_tiles = ceil_div(columns, work->columns);
}

static uint64_t elements_for(uint32_t threads)
{
    uint64_t elements = ALL_ELEMENTS / (threads > 0 ? threads : 1);
    elements = elements < MOST_ELEMENTS ? elements : MOST_ELEMENTS;
    return elements > LEAST_ELEMENTS ? elements : LEAST_ELEMENTS;
}

static qp_status open_workers(qp_work *work, uint32_t threads, qp_error *error)
{
    qp_tasks tasks = {.count = work->tasks, .threads = threads};
    const qp_convert_plan *plan = work->plan;
    work->n_workers = qp_tasks_workers(&tasks);
    work->workers = qp_allocate(&plan->allocator, work->n_workers, sizeof *work->workers);
    if (work->workers == NULL)
        return qp_fail_memory(error, "the workers of a conversion");
    for (uint32_t i = 0; i < work->n_workers; i++) {
        qp_worker *worker = &work->workers[i];
        worker->readers = qp_allocate(&plan->allocator, plan->n_sources, sizeof *worker->readers);
        if (worker->readers == NULL)
            return qp_fail_memory(error, "the workers of a conversion");
        for (size_t s = 0; s < plan->n_sources; s++)
            qp_weight_source_reader_init(&worker->readers[s], &plan->sources[s]->source,
                                         &work->allocator, plan->options.cpu);
    }
    return QP_OK;
}

static qp_status open_survey(qp_work *work, size_t index, qp_error *error)
{
    const qp_plan_object *object = &work->plan->objects[index];
    qp_work_object *own = &work->objects[index];
    own->surveyed = object->n_inputs > 0 ? qp_method_survey_count(&object->job) : 0;
    if (own->surveyed == 0)
        return QP_OK;
    if (own->surveyed <= SIZE_MAX)
        own->survey = qp_allocate(&work->plan->allocator, (size_t)own->surveyed, sizeof(float));
    return own->survey != NULL ? QP_OK : qp_fail_memory(error, "a survey");
}

qp_status qp_work_open(qp_work *work, qp_convert_plan *plan, uint32_t threads, qp_error *error)
{
    uint64_t elements = elements_for(threads);
    uint64_t rows = plan->options.rows_per_chunk > 0 ? plan->options.rows_per_chunk : UINT64_MAX;
    *work = (qp_work){.plan = plan, .locked.inner = plan->allocator};
    work->locked.lock = qp_lock_new(&plan->allocator);
    work->allocator = qp_locked_allocator_use(&work->locked);
    work->objects = qp_allocate(&plan->allocator, plan->n_objects, sizeof *work->objects);
    if (work->locked.lock == NULL || work->objects == NULL)
        return qp_fail_memory(error, "a conversion");
    qp_status status = QP_OK;
    for (size_t i = 0; i < plan->n_objects && status == QP_OK; i++) {
        qp_work_object *own = &work->objects[i];
        cut_object(&plan->objects[i], elements, rows, own);
        own->first_task = work->tasks;
        work->tasks += own->row_tiles * own->column_tiles;
        status = open_survey(work, i, error);
    }
    return status == QP_OK ? open_workers(work, threads, error) : status;
}

static void close_worker(qp_work *work, qp_worker *worker)
{
    const qp_convert_plan *plan = work->plan;
    for (size_t s = 0; s < plan->n_sources && worker->readers != NULL; s++)
        qp_weight_source_reader_free(&worker->readers[s]);
    qp_release(&plan->allocator, worker->readers, plan->n_sources, sizeof *worker->readers);
    for (size_t i = 0; i < QP_ROOMS; i++)
        qp_release(&work->allocator, worker->rooms[i], worker->sizes[i], 1);
}

void qp_work_close(qp_work *work)
{
    qp_convert_plan *plan = work->plan;
    for (uint32_t i = 0; i < work->n_workers && work->workers != NULL; i++)
        close_worker(work, &work->workers[i]);
    qp_release(&plan->allocator, work->workers, work->n_workers, sizeof *work->workers);
    for (size_t i = 0; i < plan->n_objects && work->objects != NULL; i++)
        qp_release(&plan->allocator, work->objects[i].survey, (size_t)work->objects[i].surveyed,
                   sizeof(float));
    qp_release(&plan->allocator, work->objects, plan->n_objects, sizeof *work->objects);
    qp_lock_free(work->locked.lock);
}

/* ---- one tile -------------------------------------------------------------------------------- */

/* A tile on its way: its place in its tensor, and the matrix that its words are laid out as. */
typedef struct job_tile {
    qp_work *work;
    qp_worker *worker;
    const qp_plan_object *object;
    qp_work_object *own;
    qp_tile tile;
    qp_matrix matrix;
    qp_method_job job;
    qp_method_rows rows;
} job_tile;

static uint8_t *room(job_tile *t, size_t index, uint64_t size)
{
    qp_worker *worker = t->worker;
    if (size > SIZE_MAX)
        return NULL;
    if (worker->rooms[index] == NULL || worker->sizes[index] < size) {
        qp_release(&t->work->allocator, worker->rooms[index], worker->sizes[index], 1);
        worker->rooms[index] = qp_allocate(&t->work->allocator, (size_t)size, 1);
        worker->sizes[index] = worker->rooms[index] != NULL ? (size_t)size : 0;
    }
    return worker->rooms[index];
}

static size_t object_of_task(const qp_work *work, uint64_t task)
{
    size_t low = 0, high = work->plan->n_objects;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (work->objects[middle].first_task <= task)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool is_cut(const job_tile *t)
{
    return t->tile.columns != t->object->target.columns;
}

/* The index of the divisor of the tile's first row, of a cut tile that of all of them. */
static uint64_t divisor_index(const job_tile *t)
{
    return t->tile.row / (t->object->target.rows / t->object->target.divisors);
}

static qp_status open_tile(qp_work *work, uint64_t task, uint32_t worker, job_tile *t,
                           qp_error *error)
{
    size_t index = object_of_task(work, task);
    *t = (job_tile){.work = work, .worker = &work->workers[worker]};
    t->object = &work->plan->objects[index];
    t->own = &work->objects[index];
    uint64_t number = task - t->own->first_task;
    const qp_matrix *target = &t->object->target;
    t->tile.row = number / t->own->column_tiles * t->own->rows;
    t->tile.column = number % t->own->column_tiles * t->own->columns;
    uint64_t rows = target->rows - t->tile.row, columns = target->columns - t->tile.column;
    t->tile.rows = rows < t->own->rows ? rows : t->own->rows;
    t->tile.columns = columns < t->own->columns ? columns : t->own->columns;

    t->rows.count = t->tile.rows;
    qp_status status = qp_tile_matrix(target, &t->tile, &t->matrix, &t->rows.first, error);
    t->job = t->object->job;
    t->job.target = &t->matrix;
    if (t->job.importance != NULL)
        t->job.importance += t->tile.column;
    return status;
}

/* Puts an error's row and column, which are the tile's, into the parameter that they are of. */
static void place_error(const job_tile *t, qp_error *error)
{
    const qp_plan_object *object = t->object;
    if (error == NULL)
        return;
    if (is_cut(t) && error->row >= 0) {
        error->row += (int64_t)(t->tile.row - t->rows.first);
        error->column += error->column >= 0 ? (int64_t)t->tile.column : 0;
    }
    uint64_t row = error->row >= 0 ? (uint64_t)error->row : t->tile.row;
    uint64_t element = row * object->target.columns;
    size_t i = 0;
    while (i + 1 < object->n_inputs && object->inputs[i + 1].at <= element)
        i++;
    const qp_plan_input *input = &object->inputs[i];
    if (error->row >= 0 && input->parameter->columns == object->target.columns)
        error->row = (int64_t)((element - input->at + input->begin) / object->target.columns);
    qp_artifact_name_error(error, input->parameter->name);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A run of elements of the tensor that are elements of one input. */
typedef struct input_run {
    const qp_plan_input *input;
    qp_weight_source_reader *reader;
    uint64_t begin; /* of the parameter */
    uint64_t count;
} input_run;

static input_run run_at(const job_tile *t, uint64_t element, uint64_t count)
{
    const qp_plan_object *object = t->object;
    size_t low = 0, high = object->n_inputs;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (object->inputs[middle].at <= element)
            low = middle;
        else
            high = middle;
    }
    const qp_plan_input *input = &object->inputs[low];
    uint64_t within = element - input->at, left = input->elements - within;
    return (input_run){input, &t->worker->readers[input->source], input->begin + within,
                       left < count ? left : count};
}

static qp_status read_values_run(const job_tile *t, uint64_t element, uint64_t count, float *values,
                                 qp_error *error)
{
    qp_status status = QP_OK;
    while (count > 0 && status == QP_OK) {
        input_run run = run_at(t, element, count);
        status = qp_parameter_values(run.reader, run.input->parameter, run.begin, run.count, values,
                                     error);
        element += run.count;
        values += run.count;
        count -= run.count;
    }
    return status;
}

static qp_status read_values(job_tile *t, qp_error *error)
{
    const qp_tile *tile = &t->tile;
    uint64_t columns = t->object->target.columns;
    float *values =
        (float *)(void *)room(t, QP_ROOM_VALUES, tile->rows * tile->columns * sizeof(float));
    if (values == NULL)
        return qp_fail_memory(error, "the values of some rows");
    t->rows.values = values;
    if (!is_cut(t))
        return read_values_run(t, tile->row * columns, tile->rows * columns, values, error);
    qp_status status = QP_OK;
    for (uint64_t r = 0; r < tile->rows && status == QP_OK; r++)
        status = read_values_run(t, (tile->row + r) * columns + tile->column, tile->columns,
                                 values + r * tile->columns, error);
    return status;
}

static qp_status read_elements_run(const job_tile *t, const input_run *run, const uint8_t **bytes,
                                   qp_error *error)
{
    if (t->object->as_values)
        return qp_parameter_value_elements(run->reader, run->input->parameter, run->begin,
                                           run->count, bytes, error);
    return qp_parameter_elements(run->reader, run->input->parameter, run->begin, run->count, bytes,
                                 error);
}

/* Direct tensors have row_step 1: a cut tile is of one row, so a tile is always one run. */
static qp_status read_elements(job_tile *t, qp_error *error)
{
    const qp_tile *tile = &t->tile;
    uint64_t element = tile->row * t->object->target.columns + tile->column;
    uint64_t count = tile->rows * tile->columns, width = t->job.element->bytes;
    input_run run = run_at(t, element, count);
    if (run.count == count)
        return read_elements_run(t, &run, &t->rows.elements, error);
    uint8_t *all = room(t, QP_ROOM_VALUES, count * width);
    if (all == NULL)
        return qp_fail_memory(error, "the elements of some rows");
    t->rows.elements = all;
    while (count > 0) {
        const uint8_t *bytes = NULL;
        run = run_at(t, element, count);
        qp_status status = read_elements_run(t, &run, &bytes, error);
        if (status != QP_OK)
            return status;
        memcpy(all, bytes, (size_t)(run.count * width));
        all += run.count * width;
        element += run.count;
        count -= run.count;
    }
    return QP_OK;
}

/* The matrix of the source's words of a tile. */
static qp_status encoded_matrix(const job_tile *t, qp_matrix *matrix, qp_error *error)
{
    const qp_plan_input *input = &t->object->inputs[0];
    const qp_matrix *whole = &qp_parameter_part(input->parameter, input->begin)->matrix;
    uint64_t first;
    qp_tile tile = t->tile;
    tile.row = 0;
    *matrix = *whole;
    return is_cut(t) ? qp_tile_matrix(whole, &tile, matrix, &first, error) : QP_OK;
}

static qp_status read_words_runs(job_tile *t, const qp_matrix *matrix, qp_error *error)
{
    const qp_tile *tile = &t->tile;
    uint64_t columns = t->object->target.columns;
    qp_word_planes planes = t->rows.encoded;
    qp_status status = QP_OK;
    for (uint64_t r = 0, rows; r < tile->rows && status == QP_OK; r += rows) {
        input_run run = run_at(t, (tile->row + r) * columns, (tile->rows - r) * columns);
        rows = run.count / columns;
        qp_tile piece = {run.begin / columns, rows, tile->column, tile->columns};
        status = qp_parameter_words(run.reader, run.input->parameter, &piece, &planes, error);
        planes.codes += rows * matrix->code_row_bytes;
        if (matrix->scale_row_bytes > 0)
            planes.scales += rows * matrix->scale_row_bytes;
    }
    return status;
}

static qp_status read_words(job_tile *t, qp_error *error)
{
    qp_matrix matrix;
    qp_status status = encoded_matrix(t, &matrix, error);
    if (status != QP_OK)
        return status;
    qp_word_planes *words = &t->rows.encoded;
    words->codes = room(t, QP_ROOM_CODES, t->tile.rows * matrix.code_row_bytes);
    words->scales = room(t, QP_ROOM_SCALES, t->tile.rows * matrix.scale_row_bytes);
    words->divisors = t->object->divisors;
    if (is_cut(t) && words->divisors != NULL)
        words->divisors += 4 * divisor_index(t);
    if (words->codes == NULL || words->scales == NULL)
        return qp_fail_memory(error, "the words of some rows");
    return read_words_runs(t, &matrix, error);
}

static qp_status read_tile(job_tile *t, qp_error *error)
{
    static qp_status (*const readers[])(job_tile *, qp_error *) = {
        [QP_INPUT_VALUES] = read_values,
        [QP_INPUT_ELEMENTS] = read_elements,
        [QP_INPUT_ENCODED] = read_words,
    };
    return readers[t->job.method->input](t, error);
}

/* ---- surveying ------------------------------------------------------------------------------- */

qp_status qp_work_survey(qp_work *work, uint64_t task, uint32_t worker, qp_error *error)
{
    job_tile t;
    qp_status status = open_tile(work, task, worker, &t, error);
    if (status != QP_OK || t.own->surveyed == 0)
        return status;
    uint64_t count = is_cut(&t) ? 1 : t.own->surveyed;
    float *maxima = (float *)(void *)room(&t, QP_ROOM_TARGET_SCALES, count * sizeof *maxima);
    if (maxima == NULL)
        return qp_fail_memory(error, "a survey");
    memset(maxima, 0, (size_t)count * sizeof *maxima);
    status = read_tile(&t, error);
    if (status != QP_OK)
        return status;
    status = qp_method_survey(&t.job, &t.rows, maxima, error);
    if (status != QP_OK) {
        place_error(&t, error);
        return status;
    }
    float *joined = t.own->survey + (is_cut(&t) ? divisor_index(&t) : 0);
    qp_lock_take(work->locked.lock);
    for (uint64_t i = 0; i < count; i++)
        joined[i] = maxima[i] > joined[i] ? maxima[i] : joined[i];
    qp_lock_give(work->locked.lock);
    return QP_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

qp_status qp_work_write(const qp_work *work, uint64_t offset, const void *bytes, uint64_t size,
                        qp_error *error)
{
    const qp_convert_plan *plan = work->plan;
    size_t low = 0, high = plan->n_files;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (plan->runs[middle].start <= offset)
            low = middle;
        else
            high = middle;
    }
    const uint8_t *at = bytes;
    while (size > 0) {
        const qp_plan_run *run = &plan->runs[low++];
        uint64_t within = offset - run->start, left = run->size - within;
        uint64_t step = left < size ? left : size;
        qp_status status = work->sink.write_at(work->sink.context, run->file, run->at + within, at,
                                               (size_t)step, error);
        if (status != QP_OK)
            return status;
        at += step;
        offset += step;
        size -= step;
    }
    return QP_OK;
}

/* Planes of words, row after row. */
static qp_status write_words(const job_tile *t, qp_error *error)
{
    const qp_plan_object *object = t->object;
    const qp_matrix *whole = &object->target, *part = &t->matrix;
    const qp_word_planes *words = &t->rows.words;
    uint64_t runs = is_cut(t) ? t->tile.rows : 1, rows = is_cut(t) ? 1 : t->tile.rows;
    uint64_t before = whole->code_row_bytes / whole->columns * t->tile.column;
    uint64_t scales_before = 0;
    if (whole->format->family == QP_FAMILY_NVFP4) { /* two codes a byte, 16 columns a scale */
        before = t->tile.column / 2;
        scales_before = t->tile.column / 16;
    }
    for (uint64_t r = 0; r < runs; r++) {
        uint64_t row = t->tile.row + r, codes = rows * part->code_row_bytes;
        uint64_t scales = rows * part->scale_row_bytes;
        qp_status status =
            qp_work_write(t->work, object->at[0] + row * whole->code_row_bytes + before,
                          words->codes + r * part->code_row_bytes, codes, error);
        if (status == QP_OK && scales > 0)
            status =
                qp_work_write(t->work, object->at[2] + row * whole->scale_row_bytes + scales_before,
                              words->scales + r * part->scale_row_bytes, scales, error);
        if (status != QP_OK)
            return status;
    }
    return QP_OK;
}

/* Divisors belong to no row: the first tile of all, or of those that share one, writes them. */
static qp_status write_divisors(const job_tile *t, uint64_t offset, const uint8_t *words,
                                qp_error *error)
{
    const qp_matrix *whole = &t->object->target;
    uint64_t share = whole->rows / whole->divisors;
    if (t->tile.column != 0 || (is_cut(t) ? t->tile.row % share : t->tile.row) != 0)
        return QP_OK;
    if (is_cut(t))
        return qp_work_write(t->work, offset + 4 * divisor_index(t), words, 4, error);
    return qp_work_write(t->work, offset, words, 4 * whole->divisors, error);
}

static qp_status write_pieces(const job_tile *t, uint8_t *const planes[QP_PLANES], qp_error *error)
{
    qp_piece pieces[QP_PLANES];
    uint64_t base = t->object->at[0];
    qp_tile_pieces(&t->object->target, &t->tile, pieces);
    for (size_t p = 0; p < QP_PLANES - 1; p++) {
        const qp_piece *piece = &pieces[p];
        for (uint64_t i = 0; i < piece->count && piece->size > 0; i++) {
            qp_status status = qp_work_write(t->work, base + piece->offset + i * piece->stride,
                                             planes[p] + i * piece->size, piece->size, error);
            if (status != QP_OK)
                return status;
        }
    }
    const qp_piece *divisors = &pieces[QP_PLANES - 1];
    return divisors->size > 0
               ? write_divisors(t, base + divisors->offset, planes[QP_PLANES - 1], error)
               : QP_OK;
}

/* Whether the layout stores the words as they are, so that packing them would be a copy. */
static bool is_stored_as_words(const qp_matrix *matrix)
{
    return matrix->row_step == 1 && matrix->scale_row_bytes == 0;
}

static qp_status write_packed(job_tile *t, qp_error *error)
{
    qp_span spans[QP_PLANES];
    uint8_t *planes[QP_PLANES] = {t->rows.words.codes, NULL, NULL, NULL};
    if (is_stored_as_words(&t->matrix))
        return write_pieces(t, planes, error);
    qp_matrix_spans(&t->matrix, t->rows.first, t->rows.count, spans);
    for (size_t p = 0; p < QP_PLANES; p++) {
        planes[p] = room(t, QP_ROOM_PACKED + p, spans[p].size);
        if (planes[p] == NULL)
            return qp_fail_memory(error, "the bytes of some rows");
    }
    qp_rows_pack(&t->matrix, t->rows.first, t->rows.count, &t->rows.words, planes);
    return write_pieces(t, planes, error);
}

/* ---- encoding -------------------------------------------------------------------------------- */

static qp_status encode_tile(job_tile *t, qp_error *error)
{
    qp_word_planes *words = &t->rows.words;
    words->codes = room(t, QP_ROOM_TARGET_CODES, t->tile.rows * t->matrix.code_row_bytes);
    words->scales = room(t, QP_ROOM_TARGET_SCALES, t->tile.rows * t->matrix.scale_row_bytes);
    words->divisors = room(t, QP_ROOM_TARGET_DIVISORS, 4 * t->matrix.divisors);
    if (words->codes == NULL || words->scales == NULL || words->divisors == NULL)
        return qp_fail_memory(error, "the words of some rows");
    if (t->own->survey != NULL)
        t->job.survey = t->own->survey + (is_cut(t) ? divisor_index(t) : 0);
    qp_status status = read_tile(t, error);
    if (status != QP_OK)
        return status;
    status = qp_method_encode(&t->job, &t->rows, error);
    if (status != QP_OK)
        place_error(t, error);
    return status;
}

static void count_done(qp_work *work, const job_tile *t)
{
    double part = (double)(t->tile.rows * t->tile.columns) /
                  (double)(t->object->target.rows * t->object->target.columns);
    qp_lock_take(work->locked.lock);
    work->done += (uint64_t)((double)t->object->source_bytes * part);
    qp_lock_give(work->locked.lock);
}

qp_status qp_work_encode(qp_work *work, uint64_t task, uint32_t worker, qp_error *error)
{
    job_tile t;
    qp_status status = open_tile(work, task, worker, &t, error);
    if (status != QP_OK)
        return status;
    if (t.object->constant != NULL) {
        uint64_t width = t.matrix.code_row_bytes / t.matrix.columns;
        uint64_t begin = t.tile.row * t.object->target.columns + t.tile.column;
        return qp_work_write(work, t.object->at[0] + begin * width,
                             t.object->constant + begin * width,
                             t.tile.rows * t.tile.columns * width, error);
    }
    status = encode_tile(&t, error);
    if (status != QP_OK)
        return status;
    status = work->plan->writer->keeps_words ? write_words(&t, error) : write_packed(&t, error);
    bool has_divisors = t.object->target.format->family == QP_FAMILY_NVFP4;
    if (status == QP_OK && work->plan->writer->keeps_words && has_divisors)
        status = write_divisors(&t, t.object->at[3], t.rows.words.divisors, error);
    if (status == QP_OK)
        count_done(work, &t);
    return status;
}
