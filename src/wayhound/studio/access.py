"""Lets in who came with the token, and keeps them by a cookie that no other site can send along."""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from wayhound.web.errors import WebError, error_response

OPEN_PATHS = ("/static/",)  # style sheets and scripts: the same for everyone, and error pages need them


class Forbidden(WebError):  # noqa: N818 - the name of the status
    """Nobody who may not."""

    status = 403

    def __init__(
        self, sentence: str = "Open the studio by the address that `wayhound studio` printed."
    ) -> None:
        super().__init__(sentence)


class Access:
    """Everything needs the cookie. An address with the token gives it, and leads on to itself without it.

    Cookies know no ports, so the name of ours is made of the token: two studios do not disturb each other.
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
            await self._let_in(scope)(scope, receive, send)
        else:
            await error_response(scope, Forbidden())(scope, receive, send)

    def _may_pass(self, scope: Scope) -> bool:
        if scope["type"] == "http" and str(scope["path"]).startswith(OPEN_PATHS):
            return True
        headers = Headers(scope=scope)
        if scope["type"] == "websocket" and not _same_origin(headers):
            return False
        given = _cookies(headers).get(self._cookie, "")
        return hmac.compare_digest(given.encode(), derived(self._token, "cookie").encode())

    def _brings_token(self, scope: Scope) -> bool:
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return scope["method"] == "GET" and hmac.compare_digest(given.encode(), self._token.encode())

    def _let_in(self, scope: Scope) -> Response:
        others = [pair for pair in parse_qsl(scope["query_string"].decode("latin-1")) if pair[0] != "token"]
        path = "/" + str(scope["path"]).lstrip("/")  # never //host: that would lead elsewhere
        answer = RedirectResponse(path + (f"?{urlencode(others)}" if others else ""), 303)
        value = derived(self._token, "cookie")
        answer.set_cookie(self._cookie, value, httponly=True, samesite="strict", path="/")
        answer.headers["cache-control"] = "no-store"
        return answer


def derived(token: str, use: str) -> str:
    """A key for one use, which tells nothing of the token or of other keys."""
    return hmac.digest(token.encode(), use.encode(), "sha256").hex()


def new_token() -> str:
    return secrets.token_urlsafe(24)


def check_form(token: str, given: str) -> None:
    """Forms carry a key that only our own pages know."""
    if not hmac.compare_digest(given.encode(), derived(token, "form").encode()):
        raise Forbidden("This form is out of date or from elsewhere. Please open the page again.")


def _same_origin(headers: Headers) -> bool:
    return urlsplit(headers.get("origin", "")).netloc == headers.get("host", "")


def _cookies(headers: Headers) -> dict[str, str]:
    try:
        parsed = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in parsed.items()}
