import assert from 'node:assert/strict'

type CauseType = 'payout' | 'transfer' | 'trade' | 'deposit' | 'reversal' | 'return' | 'adjustment'

const types: Readonly<Record<string, CauseType>> = {
  dep: 'deposit',
  po: 'payout',
  tr: 'transfer',
  td: 'trade',
  ret: 'return',
  fp: 'adjustment',
  adj: 'adjustment',
}

/** The cause of a statement line, by the prefix of its id. */
export function causeOf({ cause_id, movement, of }: { cause_id: string; movement: string; of?: string }): {
  type: CauseType
  id: string
  of?: string
} {
  const type = types[cause_id.split('_')[0]!]
  if (type !== 'return' && (movement === 'returned' || movement === 'reversed'))
    return { type: 'reversal', id: cause_id }
  assert(type, `unknown prefix of the cause id ${cause_id}`)
  return { type, id: cause_id, ...(of === undefined ? {} : { of }) }
}
