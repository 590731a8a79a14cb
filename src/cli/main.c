/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the quipu command: finds the verb. */
#include "cli/cli.h"
#include "cli/fabric.h"

static const qp_verb *const verbs[] = {
#define QP_ROW(name, summary) &qp_verb_##name,
    QP_VERBS(QP_ROW)
#undef QP_ROW
};

enum { VERBS = sizeof verbs / sizeof *verbs };

static void print_help(FILE *to)
{
    fputs("usage: quipu VERB [ARGUMENT...]\n\n"
          "Neural networks carried exactly: the same integers on every machine, and a\n"
          "certificate that says beforehand that no sum can overflow.\n\n",
          to);
    for (size_t i = 0; i < VERBS; i++)
        fprintf(to, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fputs("\n'quipu VERB --help' explains a verb, with an example. 'quipu --version' prints the\n"
          "version. Exit status: 0 done, 1 refused or different, 2 wrong usage, 3 the\n"
          "environment failed.\n",
          to);
}

static const qp_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

/* The exit code once all that was printed has been taken; a verb that met the failure itself has
 * said so. */
static int finish(int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code == QP_EXIT_ENVIRONMENT)
        return code;
    fputs("quipu: standard output cannot be written\n", stderr);
    return QP_EXIT_ENVIRONMENT;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return QP_EXIT_USAGE;
    }
    if (is_one_of(argv[1], "--help", "-h") || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return finish(QP_EXIT_OK);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("quipu %s\n", qp_version());
        return finish(QP_EXIT_OK);
    }
    const qp_verb *verb = find_verb(argv[1]);
    if (verb == NULL) {
        fprintf(stderr, "quipu: there is no verb '%s'\nTry 'quipu --help'.\n", argv[1]);
        return QP_EXIT_USAGE;
    }
    if (asks_for_help(argc - 1, argv + 1)) {
        bool has_parts = verb == &qp_verb_fabric && argc > 2;
        fputs(has_parts ? qp_cli_fabric_help(argv[2]) : verb->help, stdout);
        return finish(QP_EXIT_OK);
    }
    return finish(verb->run(argc - 1, argv + 1));
}
