"""Access to the studio: a token in the first address becomes a cookie that other sites cannot use."""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from wayhound.web.pages import WebError, error_response

OPEN_PATHS = ("/static/",)  # style sheets and scripts hold nothing private, and error pages need them


class Forbidden(WebError):  # noqa: N818 - the name of the status
    """The request lacks the token, or the key of a form."""

    status = 403

    def __init__(
        self, sentence: str = "Open the studio by the address that `wayhound studio` printed."
    ) -> None:
        super().__init__(sentence)


class Access:
    """Middleware that requires the cookie. An address with the token sets it and redirects without the token.

    Cookies are shared by all ports of a host, so the name of ours is derived from the token: two studios on one
    machine do not overwrite each other's.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token
        self._cookie = f"wayhound_studio_{derived(token, 'name')[:12]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._may_pass(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif self._brings_token(scope):
            await self._redirect(scope)(scope, receive, send)
        else:
            await error_response(scope, Forbidden())(scope, receive, send)

    def _may_pass(self, scope: Scope) -> bool:
        if scope["type"] == "http" and str(scope["path"]).startswith(OPEN_PATHS):
            return True
        headers = Headers(scope=scope)
        if scope["type"] == "websocket" and not _same_origin(headers):
            return False
        value = _cookies(headers).get(self._cookie, "")
        return hmac.compare_digest(value.encode(), derived(self._token, "cookie").encode())

    def _brings_token(self, scope: Scope) -> bool:
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return scope["method"] == "GET" and hmac.compare_digest(token.encode(), self._token.encode())

    def _redirect(self, scope: Scope) -> Response:
        query = [pair for pair in parse_qsl(scope["query_string"].decode("latin-1")) if pair[0] != "token"]
        path = "/" + str(scope["path"]).lstrip("/")  # `//host` would redirect to another site
        response = RedirectResponse(path + (f"?{urlencode(query)}" if query else ""), 303)
        value = derived(self._token, "cookie")
        response.set_cookie(self._cookie, value, httponly=True, samesite="strict", path="/")
        response.headers["cache-control"] = "no-store"
        return response


def derived(token: str, use: str) -> str:
    """Return a key for one use, from which neither the token nor other keys can be computed."""
    return hmac.digest(token.encode(), use.encode(), "sha256").hex()


def origin_name(token: str) -> str:
    """Return a host name of this machine for one studio alone.

    Cookies ignore ports: under `127.0.0.1`, ours would also be sent to the servers of other people on this machine.
    Browsers resolve every name below `localhost` to this machine themselves.
    """
    return f"studio-{derived(token, 'origin')[:8]}.localhost"


def new_token() -> str:
    return secrets.token_urlsafe(24)


def check_form(token: str, key: str) -> None:
    """Raise Forbidden if a form does not carry the key that only our own pages have."""
    if not hmac.compare_digest(key.encode(), derived(token, "form").encode()):
        raise Forbidden(
            "This form is out of date or from another site. Please reload the page and try again."
        )


def _same_origin(headers: Headers) -> bool:
    try:
        return urlsplit(headers.get("origin", "")).netloc == headers.get("host", "")
    except ValueError:  # such as "http://["
        return False


def _cookies(headers: Headers) -> dict[str, str]:
    try:
        parsed = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in parsed.items()}
