"""Waiting for the end of a payout, and paying many."""

import re
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Literal, Optional, Sequence, TypedDict, Union, overload

from . import types as t
from ._client import Trilho
from ._send import is_retryable, retry_delay
from .errors import ApiError, ConnectionFailed, StillOpen, TrilhoError

_FINAL = ("completed", "confirmed", "failed")


@overload
def wait_for_end(client: Trilho, one: t.PixPayout, *, timeout: float = ...) -> t.PixPayout: ...
@overload
def wait_for_end(client: Trilho, one: t.OnchainTransfer, *, timeout: float = ...) -> t.OnchainTransfer: ...
@overload
def wait_for_end(client: Trilho, one: str, *, timeout: float = ...) -> Union[t.PixPayout, t.OnchainTransfer]: ...
def wait_for_end(client: Trilho, one: Any, *, timeout: float = 300.0) -> Any:
    """Waits until a payout or a transfer has ended, and returns it as it is then: completed, confirmed or failed.

    one: The payout or transfer, or its id.
    timeout: Seconds. After them StillOpen is raised: the money is still on its way, and `found` has the latest state.
    """
    object_id: str = one if isinstance(one, str) else one["id"]
    deadline = time.monotonic() + timeout
    if isinstance(one, dict) and one.get("status") in _FINAL:
        return one
    read = _reader_of(client, object_id)
    found = read()
    if found["status"] in _FINAL:
        return found
    # The position before the second look: what happens after it is in the log behind it.
    cursor = client.events.list(after="now", object_id=object_id).page().next_cursor
    found = read()
    while found["status"] not in _FINAL:
        left = deadline - time.monotonic()
        if left <= 0:
            raise StillOpen(f"{object_id} is {found['status']} after {timeout:g} seconds. Its money is on its way.", found)
        page = client.events.list(after=cursor, object_id=object_id, wait=max(1, min(30, int(left)))).page()
        cursor = page.next_cursor or cursor
        if page.data:
            found = read()
    return found


def _reader_of(client: Trilho, object_id: str) -> Callable[[], Any]:
    if object_id.startswith("po_"):
        return lambda: client.pix.payouts.get(object_id)
    if object_id.startswith("tr_"):
        return lambda: client.onchain.transfers.get(object_id)
    raise ValueError("wait_for_end takes a payout (po_…) or a transfer (tr_…).")


class _LineAlways(TypedDict):
    id: str
    """Yours, unique within the run: the id of the salary, not of the person."""
    customer_id: str
    amount: int
    counterparty: Union[t.ToPixKey, t.ToBankAccount]


class Line(_LineAlways, total=False):
    """One payment of a run."""

    description: str
    """Visible to the recipient."""


LineStatus = Literal["completed", "failed", "refused", "unknown"]


@dataclass(frozen=True)
class LineResult:
    """What became of one line."""

    id: str
    status: LineStatus
    """completed: paid. failed: the network refused it, and the money is back. refused: Trilho refused it, and nothing moved.
    unknown: not settled; pay_many with the same run finds out, and pays nothing twice."""
    idempotency_key: str
    payout: Optional[t.PixPayout] = None
    error: Optional[TrilhoError] = None


def pay_many(
    client: Trilho,
    run: str,
    lines: Iterable[Line],
    *,
    threads: int = 4,
    patience: float = 900.0,
    on_result: Optional[Callable[[LineResult], Any]] = None,
) -> List[LineResult]:
    """Pays a list of Pix payouts, each line once, however often this is called with the same `run`.

    run: Yours: the id of the payroll in your own database. The idempotency key of a line is `run:line`.
    lines: Each has an id of its own. They are checked before the first is paid.
    threads: How many calls are made at a time.
    patience: Seconds for which a line is tried again when the server is away or a limit is used up, and for which an open
        payout is waited for.
    on_result: Called in your own thread with each result as it comes.

    Returns a result for each line, in the order of the lines. After a crash call it again with the same `run` and the same
    lines. To pay refused or failed lines again, start a run with another id.
    """
    todo = _checked(run, list(lines))
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 64:
        raise ValueError("`threads` takes a whole number from 1 to 64.")
    payroll = _Payroll(client, run, patience)
    results: Dict[str, LineResult] = {}
    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="trilho-pay") as pool:
        futures: List["Future[LineResult]"] = [pool.submit(payroll.settle, line) for line in todo]
        try:
            for future in as_completed(futures):
                result = future.result()
                results[result.id] = result
                if on_result:
                    on_result(result)
        except BaseException:
            # Ctrl-C, or an exception in on_result: what has begun ends, nothing else begins.
            payroll.stop.set()
            for future in futures:
                future.cancel()
            raise
    return [results[line["id"]] for line in todo]


