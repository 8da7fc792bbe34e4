"""Forms as data: what is asked, what was typed, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from trailmark.net.guard import Guard
from trailmark.url import normalise

LONGEST = {"text": 500, "url": 2000, "area": 10_000, "choice": 200, "hidden": 200}
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class FormField:
    """Something that is asked. Of a choice, `options` are the values with what people read.

    What is hidden was chosen before; it must be an option all the same.
    """

    name: str
    label: str
    kind: Literal["text", "url", "area", "choice", "hidden"] = "text"
    hint: str = ""
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()
    required: bool = False


@dataclass(frozen=True, slots=True)
class Switch:
    """A link to another form of the same sort."""

    label: str
    url: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A form with its values. `error` is the sentence that tells what to change."""

    title: str
    about: str
    action: str
    fields: tuple[FormField, ...]
    button: str = "Send"
    error: str = ""
    switches: tuple[Switch, ...] = ()

    def filled(self, typed: Mapping[str, str]) -> Form:
        """The same with what was typed; what is too long or no option is told."""
        fields = tuple(
            replace(field, value=typed.get(field.name, field.value).strip()) for field in self.fields
        )
        complaint = next((said for field in fields if (said := _complaint(field))), "")
        return replace(self, fields=fields, error=complaint)

    def refused(self, error: str) -> Form:
        return replace(self, error=error)

    def __getitem__(self, name: str) -> str:
        return next(field.value for field in self.fields if field.name == name)


def _complaint(field: FormField) -> str:
    if field.required and not field.value:
        return f"Please fill in: {field.label}."
    if len(field.value) > LONGEST[field.kind]:
        return f"{field.label} is too long: at most {LONGEST[field.kind]:,} characters."
    if field.options and field.value not in dict(field.options):
        return f"Please choose one of what is offered for: {field.label}."
    if not "".join(field.value.split()).isprintable():
        return f"{field.label} holds characters that cannot be printed."
    return ""


def public_url(text: str, guard: Guard) -> tuple[str, str]:
    """The address in normal form, or "" and why it is not taken. Nothing is looked up and nothing is fetched."""
    typed = text if "://" in text else f"https://{text}"
    url = normalise(typed)
    parts = urlsplit(url)
    if not url or not parts.hostname:
        return "", "This is not the address of a web page, such as https://example.org/papers"
    refusal = guard.refusal(parts.hostname, parts.port or _PORTS[parts.scheme])
    if refusal:
        return "", f"This address cannot be visited: {refusal.detail}."
    if "." not in parts.hostname and ":" not in parts.hostname and not guard.allow_private:
        return "", "This address cannot be visited: it has no public name."
    return url, ""
