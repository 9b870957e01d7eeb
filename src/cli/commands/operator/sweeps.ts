import { networkNames, networks } from '../../../core/networks.ts'
import type { CliCommand } from '../../command.ts'
import { production_or } from '../options.ts'

const load = () => import('../../operator/sweeps.ts')

const loadUnswept = () => import('../../operator/unswept.ts')
const loadTokens = () => import('../../operator/unknown-tokens.ts')

export const sweepCommands: CliCommand[] = [
  {
    name: 'sweeps list',
    about: 'List the newest sweeps of deposits into the wallet, with their transactions',
    options: { environment: production_or },
    examples: ['trilho sweeps list'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).sweepsList(input, reach),
  },
  {
    name: 'deposits unswept',
    takes: networkNames.filter((name) => networks[name].kind !== 'bitcoin').join('|'),
    about:
      'List the deposit addresses of a network that hold USDT now, as the chain tells it, with their indexes',
    options: { environment: production_or },
    examples: ['trilho deposits unswept tron'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await loadUnswept()).unsweptList(input, reach),
  },
  {
    name: 'deposits unknown-tokens',
    about: 'List the newest transfers of other tokens than USDT to deposit addresses; they are not credited',
    options: { environment: production_or },
    examples: ['trilho deposits unknown-tokens'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await loadTokens()).unknownTokensList(input, reach),
  },
]