def _checked(run: str, lines: List[Line]) -> List[Line]:
    if not isinstance(run, str) or not re.fullmatch(r"[\x20-\x7e]+", run) or ":" in run:
        raise ValueError("`run` takes printable ASCII characters without a colon.")
    seen = set()
    for line in lines:
        line_id = line.get("id")
        if not isinstance(line_id, str) or not re.fullmatch(r"[\x20-\x7e]+", line_id):
            raise ValueError(f"The id {line_id!r} of a line takes printable ASCII characters.")
        if len(run) + 1 + len(line_id) > 255:
            raise ValueError(f"Run and line {line_id!r} have more than 254 characters together.")
        if line_id in seen:
            raise ValueError(f"Two lines have the id {line_id!r}: the second would not be paid.")
        seen.add(line_id)
        amount = line.get("amount")
        if isinstance(amount, bool) or not isinstance(amount, int) or amount <= 0:
            raise TypeError(f"The amount of line {line_id!r} is {amount!r}: it takes an int of centavos above 0.")
        for field in ("customer_id", "counterparty"):
            if not line.get(field):
                raise ValueError(f"Line {line_id!r} has no {field}.")
    return lines


class _Payroll:
    def __init__(self, client: Trilho, run: str, patience: float) -> None:
        self._client = client
        self._run = run
        self._patience = patience
        self.stop = threading.Event()
        self._lock = threading.Lock()
        self._not_before = 0.0
        """A limit that is used up is used up for all threads."""

    def settle(self, line: Line) -> LineResult:
        key = f"{self._run}:{line['id']}"
        deadline = time.monotonic() + self._patience
        attempt = 0
        # Of an attempt before this one, or of none: the line is not sent again without looking.
        payout: Optional[t.PixPayout] = None
        while True:
            attempt += 1
            try:
                self._wait_for_turn()
                payout = payout or self._find(line, key) or self._pay(line, key)
                payout = wait_for_end(self._client, payout, timeout=max(0.0, deadline - time.monotonic()))
                status: LineStatus = "completed" if payout["status"] == "completed" else "failed"
                return LineResult(line["id"], status, key, payout)
            except StillOpen as error:
                return LineResult(line["id"], "unknown", key, error.found, error)
            except _Differs as error:
                return LineResult(line["id"], "refused", key, error.payout, error)
            except (ApiError, ConnectionFailed) as error:
                if not self._goes_on(error, attempt, deadline):
                    settled = isinstance(error, ApiError) and error.outcome == "none" and not is_retryable(error)
                    return LineResult(line["id"], "refused" if settled and payout is None else "unknown", key, payout, error)

    def _find(self, line: Line, key: str) -> Optional[t.PixPayout]:
        """An idempotency key is free again after 24 hours, so a run that is taken up later must look first."""
        found: Sequence[t.PixPayout] = self._client.pix.payouts.list(idempotency_key=key).page().data
        if not found:
            return None
        payout = found[0]
        if payout["amount"] != line["amount"] or payout["customer_id"] != line["customer_id"]:
            raise _Differs(payout, key)
        return payout

    def _pay(self, line: Line, key: str) -> t.PixPayout:
        return self._client.pix.payouts.create(
            customer_id=line["customer_id"],
            amount=line["amount"],
            counterparty=line["counterparty"],
            description=line.get("description"),
            idempotency_key=key,
        )

    def _goes_on(self, error: Union[ApiError, ConnectionFailed], attempt: int, deadline: float) -> bool:
        """Waits where the same call may succeed later. All of them may be repeated: they read, or have an idempotency key."""
        foreign = isinstance(error, ApiError) and error.code == "unexpected_response"
        if not is_retryable(error) and not foreign:
            return False
        wait = retry_delay(attempt, error)
        if time.monotonic() + wait >= deadline or self.stop.is_set():
            return False
        if isinstance(error, ApiError) and error.status == 429:
            with self._lock:
                self._not_before = max(self._not_before, time.monotonic() + wait)
            return True
        return not self.stop.wait(wait)

    def _wait_for_turn(self) -> None:
        while True:
            with self._lock:
                left = self._not_before - time.monotonic()
            if left <= 0 or self.stop.wait(left):
                return


class _Differs(TrilhoError):
    def __init__(self, payout: t.PixPayout, key: str) -> None:
        super().__init__(
            f"{payout['id']} was paid under {key}, with another amount or customer. Nothing was paid now: a line that has "
            "changed needs an id of its own."
        )
        self.payout = payout
