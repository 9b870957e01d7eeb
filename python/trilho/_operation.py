"""One row of the generated table of operations, and the conversion of amounts."""

from typing import Any, Dict, List, Literal, Mapping, NamedTuple, Optional, Union

Repeat = Literal["safe", "idempotency_key", "idempotent", "harmless", "once", "never"]
"""What happens if a call is sent twice, as the server declares it (`x-repeat` in openapi.json)."""

Shape = Union[None, bool, str, Dict[str, "Shape"], List["Shape"]]
"""Where amounts are: True is an amount, a dict has the fields that hold some, a list has the shape of its items."""

EVENT = "event"
"""The shape of an event, which depends on its type."""


class Operation(NamedTuple):
    method: str
    path: str
    """The path template, with parameter names in braces."""
    repeat: Repeat
    has: Optional[str]
    """A field that every response has; empty if the response has no JSON; None if any response will do."""
    takes: Optional[Literal["query", "body"]] = None
    media: Optional[str] = None
    """The media type of a response that is not JSON."""
    sent: Shape = None
    got: Shape = None


def read_amounts(value: Any, shape: Shape) -> Any:
    """Turns the texts of amounts into ints, in place, and returns the value."""
    if shape is None or value is None:
        return value
    if shape is True:
        return int(value) if isinstance(value, str) else value
    if shape == EVENT:
        return _read_event(value)
    if isinstance(shape, list) and isinstance(value, list):
        value[:] = [read_amounts(item, shape[0]) for item in value]
    elif isinstance(shape, dict) and isinstance(value, dict):
        for field, inner in shape.items():
            if field in value:
                value[field] = read_amounts(value[field], inner)
    return value


def _read_event(event: Any) -> Any:
    from ._operations import EVENTS  # the generated table imports this module

    if isinstance(event, dict) and isinstance(event.get("data"), dict):
        read_amounts(event["data"].get("object"), EVENTS.get(str(event.get("type"))))
    return event


def write_amounts(value: Any, shape: Shape, where: str) -> Any:
    """A copy for JSON: amounts are texts. A float anywhere is refused, because it has lost digits already."""
    if shape is True:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(
                f"{where} is {_kind(value)}: pass an int of the smallest unit, such as units('10.50', 'BRL')."
            )
        return str(value)
    if isinstance(value, float):
        raise TypeError(f"{where} is a float. The API takes no fractions: pass an int, or text.")
    if isinstance(value, Mapping):
        fields = shape if isinstance(shape, dict) else {}
        return {name: write_amounts(item, fields.get(name), f"{where}.{name}") for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        item_shape = shape[0] if isinstance(shape, list) else None
        return [write_amounts(item, item_shape, f"{where}[{i}]") for i, item in enumerate(value)]
    if value is None or isinstance(value, (str, int)):
        return value
    raise TypeError(f"{where} is {_kind(value)}, which JSON does not have.")


def _kind(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"
