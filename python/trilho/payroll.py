"""Waiting for the end of a payment, and paying many."""

import random
import re
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Literal, Optional, Set, TypedDict, Union, overload

from . import types as t
from ._client import Trilho
from ._send import is_retryable, retry_delay
from ._settings import checked_timeout
from .errors import ApiError, ConnectionFailed, OutcomeUnknown, StillOpen, TrilhoError

Payment = Union[t.PixPayout, t.OnchainTransfer, t.Trade]
"""A payment that comes to an end."""

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 10.0
LONGEST_READ = 30.0


def is_ended(payment: Any) -> bool:
    """Whether a payment has ended."""
    return payment["status"] in ("completed", "confirmed", "failed")


@overload
def wait_for_end(client: Trilho, payment: t.PixPayout, *, timeout: float = ...) -> t.PixPayout: ...
@overload
def wait_for_end(client: Trilho, payment: t.OnchainTransfer, *, timeout: float = ...) -> t.OnchainTransfer: ...
@overload
def wait_for_end(client: Trilho, payment: t.Trade, *, timeout: float = ...) -> t.Trade: ...
@overload
def wait_for_end(client: Trilho, payment: str, *, timeout: float = ...) -> Payment: ...
def wait_for_end(client: Trilho, payment: Any, *, timeout: float = 3600.0) -> Any:
    """Reads a payout, transfer or trade until it has ended, and returns it: look at `status`, because a payment that failed
    is returned too, not raised. Cut connections, limits and restarts of the server are waited out.

    payment: The payment, or its id.
    timeout: Seconds in all; then StillOpen.
    """
    payment_id: str = payment if isinstance(payment, str) else payment["id"]
    read = _reader_of(payment_id)
    last = None if isinstance(payment, str) else payment
    if last is not None and is_ended(last):
        return last
    deadline = time.monotonic() + checked_timeout(timeout)
    attempt = 0
    while True:
        attempt += 1
        failure: Optional[TrilhoError] = None
        try:
            left = min(max(deadline - time.monotonic(), 0.001), LONGEST_READ)
            # Retries are made here, where the time is known.
            last = read(client.with_options(max_retries=0, timeout=left))
            if is_ended(last):
                return last
        except (ApiError, ConnectionFailed) as error:
            if not _passes(error):
                raise
            failure = error
        left = deadline - time.monotonic()
        if left <= 0:
            seen = f"is still {last['status']}" if last else "could not be read"
            message = f"{payment_id} {seen}. It goes on, and may complete: wait again, or listen to its events."
            raise StillOpen(message, last) from failure
        time.sleep(min(_pause_after(attempt, failure), left))


def _reader_of(payment_id: str) -> Callable[[Trilho], Any]:
    """The kind of a payment is the prefix of its id."""
    if payment_id.startswith("po_"):
        return lambda client: client.pix.payouts.get(payment_id)
    if payment_id.startswith("tr_"):
        return lambda client: client.onchain.transfers.get(payment_id)
    if payment_id.startswith("td_"):
        return lambda client: client.trades.get(payment_id)
    raise ValueError(f"'{payment_id}' is not the id of a payout (po_…), a transfer (tr_…) or a trade (td_…).")


def _passes(error: Any) -> bool:
    """Whether the next attempt may succeed. A foreign response is then a fault of a proxy."""
    return is_retryable(error) or error.code == "unexpected_response"


def _pause_after(attempt: int, failure: Optional[TrilhoError] = None) -> float:
    """Backoff with jitter; never shorter than the `Retry-After` of a failure."""
    most = min(FIRST_PAUSE * 2.0 ** min(attempt - 1, 10), LONGEST_PAUSE)
    return max(most * (0.5 + random.random() / 2), retry_delay(attempt, failure) if failure else 0.0)


class _LineAlways(TypedDict):
    id: str
    """Yours, unique in the run: the id of the salary, not of the person."""
    customer_id: str
    amount: int
    counterparty: Union[t.ToPixKey, t.ToBankAccount]


class Line(_LineAlways, total=False):
    """One payment of a run: the fields of `pix.payouts.create`, with an id of yours in place of the idempotency key."""

    description: str
    metadata: Dict[str, str]


