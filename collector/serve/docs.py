"""`/docs`: the API on one page that loads nothing from anywhere, made from its own OpenAPI document."""

from __future__ import annotations

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from collector.serve.access import need

router = APIRouter(include_in_schema=False)

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "code{font-family:ui-monospace,monospace}h2{margin-top:2.5rem;font-size:1.1rem}td,th{text-align:left;"
    "padding:.2rem 1rem .2rem 0;vertical-align:top}"
)
CSP = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


@router.get("/")
def root() -> RedirectResponse:
    """A page of its own comes later; until then the API's page is what a browser can be shown."""
    return RedirectResponse("/docs")


@router.get("/docs", response_class=HTMLResponse)
def docs(request: Request) -> HTMLResponse:
    need(request.state.grant, "read")
    return HTMLResponse(page(request.app.openapi()), headers={"Content-Security-Policy": CSP})


def page(document: dict[str, Any]) -> str:
    """The OpenAPI document as HTML: every operation with its parameters."""
    about = document["info"]
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>{escape(about['title'])} API</title><style>{STYLE}</style>",
        f"<h1>{escape(about['title'])} API</h1><p>{escape(about['description'])}</p>",
        '<p>For programs: <a href="/openapi.json">openapi.json</a></p>',
    ]
    for path, operations in document["paths"].items():
        parts += [operation(path, method, told) for method, told in operations.items()]
    return "\n".join(parts) + "\n</html>\n"


def operation(path: str, method: str, told: dict[str, Any]) -> str:
    """One call of the API as a heading, a sentence and its parameters."""
    rows = [
        f"<tr><td><code>{escape(one['name'])}</code><td>{escape(kind(one['schema']))}</tr>"
        for one in told.get("parameters", [])
    ]
    table = f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else ""
    about = escape(told.get("description") or told.get("summary", ""))
    return f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2><p>{about}</p>{table}"


def kind(schema: dict[str, Any]) -> str:
    """A parameter's type in a few words."""
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return ", or ".join(kind(one) for one in schema["anyOf"] if one.get("type") != "null")
    if schema.get("type") == "array":
        return f"{kind(schema.get('items', {}))}, repeatable"
    return str(schema.get("type", "text"))
