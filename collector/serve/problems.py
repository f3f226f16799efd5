"""Every way the API says no: RFC 9457 problem documents (`application/problem+json`).

A query that cannot be understood is 400, a body that is no JSON 400, a body whose fields are wrong 422. Each entry
of `errors` names the parameter (`?k`) or the field (`/0/result`) at fault. Nothing of the body is echoed.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from msgspec import Struct
from starlette.exceptions import HTTPException

from collector.errors import (
    BadStatement,
    NotFound,
    PasshatError,
    PermanentError,
    RetryableError,
    StoreError,
    UsageError,
)
from collector.serve.strict import dumps
from collector.serve.times import TimeError

log = logging.getLogger("passhat.api")

MEDIA_TYPE = "application/problem+json"
OPERATOR_STATUS: dict[type[PasshatError], int] = {UsageError: 400, NotFound: 404, BadStatement: 500, StoreError: 503}
WHICH_PROJECT = "name one: --project NAME on the command line, project=NAME in the API"
MOST_LISTED = 10
OTLP = {"/v1/traces": "traces", "/v1/logs": "logs"}  # paths of another listener, and what is sent there


class FieldError(Struct, frozen=True):
    """What is wrong with one parameter or field."""

    field: str
    detail: str


class Refused(Exception):
    """Ends a request with a problem document."""

    def __init__(self, status: int, detail: str, *errors: FieldError, hint: str = "") -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = errors
        self.hint = hint


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, the first ten of them."""
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def problem(refused: Refused, headers: Mapping[str, str] | None = None) -> Response:
    """The response of a refusal: type, title, status, detail, and what is at fault."""
    body: dict[str, object] = {
        "type": "about:blank",
        "title": HTTPStatus(refused.status).phrase,
        "status": refused.status,
        "detail": refused.detail,
    }
    if refused.errors:
        body["errors"] = [{"field": error.field, "detail": error.detail} for error in refused.errors]
    if refused.hint:
        body["hint"] = refused.hint
    return Response(dumps(body), status_code=refused.status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Make every error of the app a problem document."""
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(TimeError, _time)
    app.add_exception_handler(PasshatError, _ours)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(Exception, _unexpected)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
    return problem(error, headers)


async def _time(_: Request, error: Exception) -> Response:
    assert isinstance(error, TimeError)
    return problem(Refused(400, str(error), FieldError(f"?{error.field}", str(error))))


async def _ours(request: Request, error: Exception) -> Response:
    if isinstance(error, RetryableError):
        return problem(Refused(error.http_status, str(error)), {"Retry-After": str(error.retry_after_s)})
    if isinstance(error, PermanentError):
        return problem(Refused(error.http_status, str(error)))
    status = next((code for kind, code in OPERATOR_STATUS.items() if isinstance(error, kind)), 500)
    if status >= 500:
        log.warning("%s %s: %s", request.method, request.url.path, error)
    headers = {"Retry-After": "1"} if status == 503 else {}
    return problem(Refused(status, str(error), hint=getattr(error, "hint", "")), headers)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = str(error.detail)
    if error.status_code == 404:
        detail = f"nothing is served at {request.url.path}"
        if request.method == "POST" and (signal := OTLP.get(request.url.path)):
            state = request.app.state
            state.metrics.refused.labels(signal, "not_served").inc()
            detail += f": OTLP/HTTP listens at {state.config.listen.http}"
    if error.status_code == 405:
        detail = f"{request.method} is not served at {request.url.path}"
    return problem(Refused(error.status_code, detail), error.headers)


async def _invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    errors = [FieldError(pointer(item["loc"]), words(item)) for item in error.errors()]
    status = 422 if any(item["loc"][:1] == ("body",) for item in error.errors()) else 400
    return problem(Refused(status, "; ".join(f"{e.field}: {e.detail}" for e in errors), *errors))


async def _unexpected(request: Request, error: Exception) -> Response:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    # The server ends the connection of a request that failed this way: a client that keeps it must know.
    return problem(Refused(500, "passhat failed on this request; its log says why"), {"connection": "close"})


def words(item: Mapping[str, Any]) -> str:
    """What is wrong with a value, without pydantic's own words for it."""
    if item["type"] == "extra_forbidden":
        return "unknown: nothing of this name is read here"
    return str(item["msg"]).removeprefix("Value error, ")


def pointer(loc: tuple[int | str, ...]) -> str:
    """`?name` for a query parameter, a JSON pointer for a field of the body."""
    if loc[:1] == ("query",):
        return "?" + ".".join(str(part) for part in loc[1:2])
    parts = loc[1:] if loc[:1] == ("body",) else loc
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
