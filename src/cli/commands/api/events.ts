import type { CliCommand } from '../../command.ts'
import { filter, reading } from './reading.ts'

const load = () => import('../../api/events.ts')

export const eventCommands: CliCommand[] = [
  ...reading({
    noun: 'events',
    one: 'EVENT',
    filters: { type: filter('TYPE', 'Only these'), object: filter('ID', 'Of this object') },
    examples: ['trilho events list --type pix.payout.failed', 'trilho events list --object $PAYOUT'],
  }),
  {
    name: 'events resend',
    takes: 'EVENT',
    about: 'Send an event to your webhooks again',
    who: 'key',
    options: { endpoint: { type: 'string', value: 'ID', about: 'Only to this endpoint' } },
    examples: ['trilho events resend $EVENT'],
    run: async (input) => (await load()).eventsResend(input),
  },
  {
    name: 'listen',
    about: 'Print events as they happen, and forward them, signed, to a program on this machine',
    who: 'key',
    options: {
      'forward-to': {
        type: 'string',
        value: 'URL',
        about:
          'The URL to POST events to, with retries until it answers; when absent, events are only printed',
      },
      types: { type: 'string', value: 'LIST', about: 'Event types, separated by commas; all when absent' },
      after: {
        type: 'string',
        value: 'EVENT|start|now',
        about: 'Begin after this event; with the next new event when absent',
      },
    },
    takes_program: true,
    variables: {
      TRILHO_WEBHOOK_SECRET:
        'What to sign with; a new secret is made, and printed, when absent. COMMAND gets it',
    },
    examples: [
      'trilho listen',
      'trilho listen --forward-to http://127.0.0.1:3000/webhooks',
      'trilho listen --forward-to http://127.0.0.1:3000/webhooks -- node examples/receiver/server.js',
    ],
    run: async (input) => (await import('../../api/listen.ts')).listen(input),
  },
  {
    name: 'trigger',
    takes: 'TYPE',
    about: 'Make a sample event in the sandbox',
    who: 'key',
    options: {
      override: {
        type: 'string',
        value: 'FIELD=VALUE',
        about: 'Set a field of the event’s object, such as amount=1050; may be repeated',
        multiple: true,
      },
    },
    examples: [
      'trilho trigger pix.payout.completed',
      'trilho trigger pix.payout.failed --override amount=1050',
    ],
    run: async (input) => (await load()).trigger(input),
  },
]
