/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_golden.c - the payloads of test/data/codec/int_hyper and int_synth: the committed set
 * decodes them to the committed digests, and the encoder writes their bytes again, on every
 * machine.
 */
#include "codec/codec.h"

#include "codec.h"

#define HYPER "wai.neural.int_hyper"
#define SYNTH "wai.neural.int_synth"

static qp_file open_file(const char *folder, const char *name)
{
    char path[512];
    qp_file file;
    qp_error error;
    snprintf(path, sizeof path, QP_TEST_DATA "/codec/%s/%s", folder, name);
    if (qp_file_open(path, NULL, &file, &error) != QP_OK)
        fail_msg("%s: %s", path, error.message);
    return file;
}

static void expect_bytes(const char *folder, const char *name, const void *bytes, size_t size)
{
    qp_file file = open_file(folder, name);
    assert_int_equal(file.size, size);
    assert_memory_equal(file.bytes, bytes, size);
    qp_file_close(&file);
}

/* The committed files are those of small_sets.c; *set is opened from the committed ones. */
static qp_set *open_committed(const char *capability, const char *folder, small_set *files)
{
    small_set committed = *files;
    qp_file opened[SMALL_FILES_MAX];
    for (size_t i = 0; i < files->count; i++) {
        expect_bytes(folder, files->members[i].path, files->members[i].bytes,
                     files->members[i].size);
        opened[i] = open_file(folder, files->members[i].path);
        committed.members[i].bytes = opened[i].bytes;
    }
    qp_set *set = test_open(capability, &committed);
    for (size_t i = files->count; i > 0; i--)
        qp_file_close(&opened[i - 1]);
    return set;
}

typedef struct golden {
    const char *name, *digest;
    uint64_t seed;
    uint32_t height, width, channels;
} golden;

static void expect_golden(const char *capability, const char *folder, const qp_set *set,
                          const small_set *files, const golden *g, const qp_media *media)
{
    char digest[65];
    qp_file payload = open_file(folder, g->name);
    assert_int_equal(test_decode(capability, set, payload.bytes, payload.size, digest, NULL),
                     QP_OK);
    assert_string_equal(digest, g->digest);
    qp_file_close(&payload);
    qp_encoded again = test_encode(capability, set, files, media);
    expect_bytes(folder, g->name, again.bytes, again.size);
    qp_encoded_free(NULL, &again);
}

static void test_pictures(void **unused)
{
    static const golden pictures[] = {
        {"photo.wih1", "51b74b833f089b2dd55728af00a9ad889591e79a20b4e7787aaf21255acdc852", 7, 37,
         52, 3},
        {"pixel.wih1", "6f811f951e385c86ca620137b8895d019edc4fbe8170ce8154b7a42944ef07d0", 8, 1, 1,
         3},
        {"grey.wih1", "5c7d6661ac8d462e3a92d64877ede92100ccf957b0550bc4d31a6110fbea53fa", 9, 96, 64,
         1},
    };
    (void)unused;
    small_set files;
    small_set_hyper(1, &files);
    qp_set *set = open_committed(HYPER, "int_hyper", &files);
    for (size_t i = 0; i < TEST_COUNT(pictures); i++) {
        const golden *g = &pictures[i];
        qp_media media = small_picture(g->seed, g->height, g->width, g->channels);
        expect_golden(HYPER, "int_hyper", set, &files, g, &media);
        qp_media_free(NULL, &media);
    }
    qp_set_close(set);
    small_set_free(&files);
}

static void test_latents(void **unused)
{
    static const golden latents = {
        "latents.wiy1",
        "6c2740e0cd0f19c3527786d2d13a10af8b02ce8dc6604468cd0964360869d0ff",
        5,
        8,
        8,
        2};
    (void)unused;
    small_set files;
    uint8_t values[2 * 8 * 8];
    uint64_t seed = latents.seed;
    qp_media media = {QP_LAYOUT_PLANES, 1, latents.height, latents.width,
                      latents.channels, 0, values,         sizeof values};
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (uint8_t)small_random(&seed, 256);
    small_set_synth(1, &files);
    qp_set *set = open_committed(SYNTH, "int_synth", &files);
    expect_golden(SYNTH, "int_synth", set, &files, &latents, &media);
    qp_set_close(set);
    small_set_free(&files);
}

static void test_the_file_of_a_picture(void **unused)
{
    (void)unused;
    qp_container container;
    qp_file file = open_file("int_hyper", "photo.qp");
    assert_int_equal(qp_container_read(file.bytes, file.size, &container, NULL), QP_OK);
    assert_string_equal(container.capability, HYPER);
    assert_string_equal(container.set_sha256,
                        "7781db25c46963bfcd00dea0a45270efdbfad5dd144f3e1a437958a1d08745a1");
    assert_int_equal(container.count, 1);
    size_t at = 0;
    qp_unit unit;
    assert_true(qp_container_next(&container, &at, &unit));
    expect_bytes("int_hyper", "photo.wih1", unit.bytes, unit.size);
    qp_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_latents),
        cmocka_unit_test(test_the_file_of_a_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
