"""Forms of the studio, read with care: every one must carry the key of our own pages."""

from __future__ import annotations

from starlette.requests import Request

from wayhound.studio.access import check_form
from wayhound.studio.studio import Studio
from wayhound.web.errors import BadRequest


class Form:
    """The fields of a form as text; what is missing is empty."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        return self._fields.get(name, [""])[0].strip()

    def texts(self, name: str) -> list[str]:
        return [each.strip() for each in self._fields.get(name, []) if each.strip()]

    def number(self, name: str, least: float, most: float) -> float | None:
        """None if nothing was given; a sentence if it is no number between the two."""
        given = self.text(name)
        if not given:
            return None
        try:
            value = float(given)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise BadRequest(f"{name}: {given!r} is not a number from {least:g} to {most:g}.")
        return value

    def whole(self, name: str, least: int, most: int) -> int:
        value = self.number(name, least, most)
        if value is None or value != int(value):
            raise BadRequest(f"{name} must be a whole number from {least} to {most}.")
        return int(value)


async def read_form(studio: Studio, request: Request) -> Form:
    sent = await request.form(max_files=0)
    fields: dict[str, list[str]] = {}
    for name, value in sent.multi_items():
        fields.setdefault(name, []).append(str(value))
    form = Form(fields)
    check_form(studio.token, form.text("form_key"))
    return form
