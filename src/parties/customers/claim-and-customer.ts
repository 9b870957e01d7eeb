import { isId } from '../../core/ids.ts'
import { arrayOf, texts } from '../../db/arrays.ts'
import { batched } from '../../db/batched.ts'
import type { Db } from '../../db/pool.ts'
import { type ClaimRow, claimColumns, namesOf, recordsOf } from '../../ledger/claims.ts'
import type { Claim, IdempotencyRecord } from '../../ledger/command.ts'
import { claimKey } from '../../ledger/state.ts'
import { type OrderingCustomer, orderingColumns } from './store.ts'

/** What a call reads before it contacts a rail: the record of its claim, and the customer. */
type ClaimAndCustomerId = { readonly claim: Claim; readonly customer_id: string }

/** Read without locks: the command decides on what it reads again under its locks. */
type ClaimAndCustomer = {
  readonly record: IdempotencyRecord | undefined
  readonly customer: OrderingCustomer | undefined
}

type ClaimAndCustomerRow = ClaimRow & OrderingCustomer & { readonly place: bigint }

const READ = {
  name: 'claims and customers',
  text: `SELECT place, ${claimColumns}, ${orderingColumns}
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS wanted (scope, operation, key, customer_id, place)
    LEFT JOIN claims USING (scope, operation, key) LEFT JOIN customers ON customers.id = wanted.customer_id`,
}

/** Reads both with one statement. */
export const readClaimAndCustomer = batched<ClaimAndCustomerId, ClaimAndCustomer>(
  async (db: Db, wanted: readonly ClaimAndCustomerId[]) => {
    const claims = wanted.map(({ claim }) => claim)
    // Text that does not have the form of an id may be refused by the database, for example a NUL.
    const ids = wanted.map(({ customer_id }) => (isId('customer', customer_id) ? customer_id : null))
    const { rows } = await db.query<ClaimAndCustomerRow>({
      ...READ,
      values: [...namesOf(claims).map(texts), arrayOf('text', ids)],
    })
    const records = await recordsOf(
      db,
      rows.filter(({ fingerprint }) => fingerprint !== null),
    )
    const customers = new Map(rows.map((row) => [Number(row.place), row]))
    return wanted.map(({ claim }, i) => ({
      record: records.get(claimKey(claim)),
      customer: customerOf(customers.get(i + 1)!),
    }))
  },
)

const customerOf = ({ id, partner_id, document, name, status, third_party_payouts }: ClaimAndCustomerRow) =>
  id === null ? undefined : { id, partner_id, document, name, status, third_party_payouts }
