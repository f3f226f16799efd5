"""What was wrong with one request: what was refused, what was repaired, the marks that repairs leave in the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from collector.errors import BadData
from semconv.names import REPAIRED

# A list of texts "reason where" on the repaired span, log record, resource or scope: graders see that a value is not
# what was sent. Counted by reason in passhat_repaired_total.
MARK = REPAIRED
MARK_CHARS = 200

INVALID_TEXT = "invalid_unicode"  # a byte that is no UTF-8, a lone surrogate: replaced by U+FFFD
OVERSIZED_INTEGER = "oversized_integer"  # beyond 64 bits: kept as its decimal text
OVERSIZED_DOUBLE = "oversized_double"  # beyond a double: infinity
SEVERAL_KINDS = "several_kinds"  # an AnyValue with two kinds set: the last one is kept
TRUNCATED = "truncated"  # a value or a list longer than the limits: cut
INVALID_PARENT = "invalid_parent"  # parent_span_id of a wrong length: taken as absent
INVALID_LINK = "invalid_link"  # a link without valid ids: left out
INVALID_ID = "invalid_id"  # a log's ids: taken as not associated

Element: TypeAlias = Any  # a protobuf message with `attributes`


class Findings:
    """Collected while a request is decoded and checked."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets everything: the request is decoded anew."""
        self.refused: dict[str, int] = {}  # reason -> spans or log records
        self.repaired: dict[str, int] = {}  # reason -> values
        self.redacted: Mapping[str, int] = {}  # kind of secret -> values
        self.ignored = 0  # passhat's own telemetry
        self.first_why = ""
        self.first_field = ""
        self.warning = ""
        self.changed = False
        self._marks: dict[int, tuple[Element, list[str]]] = {}

    @property
    def refused_count(self) -> int:
        """Spans or log records refused."""
        return sum(self.refused.values())

    def refuse(self, reason: str, field: str, why: str, count: int = 1) -> None:
        """`count` records cost themselves; `field` is the path of the first of them, `why` says what is wrong there."""
        self.refused[reason] = self.refused.get(reason, 0) + count
        self.changed = True
        if not self.first_why:
            self.first_field, self.first_why = field, why

    def repair(self, element: Element | None, reason: str, where: str) -> None:
        """A value of `element` was repaired; the mark is written by `write_marks`."""
        self.repaired[reason] = self.repaired.get(reason, 0) + 1
        self.changed = True
        if element is not None:
            self._marks.setdefault(id(element), (element, []))[1].append(f"{reason} {where}"[:MARK_CHARS])

    def moved(self, old: Element, new: Element) -> None:
        """What was found of `old` is of its copy `new`: a mark on what is not in the request any more says nothing."""
        known = self._marks.pop(id(old), None)
        if known is not None:
            self._marks[id(new)] = (new, known[1])

    def write_marks(self) -> None:
        """Puts the marks into the messages, one attribute an element."""
        for element, texts in self._marks.values():
            attribute = element.attributes.add()
            attribute.key = MARK
            for text in texts:
                attribute.value.array_value.values.add().string_value = text
        self._marks.clear()

    def explain(self) -> str:
        """One sentence for the sender: how many, why, where first."""
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(self.refused.items()))
        return f"{self.refused_count} refused ({reasons}); first: {self.first_field}: {self.first_why}"

    def warn(self) -> str:
        """One sentence about what was kept, but not as it was sent; '' when nothing was."""
        if not self.repaired:
            return ""
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(self.repaired.items()))
        return f"all kept, {sum(self.repaired.values())} values repaired ({reasons})"

    def as_error(self) -> BadData:
        """The refusal of the whole request, when nothing in it is valid."""
        return BadData(self.explain(), field=self.first_field)
