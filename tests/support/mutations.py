"""Damages files on purpose: bytes, words and lines, the members of archives, the values of JSON texts.

Every function takes a random generator, so a case can be made again from its number.
"""

import gzip
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

Rng = np.random.Generator

# fmt: off
WORDS = [
    '0', '-1', '1', '2', '3', '7', '-0', '00', '+5', '1e5', '1e999', '-1e-999', 'nan', 'inf', '-inf', 'Infinity',
    '1_0', '١٢', '²', '0x10', '0.5', '.5', '5.', '1.5.2', '2147483647', '2147483648', '4294967296',
    '9223372036854775807', '9223372036854775808', '99999999999999999999999999999', '300000000', 'p', 'a', 'c',
    'v', 'sp', 'map', 'type', 'height', 'width', 'octile', 'version', 'tail', 'head', 'weight', 'snapshot', ',',
    ';', '|', '"', "''", 'None', 'true', 'null', '[]', '{}', "'", '.', '@', 'T', 'W',
]
# fmt: on
WORDS += ["9" * 5000, "1" * 400, "\x0c", "\xa0", "\0", "\ufeff", "\r", "\t", "\n\n", " ", "", "é", "𝟙"]

VALUES: list[Any] = [None, True, False, 0, -1, 1, 3, 2**31, 2**63, 10**30, 0.5, -0.0, float("inf"), float("nan")]
VALUES += ["", "x", "9" * 5000, "\0", "..", "/etc/passwd", "astar", "|O", [], [[]], [1, "x"], [0] * 50, {}, {"a": 1}]
VALUES += [100_000_000]

DTYPES = ["f8", "f4", "f2", "i8", "i4", "u1", "?", "c16", "U3", "S2", "M8[s]", "V4", ">f8", ">i8", "O"]


def damaged_bytes(rng: Rng, data: bytes) -> bytes:
    """Change, remove, insert, repeat or cut off some bytes."""
    for _ in range(int(rng.integers(1, 4))):
        if not data:
            return bytes(rng.integers(0, 256, int(rng.integers(0, 5)), dtype=np.uint8))
        begin = int(rng.integers(len(data)))
        end = min(len(data), begin + int(rng.integers(1, 9)))
        kind = int(rng.integers(6))
        if kind == 0:
            data = data[:begin] + bytes([data[begin] ^ 1 << int(rng.integers(8))]) + data[begin + 1 :]
        elif kind == 1:
            data = data[:begin] + data[end:]
        elif kind == 2:
            data = data[:begin] + bytes(rng.integers(0, 256, end - begin, dtype=np.uint8)) + data[begin:]
        elif kind == 3:
            data = data[:begin] + data[begin:end] * int(rng.integers(2, 40)) + data[end:]
        elif kind == 4:
            data = data[:begin] + bytes([int(rng.choice([0, 255, 127, 128]))]) * (end - begin) + data[end:]
        elif rng.random() < 0.3:
            data = data[:begin]
    return data


def damaged_text(rng: Rng, data: bytes) -> bytes:
    """Replace words, or remove, repeat and swap lines; sometimes damage bytes, or pack the file."""
    for _ in range(int(rng.integers(1, 4))):
        kind = int(rng.integers(5))
        if kind <= 2:
            places = list(re.finditer(rb"[^\s,]+", data))
            if places:
                place = places[int(rng.integers(len(places)))]
                word = WORDS[int(rng.integers(len(WORDS)))].encode()
                data = data[: place.start()] + word + data[place.end() :]
        elif kind == 3:
            lines = data.split(b"\n")
            one, two = (int(k) for k in rng.integers(len(lines), size=2))
            choice = int(rng.integers(4))
            if choice == 0:
                del lines[one]
            elif choice == 1:
                lines[one : one + 1] = [lines[one]] * int(rng.integers(2, 50))
            elif choice == 2:
                lines[one], lines[two] = lines[two], lines[one]
            else:
                lines.insert(one, WORDS[int(rng.integers(len(WORDS)))].encode())
            data = b"\n".join(lines)
        else:
            data = damaged_bytes(rng, data)
    if rng.random() < 0.1:
        data = gzip.compress(data, 1)
        data = damaged_bytes(rng, data) if rng.random() < 0.5 else data
    return data


