import { createHash } from 'node:crypto'
import { makeBrCode } from '../../core/br-code.ts'
import type { Clock } from '../../core/clock.ts'
import { makeCpf, parseDocument } from '../../core/document.ts'
import type { Journal } from '../journal.ts'
import type {
  AccountHolder,
  ChargeOrder,
  ChargeOutcome,
  Directory,
  PixCharges,
  PixOrder,
  PixOutcome,
  PixRail,
  PixStatus,
} from './rail.ts'

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

/** What the simulated rail says of itself. */
export const simulatedTerms = {
  provider: 'simulated',
  sending: { visible_after_ms: 2000 },
} satisfies Pick<PixRail, 'provider' | 'sending'>

export function simulatedPix(options: { clock: Clock; journal: Journal }): PixRail<'sandbox'> {
  const { clock, journal } = options
  const silentFor = (order: PixOrder, ms: number): PixStatus | undefined => {
    const ask_at = new Date(order.sent_at.getTime() + ms)
    const kind = magicName(keyOf(order)) === 'slow' ? 'accepted' : 'unknown'
    return clock.now() < ask_at.getTime() ? { kind, ask_at } : undefined
  }

  return {
    environment: 'sandbox',
    ...simulatedTerms,

    async ready() {},

    async holder(pix_key, asking): Promise<Directory> {
      if (magicName(pix_key) === 'notfound') return { kind: 'nobody' }
      return { kind: 'held', holder: holderOf(pix_key, asking) }
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

    charges: simulatedCharges(clock),
  }
}

/** What the last four digits of a charge's amount bring about; every other charge is registered. */
const CHARGE_REFUSED = '9001'
const CHARGE_LATE = '9002'
const CHARGE_LATE_MS = 10_000

/** Charges of the sandbox. Their payments are made by whoever calls the sandbox, and listed nowhere. */
const simulatedCharges = (clock: Clock): PixCharges => ({
  is_played: true,
  async register(order): Promise<ChargeOutcome> {
    const magic = order.amount.units.toString().slice(-4)
    if (magic === CHARGE_REFUSED) return { kind: 'refused', rail_code: 'valor_invalido' }
    const ready_at = order.created_at.getTime() + (magic === CHARGE_LATE ? CHARGE_LATE_MS : 0)
    return clock.now() < ready_at && magic === CHARGE_LATE
      ? { kind: 'unknown' }
      : { kind: 'registered', br_code: brCodeOf(order) }
  },
  async *received() {},
  payment: async () => undefined,
})

const brCodeOf = ({ txid, amount }: ChargeOrder): string =>
  makeBrCode({
    url: `sandbox.test/pix/${txid}`,
    amount: amount.units,
    name: 'Trilho Sandbox',
    city: 'SAO PAULO',
  })

const silences: Readonly<Record<string, number>> = { slow: SLOW_MS, timeout: SILENT_MS, late: LATE_MS }

const strangers = ['111444777', '222555888'].map(makeCpf)

function holderOf(pix_key: string, asking: AccountHolder | undefined): AccountHolder {
  const stranger = strangerTo(asking)
  if (magicName(pix_key) === 'other-owner') return stranger
  const document = parseDocument(pix_key)
  if (document && document.value !== asking?.document) return { ...stranger, document: document.value }
  return asking ?? stranger
}

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

/** D, the ISPB, the minute in UTC, and eleven characters: the id of a return, of which `nonce` makes another one. */
export function returnId({ at, nonce }: { readonly at: Date; readonly nonce: string }): string {
  const minute = at.toISOString().replaceAll(/[-:T]/g, '').slice(0, 12)
  return `D${ISPB}${minute}${createHash('sha256').update(nonce).digest('hex').slice(0, 11)}`
}

/** E, the ISPB, the minute in UTC, and eleven characters: always the same for the same payment. */
export function endToEndId({ send_id, sent_at }: Pick<PixOrder, 'send_id' | 'sent_at'>): string {
  const minute = sent_at.toISOString().replaceAll(/[-:T]/g, '').slice(0, 12)
  const tail = createHash('sha256').update(send_id).digest('hex').slice(0, 11)
  return `E${ISPB}${minute}${tail}`
}
