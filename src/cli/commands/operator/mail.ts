import type { CliCommand } from '../../command.ts'

const load = () => import('../../operator/mail.ts')

export const mailCommands: CliCommand[] = [
  {
    name: 'mail status',
    about: 'Show whether mail works: the last success, the last failure, and what waits',
    examples: ['trilho mail status'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).mailStatus(input, reach),
  },
  {
    name: 'mail test',
    takes: 'ADDRESS',
    about: 'Send a test mail through SMTP_URL; exits 1 if the server does not take it',
    examples: ['trilho mail test maria@operator.example'],
    who: 'machine',
    run: async (input) => (await load()).mailTest(input),
  },
]
