import type { CliCommand } from '../../command.ts'

const load = () => import('../../operator/login.ts')

export const loginCommands: CliCommand[] = [
  {
    name: 'login',
    about: 'Sign in as an operator; the session is kept for this user of the machine',
    options: {
      operator: {
        type: 'string',
        value: 'EMAIL',
        about:
          'Who you are. The password is asked for, or read from OPERATOR_PASSWORD; a code, from OPERATOR_CODE',
        required: true,
      },
    },
    examples: ['trilho login --operator maria@operator.example'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).login(input, reach),
  },
  {
    name: 'logout',
    about: 'Sign out: end the session stored for this user of the machine',
    examples: ['trilho logout'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).logout(input, reach),
  },
  {
    name: 'whoami',
    about: 'Show who is signed in here',
    examples: ['trilho whoami --json'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).whoami(input, reach),
  },
  {
    name: 'password',
    about: 'Replace your own password; asks for the current one and a code, and shows the new one once',
    examples: ['trilho password'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).password(input, reach),
  },
  {
    name: 'factor enroll',
    about: 'Add a second factor to your own sign-in: codes from an app',
    options: {
      confirm: {
        type: 'boolean',
        about: 'Confirm the second factor added before, with its code in OPERATOR_CODE',
      },
    },
    examples: ['trilho factor enroll'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).factorEnroll(input, reach),
  },
  {
    name: 'factor disable',
    about: 'Remove your own second factor; asks for your password and a code',
    examples: ['trilho factor disable'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).factorDisable(input, reach),
  },
  {
    name: 'factor recovery-codes',
    about: 'Make ten new recovery codes; the old ones stop working',
    examples: ['trilho factor recovery-codes'],
    who: 'operator',
    runWith: async (input, reach) => (await load()).factorRecoveryCodes(input, reach),
  },
]