LineStatus = Literal["completed", "failed", "refused", "unknown", "unsent"]


@dataclass(frozen=True)
class LineResult:
    """What became of one line."""

    id: str
    status: LineStatus
    """completed: paid. failed: the network refused it, and the money is back. refused: Trilho refused it, and nothing moved.
    unknown: the line may be paid, or its payout is still open; resume the run. unsent: the run ended before the line was sent;
    resume it."""
    idempotency_key: str
    payout: Optional[t.PixPayout] = None
    error: Optional[TrilhoError] = None
    is_earlier: bool = False
    """Whether `payout` was found and not sent: the run had paid the line before it was resumed."""


def pay_many(
    client: Trilho,
    lines: Iterable[Line],
    *,
    run: str,
    threads: int = 4,
    wait: float = 300.0,
    timeout: float = 900.0,
    on_result: Optional[Callable[[LineResult], Any]] = None,
) -> List[LineResult]:
    """Pays many lines, such as a payroll, each once. If the program is killed, or the network is cut, run the same lines under
    the same `run` again: lines that were paid are found, and only the others are sent.

    lines: Each has an id of its own. All are checked before the first is paid.
    run: Names this run, such as `payroll-2026-11`. The idempotency key of each line is made of the two ids.
    threads: How many lines are under way at once.
    wait: Seconds to wait, after the last line was sent, for payouts that are still open.
    timeout: Seconds without any progress after which the run ends.
    on_result: Called in your own thread with each result as it comes.

    Returns a result for each line, in the order of the lines. To pay a refused or failed line in another run, first remove it
    from the lines of this run for good: resumed, this run may pay it too.
    """
    orders = _orders_of(list(lines), run)
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 64:
        raise ValueError("`threads` takes a whole number from 1 to 64.")
    paying = _Run(client, timeout)
    results: Dict[str, LineResult] = {}

    def note(result: LineResult) -> None:
        results[result.id] = result
        if on_result:
            on_result(result)

    with ThreadPoolExecutor(max_workers=threads, thread_name_prefix="trilho-pay") as pool:
        try:
            still_open = _in_parallel(pool, paying.pay_once, orders, note)
            paying.wait_for(pool, still_open, wait, note)
        except BaseException:
            # Ctrl-C, or an exception in on_result: what is under way ends, and nothing else is sent.
            paying.stop.set()
            raise
    return [results[order["id"]] for order in orders]


def _in_parallel(
    pool: ThreadPoolExecutor,
    work: Callable[[Any], LineResult],
    items: Iterable[Any],
    note: Callable[[LineResult], None],
) -> List[LineResult]:
    """Notes results as they come. Returns those whose payout is still open."""
    futures: List["Future[LineResult]"] = [pool.submit(work, item) for item in items]
    still_open: List[LineResult] = []
    try:
        for future in as_completed(futures):
            result = future.result()
            if result.status == "unknown" and result.payout is not None:
                still_open.append(result)
            else:
                note(result)
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return still_open


LONGEST_KEY = 255


class _Order(TypedDict):
    id: str
    key: str
    fields: Dict[str, Any]


_FIELDS = {"customer_id", "amount", "counterparty", "description", "metadata", "idempotency_key"}


def _orders_of(lines: List[Line], run: str) -> List[_Order]:
    """The key of a line is `run:id`, as in the SDK. A run has no colon, so no two lines share a key."""
    _check_key_part("run", run)
    if ":" in run:
        raise ValueError(f"`run` has no colon, unlike '{run}'.")
    known: Set[str] = set()
    orders: List[_Order] = []
    for line in lines:
        fields: Dict[str, Any] = dict(line)
        line_id = fields.pop("id", None)
        _check_key_part("id", line_id)
        key = f"{run}:{line_id}"
        if len(key) > LONGEST_KEY:
            raise ValueError(f"The run and the id of line '{line_id}' are too long together for an idempotency key.")
        if line_id in known:
            raise ValueError(f"Two lines have the id '{line_id}'. Each payment needs its own.")
        known.add(line_id)
        strange = sorted(set(fields) - _FIELDS)
        if strange:
            raise TypeError(f"Line '{line_id}' has an unknown field: {', '.join(strange)}.")
        amount = fields.get("amount")
        if isinstance(amount, bool) or not isinstance(amount, int) or amount <= 0:
            raise TypeError(f"The amount of line '{line_id}' is {amount!r}: it takes an int of centavos above 0.")
        if fields.get("idempotency_key") is not None:
            raise TypeError(f"Line '{line_id}' has an idempotency_key: it is made of `run` and `id`.")
        for field in ("customer_id", "counterparty"):
            if not fields.get(field):
                raise ValueError(f"Line '{line_id}' has no {field}.")
        orders.append({"id": line_id, "key": key, "fields": fields})
    return orders


