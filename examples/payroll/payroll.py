"""Pays a payroll from a CSV file, each line once. Killed or cut off, it is started again with the same arguments.

    python3 payroll.py --run payroll-2026-11 --file salaries.csv

The file has the columns id, customer_id, pix_key and amount, such as 1250.00. Exit code 0: all lines are paid. 1: some were refused or
failed. 2: some are not settled yet, so run it again.
"""

import argparse
import csv
import sys
from collections import Counter

from trilho import Line, LineResult, Trilho, decimal_string, pay_many, units


def read_lines(path: str) -> list[Line]:
    with open(path, newline="", encoding="utf-8") as file:
        return [
            {
                "id": row["id"],
                "customer_id": row["customer_id"],
                "amount": units(row["amount"], "BRL"),
                "counterparty": {"type": "pix_key", "pix_key": row["pix_key"]},
            }
            for row in csv.DictReader(file)
        ]


def tell(result: LineResult) -> None:
    about = f"{result.payout['id']} {decimal_string(result.payout['amount'], 'BRL')}" if result.payout else result.error
    print(result.id, result.status, about, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Pays a payroll, each line once.")
    parser.add_argument("--run", required=True, help="the id of this payroll in your own database")
    parser.add_argument("--file", required=True, help="a CSV file: id, customer_id, pix_key, amount")
    given = parser.parse_args()
    with Trilho(user_agent="payroll/1.0") as client:
        results = pay_many(client, read_lines(given.file), run=given.run, threads=8, on_result=tell)
    counts = Counter(result.status for result in results)
    print(", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    return 2 if counts["unknown"] or counts["unsent"] else 1 if counts["refused"] or counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
