"""What every section of the configuration is made of."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A part of the configuration: frozen, and closed to keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True, hide_input_in_errors=True)


def http_url(url: str) -> str:
    """The URL, if it is one of HTTP. Raises ValueError."""
    if not re.match(r"https?://[^/\s]+", url):
        raise ValueError("write https://host:port/path")
    return url
