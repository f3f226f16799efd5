"""How the SQL endpoint says no: ClickHouse's codes and wording, so that its clients make typed errors of them."""

from __future__ import annotations

import re

from starlette.responses import Response

from collector.serve.problems import Refused

MAX_TEXT = 16 << 10
_CODE = re.compile(r"Code: (\d+)\. DB::\w+: ")
_NAME = re.compile(r"\(([A-Z][A-Z0-9_]+)\)\s*$")

SYNTAX_ERROR = 62
UNKNOWN_TABLE = 60
UNKNOWN_FORMAT = 73
TIMEOUT_EXCEEDED = 159
READONLY = 164
QUERY_IS_TOO_LARGE = 168
TOO_MANY_SIMULTANEOUS_QUERIES = 202
BAD_QUERY_PARAMETER = 457
ACCESS_DENIED = 497
AUTHENTICATION_FAILED = 516
NO_ANSWER = 210
NO_SUCH_ENCODING = 1002

NAMES = {
    SYNTAX_ERROR: "SYNTAX_ERROR",
    UNKNOWN_FORMAT: "UNKNOWN_FORMAT",
    READONLY: "READONLY",
    QUERY_IS_TOO_LARGE: "QUERY_IS_TOO_LARGE",
    TOO_MANY_SIMULTANEOUS_QUERIES: "TOO_MANY_SIMULTANEOUS_QUERIES",
    NO_ANSWER: "NETWORK_ERROR",
    BAD_QUERY_PARAMETER: "BAD_QUERY_PARAMETER",
    ACCESS_DENIED: "ACCESS_DENIED",
    AUTHENTICATION_FAILED: "AUTHENTICATION_FAILED",
    NO_SUCH_ENCODING: "UNKNOWN_EXCEPTION",
}
# As ClickHouse's HTTP handler maps them; what is not here is 500, as there.
STATUS = {
    SYNTAX_ERROR: 400,
    BAD_QUERY_PARAMETER: 400,
    NO_SUCH_ENCODING: 400,
    36: 400,  # BAD_ARGUMENTS
    43: 400,  # ILLEGAL_TYPE_OF_ARGUMENT
    53: 400,  # TYPE_MISMATCH
    456: 400,  # UNKNOWN_QUERY_PARAMETER
    46: 404,  # UNKNOWN_FUNCTION
    47: 404,  # UNKNOWN_IDENTIFIER
    UNKNOWN_TABLE: 404,
    UNKNOWN_FORMAT: 404,
    81: 404,  # UNKNOWN_DATABASE
    READONLY: 403,
    ACCESS_DENIED: 403,
    AUTHENTICATION_FAILED: 401,
    QUERY_IS_TOO_LARGE: 413,
    TOO_MANY_SIMULTANEOUS_QUERIES: 503,
    NO_ANSWER: 503,
}


class SqlError(Exception):
    """An exception as ClickHouse tells it: a code, and a text that says what and why."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text

    @classmethod
    def of_engine(cls, said: str) -> SqlError:
        """The engine's own words, its code taken out of them. It repeats "Code: N." for errors it passes on."""
        found = _CODE.search(said)
        code = int(found[1]) if found else NO_ANSWER
        text = said[found.start() :] if found else said
        while (again := _CODE.match(text)) and _CODE.match(text, again.end()):
            text = text[again.end() :]
        return cls(code, text.strip()[:MAX_TEXT])

    @property
    def whole(self) -> str:
        """`Code: N. DB::Exception: … (NAME)`."""
        if self.text.startswith("Code: "):
            return self.text
        return f"Code: {self.code}. DB::Exception: {self.text}. ({NAMES.get(self.code, 'UNKNOWN_EXCEPTION')})"

    def response(self) -> Response:
        """As the clients expect it: the code in a header, the text as the body."""
        return Response(
            self.whole + "\n",
            status_code=STATUS.get(self.code, 500),
            headers={"X-ClickHouse-Exception-Code": str(self.code)},
            media_type="text/plain; charset=utf-8",
        )


def of_door(refused: Refused) -> Response:
    """A refusal of the door (host, origin, token) in ClickHouse's words; the status stays."""
    code = AUTHENTICATION_FAILED if refused.status == 401 else ACCESS_DENIED
    reply = SqlError(code, f"{refused.detail}: {refused.hint}" if refused.hint else refused.detail).response()
    reply.status_code = refused.status
    return reply
