import { describe, expect, test } from 'vitest'
import { type TransactionView, transactionSeen } from './transaction-views.ts'

const payment = { output_index: 0, from: '0xaa', to: '0xbb', amount: 5n }
const mined = (changes: Partial<Extract<TransactionView, { kind: 'mined' }>> = {}): TransactionView => ({
  ...{ kind: 'mined', block_height: 100n, block_hash: '0x01', depth: 10, head: 109n, payments: [payment] },
  ...changes,
})
const absent = (head: bigint): TransactionView => ({ kind: 'absent', head })
const waiting = (head: bigint): TransactionView => ({ kind: 'waiting', head })
const incomplete = (head: bigint): TransactionView => ({ kind: 'incomplete', head })
const between: TransactionView = { kind: 'unclear' }

describe('what a quorum shows of a transaction', () => {
  const seen = (views: readonly TransactionView[], block_height?: bigint, quorum = 2) =>
    transactionSeen(views, {
      quorum,
      known: block_height === undefined ? undefined : { block_height, block_hash: '0x01' },
    })

  test('is mined if two endpoints show the same, as deep as the lower one sees it', () => {
    expect(seen([mined(), mined({ depth: 8, head: 107n })])).toMatchObject({ kind: 'mined', depth: 8 })
    expect(seen([mined()], undefined, 1)).toMatchObject({ kind: 'mined', depth: 10 })
  })

  test('is not clear from one of two, and not by an endpoint below the block', () => {
    const unclear = { kind: 'unclear', contradiction: false }
    expect(seen([mined()])).toEqual(unclear)
    expect(seen([mined(), absent(99n)])).toEqual(unclear)
    expect(seen([mined(), between])).toEqual(unclear)
    expect(seen([mined(), mined(), absent(99n)])).toMatchObject({ kind: 'mined' })
  })

  test.each([
    ['another block', mined({ block_hash: '0x02' })],
    ['another amount', mined({ payments: [{ ...payment, amount: 6n }] })],
    ['another place', mined({ payments: [{ ...payment, output_index: 1 }] })],
    ['another recipient', mined({ payments: [{ ...payment, to: '0xcc' }] })],
    ['no payment', mined({ payments: [] })],
    ['nothing', absent(109n)],
    ['a mempool', waiting(109n)],
    ['its block, and not the transaction', incomplete(109n)],
  ])('is a contradiction if one endpoint shows %s, whatever two others show', (_, other) => {
    expect(seen([mined(), other])).toEqual({ kind: 'unclear', contradiction: true })
    expect(seen([mined(), mined(), other])).toEqual({ kind: 'unclear', contradiction: true })
  })

  test('is absent only for endpoints that have reached the block in which it was', () => {
    expect(seen([absent(100n), absent(101n)], 100n)).toEqual({ kind: 'absent' })
    expect(seen([absent(100n), absent(99n)], 100n)).toMatchObject({ kind: 'unclear' })
    expect(seen([absent(100n), between], 100n)).toMatchObject({ kind: 'unclear' })
    expect(seen([absent(100n), waiting(100n)], 100n)).toEqual({ kind: 'waiting' })
  })

  test('is not absent while an endpoint has its block, and not the transaction', () => {
    const contradiction = { kind: 'unclear', contradiction: true }
    expect(seen([incomplete(100n), incomplete(100n)], 100n)).toEqual(contradiction)
    expect(seen([incomplete(100n), absent(100n), absent(100n)], 100n)).toEqual(contradiction)
    expect(seen([incomplete(100n)], 100n, 1)).toEqual(contradiction)
  })
})
