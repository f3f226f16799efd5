"""Every way passhat says no.

PasshatError
├── PermanentError        the same request can never succeed: do not retry
│   ├── BadData               undecodable or invalid                400  INVALID_ARGUMENT
│   ├── TooLarge              over a size limit                     413  RESOURCE_EXHAUSTED (no RetryInfo)
│   ├── Unauthenticated       no token, or a wrong one              401  UNAUTHENTICATED
│   ├── Forbidden             the token lacks the scope             403  PERMISSION_DENIED
│   ├── NotServed             no such path, method or signal        404  UNIMPLEMENTED
│   ├── MethodNotAllowed      not a POST                            405  UNIMPLEMENTED
│   ├── UnsupportedMedia      content type or encoding              415  INVALID_ARGUMENT
│   └── Unfinished            the client hung up half way           400  INVALID_ARGUMENT
├── RetryableError        the same request may succeed later: retry after `retry_after_s`
│   ├── Overloaded            too much in flight                    503  UNAVAILABLE
│   ├── SpoolFull             spool at its cap, or the disk low     503  UNAVAILABLE
│   ├── Shed                  spool nearly full, others go first    503  UNAVAILABLE
│   ├── SpoolBroken           the spool cannot be written           503  UNAVAILABLE
│   └── ShuttingDown          draining                              503  UNAVAILABLE
└── OperatorError         said to the person at the keyboard, by exit code
    ├── UsageError            flags, configuration, port in use      2
    ├── NotFound              unknown run, too few trials            3
    └── StoreError            store, unreachable server, internal    4
        └── BadStatement          the engine does not take our SQL

Each class decides its HTTP status and its gRPC code once, for both transports (OTLP 1.11.0, "Failures").
"""

from __future__ import annotations

from typing import ClassVar


class PasshatError(Exception):
    """Base of the tree. `str(error)` is for people: what, where, and what to do."""


class PermanentError(PasshatError):
    """The request as sent can never be accepted. `reason` is the label of the counter."""

    http_status: ClassVar[int] = 400
    grpc_code: ClassVar[str] = "INVALID_ARGUMENT"
    reason: ClassVar[str] = "bad_data"

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class BadData(PermanentError):
    """Undecodable bytes, or a request in which nothing is valid. `field` is the first offending path."""


class TooLarge(PermanentError):
    http_status = 413
    grpc_code = "RESOURCE_EXHAUSTED"
    reason = "too_large"


class Unauthenticated(PermanentError):
    http_status = 401
    grpc_code = "UNAUTHENTICATED"
    reason = "unauthenticated"


class Forbidden(PermanentError):
    http_status = 403
    grpc_code = "PERMISSION_DENIED"
    reason = "forbidden"


class NotServed(PermanentError):
    http_status = 404
    grpc_code = "UNIMPLEMENTED"
    reason = "not_served"


class MethodNotAllowed(PermanentError):
    http_status = 405
    grpc_code = "UNIMPLEMENTED"
    reason = "method_not_allowed"


class UnsupportedMedia(PermanentError):
    http_status = 415
    reason = "unsupported_media"


class Unfinished(PermanentError):
    """Nobody is there to read the answer: only counted."""

    reason = "unfinished"


class RetryableError(PasshatError):
    """Nothing was kept; the client should send the same bytes again after `retry_after_s` seconds.

    The hint stays at 1 s: stock exporters have 10 s in all and drop the batch when the hint exceeds the rest.
    """

    http_status: ClassVar[int] = 503
    grpc_code: ClassVar[str] = "UNAVAILABLE"
    reason: ClassVar[str] = "unavailable"
    retry_after_s: ClassVar[int] = 1


class Overloaded(RetryableError):
    reason = "overloaded"


class SpoolFull(RetryableError):
    reason = "spool_full"


class Shed(RetryableError):
    reason = "shed"


class SpoolBroken(RetryableError):
    reason = "spool_broken"


class ShuttingDown(RetryableError):
    reason = "shutting_down"


class OperatorError(PasshatError):
    """Ends a command. `hint` says what to do; `exit_code` is public (CONTRACT.md section 9)."""

    exit_code: ClassVar[int] = 4

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(OperatorError):
    exit_code = 2


class NotFound(OperatorError):
    exit_code = 3


class StoreError(OperatorError):
    exit_code = 4


class BadStatement(StoreError):
    """Trying again later does not help: a fault of ours, or an engine of another version."""
