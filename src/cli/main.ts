import { resolve } from 'node:path'
import { readConfig } from '../node/config.ts'
import { type CommandLine, runCommandLine } from './command-line.ts'
import { commands } from './commands/all.ts'
import type { Io } from './io.ts'

/** The command line of the service: all commands. What a command needs is imported when it runs. */
const service: CommandLine = {
  commands,
  readConfig,
  runWithDatabase: async (command, input) =>
    (await import('./with-database.ts')).runWithDatabase(command, input),
  findLocalServer: async (env) =>
    (await import('../db/embedded/running.ts')).runningApi(resolve(env.DATA_DIR || 'data')),
  reportError: async (error, { who }) =>
    who === 'key'
      ? (await import('./api/api-error-output.ts')).apiErrorOutput(error)
      : (await import('./service-error-output.ts')).serviceErrorOutput(error),
}

export const main = (argv: readonly string[], io: Io): Promise<number> => runCommandLine(service, argv, io)
