"""CPF, CNPJ and Pix keys: the same rules as the server's, so that a form can refuse them before a call."""

import re

_CPF = re.compile(r"[0-9]{11}|[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}")
_CNPJ = re.compile(
    r"[0-9A-Za-z]{12}[0-9]{2}|[0-9A-Za-z]{2}\.[0-9A-Za-z]{3}\.[0-9A-Za-z]{3}/[0-9A-Za-z]{4}-[0-9]{2}"
)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
# The expression of the DICT API, plus at least one dot in the domain.
_EMAIL = re.compile(rf"[A-Za-z0-9.!#$&'*+/=?^_`{{|}}~-]+@{_LABEL}(?:\.{_LABEL})+")
_EMAIL_MOST = 77
# Only mobile numbers, which all begin with 9, are keys.
_PHONE = re.compile(r"\+55[ -]?(?:\(([0-9]{2})\)|([0-9]{2}))[ -]?9 ?[0-9]{4}[ -]?[0-9]{4}")
_RANDOM = re.compile(r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}")
# Anatel's numbering plan leaves the other codes unassigned.
_AREA_CODES = frozenset(
    (
        "11 12 13 14 15 16 17 18 19 21 22 24 27 28 31 32 33 34 35 37 38 41 42 43 44 45 46 47 48 49 51 53 54 55 "
        "61 62 63 64 65 66 67 68 69 71 73 74 75 77 79 81 82 83 84 85 86 87 88 89 91 92 93 94 95 96 97 98 99"
    ).split()
)


def is_cpf(text: object) -> bool:
    """Whether this is a CPF, as eleven digits or as 529.982.247-25, with the right check digits."""
    return isinstance(text, str) and _CPF.fullmatch(text) is not None and _is_genuine(re.sub("[.-]", "", text), 11)


def is_cnpj(text: object) -> bool:
    """Whether this is a CNPJ, with letters or without, bare or as 12.ABC.345/01DE-35, with the right check digits."""
    if not isinstance(text, str) or _CNPJ.fullmatch(text) is None:
        return False
    return _is_genuine(re.sub("[./-]", "", text).upper(), 9)


def is_pix_key(text: object) -> bool:
    """Whether this has the form of a Pix key: CPF, CNPJ, e-mail, mobile phone with +55, or random key. Whether somebody
    has registered it, only `client.pix.keys.get` says."""
    if not isinstance(text, str):
        return False
    if "@" in text:
        return len(text) <= _EMAIL_MOST and _EMAIL.fullmatch(text) is not None
    if text.startswith("+"):
        found = _PHONE.fullmatch(text)
        return found is not None and (found.group(1) or found.group(2)) in _AREA_CODES
    return _RANDOM.fullmatch(text) is not None or is_cpf(text) or is_cnpj(text)


def _is_genuine(value: str, most: int) -> bool:
    # A repeated digit passes the arithmetic of a CPF but is never issued.
    if value == value[0] * len(value):
        return False
    base = value[:-2]
    first = base + _check_digit(base, most)
    return value == first + _check_digit(first, most)


def _check_digit(characters: str, most: int) -> str:
    """Modulus 11; weights run 2, 3, … from the right and start again after `most`."""
    total = sum((ord(one) - 48) * (2 + i % (most - 1)) for i, one in enumerate(reversed(characters)))
    rest = total % 11
    return str(0 if rest < 2 else 11 - rest)
