import type { Reach } from '../../src/cli/command.ts'
import { withDatabase } from '../../src/cli/with-database.ts'
import { act } from '../../src/control/operator/act.ts'
import type { MoneyAction } from '../../src/control/operator/actions.ts'
import type { OperatorActor } from '../../src/core/actor.ts'
import { assetOfRail } from '../../src/money/custody/controls.ts'
import type { RailName } from '../../src/money/custody/controls-store.ts'
import { readConfig } from '../../src/node/config.ts'

/** Two operators, who act as the command line lets them: one proposes what moves money, the other approves it. */
export type Operators = Awaited<ReturnType<typeof openOperators>>

type Office = Reach['office']

/** What the partner pays: R$ 0.35 for a payout, and half a percent of a conversion. */
export const PIX_FEE = 35
export const SERVICE_FEE_BPS = 50

const LIMIT = 1_000_000

export async function openOperators(env: Record<string, string>) {
  const inOffice = <Result>(work: (office: Office) => Promise<Result>) =>
    withDatabase(readConfig(env), ({ office }) => work(office))
  const [maria, joao] = await inOffice(async (office) => {
    const first = await makeOperator(office, { kind: 'shell' }, 'maria@operator.example')
    return [first, await makeOperator(office, first, 'joao@operator.example')] as const
  })

  return {
    /** A partner with its terms, and the value of its live key. */
    openPartner: (name: string) =>
      inOffice(async (office) => {
        const { partner } = done(await act(office, maria, { name: 'create_partner', details: { name } }))
        const partner_id = partner.id
        const change = {
          ...{ pix_fee: PIX_FEE, service_fee_bps: SERVICE_FEE_BPS, per_minute: LIMIT, per_day: LIMIT },
          ...{ endpoint_per_minute: LIMIT, lookup_per_minute: LIMIT },
        }
        done(await act(office, maria, { name: 'change_partner', details: { partner_id, change } }))
        const details = { partner_id, name: 'live key of the rehearsal' }
        const made = done(
          await act(office, maria, { name: 'create_key', environment: 'production', details }),
        )
        return { partner_id, key: made.value }
      }),
    /** Books what the operator itself has put on a rail. */
    bookOwnFunds: (rail: RailName, amount: bigint) =>
      inOffice((office) =>
        byTwo(office, [maria, joao], {
          name: 'move_custody',
          details: {
            ...{ rail, direction: 'to_rail', asset: assetOfRail(rail), amount: amount.toString() },
            ...{ reason: 'the operator’s own funds', reference: `opening ${rail}` },
          },
        }),
      ),
    setSweepRule: (rail: RailName, change: { sweep_from: bigint; sweep_fee_max: bigint }) =>
      inOffice(async (office) => {
        const details = { rail, change, reason: 'sweep deposits into the wallet' }
        done(await act(office, maria, { name: 'set_rail_limits', environment: 'production', details }))
      }),
    closeException: (exception_id: string, reason: string) =>
      inOffice(async (office) => {
        const details = { exception_id, reason }
        done(await act(office, maria, { name: 'close_exception', environment: 'production', details }))
      }),
  }
}

function done<Done>(result: { readonly done: Done } | object): Done {
  if (!('done' in result)) throw new Error('an act of an operator became a proposal')
  return result.done as Done
}

async function makeOperator(
  office: Office,
  by: Parameters<typeof act>[1],
  email: string,
): Promise<OperatorActor> {
  const { user } = done(
    await act(office, by, {
      name: 'create_user',
      details: { email, name: email, partner_id: null, role: 'admin' },
    }),
  )
  return { kind: 'operator', user_id: user.id, email, role: 'admin' }
}

async function byTwo(
  office: Office,
  [proposer, approver]: readonly [OperatorActor, OperatorActor],
  { name, details }: MoneyAction,
): Promise<void> {
  const proposed = await act(office, proposer, { name, details, environment: 'production' } as never)
  if (!('proposed' in proposed)) throw new Error(`${name} was not proposed`)
  await act(office, approver, { name: 'approve', details: { proposal_id: proposed.proposed.id } })
}
