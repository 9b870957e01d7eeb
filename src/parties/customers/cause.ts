import assert from 'node:assert/strict'

type CauseType = 'payout' | 'transfer' | 'trade' | 'deposit' | 'reversal' | 'adjustment'

const types: Readonly<Record<string, CauseType>> = {
  dep: 'deposit',
  po: 'payout',
  tr: 'transfer',
  td: 'trade',
  fp: 'adjustment',
  adj: 'adjustment',
}

/** The cause of a statement line, by the prefix of its id. */
export function causeOf({ cause_id, movement }: { cause_id: string; movement: string }): {
  type: CauseType
  id: string
} {
  if (movement === 'returned' || movement === 'reversed') return { type: 'reversal', id: cause_id }
  const type = types[cause_id.split('_')[0]!]
  assert(type, `no cause is known by the id ${cause_id}`)
  return { type, id: cause_id }
}
