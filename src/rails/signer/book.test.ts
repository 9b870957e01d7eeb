import { expect, test } from 'vitest'
import { openSignatureBook } from './book.ts'
import type { SignatureLine } from './log.ts'
import type { SignatureRefused, SignRequest } from './signer.ts'

const wallet = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const destination = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
type Purpose = SignRequest['purpose']

const line = (n: number, transfer_id: string, nonce: bigint, purpose: Purpose = 'pay'): SignatureLine => ({
  ...{ n, at: new Date().toISOString(), prev: '0'.repeat(64) },
  ...{ kind: 'transfer', transfer_id, network: 'polygon', purpose, destination, amount: '1' },
  ...{ wallet, nonce: `${nonce}`, cost: '1', tx_hash: `0x${n}`, unsigned: 'ab'.repeat(32) },
})

const open = (lines: readonly SignatureLine[]) => {
  const book = openSignatureBook({ clock: { now: Date.now }, transfers_most: 2 })
  for (const one of lines) book.apply(one)
  return (transfer_id: string, nonce: bigint, purpose: Purpose = 'pay'): string => {
    const intent = {
      transfer_id,
      network: 'polygon',
      destination_address: destination,
      amount: 1n,
      seal: '',
    } as const
    try {
      book.checkTransfer({ intent, purpose, unsigned: '0x', reservation: { wallet, nonce } })
      return 'signed'
    } catch (error) {
      return (error as SignatureRefused).rule
    }
  }
}

test('cancels of any number make the signer forget no payment', () => {
  const cancels = [3, 4, 5, 6].map((n) => line(n, `tr_canceled_${n}`, 6n, 'cancel'))
  const check = open([line(1, 'tr_a', 5n), ...cancels, line(7, 'tr_a', 6n, 'cancel')])
  expect(check('tr_a', 9n)).toBe('nonce')
  expect(check('tr_b', 5n)).toBe('nonce')
  expect(check('tr_b', 6n)).toBe('signed')
})

test('payments that are forgotten leave their highest nonce', () => {
  const check = open([
    line(1, 'tr_a', 5n),
    line(2, 'tr_b', 6n),
    line(3, 'tr_c', 7n),
    line(4, 'tr_a', 8n, 'cancel'),
  ])
  expect(check('tr_d', 5n)).toBe('nonce')
  // A cancel does not make a forgotten transfer known again.
  expect(check('tr_a', 5n)).toBe('nonce')
  expect(check('tr_d', 8n)).toBe('signed')
})

test('a nonce far above the highest one of the wallet is refused, so that honest ones stay usable', () => {
  expect(open([])('tr_a', 123_456n)).toBe('signed')
  const check = open([line(1, 'tr_a', 5n)])
  for (const purpose of ['pay', 'cancel'] as const) {
    expect(check('tr_b', 2n ** 64n - 2n, purpose)).toBe('nonce')
    expect(check('tr_b', 10_006n, purpose)).toBe('nonce')
    expect(check('tr_b', 10_005n, purpose)).toBe('signed')
  }
})
