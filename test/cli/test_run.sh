#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_run.sh QUIPU SOURCE - `quipu run` and `quipu compare`, through run_checks.py.
exec python3 "$(dirname "$0")/run_checks.py" "$@"
