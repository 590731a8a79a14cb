# SPDX-License-Identifier: Apache-2.0
"""Section 8.5: canonical JSON, written and read.

In Python an integer of the text is an int, a boolean a bool, an absent value None.
"""

import json


class NotCanonical(Exception):
    """A value that canonical JSON cannot hold, or a text that is no JSON."""


def write(value):
    """The canonical text of a value (a str; its bytes are ASCII)."""
    out = []
    _write(value, out.append)
    return "".join(out)


def _write(value, put):
    if value is None:
        put("null")
    elif value is True:
        put("true")
    elif value is False:
        put("false")
    elif isinstance(value, int):
        put(f'"{value}"')
    elif isinstance(value, str):
        put(_string(value))
    elif isinstance(value, dict):
        _write_object(value, put)
    elif all(type(item) is int for item in value):
        put('["' + '","'.join(map(str, value)) + '"]' if value else "[]")
    else:
        _write_array(value, put)


def _write_array(value, put):
    mark = "["
    for item in value:
        put(mark)
        _write(item, put)
        mark = ","
    put("]")


def _write_object(value, put):
    mark = "{"
    for key in sorted(value):
        put(mark)
        put(_string(key))
        put(":")
        _write(value[key], put)
        mark = ","
    put("}" if value else "{}")


def _string(text):
    if not all(" " <= c <= "~" for c in text):
        raise NotCanonical(f"a string outside printable ASCII: {ascii(text)}")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _no_number(text):
    raise NotCanonical(f"a bare number {_short(text)}: every integer is a string")


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotCanonical("an object names one member twice")
    return members


def read(line):
    """The value of one line of bytes. Integers stay strings: the reader knows which they are."""
    try:
        return json.loads(line.decode("ascii"), parse_int=_no_number, parse_float=_no_number,
                          parse_constant=_no_number, object_pairs_hook=_members)
    except RecursionError:
        raise NotCanonical("nested too deeply") from None
    except ValueError as error:
        raise NotCanonical(f"not JSON: {error}") from None


def integer(text):
    """The integer that a decimal string holds, in its one spelling."""
    if not isinstance(text, str):
        raise NotCanonical(f"not a decimal string: {_short(text)}")
    try:
        value = int(text)
    except ValueError:
        raise NotCanonical(f"not a decimal string: {_short(text)}") from None
    if str(value) != text:
        raise NotCanonical(f"not the canonical spelling of an integer: {_short(text)}")
    return value


def integers(value):
    if not isinstance(value, list):
        raise NotCanonical("not an array of integers")
    return [integer(item) for item in value]


def hex_bytes(text):
    """The bytes that lowercase hexadecimal spells."""
    try:
        data = bytes.fromhex(text)
    except (TypeError, ValueError):
        raise NotCanonical("not hexadecimal") from None
    if data.hex() != text:
        raise NotCanonical("not lowercase hexadecimal")
    return data


def member(value, key):
    if not isinstance(value, dict) or key not in value:
        raise NotCanonical(f"no member {key!r}")
    return value[key]


def first_difference(read_value, own_value, path=""):
    """Where two values (as read from JSON) differ first: 'path: read X, recomputed Y', or ''."""
    if isinstance(read_value, dict) and isinstance(own_value, dict):
        for key in sorted(set(read_value) | set(own_value)):
            place = f"{path}.{key}" if path else key
            if key not in own_value:
                return f"{place}: read, but no such member is recomputed"
            if key not in read_value:
                return f"{place}: not there, recomputed {_short(own_value[key])}"
            found = first_difference(read_value[key], own_value[key], place)
            if found:
                return found
        return ""
    if isinstance(read_value, list) and isinstance(own_value, list):
        for k, pair in enumerate(zip(read_value, own_value)):
            found = first_difference(*pair, f"{path}[{k}]")
            if found:
                return found
        if len(read_value) != len(own_value):
            return f"{path}: {len(read_value)} items read, {len(own_value)} recomputed"
        return ""
    if type(read_value) is type(own_value) and read_value == own_value:
        return ""
    return f"{path}: read {_short(read_value)}, recomputed {_short(own_value)}"


def _short(value):
    text = json.dumps(value)
    return text if len(text) <= 120 else text[:117] + "..."
