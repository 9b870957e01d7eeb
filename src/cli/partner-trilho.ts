import { describeError } from '../core/error-report.ts'
import { apiErrorOutput } from './api/api-error-output.ts'
import { type CommandLine, runCommandLine } from './command-line.ts'
import { apiCommands } from './commands/api/all.ts'
import { processIo } from './io.ts'

/** The program of the package `@trilho/cli`: the commands with an API key, without the service. */
const partner: CommandLine = {
  commands: apiCommands,
  readConfig: notHere,
  runWithDatabase: notHere,
  findLocalServer: async () => undefined,
  reportError: async (error) => apiErrorOutput(error),
}

function notHere(): never {
  throw new Error('This command is part of the service, and not of @trilho/cli.')
}

process.on('uncaughtException', (error) => {
  process.stderr.write(`${describeError(error)}\n`)
  process.exit(1)
})

process.exitCode = await runCommandLine(partner, process.argv.slice(2), processIo())
