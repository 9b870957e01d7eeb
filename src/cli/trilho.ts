import { describeError } from '../core/error-report.ts'
import { processIo } from './io.ts'
import { main } from './main.ts'

// Node would print every field of an error that nobody caught, and those of the database quote rows.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${describeError(error)}\n`)
  process.exit(1)
})

process.exitCode = await main(process.argv.slice(2), processIo())
