"""Redactors and made-up secrets, put together here so that no scanner of repositories takes them for real ones."""

from __future__ import annotations

from collections import Counter
from typing import Any

from collector.redact import Marks, Redactor

KEY = b"k" * 32
ABC = "abcdefghijklmnopqrstuvwxyz"
UPPER = ABC.upper()
HEX = "0123456789abcdef"

# Kind, text, the secret in it.
SAMPLES: list[tuple[str, str, str]] = [
    ("openai", "use {} now", "sk-" + "proj-" + ABC[:20] + "1234"),
    ("openai", "key={}", "sk-" + HEX * 2),
    ("anthropic", '"{}"', "sk-" + "ant-api03-" + ABC + "-AA"),
    ("stripe", "{}", "sk" + "_live_" + ABC[:24]),
    ("github", "https://x/{}", "gh" + "p_" + (ABC + "0123456789")[:36]),
    ("github", "({})", "github" + "_pat_" + UPPER[:22] + "_" + ABC),
    ("gitlab", "{}", "gl" + "pat-" + ABC[:20]),
    ("slack", "{}", "xox" + "b-1234567890-" + ABC[:24]),
    ("slack", "https://hooks.slack.com/services/{}", "T00000000/B00000000/" + ABC[:24]),
    ("google", "{}", "AI" + "za" + (ABC + UPPER)[:35]),
    ("google", "{}", "ya29" + "." + ABC + "-x"),
    ("npm", "{}", "npm" + "_" + (ABC + "0123456789")[:36]),
    ("pypi", "{}", "pypi" + "-AgEIcHlwaS5vcmc" + ABC),
    ("huggingface", "{}", "hf" + "_" + (ABC + UPPER)[:34]),
    ("aws", "id {} ok", "AK" + "IA" + UPPER[:16]),
    ("azure", "AccountName=x;AccountKey={};", (ABC + UPPER + "01234567890123456789012345678901")[:84] + "=="),
    ("jwt", "{}", "ey" + "JhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + ABC),
    ("sendgrid", "{}", "SG" + "." + ABC[:22] + "." + (ABC + UPPER)[:43]),
    ("bearer", "Bearer {}", ABC[:10] + "1234567890"),
    ("basic", "Basic {}", "dXNlcjpwYXNzd29yZA=="),
    ("url_password", "postgres://user:{}@db:5432/x", "s3cret"),
    ("url_password", "curl -u bob:{} https://x", "hunter22"),
    ("query", "https://x/y?a=1&api_key={}&b=2", ABC[:16]),
    ("header", "X-Api-Key: {}", ABC[:12] + "42"),
    ("cookie", "Cookie: {}", "sid=" + HEX + "; theme=dark"),
    ("assignment", "export DB_PASSWORD={} && run", "postgres"),
    ("assignment", "aws_secret_access_key = {}", (ABC + UPPER)[:38] + "/9"),
    ("assignment", "login --password {}", "correct-horse"),
    ("private_key", "{}", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc+/==\n-----END RSA PRIVATE KEY-----"),
    ("private_key", "{}", "-----BEGIN OPENSSH PRIVATE KEY-----\n" + ABC + "\n" + UPPER),
    ("databricks", "{}", "dapi" + HEX * 2),
    ("telegram", "{}", "123456789:" + "AA" + (ABC + UPPER)[:33]),
]
# What looks like one of them and is none.
ORDINARY = [
    "task-runner-configuration-of-everything",
    "pip install sk-learn-contrib-transformers",
    "basic training and bearer authentication",
    "MAX_TOKENS=4096 and PASSWORD=$DB_PASSWORD",
    "https://example.com:8080/a@b and http://[::1]:4317/v1/traces",
    'def login(password: str, token: Token) -> None: return api_key=os.environ["API"]',
    "docker run -u 1000:1000 --user app:app image",
    "2026-10-26T07:33:20.123Z 1793000000000000000 550e8400-e29b-41d4-a716-446655440000",
    "the password was wrong, please ask for another one",
    "gpt-4o-2024-08-06 claude-sonnet-4-5-20250929 text-embedding-3-small",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
]


def redactor(**more: Any) -> Redactor:
    return Redactor(Marks(KEY), **more)


def redacted(text: str, **more: Any) -> str:
    """What becomes of one text."""
    return redactor(**more)._texts.redacted(text, Counter())