def _check_key_part(name: str, text: object) -> None:
    if not isinstance(text, str) or not re.fullmatch(r"[\x20-\x7e]+", text):
        raise TypeError(f"`{name}` is a text of your own of printable ASCII characters, unlike {text!r}.")


class LineChanged(TrilhoError):
    """Another payment was made under the key of this line: the name of the run was used before, for other lines."""


def _place_of(counterparty: Any) -> str:
    """Where the money goes, without the punctuation and the capitals that Trilho normalises."""
    account = " ".join(str(counterparty.get(name)) for name in ("ispb", "branch", "account_number"))
    return re.sub(r"[^a-z0-9@+ ]", "", (counterparty.get("pix_key") or account).lower())


class _Run:
    """The state of a run."""

    def __init__(self, client: Trilho, timeout: float) -> None:
        self._client = client
        self._timeout = checked_timeout(timeout)
        self._lock = threading.Lock()
        self._progress_at = time.monotonic()
        self._not_before = 0.0
        """A limit that is used up is used up for all threads."""
        self._connected = False
        """Whether Trilho has answered: from then on a foreign response is a temporary fault of a proxy."""
        self.stop = threading.Event()
        """Set when no further line may be sent."""
        self._reason: Optional[TrilhoError] = None
        """Why no further line may be sent."""
        self._failure: Optional[TrilhoError] = None
        """The last temporary failure."""

    def pay_once(self, order: _Order) -> LineResult:
        """Pays one line, or finds that it was paid. A payout that is still open is `unknown`, with the payout."""
        line_id, key = order["id"], order["key"]
        sent = doubt = False
        attempt = 0
        while True:
            attempt += 1
            if not self._has_turn():
                return LineResult(line_id, "unknown" if doubt else "unsent", key, None, self._reason)
            try:
                # A key is free again after 24 hours, so a run that is resumed later must not send what was paid.
                payout = self._find_paid(order)
                self._connected = True
                is_earlier = payout is not None and not sent
                if payout is None:
                    sent = True
                    payout = self._client.pix.payouts.create(idempotency_key=key, **order["fields"])
                with self._lock:
                    self._progress_at = time.monotonic()
                return _result_of(line_id, key, payout, is_earlier)
            except LineChanged as changed:
                return LineResult(line_id, "unknown", key, None, changed)
            except (ApiError, ConnectionFailed) as error:
                doubt = doubt or (sent and isinstance(error, OutcomeUnknown))
                if self._is_temporary(error) and self._pauses(attempt, error):
                    continue
                if _is_hopeless(error):
                    self._end(error)
                return LineResult(line_id, _status_of(error, sent, doubt), key, None, error)

    def _find_paid(self, order: _Order) -> Optional[t.PixPayout]:
        found = self._client.pix.payouts.list(idempotency_key=order["key"]).page().data
        if not found:
            return None
        not_failed = next((one for one in found if one["status"] != "failed"), found[0])
        payout = next((one for one in found if one["status"] == "completed"), not_failed)
        fields = order["fields"]
        paid = (payout["customer_id"], payout["amount"], _place_of(payout["counterparty"]))
        if paid != (fields["customer_id"], fields["amount"], _place_of(fields["counterparty"])):
            raise LineChanged(
                f"{payout['id']} was made under the same run and line for another customer, recipient or amount. "
                "Do not pay this line again before you have looked at it. Name each run once."
            )
        return payout

    def _is_temporary(self, error: Union[ApiError, ConnectionFailed]) -> bool:
        """Whether the line is tried again. A limit of a day is waited for, too, within `timeout`."""
        foreign = isinstance(error, ApiError) and error.code == "unexpected_response"
        return _passes(error) and (self._connected or not foreign)

    def _pauses(self, attempt: int, error: Union[ApiError, ConnectionFailed]) -> bool:
        """Waits before the next attempt. False if the run ends before it."""
        pause = _pause_after(attempt, error)
        with self._lock:
            self._failure = error
            ends_at = self._progress_at + self._timeout
            if isinstance(error, ApiError) and error.status == 429:
                self._not_before = max(self._not_before, time.monotonic() + pause)
        if time.monotonic() + pause >= ends_at:
            self.stop.wait(max(0.0, ends_at - time.monotonic()))
            with self._lock:
                # Another line may have succeeded meanwhile.
                if time.monotonic() >= self._progress_at + self._timeout:
                    self._end(self._no_progress(error))
            return not self.stop.is_set()
        return not self.stop.wait(pause)

    def _end(self, reason: TrilhoError) -> None:
        if self._reason is None:
            self._reason = reason
        self.stop.set()

    def _no_progress(self, failure: Optional[TrilhoError]) -> TrilhoError:
        ended = TrilhoError(f"The run made no progress for {self._timeout:g} seconds. The last error: {failure}")
        ended.__cause__ = failure
        return ended

    def _has_turn(self) -> bool:
        while not self.stop.is_set():
            with self._lock:
                now = time.monotonic()
                left = self._not_before - now
                ends = self._progress_at + self._timeout - now
            if left <= 0:
                return True
            if ends <= 0:
                self._end(self._no_progress(self._failure))
                return False
            self.stop.wait(min(left, ends))
        return False

    def wait_for(
        self,
        pool: ThreadPoolExecutor,
        still_open: List[LineResult],
        wait: float,
        note: Callable[[LineResult], None],
    ) -> None:
        """Reads open payouts in rounds, so that one that never ends does not hold up the others."""
        deadline = time.monotonic() + wait
        attempt = 0
        while still_open and not self.stop.is_set() and time.monotonic() < deadline:
            attempt += 1
            self.stop.wait(min(_pause_after(attempt), max(0.0, deadline - time.monotonic())))
            still_open = _in_parallel(pool, self._read_again, still_open, note)
        for result in still_open:
            note(result)

    def _read_again(self, result: LineResult) -> LineResult:
        assert result.payout is not None
        try:
            payout = self._client.pix.payouts.get(result.payout["id"])
            return _result_of(result.id, result.idempotency_key, payout, result.is_earlier)
        except (ApiError, ConnectionFailed):
            return result  # it is read in the next round


