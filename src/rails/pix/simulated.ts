import { createHash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { makeCpf, parseDocument } from '../../core/document.ts'
import type { Journal } from '../journal.ts'
import type { AccountHolder, PixOrder, PixOutcome, PixRail, PixStatus } from './rail.ts'

/**
 * The Pix network of the sandbox, for partners and tests. The Pix key alone decides the outcome, never chance, so every outcome
 * of the real network takes one request (the sandbox guide has the table).
 */
const SANDBOX_DOMAIN = '@sandbox.test'

const refusals = ['ac03', 'ac06', 'ac07', 'am02', 'be01', 'ds04', 'rr04', 'ab03'] as const

const SLOW_MS = 15_000
const SILENT_MS = 10_000
/** Long enough to see the payout on the desk, and to resolve it by hand before the network answers. */
const LATE_MS = 300_000

/** The answer to the send is lost or invalid, but the network has the payment. */
const unanswered = ['timeout', 'garbage', 'unknown', 'late']
/** The network confirms that it took the payment over. */
const taken = ['slow', 'accepted', 'forgotten']

/** The institution that the sandbox's payments come from. */
const ISPB = '00000000'

export function simulatedPix(options: { clock: Clock; journal: Journal }): PixRail<'sandbox'> {
  const { clock, journal } = options
  const silentFor = (order: PixOrder, ms: number): PixStatus | undefined => {
    const ask_at = new Date(order.sent_at.getTime() + ms)
    const kind = magicName(keyOf(order)) === 'slow' ? 'accepted' : 'unknown'
    return clock.now() < ask_at.getTime() ? { kind, ask_at } : undefined
  }

  return {
    environment: 'sandbox',

    async ready() {},

    async holder(pix_key, asking): Promise<AccountHolder | undefined> {
      const name = magicName(pix_key)
      if (name === 'notfound') return undefined
      const stranger = strangerTo(asking)
      if (name === 'other-owner') return stranger
      const document = parseDocument(pix_key)
      if (document && document.value !== asking?.document) return { ...stranger, document: document.value }
      return asking ?? stranger
    },

    async send(order): Promise<PixOutcome> {
      const name = magicName(keyOf(order))
      // The first send is lost: the other side never receives it.
      if (name === 'lost' && order.attempt === 1) return { kind: 'unknown' }
      journal.add(order.send_id, order)
      if (name !== undefined && unanswered.includes(name)) return { kind: 'unknown' }
      if (name !== undefined && taken.includes(name)) return { kind: 'accepted' }
      return finalOutcome(order)
    },

    async status(order): Promise<PixStatus> {
      // Another process may hold the journal: an order that was accepted before is known without it.
      if (!order.accepted && !journal.has(order.send_id)) return { kind: 'absent' }
      const name = magicName(keyOf(order))
      // Cases of the operator's desk: a person has to resolve them.
      if (name === 'unknown' || name === 'accepted') return { kind: name }
      if (name === 'forgotten') return { kind: 'absent' }
      const silence = silences[name ?? ''] ?? 0
      return silentFor(order, silence) ?? finalOutcome(order)
    },
  }
}

const silences: Readonly<Record<string, number>> = { slow: SLOW_MS, timeout: SILENT_MS, late: LATE_MS }

const strangers = ['111444777', '222555888'].map(makeCpf)

/** A holder with another document than the one who asks. */
const strangerTo = (asking: AccountHolder | undefined): AccountHolder => ({
  name: 'Outra Pessoa',
  document: strangers.find((document) => document !== asking?.document)!,
})

function finalOutcome(order: PixOrder): PixOutcome {
  const name = magicName(keyOf(order))
  const refused = refusals.find((code) => code === name)
  return refused
    ? { kind: 'refused', rail_code: refused.toUpperCase() }
    : { kind: 'settled', end_to_end_id: endToEndId(order) }
}

/** The part before @sandbox.test; undefined for every other key. */
function magicName(pix_key: string | undefined): string | undefined {
  return pix_key?.endsWith(SANDBOX_DOMAIN) ? pix_key.slice(0, -SANDBOX_DOMAIN.length) : undefined
}

const keyOf = ({ to }: PixOrder): string | undefined => ('pix_key' in to ? to.pix_key : undefined)

/** E, the ISPB, the minute in UTC, and eleven characters: always the same for the same payment. */
export function endToEndId({ send_id, sent_at }: Pick<PixOrder, 'send_id' | 'sent_at'>): string {
  const minute = sent_at.toISOString().replaceAll(/[-:T]/g, '').slice(0, 12)
  const tail = createHash('sha256').update(send_id).digest('hex').slice(0, 11)
  return `E${ISPB}${minute}${tail}`
}
