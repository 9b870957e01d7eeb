import type { CliCommand } from '../../command.ts'
import { chargeCommands } from './charges.ts'
import { completionCommands } from './completion.ts'
import { apiCustomerCommands } from './customers.ts'
import { depositCommands } from './deposits.ts'
import { eventCommands } from './events.ts'
import { payoutCommands } from './payouts.ts'
import { profileCommands } from './profiles.ts'
import { quoteCommands } from './quotes.ts'
import { requestCommands } from './requests.ts'
import { sandboxCommands } from './sandbox.ts'
import { transferCommands } from './transfers.ts'
import { webhookCommands } from './webhooks.ts'

/** The commands with an API key, in the order of the help: all that the package `@trilho/cli` has. */
export const apiCommands: readonly CliCommand[] = [
  ...apiCustomerCommands,
  ...payoutCommands,
  ...chargeCommands,
  ...transferCommands,
  ...quoteCommands,
  ...depositCommands,
  ...eventCommands,
  ...webhookCommands,
  ...sandboxCommands,
  ...requestCommands,
  ...profileCommands,
  ...completionCommands,
]
