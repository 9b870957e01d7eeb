import { columnsOf } from '../../db/columns.ts'
import type { Db } from '../../db/pool.ts'
import { type CustomLimits, limitNames, type Tier } from '../../limits/tiers.ts'

export type Partner = CustomLimits & {
  readonly id: string
  readonly name: string
  readonly tier: Tier
  /** Fee of a Pix payout, in centavos. */
  readonly pix_fee: number
  readonly service_fee_bps: number
  readonly partner_fee_share_pct: number
  readonly third_party_payouts: boolean
  readonly created_at: Date
}

export async function insertPartner(db: Db, partner: { id: string; name: string }): Promise<Partner> {
  const { rows } = await db.query(
    `INSERT INTO partners (id, name) VALUES ($1, $2) RETURNING ${columnsOf('partners')}`,
    [partner.id, partner.name],
  )
  return rows[0]
}

export async function selectPartners(db: Db): Promise<Partner[]> {
  const { rows } = await db.query(`SELECT ${columnsOf('partners')} FROM partners ORDER BY created_at, id`)
  return rows
}

/** The settings of a partner that an operator can change; absent fields stay unchanged. */
export type PartnerChange = Partial<Omit<Partner, 'id' | 'name' | 'created_at'>>

const changeable = [
  'tier',
  ...limitNames,
  'pix_fee',
  'service_fee_bps',
  'partner_fee_share_pct',
  'third_party_payouts',
] as const satisfies (keyof PartnerChange)[]

export async function changePartner(db: Db, id: string, change: PartnerChange): Promise<Partner | undefined> {
  const columns = changeable.filter((column) => change[column] !== undefined)
  const sets = columns.map((column, i) => `${column} = $${i + 2}`)
  const { rows } = await db.query(
    `UPDATE partners SET ${sets.join(', ')} WHERE id = $1 RETURNING ${columnsOf('partners')}`,
    [id, ...columns.map((column) => change[column])],
  )
  return rows[0]
}

/** The partner of a key, read with the role of a world. */
export async function partnerById(db: Db, id: string): Promise<Partner> {
  const { rows } = await db.query({
    name: 'partner by id',
    text: `SELECT ${columnsOf('partners')} FROM shared.partners WHERE id = $1`,
    values: [id],
  })
  return rows[0]
}
