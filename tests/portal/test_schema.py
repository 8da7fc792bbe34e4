"""Whatever fits the description for programs, or does not quite, is answered; never by a fault of ours."""

from __future__ import annotations

import contextlib
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import content_type_conformance, not_a_server_error, response_schema_conformance
from schemathesis.core.result import Ok

from tests.portal.served import Served

EXAMPLES = 5
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance]


def test_no_request_makes_the_server_fail(portal: Served) -> None:
    schema = schemathesis.openapi.from_url(f"{portal.url}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    assert len(operations) > 30
    for operation in operations:
        for mode in GenerationMode:

            @settings(
                max_examples=EXAMPLES,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Case[Any]) -> None:
                case.call_and_validate(checks=CHECKS)

            with contextlib.suppress(Unsatisfiable):  # without parameters there is nothing to get wrong
                ask()
