import type { CliCommand } from '../../command.ts'

export const goliveCommands: CliCommand[] = [
  {
    name: 'golive',
    about:
      'Walk the checklist of going live: settings, rails, people, database, alerts, clock, a payment on each rail. Says what to do about each red line; exits 1 if there is one. Moves no money',
    options: {
      red: { type: 'boolean', about: 'Print only the lines that are red' },
    },
    examples: ['trilho golive', 'trilho golive --red', 'trilho golive --json'],
    who: 'operator',
    lists: true,
    runWith: async (input, reach) => (await import('../../operator/golive.ts')).golive(input, reach),
  },
]
