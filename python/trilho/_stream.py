"""The event stream."""

import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence

from ._call import Call, Resource
from ._send import is_retryable, retry_delay
from .errors import ApiError, ConnectionFailed

if TYPE_CHECKING:
    from . import types as t

WAIT_SECONDS = 30
PAGE = 100
AT_ONCE = 30
REFILL_SECONDS = 10.0


class EventStream(Resource):
    """Base of the generated `Events`."""

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self._call_once: Call = call
        """Without retries: the stream has its own."""

    def stream(
        self,
        *,
        after: str = "now",
        load: Optional[Callable[[], Optional[str]]] = None,
        save: Optional[Callable[[str], Any]] = None,
        types: Optional[Sequence["t.EventType"]] = None,
        object_id: Optional[str] = None,
        stop: Optional[threading.Event] = None,
    ) -> Iterator["t.Event"]:
        """Iterates over all events from a point on, oldest first, each at least once, until you leave the loop.

        after: Where to begin if `load` returns nothing: `now` (the default), `start`, an event id or a cursor.
        load: Returns the cursor that `save` stored.
        save: Stores the cursor to continue from. Called after the loop body, so that an event whose handling fails comes
            again.
        types: Only events of these types.
        object_id: Only events of this object.
        stop: Setting it ends the loop, within half a minute.
        """
        reader = _Reader(self._call_once, object_id, types, stop)
        return reader.events(after, load, save)


class _Reader:
    def __init__(
        self,
        call: Call,
        object_id: Optional[str],
        types: Optional[Sequence[str]],
        stop: Optional[threading.Event],
    ) -> None:
        self._call = call
        self._types = None if types is None else set(types)
        only = list(types)[0] if types is not None and len(types) == 1 else None
        self._filter: Dict[str, object] = {"limit": PAGE, "object_id": object_id, "type": only}
        self._stop = stop or threading.Event()
        self._pace = create_token_bucket()
        # An unexpected response is an error if the address has never been Trilho's; afterwards it is a temporary fault of
        # a proxy.
        self._connected = False

    def events(
        self, after: str, load: Optional[Callable[[], Optional[str]]], save: Optional[Callable[[str], Any]]
    ) -> Iterator["t.Event"]:
        cursor = (load() if load else None) or after
        if cursor == "now":
            # Fixes the starting point, so that no event is lost if the program ends before the first event.
            page = self._next({"after": "now"})
            if page is None:
                return
            cursor = page["next_cursor"]
            if save:
                save(cursor)
        while True:
            page = self._next({"after": cursor, "wait": WAIT_SECONDS})
            if page is None:
                return
            saved = page["next_cursor"]
            events: List[Any] = page["data"]
            for event in events:
                if self._types is not None and event["type"] not in self._types:
                    continue
                if self._stop.is_set():
                    return
                yield event
                saved = event["id"]
                if save:
                    save(saved)
            # A page without matching events is not read again after a restart.
            if save and saved == page["next_cursor"] and saved != cursor:
                save(saved)
            cursor = page["next_cursor"]

    def _next(self, query: Dict[str, object]) -> Any:
        """Retries until there is a page: a restart of the server, a cut connection or an exhausted limit does not end the
        stream. None if the stream was told to stop."""
        attempt = 0
        wait = 0.0
        while not self._stop.wait(wait + self._pace()):
            attempt += 1
            try:
                page = self._call("events.list", {}, {**self._filter, **query})
                self._connected = True
                return page
            except (ApiError, ConnectionFailed) as error:
                if not self._is_temporary(error):
                    raise
                wait = retry_delay(attempt, error)
        return None

    def _is_temporary(self, error: Any) -> bool:
        foreign = isinstance(error, ApiError) and error.code == "unexpected_response"
        return is_retryable(error) or (self._connected and foreign)


def create_token_bucket(now: Callable[[], float] = time.monotonic) -> Callable[[], float]:
    """A token bucket for requests: a burst of 30, then one per 10 s, so that a busy stream stays within the daily limit.
    Returns how long to wait."""
    full = now()  # when the bucket is full again

    def pace() -> float:
        nonlocal full
        at = now()
        full = max(full, at) + REFILL_SECONDS
        return max(0.0, full - at - AT_ONCE * REFILL_SECONDS)

    return pace
