"""The first question of ClickHouse's Go driver, answered so that plain bytes do for all that follow.

The driver asks for blocks framed for its protocol revision (a header before each block, a byte before each column);
the embedded engine writes Native of revision 0, without them. The driver reads the answer to this one question at its
own revision, and all after it at the revision that the answer says. So this answer is framed by hand, and says 0.
"""

from __future__ import annotations

import struct

QUESTION = "SELECT displayName(), version(), revision(), timezone()"
# The same columns for a client that frames nothing.
PLAIN = (
    "SELECT 'passhat' AS `displayName()`, version() AS `version()`, toUInt32(0) AS `revision()`,"
    " timezone() AS `timezone()`"
)
# DBMS_MIN_REVISION_WITH_CUSTOM_SERIALIZATION: older drivers expect no byte before a column.
CUSTOM_SERIALIZATION = 54454
_BLOCK_INFO = b"\x01\x00\x02\xff\xff\xff\xff\x00"  # is_overflows = 0, bucket_num = -1, end


def is_question(sql: str) -> bool:
    return "".join(sql.split()).rstrip(";").lower() == "".join(QUESTION.split()).lower()


def answer(version: str, client_revision: int) -> bytes:
    """One block of one row: display name, version, revision 0, time zone."""
    custom = b"\0" if client_revision >= CUSTOM_SERIALIZATION else b""
    columns = (
        ("displayName()", "String", _text("passhat")),
        ("version()", "String", _text(version)),
        ("revision()", "UInt32", struct.pack("<I", 0)),
        ("timezone()", "String", _text("UTC")),
    )
    body = b"".join(_text(name) + _text(kind) + custom + value for name, kind, value in columns)
    return _BLOCK_INFO + bytes([len(columns), 1]) + body


def _text(text: str) -> bytes:
    """Length and bytes; all texts here are shorter than 128."""
    data = text.encode()
    return bytes([len(data)]) + data
