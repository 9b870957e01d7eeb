import type { CliCommand } from '../../command.ts'
import { only_environment, partner, rateLimits } from '../options.ts'

const load = () => import('../../operator/keys.ts')

export const keyCommands: CliCommand[] = [
  {
    name: 'keys create',
    about: 'Create an API key; its value is shown this once',
    options: {
      environment: { ...only_environment, about: 'Which environment; sandbox when absent' },
      partner,
      name: { type: 'string', value: 'TEXT', about: 'What the key is for' },
      scopes: {
        type: 'string',
        value: 'LIST',
        about: 'read,customers,payouts,transfers,quotes,webhooks; all when absent',
      },
      allow: { type: 'string', value: 'LIST', about: 'IP addresses and CIDR ranges it may be used from' },
      expires: { type: 'string', value: 'TIME', about: 'ISO 8601' },
    },
    examples: [
      'trilho keys create',
      'trilho keys create --environment production --scopes read,payouts --allow 203.0.113.7',
    ],
    who: 'operator',
    runWith: async (input, reach) => (await load()).keysCreate(input, reach),
  },
  {
    name: 'keys list',
    about: 'List API keys, without their values',
    options: { environment: only_environment, partner },
    examples: ['trilho keys list --environment production'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await load()).keysList(input, reach),
  },
  {
    name: 'keys revoke',
    takes: 'KEY',
    about: 'Revoke a key, named by its id or its value; nothing commits under it any more when this returns',
    examples: ['trilho keys revoke $KEY'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).keysRevoke(input, reach),
  },
  {
    name: 'keys rotate',
    takes: 'KEY',
    about: 'Give a key a new value; the old one works until the grace ends',
    options: {
      'grace-hours': {
        type: 'string',
        value: 'N',
        about: 'How long the old value works; 24 when absent, 0 ends it now',
      },
    },
    examples: ['trilho keys rotate $KEY --grace-hours 48'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).keysRotate(input, reach),
  },
  {
    name: 'keys set-limits',
    takes: 'KEY',
    about: 'Set custom request limits for one key',
    options: rateLimits,
    examples: ['trilho keys set-limits $KEY --per-minute 300'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).keysSetLimits(input, reach),
  },
]
