"""What never reaches the spool: secrets by name and by form, and texts where only structure is wanted."""

from __future__ import annotations

from collector.redact.marks import Marks, key_of
from collector.redact.redactor import Redactor

__all__ = ["Marks", "Redactor", "key_of"]
