import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Clock } from '../../../core/clock.ts'
import { refuse } from '../../../core/errors.ts'
import { InvalidAnswer } from '../../answers.ts'
import type { ProviderAnswer } from '../exchange.ts'
import type { PixAccount, PixOrder, PixOutcome, PixRail, PixStatus } from '../rail.ts'
import { unlistedHolder } from '../unlisted.ts'
import { readTransfers, starkAccount } from './account.ts'
import { endToEndIdOf, readTransfer, type Transfer, wordOf } from './bodies.ts'
import { notCarriedOut, transferStates } from './catalogue.ts'
import { openStarkClient, type StarkAccess } from './client.ts'
import { isAbout, starkSend } from './send.ts'

/** Pix over transfers of Stark Bank (decision 0073): payouts only, never tried against the bank itself. */
type StarkOptions = {
  readonly access: StarkAccess
  /** Payments under way at once, over all nodes. */
  readonly at_once: number
  readonly timeout_ms: number
  readonly clock: Clock
  readonly log: Logger
}

/** How long a list may miss a transfer is not said. */
const VISIBLE_AFTER_MS = 60_000
const SEND_FOR_MS = 600_000
const RETRY_S = 60
const TOO_MANY = 429

export type StarkRail = PixRail<'production'> & { readonly account: PixAccount; stop(): Promise<void> }

export function openStarkBank({ access, at_once, timeout_ms, clock, log }: StarkOptions): StarkRail {
  const client = openStarkClient({ access, timeout_ms, clock })
  let shut_until = 0
  const later = (seconds = RETRY_S): PixOutcome => ({
    kind: 'later',
    at: new Date(clock.now() + seconds * 1000),
  })

  /** Whether the call was definitely not carried out. */
  function isNotCarriedOut(answer: ProviderAnswer): boolean {
    const is_ours = answer.http === 400 && notCarriedOut.includes(wordOf(answer.body) ?? '')
    if (is_ours) shut_until = clock.now() + RETRY_S * 1000
    return is_ours || answer.http === TOO_MANY
  }

  const send = starkSend(client, { isNotCarriedOut, later, log })

  /**
   * Looks for the transfer of the order by its tag, which only this order has. `absent`: the list was read to its end, and is empty. A
   * transfer under the tag with another `externalId` decides nothing, because the bank may have paid the order.
   */
  async function status(order: PixOrder, signal?: AbortSignal): Promise<PixStatus> {
    const { send_id } = order
    for await (const entry of readTransfers(client, { tags: send_id.toLowerCase() }, signal)) {
      const transfer = readTransfer(entry)
      // An entry that cannot be read may be the transfer that was asked for.
      if (!transfer) throw invalid('status', 'a transfer cannot be read')
      if (transfer.externalId !== send_id)
        throw invalid('status', 'a transfer under the tag has another externalId')
      return endOf(order, transfer)
    }
    return { kind: 'absent' }
  }

  async function ready(): Promise<void> {
    const left_ms = shut_until - clock.now()
    if (left_ms <= 0) return
    const left_s = Math.ceil(left_ms / 1000)
    log.warn(
      `starkbank: Stark Bank refused the signature; no payment is sent for ${left_s} s. Check STARKBANK_PROJECT_ID, STARKBANK_PRIVATE_KEY and this machine's clock`,
    )
    refuse('rail_unavailable', { retry_after_seconds: left_s })
  }

  return {
    environment: 'production',
    provider: providerOf(access),
    sending: { visible_after_ms: VISIBLE_AFTER_MS, send_for_ms: SEND_FOR_MS, at_once },
    ready,
    /** The directory shows a masked CPF, so the document is compared when the payment is sent. */
    async holder(key, asking) {
      await ready()
      return unlistedHolder(key, asking)
    },
    send,
    status,
    account: starkAccount(client),
    stop: client.stop,
  }
}

function endOf(order: PixOrder, transfer: Transfer): PixStatus {
  if (!isAbout(order, transfer)) throw invalid('status', 'amount is not that of the payment')
  const { status } = transfer
  switch (transferStates[status]) {
    case 'settled':
      return { kind: 'settled', end_to_end_id: endToEndIdOf(transfer) ?? '' }
    case 'refused':
      return { kind: 'refused', rail_code: status, reason: 'provider_error' }
    case 'accepted':
      return { kind: 'accepted' }
    default:
      return { kind: 'unknown' }
  }
}

/** Payouts keep this name of the account: a project belongs to one workspace, and the sandbox is another bank. */
function providerOf({ url, project_id }: StarkAccess): string {
  const account = `${new URL(url).hostname.startsWith('sandbox.') ? 'sandbox ' : ''}${project_id}`
  return `starkbank:${createHash('sha256').update(account).digest('hex').slice(0, 16)}`
}

const invalid = (call: string, problem: string) => new InvalidAnswer({ rail: 'pix', call, problem })
