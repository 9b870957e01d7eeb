import type { Logger } from 'pino'
import { parseBrCode } from '../../core/br-code.ts'
import { crashPoint } from '../../core/crash-point.ts'
import { money } from '../../core/money.ts'
import { InvalidAnswer } from '../../rails/answers.ts'
import type { ChargeOutcome } from '../../rails/pix/rail.ts'
import { reportInvalidAnswer } from '../../records/desk/invalid-answers.ts'
import type { World } from '../../world.ts'
import { changeCharge } from './states.ts'
import { type Charge, registerLater } from './store.ts'

/** Bounds of the delay to the next try. */
const LEAST_MS = 500
const MOST_MS = 60_000

/**
 * Registers a pending charge with the provider, under the txid that is stored with it. The call may be repeated as often as needed: the
 * provider has one charge per txid. An unknown outcome is never a failure.
 */
export async function registerCharge(world: World, log: Logger, charge: Charge): Promise<void> {
  const { charges } = world.pix
  if (!charges) return registerLater(world.db, charge, MOST_MS)
  crashPoint('before_register')
  const outcome = await ask(world, log, charge, charges.register)
  crashPoint('after_register')
  switch (outcome.kind) {
    case 'registered':
      return void (await world.commit(changeCharge(world, charge, { to: 'open', br_code: outcome.br_code })))
    case 'refused': {
      const { rail_code } = outcome
      const failed = { to: 'failed', failure_code: 'provider_error', rail_code } as const
      return void (await world.commit(changeCharge(world, charge, failed)))
    }
    case 'later':
      return later(world, charge, outcome.at.getTime() - world.clock.now())
    case 'unknown':
      // Ever less often: a tenth of the charge's age.
      return later(world, charge, (world.clock.now() - charge.created_at.getTime()) / 10)
  }
}

const later = (world: World, charge: Charge, ms: number) =>
  registerLater(world.db, charge, Math.min(Math.max(ms, LEAST_MS), MOST_MS))

async function ask(
  world: World,
  log: Logger,
  charge: Charge,
  register: NonNullable<World['pix']['charges']>['register'],
): Promise<ChargeOutcome> {
  const { id, partner_id, txid, amount, created_at, expires_at, description } = charge
  try {
    const outcome = await register({
      txid,
      amount: money('BRL', amount),
      created_at,
      expires_at,
      description,
    })
    if (outcome.kind === 'registered') assertCodeOf(charge, outcome.br_code)
    return outcome
  } catch (error) {
    log.warn({ err: error, charge_id: id }, 'charges: no valid answer; the charge is registered again later')
    if (error instanceof InvalidAnswer) await reportInvalidAnswer(world, log, { id, partner_id }, error)
    return { kind: 'unknown' }
  }
}

/** A payer must see the amount of the charge, and pay to a code of Pix. */
function assertCodeOf({ amount }: Charge, br_code: string): void {
  const code = parseBrCode(br_code)
  const problem = !code
    ? 'br_code is no valid code of Pix'
    : code.amount !== undefined && code.amount !== amount
      ? `br_code is for ${code.amount} centavos`
      : undefined
  if (problem) throw new InvalidAnswer({ rail: 'pix', call: 'register', problem })
}
