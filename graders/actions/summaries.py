"""What a test runner's output says: green, red, or nothing run."""

from __future__ import annotations

import re
from typing import Literal

Summary = Literal["green", "red", "none", ""]

_TAIL = 20_000  # runners sum up at the end

_RED = re.compile(
    r"""
      \b[1-9]\d*\ (?:tests?\ )?(?:failed|failing|failures?)\b
    | \b[1-9]\d*\ errors?\b(?=.{0,40}\bin\ [\d.]+\s?m?s)
    | ,\ [1-9]\d*\ errors?\b | \berrors?=[1-9] | \bfailures=[1-9] | \bFailures:\ [1-9] | \bErrors:\ [1-9]
    | ^FAILED\b | ^FAIL\b | ^---\ FAIL | ^FAILURES!$ | \bFailed!\ +-\ Failed: | \bTest\ Run\ Failed\b
    | test\ result:\ FAILED | \[\ \ FAILED\ \ \] | \bBUILD\ FAILURE\b | ^BUILD\ FAILED\b | ^FAILURE:\ Build\ failed
    | ^\#\ fail\ [1-9] | ^not\ ok\b(?!.*\#\ (?:TODO|SKIP)) | ^Result:\ FAIL | \bFail:\ +[1-9] | ^[\ \t]*[1-9]\d*\ fail$
    | \bSome\ tests\ failed\b | \*\*\ TEST\ FAILED\ \*\* | ^E\ \ \ +\w*Error\b | ^ERROR:\ .*\bnot\ found\b
    | ^error:\ could\ not\ compile | error(?:s)?\ during\ collection | ^ERRORS?$ | ^SyntaxError:\ | ^Segmentation\ fault
    """,
    re.VERBOSE | re.MULTILINE,
)
_GREEN = re.compile(
    r"""
      \b[1-9]\d*\ (?:tests?\ )?(?:passed|passing)\b | \bTests:?\s+(?:\d+\ \w+,\ )*[1-9]\d*\ passed
    | ^Ran\ [1-9]\d*\ tests?\b[^\n]*\s+OK\b | ^ok\s+\S+\s+(?:[\d.]+m?s|\(cached\)) | ^PASS$
    | test\ result:\ ok\.\ [1-9] | \bTests\ run:\ [1-9]\d*,\ Failures:\ 0,\ Errors:\ 0
    | \b[1-9]\d*\ (?:examples?|runs|tests?|scenarios?|specs?),.*?\b0\ fail | ^OK\ \([1-9]\d*\ tests?
    | Passed!\ +-\ Failed:\ +0,\ Passed:\ +[1-9] | \bTest\ Run\ Successful\b
    | 100%\ tests\ passed,\ 0\ tests\ failed\ out\ of\ [1-9]
    | \[\ \ PASSED\ \ \]\ [1-9] | ^\#\ pass\ [1-9] | ^All\ tests\ successful\.\s | ^Result:\ PASS | \bOk:\ +[1-9]
    | Executed\ [1-9]\d*\ tests?,\ with\ 0\ failures | \bAll\ tests\ passed!? | \*\*\ TEST\ SUCCEEDED\ \*\*
    | \bAll\ specs\ passed!
    | ^[\ \t]*[1-9]\d*\ pass$ | congratulations\ :\) | ^BUILD\ SUCCESSFUL\b | \bBUILD\ SUCCESS\b
    | \bAll\ [1-9]\d*\ tests\ passed
    | ^(?:OK|Passed)[\ \t]*$
    """,
    re.VERBOSE | re.MULTILINE,
)
_RED_WORDS = ("fail", "FAIL", "Fail", "rror", "ERROR", "not ok", "Segmentation")
_NOTHING = re.compile(
    r"""\bno\ tests\ ran\b | \bcollected\ 0\ items\b | \bNo\ tests\ (?:were\ )?(?:found|executed|to\ run)
    | \bno\ test\ files\b
    | ^Ran\ 0\ tests\b | \b0\ passing\b | \bNo\ test\ (?:files|suites?)\ found | running\ 0\ tests | \b0\ examples,
    | No\ tests\ executed | \bno\ tests\ to\ run\b | Missing\ script: | command\ not\ found
    | No\ module\ named\ .?(?:pytest|nose)""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def summary_of(output: str) -> Summary:
    """What the last lines of a test run say. A failure named anywhere in them beats a success."""
    if not output:
        return ""
    text = output[-_TAIL:]
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    # most runs are green and their output long: a look for the words is far cheaper than the pattern
    if any(word in text for word in _RED_WORDS) and _RED.search(text):
        return "red"
    if _GREEN.search(text):
        return "green"
    return "none" if _NOTHING.search(text) else ""
