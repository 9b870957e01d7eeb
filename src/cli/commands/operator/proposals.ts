import type { CliCommand } from '../../command.ts'
import { operatorOption, reason } from '../options.ts'

const load = () => import('../../operator/proposals.ts')

export const proposalCommands: CliCommand[] = [
  {
    name: 'proposals list',
    about: 'List proposals of operators: open ones first, then the newest',
    examples: ['trilho proposals list'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).proposalsList(input, reach),
  },
  {
    name: 'proposals show',
    takes: 'PROPOSAL',
    about: 'Show a proposal in full: act, customer, amount, reason, proposer and state',
    examples: ['trilho proposals show $PROPOSAL'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).proposalsShow(input, reach),
  },
  {
    name: 'proposals approve',
    takes: 'PROPOSAL',
    about: 'Approve a proposal, as another operator than the one who made it',
    options: {
      operator: operatorOption,
      yes: { type: 'boolean', about: 'Do not ask for confirmation; a script is never asked' },
    },
    examples: ['trilho proposals approve $PROPOSAL --as joao@operator.example'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).proposalsApprove(input, reach),
  },
  {
    name: 'proposals reject',
    takes: 'PROPOSAL',
    about: 'End a proposal that another operator made; it can never be approved again',
    options: { operator: operatorOption, reason: { ...reason, about: 'Why not' } },
    examples: ["trilho proposals reject $PROPOSAL --reason 'Not this customer'"],
    who: 'operator',
    runWith: async (input, reach) => (await load()).proposalsReject(input, reach),
  },
  {
    name: 'proposals withdraw',
    takes: 'PROPOSAL',
    about: 'Withdraw your own proposal',
    options: { operator: operatorOption, reason: { type: 'string', value: 'TEXT', about: 'Why' } },
    examples: ['trilho proposals withdraw $PROPOSAL'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).proposalsWithdraw(input, reach),
  },
]
