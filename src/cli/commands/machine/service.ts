import { roles } from '../../../node/role.ts'
import type { CliCommand } from '../../command.ts'
import { only_environment } from '../options.ts'

export const serviceCommands: CliCommand[] = [
  {
    name: 'serve',
    about: 'Run the service until it is told to stop',
    options: {
      role: {
        type: 'string',
        value: roles.join('|'),
        about: 'The role of this node; ROLE when absent',
      },
    },
    examples: ['trilho serve', 'PORT=0 trilho serve --role api'],
    who: 'machine',
    run: async (input) => (await import('../../machine/serve.ts')).serve(input),
  },
  {
    name: 'migrate',
    about: 'Bring the database up to date',
    examples: ['trilho migrate'],
    who: 'machine',
    run: async (input) => (await import('../../machine/migrate.ts')).migrateDatabase(input),
  },
  {
    name: 'audit',
    about: 'Prove the ledger from its entries; exits 1 on the smallest difference',
    options: {
      environment: only_environment,
    },
    examples: ['trilho audit', 'trilho audit --environment production --json'],
    who: 'machine',
    runWith: async (input, reach) => (await import('../../machine/audit.ts')).auditBooks(input, reach),
  },
  {
    name: 'reconcile',
    about:
      'Compare the books with what the wallet of each configured rail holds; exits 1 on the smallest difference',
    options: {
      environment: only_environment,
    },
    examples: ['trilho reconcile', 'trilho reconcile --environment production --json'],
    who: 'machine',
    runWith: async (input, reach) =>
      (await import('../../machine/reconcile.ts')).reconcileRails(input, reach),
  },
  {
    name: 'config check',
    about: 'Print the settings in force, secrets masked',
    examples: ['trilho config check'],
    who: 'machine',
    run: async (input) => (await import('../../machine/config-check.ts')).configCheck(input),
  },
  {
    name: 'rails check',
    about:
      'Ask the nodes of each configured network for chain, contract and wallet, and the exchanges for prices; exits 1 if one is wrong',
    examples: ['trilho rails check', 'trilho rails check --json'],
    who: 'machine',
    run: async (input) => (await import('../../machine/rails-check.ts')).railsCheck(input),
  },
]
