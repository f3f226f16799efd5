"""Secrets known by what they look like: one pattern a form, in the common part of RE2's and Python's syntax.

The first group of a pattern is the secret; what stands before and behind it stays. `{B}` is where a word may begin.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence

from msgspec import Struct

Plausible = Callable[[bytes], bool]  # looks again at what the pattern found
Extend = Callable[[bytes, int], int]  # where a secret ends whose pattern is only its beginning


class Secret(Struct, frozen=True):
    """One form of one kind of secret."""

    kind: str
    pattern: str
    plausible: Plausible | None = None
    extend: Extend | None = None


def mixed(secret: bytes) -> bool:
    """Made by a machine: digits, capitals, or a long run. Words with hyphens between them are a name."""
    return bool(re.search(rb"[0-9A-Z]|[a-z]{16}", secret))


def with_digit(secret: bytes) -> bool:
    """A digit and a letter: neither a word nor a number."""
    return bool(re.search(rb"[0-9]", secret) and re.search(rb"[A-Za-z]", secret))


def literal(secret: bytes) -> bool:
    """A value itself, not a variable, a place for one, or a number."""
    return (
        secret[:1] not in b"$<{*%"
        and not secret.isdigit()
        and secret.lower() not in (b"null", b"none", b"true", b"false")
    )


def basic_credentials(secret: bytes) -> bool:
    """Base64 of `user:password`, which "basic training" is not."""
    try:
        return b":" in base64.b64decode(secret + b"=" * (-len(secret) % 4), validate=True)
    except binascii.Error:
        return False


def end_of_key(data: bytes, end: int) -> int:
    """Behind the END line of a PEM or PGP block, else, where it was cut off, behind its last line of base64."""
    dashes = data.find(b"-----", end, end + MOST_KEY_BYTES)
    closing = _END_LINE.match(data, dashes) if dashes >= 0 else None
    if closing is not None:
        return closing.end()
    cut = _KEY_LINES.match(data, end)
    return cut.end() if cut is not None else end


def card(secret: bytes) -> bool:
    """A card number: an issuer's prefix and length, and the check digit. Luhn alone lets one id in ten through."""
    digits = re.sub(rb"[ -]", b"", secret)
    return _ISSUED.fullmatch(digits) is not None and luhn(digits)


