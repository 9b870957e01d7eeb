import { describeError } from '../core/error-report.ts'
import { processIo } from './io.ts'
import { main } from './main.ts'

// By default Node prints every field of an uncaught error, and errors of the database quote rows.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${describeError(error)}\n`)
  process.exit(1)
})

process.exitCode = await main(process.argv.slice(2), processIo())
