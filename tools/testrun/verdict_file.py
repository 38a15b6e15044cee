# SPDX-License-Identifier: BSD-3-Clause
"""The members of verdict.json, and its JSON Schema out of them."""
from __future__ import annotations

import types
from typing import Annotated, Any, Literal, TypedDict, Union, get_args, get_origin, get_type_hints

Place = Annotated[str, "lab or ports"]
Word = Annotated[Literal["pass", "fail"], "pass: all criteria hold"]


class CriterionRow(TypedDict):
    """A criterion at a place."""

    place: Place
    name: Annotated[str, "name of the criterion"]
    value: Annotated[str, "quantity, as in the file"]
    flow: Annotated[str, "only these flows; empty: all"]
    at_least: Annotated[float | None, "lower bound in the unit of the quantity; null: none"]
    at_most: Annotated[float | None, "upper bound in the unit of the quantity; null: none"]
    measured: Annotated[float | None, "the value; null: there is none"]
    verdict: Annotated[Literal["pass", "fail", "not measured"], "whether it holds"]


class PlaceRow(TypedDict):
    """What a search found at a place."""

    place: Place
    last_pass: Annotated[str | None, "value with its unit; null: nothing passes"]
    first_fail: Annotated[str | None, "value with its unit; null: nothing fails"]
    failed_criteria: Annotated[list[str], "names of the criteria that do not hold at first_fail"]
    trials: Annotated[int, "number of values tried"]
    verdict: Word


class SearchPart(TypedDict):
    set: Annotated[str, "the key and its value, with {} for what is searched"]
    find: Annotated[Literal["highest", "lowest"], "which value"]
    places: list[PlaceRow]


class Head(TypedDict):
    format: Literal[1]
    program: Literal["test-run"]
    scenario: Annotated[str, "name of the scenario, not a path"]
    verdict: Word


class VerdictFile(Head):
    """verdict.json of a test."""

    criteria: list[CriterionRow]
    remarks: Annotated[list[str], "what else there is to say"]
    recordings: Annotated[list[str], "names of pcapng files beside it"]


class SearchFile(Head):
    """verdict.json of a search."""

    search: SearchPart


SIMPLE = {str: "string", int: "integer", float: "number", type(None): "null"}


def schema_of(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a type that is used above."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return {**schema_of(inner[0]), "description": inner[1]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is list:
        return {"type": "array", "items": schema_of(inner[0])}
    if origin in (Union, types.UnionType):
        return {"type": [SIMPLE[one] for one in inner]}
    if hint in SIMPLE:
        return {"type": SIMPLE[hint]}
    members = {name: schema_of(of) for name, of in get_type_hints(hint, include_extras=True).items()}
    about = {"description": hint.__doc__} if hint.__doc__ else {}
    return {**about, "type": "object", "properties": members, "required": list(members), "additionalProperties": False}


def schema() -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "verdict.json of test-run",
            "oneOf": [schema_of(VerdictFile), schema_of(SearchFile)]}
