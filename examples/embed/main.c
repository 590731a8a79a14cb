/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Embeds quipu: loads a graph, certifies it, runs it once on a plane of zeros of the given size and
 * prints what came out. Build it against the installed library:
 *
 *     cmake --install build --prefix /tmp/quipu
 *     cmake -S examples/embed -B build/embed -DCMAKE_PREFIX_PATH=/tmp/quipu
 *     cmake --build build/embed
 *     build/embed/embed models/superres-x3.whg1 32 24
 */
#include <quipu/quipu.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(const qp_error *error)
{
    char text[320];
    fprintf(stderr, "%s\n", qp_error_text(error, text, sizeof text));
    return EXIT_FAILURE;
}

static void print_output(const qp_session *session)
{
    qp_array output;
    int64_t first;

    if (qp_session_output(session, 0, &output) != QP_OK)
        return;
    qp_array_read(&output, 0, 1, &first); /* whatever type the certificate chose to store it in */
    printf("output 0 is [%u, %u, %u], %u bytes an element; its first element is %lld\n",
           output.channels, output.height, output.width, qp_type_size(output.type),
           (long long)first);
}

/* One decode of `plane`, which stays the caller's. */
static int decode(const qp_certificate *certificate, const qp_array *plane)
{
    qp_session_options options = {.profile = QP_ACC64};
    qp_session *session;
    qp_error error;

    qp_status status = qp_session_create(certificate, &options, NULL, &session, &error);
    if (status == QP_OK)
        status = qp_session_decode(session, plane, 1, NULL, 0, &error);
    if (status == QP_OK)
        print_output(session);
    qp_session_free(session); /* NULL where it was not made */
    return status == QP_OK ? EXIT_SUCCESS : fail(&error);
}

int main(int argc, char **argv)
{
    qp_graph *graph;
    qp_certificate *certificate;
    qp_error error;

    if (argc != 4) {
        fprintf(stderr, "usage: embed GRAPH HEIGHT WIDTH\n");
        return EXIT_FAILURE;
    }
    if (qp_graph_open(argv[1], NULL, &graph, &error) != QP_OK)
        return fail(&error);
    if (qp_certify(graph, NULL, &certificate, &error) != QP_OK) {
        qp_graph_free(graph);
        return fail(&error);
    }
    printf("quipu %s: acc64 %s, acc32 %s\n", qp_version(),
           qp_certificate_meets(certificate, QP_ACC64, NULL) ? "yes" : "no",
           qp_certificate_meets(certificate, QP_ACC32, NULL) ? "yes" : "no");

    uint32_t height = (uint32_t)strtoul(argv[2], NULL, 10);
    uint32_t width = (uint32_t)strtoul(argv[3], NULL, 10);
    uint8_t *pixels = calloc((size_t)height * width + 1, 1);
    int code = EXIT_FAILURE;
    if (pixels != NULL) {
        qp_array plane = {pixels, QP_UINT8, 1, height, width};
        code = decode(certificate, &plane);
    }
    free(pixels);
    qp_certificate_free(certificate);
    qp_graph_free(graph);
    return code;
}
