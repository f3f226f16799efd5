"""Which attributes, map keys and JSON keys hold a secret by their name, and which are never touched."""

from __future__ import annotations

import re
from collections.abc import Iterable

EXEMPT = "exempt"  # never looked at: passhat's own attributes, and ids that tie spans together
MOST_NAMES = 20_000  # remembered
MOST_CHARS = 200  # a longer one is no name

# A key is secret when its name ends in one of these: `db.password`, `X-Api-Key`, `clientSecret`, `OPENAI_API_KEY`.
SECRET_NAMES = (
    "password", "passwd", "passphrase", "secret", "api_key", "apikey", "authorization", "cookie", "cookies",
    "private_key", "secret_key", "access_key", "secret_access_key", "account_key", "access_token", "refresh_token",
    "id_token", "auth_token", "session_token", "bearer_token", "client_secret", "credential", "credentials",
    "connection_string", "private_token",
)  # fmt: skip
# An id is exempt however it is spelt, but for the ids of keys: `AWS_ACCESS_KEY_ID` is none that ties spans together.
_ID = re.compile(r"(?:^|[._-])ids?$|[a-z]I[Dd]s?$")
_KEY_ID = re.compile(r"key|secret|token|credential", re.IGNORECASE)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class Names:
    """What a name means: '' nothing, EXEMPT, or the kind of secret its value is."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        self._more = {words(name) for name in more} - {""}
        self._ending = re.compile(r"(?:^|_)(" + "|".join(sorted(SECRET_NAMES, key=len, reverse=True)) + r")$")
        self._known: dict[str, str] = {}

    def kind(self, name: str) -> str:
        """The kind of the value behind `name`."""
        found = self._known.get(name)
        if found is None:
            if len(name) > MOST_CHARS:
                return ""
            if len(self._known) >= MOST_NAMES:  # names may be made up without end
                self._known.clear()
            found = self._known[name] = self._look(name)
        return found

    def _look(self, name: str) -> str:
        if "passhat." in name:
            return EXEMPT
        said = words(name)
        if said in self._more or any(said.endswith("_" + one) for one in self._more):
            return "key"
        if _ID.search(name) and not _KEY_ID.search(name):
            return EXEMPT
        ending = self._ending.search(said)
        return ending[1].removesuffix("s") if ending else ""

    def pattern(self) -> str:
        """What a name that is secret ends in, as it may be spelt, for a scan that looks before anything is decoded."""
        spelt = ["[_.-]?".join(map(re.escape, name.split("_"))) for name in sorted({*SECRET_NAMES, *self._more})]
        return f"(?i:{'|'.join(spelt)})"


def words(name: str) -> str:
    """The words of a name, lower-case, joined by `_`: `X-Api-Key`, `apiKey` and `API_KEY` are one."""
    return "_".join(_WORDS.findall(name)).lower()
