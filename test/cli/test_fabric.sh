#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_fabric.sh QUIPU SOURCE - `quipu fabric`, through fabric_checks.py.
exec python3 "$(dirname "$0")/fabric_checks.py" "$@"