def _result_of(line_id: str, key: str, payout: t.PixPayout, is_earlier: bool) -> LineResult:
    status: LineStatus = "unknown"
    if payout["status"] == "completed":
        status = "completed"
    elif payout["status"] == "failed":
        status = "failed"
    return LineResult(line_id, status, key, payout, None, is_earlier)


def _is_hopeless(error: Union[ApiError, ConnectionFailed]) -> bool:
    """Whether no line can succeed any more: the API key was refused, or the address is not Trilho's. A customer that is
    blocked is the matter of its own lines."""
    if not isinstance(error, ApiError) or error.code == "customer_blocked":
        return False
    return error.status in (401, 403) or error.code == "unexpected_response"


def _status_of(error: Union[ApiError, ConnectionFailed], sent: bool, doubt: bool) -> LineStatus:
    """A stored refusal settles what earlier attempts left in doubt; anything else leaves it."""
    if isinstance(error, ApiError) and error.code == "idempotency_conflict":
        return "unknown"  # another request has the key, and may pay
    if not sent:
        return "unsent"
    told = isinstance(error, ApiError) and error.outcome == "none"
    stored = isinstance(error, ApiError) and error.status == 422
    if doubt and not (told and stored):
        return "unknown"
    if isinstance(error, ApiError):
        return "unknown" if not told else "unsent" if is_retryable(error) else "refused"
    return "unsent"
