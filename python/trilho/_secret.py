"""A text that is not shown."""

from typing import NoReturn


class Secret:
    """Keeps a text out of repr, logs, tracebacks with local variables, and pickles."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A key is not pickled: create the client in the process that uses it.")
