import { createInterface } from 'node:readline/promises'
import { type Described, describeProposal } from '../operator/description.ts'
import {
  approve,
  findApprovable,
  findProposal,
  listProposals,
  reject,
  withdraw,
} from '../operator/proposals.ts'
import type { Proposal } from '../operator/store.ts'
import type { World } from '../world.ts'
import { argument, type CliCommand, type Input, type Output, option, table } from './command.ts'
import { operatorOption, plainText, whoIsThere } from './operator.ts'

/** What waits for a second operator in production, and what became of it. */
const operator = { ...operatorOption, required: true } as const

/** One field to a line, and nothing left out. */
function card(proposal: Described): string {
  const { customer, partner, state, ended, ended_by, ended_reason } = proposal
  const fields: [string, string | null][] = [
    ['proposal', proposal.id],
    ['what', proposal.what],
    ['customer', customer && `${customer.id}  ${customer.name}  ${customer.document}  (${customer.status})`],
    ['partner', partner && `${partner.id}  ${partner.name}`],
    ['amount', proposal.amount_text],
    ['reason', proposal.reason],
    ['reference', proposal.reference],
    ['proposed', `by ${proposal.proposed_by} at ${proposal.proposed_at.toISOString()}`],
    ['state', state],
    ['expires', state === 'open' ? proposal.expires_at.toISOString() : null],
    [
      'approved',
      proposal.approved_by && `by ${proposal.approved_by} at ${proposal.approved_at?.toISOString()}`,
    ],
    ['ended', ended === null || ended === 'done' ? null : endOf(proposal)],
    ['why', ended === 'done' ? null : ended_reason],
    ['made', proposal.resource_id],
  ]
  function endOf({ ended_at }: Described): string {
    return `${ended_by === null ? '' : `by ${ended_by} `}at ${ended_at?.toISOString()}`
  }
  return fields
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name.padEnd(10)} ${value}\n`)
    .join('')
}

async function shown(world: World, proposal: Proposal): Promise<Output> {
  const described = await describeProposal(world, proposal)
  return { json: described, text: card(described) }
}

const isTerminal = () => process.stdin.isTTY === true && process.stdout.isTTY === true

/** Says what is about to happen. A person at a terminal is asked; a script has read it before. */
async function confirm(input: Input, world: World, proposal: Proposal): Promise<boolean> {
  if (input.options.json === true) return true
  process.stdout.write(
    `About to do this in ${world.environment}:\n${card(await describeProposal(world, proposal))}`,
  )
  if (input.options.yes === true || !isTerminal()) return true
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // Whoever closes the terminal instead of answering has not said yes.
  const answer = await Promise.race([
    terminal.question('Approve it? Type yes: ').catch(() => ''),
    new Promise<string>((resolve) => terminal.once('close', () => resolve(''))),
  ])
  terminal.close()
  return answer.trim().toLowerCase() === 'yes'
}

export const proposalCommands: CliCommand[] = [
  {
    name: 'proposals list',
    about: 'List what operators proposed in production: first what waits, then the newest',
    async runWith(_, { worlds }) {
      const world = worlds.production
      const proposals = await listProposals(world)
      const data = await Promise.all(proposals.map((proposal) => describeProposal(world, proposal)))
      const rows = data.map(
        ({ id, state, action, amount_text, customer, proposed_by, proposed_at, resource_id }) => ({
          id,
          state,
          action,
          amount: amount_text,
          customer: customer && `${customer.id} ${customer.name}`,
          proposed_by,
          proposed_at,
          made: resource_id,
        }),
      )
      return { json: { data }, text: table(rows) }
    },
  },
  {
    name: 'proposals show',
    takes: 'PROPOSAL',
    about: 'Show a proposal whole: what, whose, how much, why, by whom, and how it stands',
    async runWith(input, { worlds }) {
      return shown(worlds.production, await findProposal(worlds.production, argument(input, 0, 'PROPOSAL')))
    },
  },
  {
    name: 'proposals approve',
    takes: 'PROPOSAL',
    about: 'Approve a proposal, as another operator than the one who made it',
    options: {
      operator,
      yes: { type: 'boolean', about: 'Do not ask; without a terminal nobody is asked' },
    },
    async runWith(input, { shared, worlds }) {
      const world = worlds.production
      const { email } = await whoIsThere(shared, input)
      const wanted = await findApprovable(world, argument(input, 0, 'PROPOSAL'), email)
      if (!(await confirm(input, world, wanted))) throw new Error('Not approved; nothing was done.')
      const { id, resource_id } = await approve(world, wanted.id, email)
      return {
        json: { id: resource_id, proposal_id: id, status: 'completed' },
        text: `Done: ${resource_id}\n`,
      }
    },
  },
  {
    name: 'proposals reject',
    takes: 'PROPOSAL',
    about: 'End a proposal that another operator made; it can never be approved again',
    options: { operator, reason: { type: 'string', value: 'TEXT', about: 'Why not', required: true } },
    async runWith(input, { shared, worlds }) {
      const reason = plainText(input, 'reason', 200)
      const { email } = await whoIsThere(shared, input)
      return shown(
        worlds.production,
        await reject(worlds.production, argument(input, 0, 'PROPOSAL'), email, reason),
      )
    },
  },
  {
    name: 'proposals withdraw',
    takes: 'PROPOSAL',
    about: 'Take back a proposal of your own',
    options: { operator, reason: { type: 'string', value: 'TEXT', about: 'Why' } },
    async runWith(input, { shared, worlds }) {
      const reason = option(input, 'reason') === undefined ? null : plainText(input, 'reason', 200)
      const { email } = await whoIsThere(shared, input)
      return shown(
        worlds.production,
        await withdraw(worlds.production, argument(input, 0, 'PROPOSAL'), email, reason),
      )
    },
  },
]