def luhn(digits: bytes) -> bool:
    """ISO/IEC 7812-1, annex B: every second digit from the right doubled, the sum of digits divisible by ten."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = (digit - 48) << (place & 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


_NO_SECRETS = (b"null", b"none", b"true", b"false")
MOST_KEY_BYTES = 64 << 10
_END_LINE = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINES = re.compile(rb"(?:(?:\s|\\+[nr])*[A-Za-z0-9+/=]{16,})*(?:(?:\s|\\+[nr])*[A-Za-z0-9+/]+=*\Z)?")
_ISSUED = re.compile(
    rb"4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    rb"|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}"
)

_T = "[A-Za-z0-9_-]"
_VALUE = r"[^\s\"'\\,;&|<>(){}\[\]]"
_ASSIGNED = (
    "password|passwd|passphrase|secret|api_?key|access_?key|secret_?key|private_?key|auth_?token|access_?token|"
    "refresh_?token|account_?key|client_?secret|connection_?string"
)
_VARIABLES = "PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY"
_FLAGS = "password|passphrase|token|secret|api-key|access-token|auth-token|client-secret|secret-key"
_IN_QUERY = "api_?key|access_token|auth_token|token|password|passwd|secret|client_secret|sig|signature"

# Specific forms first: of several that fit at one place the first counts.
SECRETS: Sequence[Secret] = (
    Secret("private_key", r"(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)", None, end_of_key),
    Secret("private_key", r"(AGE-SECRET-KEY-1[0-9A-Z]{58})"),
    Secret("jwt", rf"(eyJ{_T}{{8,}}\.{_T}{{8,}}\.[A-Za-z0-9_.-]*)"),
    Secret("anthropic", rf"{{B}}(sk-ant-{_T}{{16,}})"),
    Secret("openai", rf"{{B}}(sk-{_T}{{16,}})", mixed),
    Secret("stripe", r"{B}([srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,})"),
    Secret("github", r"(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{20,})"),
    Secret("gitlab", rf"(gl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|agent|oas|imt|ffct)-{_T}{{16,}})"),
    Secret("slack", r"(xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})"),
    Secret("slack", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{16,})"),
    Secret("google", rf"(AIza{_T}{{35}}|ya29\.{_T}{{20,}}|GOCSPX-{_T}{{20,}}|1//0{_T}{{30,}})"),
    Secret("npm", r"(npm_[A-Za-z0-9]{30,})"),
    Secret("pypi", rf"(pypi-A{_T}{{16,}})"),
    Secret("huggingface", r"{B}(hf_[A-Za-z0-9]{20,}|api_org_[A-Za-z0-9]{20,})"),
    Secret("aws", r"{B}((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})"),
    Secret("azure", r"(?:AccountKey|SharedAccessKey|SharedAccessSignature)=([A-Za-z0-9+/=%&_.-]{20,})"),
    Secret("azure", r"([A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34})"),
    Secret("sendgrid", rf"(SG\.{_T}{{16,}}\.{_T}{{16,}})"),
    Secret("groq", r"{B}(gsk_[A-Za-z0-9]{20,})"),
    Secret("xai", r"{B}(xai-[A-Za-z0-9]{20,})"),
    Secret("replicate", r"{B}(r8_[A-Za-z0-9]{20,})"),
    Secret("perplexity", r"(pplx-[A-Za-z0-9]{20,})"),
    Secret("tavily", r"(tvly-[A-Za-z0-9-]{20,})"),
    Secret("langsmith", r"(lsv2_[a-z]{2}_[0-9a-f_]{32,})"),
    Secret("databricks", r"{B}(dapi[0-9a-f]{32})"),
    Secret("digitalocean", r"(do[opr]_v1_[0-9a-f]{40,})"),
    Secret("docker", rf"(dckr_(?:pat|oat)_{_T}{{16,}})"),
    Secret("vault", rf"{{B}}(hv[sbr]\.{_T}{{20,}})"),
    Secret("shopify", r"(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})"),
    Secret("linear", r"(lin_(?:api|oauth)_[A-Za-z0-9]{30,})"),
    Secret("notion", r"{B}(ntn_[A-Za-z0-9]{30,})"),
    Secret("grafana", r"(glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/=]{32,})"),
    Secret("new_relic", r"(NRAK-[A-Z0-9]{20,})"),
    Secret("sentry", r"(sntry[su]_[A-Za-z0-9_=+/-]{20,})"),
    Secret("atlassian", r"(ATATT3[A-Za-z0-9_=-]{20,})"),
    Secret("telegram", rf"{{B}}([0-9]{{8,10}}:AA{_T}{{33}})"),
    Secret("twilio", r"{B}(SK[0-9a-f]{32})"),
    Secret("mailgun", r"{B}(key-[0-9a-f]{32})"),
    Secret("bearer", r"(?i:bearer)(?:\s|%20|\+|\\t)+([A-Za-z0-9._~+/-]{12,}=*)", with_digit),
    Secret("basic", r"(?i:basic)(?:\s|%20)+([A-Za-z0-9+/]{6,}={0,2})", basic_credentials),
    Secret("url_password", r"://[^/\s:@\"'\\<>]*:([^/\s@\"'\\<>]+)@[A-Za-z0-9\[]", literal),
    Secret("url_password", r"(?:-u|--user)[ =][\"']?[^\s:\"'@/\\-][^\s:\"'@/\\]*:([^\s\"'\\]{4,})", with_digit),
    Secret("query", rf"[?&](?i:{_IN_QUERY}|x-amz-signature|x-amz-security-token)=([^&\s\"'\\#<>]{{8,}})", literal),
    Secret(
        "header",
        r"(?i:authorization|x-api-key|api-key|x-auth-token|private-token|x-goog-api-key) ?: ?"
        r"(?:[A-Za-z]+ )?([A-Za-z0-9._~+/=-]{8,})",
        with_digit,
    ),
    Secret("cookie", r"(?i:cookie) ?: ?([A-Za-z0-9_.-]+=[^\s;\"'\\]+(?:; ?[A-Za-z0-9_.-]+(?:=[^\s;\"'\\]*)?)*)"),
    Secret(
        "assignment",
        rf"(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY)=[\"']?({_VALUE}{{4,}})",
        literal,
    ),
    Secret("assignment", rf"(?i:{_ASSIGNED})[\"']?(?: ?[:=] ?|: +| = )[\"']?({_VALUE}{{8,}})", with_digit),
    Secret("assignment", rf"--(?:{_FLAGS})[ =][\"']?([^\s\"'\\$<-]{_VALUE}{{3,}})", literal),
)
# Secrets only because of what stands before them.
BY_CONTEXT = frozenset(["bearer", "basic", "url_password", "query", "header", "cookie", "assignment"])
# Common in ordinary traces, so only where someone asks for them (`redact.also`).
OPTIONAL: Sequence[Secret] = (
    Secret("card", r"{D}([2-6][0-9](?:[ -]?[0-9]){11,17}){E}", card),
    Secret("email", r"([A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})"),
)
KINDS = tuple(dict.fromkeys(one.kind for one in SECRETS))
OPTIONAL_KINDS = tuple(dict.fromkeys(one.kind for one in OPTIONAL))
