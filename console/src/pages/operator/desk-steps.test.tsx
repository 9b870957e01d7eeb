import { expect, test } from 'vitest'
import { en } from '../../text/en/en.ts'
import { ptBR } from '../../text/pt-BR/pt-BR.ts'
import { trackSteps } from '../money/track-steps.tsx'
import { deskSteps, type Evidence } from './desk-steps.tsx'

const at = '2026-11-15T12:00:00.000Z'
const step = (kind: 'sent' | 'asked' | 'unknown' | 'answered', said: string | null = null) =>
  ({ kind, said, at, last_at: at, times: 1, by: 'rail' }) as const

/** After a restart of a chain node the transaction was missing, and was broadcast again. */
const lost = [step('sent'), step('asked'), step('answered', 'absent'), step('sent')]

const evidenceOf = (kind: 'payout' | 'transfer') =>
  ({
    item: { kind, status: 'processing', created_at: at, in_transit: '100', asset: 'USDT' },
    steps: lost,
    send_id: kind === 'payout' ? 'EQckMSZbbjLgU5' : null,
    tx_hash: '0x07d55b315b62',
    to: 'somebody',
  }) as unknown as Evidence

const titles = (steps: readonly { readonly title: unknown }[]) => steps.map(({ title }) => title)

test('the desk says that a second broadcast is the same transaction', () => {
  expect(titles(deskSteps(evidenceOf('transfer'), en, 'en'))).toEqual([
    'Accepted',
    'Sent',
    'Queried',
    'Unknown to every node of the network',
    'Sent again, the same bytes',
    'Still unknown',
  ])
  expect(titles(deskSteps(evidenceOf('payout'), en, 'en'))).toContain('Sent again, under the same send id')
})

test('what the rail said is told in the language of the person', () => {
  const texts = (step: Parameters<typeof trackSteps>[0][number]) =>
    trackSteps([step], { idempotency_key: 'one', rail: 'pix', open: false }, ptBR).map(({ text }) => text)
  expect(texts({ ...step('asked', 'accepted'), times: 3 })).toEqual(['aceito, 3 vezes'])
  expect(texts(step('answered', 'refused AC03'))).toEqual(['recusado AC03'])
})

test('the page of a transfer says so too', () => {
  const about = { idempotency_key: 'one', rail: 'polygon', open: true }
  expect(titles(trackSteps(lost, about, en))).toEqual([
    'Broadcast on polygon',
    'Queried, still unknown',
    'Unknown to every node of the network',
    'Sent again, the same bytes',
    'Next: the outcome',
  ])
})
