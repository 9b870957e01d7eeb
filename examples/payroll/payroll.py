"""Pays a payroll from a CSV file, each line once. Killed or cut off, it is started again with the same arguments.

    python3 payroll.py --run payroll-2026-11 --file salaries.csv --book payroll.jsonl

The file has the columns id, customer_id, pix_key and amount, such as 1250.00. Exit code 0: all lines are paid. 1: some were refused or
failed. 2: some are not settled yet, so run it again.
"""

import argparse
import csv
import json
import logging
import sys

from trilho import Line, LineResult, Trilho, is_pix_key, pay_many, units


def read_lines(path: str) -> list[Line]:
    with open(path, newline="", encoding="utf-8") as file:
        return [line_of(row) for row in csv.DictReader(file)]


def line_of(row: dict[str, str]) -> Line:
    if not is_pix_key(row["pix_key"]):
        sys.exit(f"{row['id']}: {row['pix_key']} is not a Pix key. Nothing was paid.")
    return {
        "id": row["id"],
        "customer_id": row["customer_id"],
        "amount": units(row["amount"], "BRL"),
        "counterparty": {"type": "pix_key", "pix_key": row["pix_key"]},
    }


def tell(result: LineResult) -> None:
    print(result.id, result.status, reason_of(result), flush=True)


def reason_of(result: LineResult) -> str:
    payout = result.payout
    if payout is None:
        return str(result.error or "")
    failure = payout["failure"]
    why = failure["message"] if failure else "" if payout["status"] == "completed" else f"is {payout['status']}"
    return f"{'earlier' if result.is_earlier else 'now'} {payout['id']} {why}".strip()


def summarize(run: str, results: list[LineResult]) -> int:
    """Prints how many lines have each status, and which need a person. Returns the exit code."""
    print(f"{run}, {len(results)} lines:")
    exit_code = 0
    for status, advice, code in (
        ("failed", "not paid", 1),
        ("refused", "not paid", 1),
        ("unknown", "run this again", 2),
        ("unsent", "run this again", 2),
    ):
        ids = [result.id for result in results if result.status == status]
        if ids:
            print(f"  {len(ids)} {status}, {advice}: {' '.join(ids)}")
            exit_code = code
    paid = [result for result in results if result.status == "completed"]
    earlier = sum(result.is_earlier for result in paid)
    print(f"  {len(paid)} completed: {len(paid) - earlier} now, {earlier} earlier")
    return exit_code


def write_book(path: str, lines: list[Line], results: list[LineResult]) -> None:
    """What you book: customer and amount as the file has them, the rest as the payout says. A line without a payout is not booked."""
    with open(path, "w", encoding="utf-8") as book:
        for line, result in zip(lines, results):
            if result.payout is None:
                continue
            entry = {
                "kind": "payout",
                "idempotency_key": result.idempotency_key,
                "customer_id": line["customer_id"],
                "amount": line["amount"],
                "fee": result.payout["fee"],
                "status": result.payout["status"],
                "created_at": result.payout["created_at"],
            }
            book.write(json.dumps(entry) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="Pays a payroll, each line once.")
    parser.add_argument("--run", required=True, help="the id of this payroll in your own database")
    parser.add_argument("--file", required=True, help="a CSV file: id, customer_id, pix_key, amount")
    parser.add_argument("--book", help="where to write the payouts, for your book")
    given = parser.parse_args()
    # Retries are written to the standard error.
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    lines = read_lines(given.file)
    with Trilho(user_agent="payroll/1.0") as client:
        results = pay_many(client, lines, run=given.run, threads=8, on_result=tell)
    if given.book:
        write_book(given.book, lines, results)
    return summarize(given.run, results)


if __name__ == "__main__":
    sys.exit(main())
