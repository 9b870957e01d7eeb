"""Lists, read page after page."""

from dataclasses import dataclass
from itertools import islice
from typing import Any, Dict, Generic, Iterator, List, Mapping, Optional, TypeVar

from ._call import OMITTED, Call

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    data: List[T]
    has_more: bool
    """A page may be short or empty although more pages follow."""
    next_cursor: Optional[str]


class Listing(Generic[T]):
    """A list, requested when it is read: `for` iterates over all items, `page()` returns the first page."""

    def __init__(self, call: Call, name: str, path: Mapping[str, str], query: Mapping[str, object]) -> None:
        self._call = call
        self._name = name
        self._path = path
        self._query = {key: value for key, value in query.items() if value is not None and value is not OMITTED}

    def __repr__(self) -> str:
        return f"<trilho list {self._name}>"

    def page(self) -> Page[T]:
        """The first page."""
        return self._read(self._query)

    def pages(self) -> Iterator[Page[T]]:
        # Lists read oldest first continue with `after`, all others with `cursor`.
        follows = "after" if "after" in self._query or "wait" in self._query else "cursor"
        query: Dict[str, object] = dict(self._query)
        while True:
            page = self._read(query)
            yield page
            if not page.has_more:
                return
            query[follows] = page.next_cursor

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data

    def take(self, most: int) -> List[T]:
        """The first items, at most so many. There is no default, because a list may not fit in memory."""
        return list(islice(self, most))

    def first(self) -> Optional[T]:
        """The first item, or None."""
        return next(iter(self), None)

    def _read(self, query: Mapping[str, object]) -> Page[T]:
        found: Any = self._call(self._name, self._path, query)
        return Page(found["data"], found.get("has_more") is True, found.get("next_cursor"))
