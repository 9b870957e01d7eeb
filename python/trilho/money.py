"""Amounts: whole numbers of the smallest unit, and their decimal texts. No float at any point."""

import re
from decimal import Decimal
from typing import Literal, Mapping, Union

Asset = Literal["BRL", "USDT", "BTC"]
Scale = Union[Asset, int]
"""An asset, or the `decimals` of a response."""

_ASSETS: Mapping[str, int] = {"BRL": 2, "USDT": 6, "BTC": 8}


def units(amount: Union[str, Decimal], scale: Scale) -> int:
    """Parses a decimal into smallest units: `units("10.50", "BRL")` is 1050."""
    decimals = _decimals_of(scale)
    if isinstance(amount, Decimal):
        text = f"{amount:f}" if amount.is_finite() else str(amount)
    elif isinstance(amount, str):
        text = amount
    else:
        raise TypeError(f"{_say(amount)} is not an amount: write it as text, like '1050.25', or as a Decimal.")
    found = re.fullmatch(r"(-?)([0-9]+)(?:\.([0-9]+))?", text)
    if found is None:
        raise ValueError(f"'{text}' is not an amount: write it like '1050.25'.")
    sign, whole, fraction = found.group(1), found.group(2), found.group(3) or ""
    if len(fraction) > decimals and (not isinstance(amount, Decimal) or fraction[decimals:].strip("0")):
        raise ValueError(f"'{text}' has {len(fraction)} decimals, and {_say(scale)} has {decimals}.")
    return int(sign + whole + fraction[:decimals].ljust(decimals, "0"))


def decimal_string(amount: int, scale: Scale) -> str:
    """Writes smallest units as an exact decimal: `decimal_string(1050, "BRL")` is "10.50"."""
    decimals = _decimals_of(scale)
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise TypeError(f"{_say(amount)} is not a whole number of smallest units: pass an int.")
    digits = str(abs(amount)).rjust(decimals + 1, "0")
    whole, fraction = digits[: len(digits) - decimals], digits[len(digits) - decimals :]
    return f"{'-' if amount < 0 else ''}{whole}{'.' + fraction if fraction else ''}"


def _decimals_of(scale: object) -> int:
    decimals = _ASSETS.get(scale) if isinstance(scale, str) else scale
    if isinstance(decimals, bool) or not isinstance(decimals, int) or not 0 <= decimals <= 100:
        raise ValueError(f"{_say(scale)} is neither an asset ({', '.join(_ASSETS)}) nor a number of decimals.")
    return decimals


def _say(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else f"{value!r} ({type(value).__name__})"