def damaged_value(rng: Rng, value: Any) -> Any:
    """Replace one value somewhere in plain lists and dictionaries, or remove or repeat an entry."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = list(value)[int(rng.integers(len(value)))]
        if rng.random() < 0.1:
            return {name: part for name, part in value.items() if name != key}
        return value | {key: damaged_value(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = int(rng.integers(len(value)))
        kind = rng.random()
        if kind < 0.1:
            return value[:at] + value[at + 1 :]
        if kind < 0.2:
            return value[:at] + [value[at]] * int(rng.integers(2, 20)) + value[at + 1 :]
        return [*value[:at], damaged_value(rng, value[at]), *value[at + 1 :]]
    return VALUES[int(rng.integers(len(VALUES)))]


def damaged_json(rng: Rng, data: bytes) -> bytes:
    """Damage the values of a JSON text, or its bytes."""
    if rng.random() < 0.25:
        return damaged_text(rng, data)
    value = json.loads(data)
    for _ in range(int(rng.integers(1, 3))):
        value = damaged_value(rng, value)
    return json.dumps(value).encode()


def damaged_array(rng: Rng, data: bytes) -> bytes:
    """Make another array of an ``.npy`` file, lie about it in the header, or damage its bytes."""
    kind = rng.random()
    if kind < 0.3:
        return damaged_bytes(rng, data)
    if kind < 0.6:
        header = data[: data.index(b"\n")]
        lied = re.sub(rb"\(.*\)", _shape(rng).encode(), header) if rng.random() < 0.6 else header
        lied = re.sub(rb"'[<>|][^']*'", repr("<" + DTYPES[int(rng.integers(len(DTYPES)))]).encode(), lied)
        padding = b" " * max(0, len(header) - len(lied))
        return lied[: len(header)] + padding + data[len(header) :]
    array = np.load(io.BytesIO(data), allow_pickle=False)
    choice = int(rng.integers(7))
    with np.errstate(all="ignore"):
        if choice == 0:
            array = array.ravel()
        elif choice == 1:
            array = array[:0]
        elif choice == 2:
            array = np.concatenate([array, array]) if array.ndim else array
        elif choice == 3 and array.size:
            array = array.copy()
            flat = array.reshape(-1)
            try:
                flat[int(rng.integers(array.size))] = rng.choice([-1, 0, 1e300, np.nan, np.inf, 2**31])
            except (ValueError, OverflowError):
                flat[0] = 0
        elif choice == 4:
            array = array.T
        elif choice == 5:
            array = np.zeros(int(rng.integers(0, 4)), dtype=array.dtype)
        else:
            try:
                array = array.astype(DTYPES[int(rng.integers(len(DTYPES) - 1))])
            except (ValueError, TypeError, OverflowError):
                array = np.zeros((2, 2))
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), version=(1, 0), allow_pickle=False)
    return out.getvalue()


def _shape(rng: Rng) -> str:
    sizes = ["0", "1", "2", "20", "-1", "3000000000", "99999999999999999999", "None", "1.5", "True"]
    return "(" + "".join(f"{sizes[int(rng.integers(len(sizes)))]}, " for _ in range(int(rng.integers(0, 4)))) + ")"


def damaged_archive(rng: Rng, data: bytes, json_member: str | None = None) -> bytes:
    """Damage one member of an ``.npz`` file and pack it again with right checksums, or damage the packed bytes."""
    if rng.random() < 0.25:
        return damaged_bytes(rng, data)
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    name = list(members)[int(rng.integers(len(members)))]
    kind = rng.random()
    if json_member is not None and (name == json_member or kind < 0.3):
        text = damaged_json(rng, np.load(io.BytesIO(members[json_member])).tobytes())
        out = io.BytesIO()
        np.save(out, np.frombuffer(text, dtype=np.uint8))
        members[json_member] = out.getvalue()
    elif kind < 0.8:
        members[name] = damaged_array(rng, members[name])
    elif kind < 0.85:
        del members[name]
    elif kind < 0.9:
        members["more.npy"] = members[name]
    elif kind < 0.95:
        members[name] = bytes(1 << 24)  # packs to 16 kB
    else:
        members[name.removesuffix(".npy")] = members.pop(name)
    out = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if rng.random() < 0.8 else int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_BZIP2]))
    with zipfile.ZipFile(out, "w", method) as new:
        for member, content in members.items():
            new.writestr(member, content)
    return out.getvalue()


def damaged_picture(rng: Rng, data: bytes) -> bytes:
    """Damage a chunk of a PNG file and give it a right checksum, or damage the bytes."""
    if rng.random() < 0.3:
        return damaged_bytes(rng, data)
    chunks, at = [], 8
    while at + 8 <= len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        chunks.append([data[at + 4 : at + 8], data[at + 8 : at + 8 + size]])
        at += 12 + size
    k = int(rng.integers(len(chunks)))
    if chunks[k][0] == b"IHDR" and rng.random() < 0.7:
        sides = [0, 1, 5, 2**14, 2**31 - 1, 2**32 - 1, 4096, 65536]
        one, two = (int(sides[int(i)]) for i in rng.integers(len(sides), size=2))
        chunks[k][1] = struct.pack(">II", one, two) + damaged_bytes(rng, chunks[k][1][8:])
    elif chunks[k][0] == b"IDAT" and rng.random() < 0.6:
        chunks[k][1] = zlib.compress(damaged_bytes(rng, zlib.decompress(chunks[k][1])) * int(rng.integers(1, 50)))
    else:
        chunks[k][1] = damaged_bytes(rng, chunks[k][1])
    if rng.random() < 0.2:
        chunks.insert(k, [rng.choice([b"tEXt", b"zTXt", b"iCCP", b"PLTE", b"tRNS", b"acTL"]), bytes(20)])
    return data[:8] + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


Damage = Callable[[Rng, bytes], bytes]
