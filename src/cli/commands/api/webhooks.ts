import type { CliCommand } from '../../command.ts'
import { reading } from './reading.ts'

const load = () => import('../../api/webhooks.ts')

export const webhookCommands: CliCommand[] = [
  ...reading({ noun: 'webhooks', one: 'ENDPOINT', examples: ['trilho webhooks list'] }),
  {
    name: 'webhooks create',
    takes: 'URL',
    about: 'Create a webhook endpoint, an address on the internet; its secret is shown once',
    who: 'key',
    options: {
      events: { type: 'string', value: 'LIST', about: 'Event types, separated by commas; all when absent' },
      description: { type: 'string', value: 'TEXT', about: 'A note for yourself' },
    },
    examples: [
      'trilho webhooks create https://example.com/webhooks --events pix.payout.completed,pix.payout.failed',
    ],
    run: async (input) => (await load()).webhooksCreate(input),
  },
  {
    name: 'webhooks test',
    takes: 'ENDPOINT',
    about: 'Send a test event to one endpoint',
    who: 'key',
    examples: ['trilho webhooks test $ENDPOINT'],
    run: async (input) => (await load()).webhooksTest(input),
  },
  {
    name: 'webhooks rotate-secret',
    takes: 'ENDPOINT',
    about:
      'Rotate the secret of an endpoint; the new one is shown once, and both sign until the grace period ends',
    who: 'key',
    options: {
      'grace-hours': {
        type: 'string',
        value: 'N',
        about: 'For how many hours both secrets sign; 24 when absent, 0 ends the old one now',
      },
    },
    examples: ['trilho webhooks rotate-secret $ENDPOINT --grace-hours 48'],
    run: async (input) => (await load()).webhooksRotateSecret(input),
  },
  {
    name: 'webhooks redeliver',
    takes: 'ENDPOINT',
    about: 'Send all events of a time range to one endpoint again',
    who: 'key',
    options: {
      from: { type: 'string', value: 'TIME', about: 'ISO 8601, inclusive', required: true },
      to: { type: 'string', value: 'TIME', about: 'ISO 8601, exclusive; now when absent' },
    },
    examples: ['trilho webhooks redeliver $ENDPOINT --from 2026-11-15T12:00:00Z'],
    run: async (input) => (await load()).webhooksRedeliver(input),
  },
  {
    name: 'webhooks delete',
    takes: 'ENDPOINT',
    about: 'Delete an endpoint; nothing is posted to it any more',
    who: 'key',
    examples: ['trilho webhooks delete $ENDPOINT'],
    run: async (input) => (await load()).webhooksDelete(input),
  },
]
