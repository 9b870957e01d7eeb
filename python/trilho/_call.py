"""What the generated methods are made of."""

from enum import Enum
from typing import Any, Callable, Final, Mapping, Optional, Union


class Omitted(Enum):
    """The type of an argument that is left out, where None has a meaning of its own."""

    OMITTED = "omitted"

    def __repr__(self) -> str:
        return "OMITTED"


class Null(Enum):
    NULL = "null"


OMITTED: Final = Omitted.OMITTED
NULL: Final = Null.NULL

Call = Callable[[str, Mapping[str, str], Mapping[str, object]], Any]
"""Sends an operation: its name, the values for its path, its fields. A field that is None or OMITTED is not sent."""


def nullable(value: Union[object, None]) -> Optional[object]:
    """None is sent as null."""
    return NULL if value is None else value


class Resource:
    """A group of methods."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def __repr__(self) -> str:
        return f"<trilho {type(self).__name__}>"
