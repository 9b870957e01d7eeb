import type { CliCommand, CliOption } from '../../command.ts'

/** Objects of the API that have a `list` and a `get` command (api/read.ts says how each is shown). */
export type Noun =
  | 'customers'
  | 'payouts'
  | 'charges'
  | 'transfers'
  | 'quotes'
  | 'trades'
  | 'deposits'
  | 'events'
  | 'webhooks'
  | 'requests'

const load = () => import('../../api/read.ts')

export const paging: Readonly<Record<string, CliOption>> = {
  limit: { type: 'string', value: 'N', about: 'How many, 1 to 100; 20 when absent' },
  cursor: { type: 'string', value: 'CURSOR', about: 'Continue after a page' },
  all: { type: 'boolean', about: 'Every page, printed as it arrives' },
  'created-after': { type: 'string', value: 'TIME', about: 'Created at this time or later' },
  'created-before': { type: 'string', value: 'TIME', about: 'Created before this time' },
}

export const filter = (value: string, about: string): CliOption => ({ type: 'string', value, about })

/** Declares the `list` and `get` commands of a noun. */
export function reading(of: {
  readonly noun: Noun
  readonly one: string
  readonly filters?: Readonly<Record<string, CliOption>>
  readonly examples: readonly string[]
}): CliCommand[] {
  const { noun, one, filters = {}, examples } = of
  return [
    {
      name: `${noun} list`,
      about: `List ${noun}, newest first`,
      who: 'key',
      lists: true,
      options: { ...filters, ...paging },
      examples,
      run: async (input) => (await load()).list(noun, input),
    },
    {
      name: `${noun} get`,
      takes: one,
      about: `Show one of the ${noun}`,
      who: 'key',
      examples: [`trilho ${noun} get $${one}`],
      run: async (input) => (await load()).get(noun, one, input),
    },
  ]
}
