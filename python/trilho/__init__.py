"""The Python client of a Trilho server: Pix payouts, on-chain transfers, conversions, events and webhooks."""

from . import types
from ._call import OMITTED, Omitted
from ._client import Trilho, random_key
from ._listing import Listing, Page
from ._log import LogEntry
from ._operation import Repeat
from ._operations import VERSION
from ._send import Response
from .documents import is_cnpj, is_cpf, is_pix_key
from .errors import (
    ApiError,
    ApiOutcomeUnknown,
    ConnectionFailed,
    ConnectionOutcomeUnknown,
    Outcome,
    OutcomeUnknown,
    SignatureError,
    StillOpen,
    TrilhoError,
)
from .money import Asset, Scale, decimal_string, units
from .payroll import Line, LineChanged, LineResult, LineStatus, Payment, pay_many, wait_for_end
from .webhooks import verify_webhook

__version__ = VERSION

__all__ = [
    "OMITTED",
    "ApiError",
    "ApiOutcomeUnknown",
    "Asset",
    "ConnectionFailed",
    "ConnectionOutcomeUnknown",
    "Line",
    "LineChanged",
    "LineResult",
    "LineStatus",
    "Listing",
    "LogEntry",
    "Omitted",
    "Outcome",
    "OutcomeUnknown",
    "Page",
    "Payment",
    "Repeat",
    "Response",
    "Scale",
    "SignatureError",
    "StillOpen",
    "Trilho",
    "TrilhoError",
    "decimal_string",
    "is_cnpj",
    "is_cpf",
    "is_pix_key",
    "pay_many",
    "random_key",
    "types",
    "units",
    "verify_webhook",
    "wait_for_end",
]
