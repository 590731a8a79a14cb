#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/lower/capabilities.inc, the library's table of registry/capabilities.json.

scripts/capabilities.py          writes it
scripts/capabilities.py --check  says whether it is fresh (test/lower/test_capability.c compares the
                                 two member by member as well)
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/lower/capabilities.inc"


def text(value):
    return "NULL" if value is None else f'"{value}"'


def row(number, name, entry):
    ops = entry["ops"]
    rans64 = ops["stage"].get("rans64", {})
    roles = ops.get("role_profiles", {})
    fields = [
        ("name", text(name)), ("class_name", text(entry["class"])),
        ("operator_set", text(ops["set"])), ("lowering", text(ops.get("lowering"))),
        ("subset", text(ops.get("subset"))),
        ("profile", "QP_" + ops.get("profile", "acc64").upper()),
        ("role_profiles", f"role_profiles_{number}" if roles else "NULL"),
        ("n_role_profiles", str(len(roles))),
        ("rans64_table", text(rans64.get("table"))), ("rans64_escape", text(rans64.get("escape"))),
        ("rans64_end", text(rans64.get("end"))), ("bucket", text(ops["stage"].get("bucket")))]
    return "    {" + ",\n     ".join(f".{field} = {value}" for field, value in fields) + "},\n"


def table():
    registry = json.loads((ROOT / "registry/capabilities.json").read_text(encoding="utf-8"))
    entries = registry["capabilities"].items()
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */\n",
             "/* Written by scripts/capabilities.py from registry/capabilities.json. */\n"]
    for number, (_, entry) in enumerate(entries):
        roles = entry["ops"].get("role_profiles", {})
        if roles:
            rows = ", ".join(f'{{"{role}", QP_{profile.upper()}}}'
                             for role, profile in roles.items())
            lines.append(f"static const qp_role_profile role_profiles_{number}[] = {{{rows}}};\n")
    lines.append("static const qp_capability capabilities[] = {\n")
    lines.extend(row(number, name, entry) for number, (name, entry) in enumerate(entries))
    lines.append("};\n")
    return "".join(lines)


def main():
    if sys.argv[1:] == ["--check"]:
        if TABLE.read_text(encoding="utf-8") == table():
            return 0
        print("src/lower/capabilities.inc is stale: run scripts/capabilities.py")
        return 1
    TABLE.write_text(table(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
