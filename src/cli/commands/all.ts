import type { CliCommand } from '../command.ts'
import { apiCustomerCommands } from './api/customers.ts'
import { depositCommands } from './api/deposits.ts'
import { eventCommands } from './api/events.ts'
import { payoutCommands } from './api/payouts.ts'
import { profileCommands } from './api/profiles.ts'
import { quoteCommands } from './api/quotes.ts'
import { requestCommands } from './api/requests.ts'
import { sandboxCommands } from './api/sandbox.ts'
import { transferCommands } from './api/transfers.ts'
import { webhookCommands } from './api/webhooks.ts'
import { backupCommands } from './machine/backup.ts'
import { benchCommands } from './machine/bench.ts'
import { completionCommands } from './machine/completion.ts'
import { databaseCommands } from './machine/database.ts'
import { serviceCommands } from './machine/service.ts'
import { customerCommands } from './operator/customers.ts'
import { exceptionCommands } from './operator/exceptions.ts'
import { keyCommands } from './operator/keys.ts'
import { logCommands } from './operator/log.ts'
import { loginCommands } from './operator/login.ts'
import { mailCommands } from './operator/mail.ts'
import { moneyLimitCommands } from './operator/money-limits.ts'
import { openOrderCommands } from './operator/open-orders.ts'
import { partnerCommands } from './operator/partners.ts'
import { peopleCommands } from './operator/people.ts'
import { proposalCommands } from './operator/proposals.ts'
import { secretCommands } from './operator/secrets.ts'
import { treasuryCommands } from './operator/treasury.ts'

/**
 * Every command, in the order of the help. The imported files hold names, options and examples only: importing them does not
 * load the service.
 */
export const commands: readonly CliCommand[] = [
  ...apiCustomerCommands,
  ...payoutCommands,
  ...transferCommands,
  ...quoteCommands,
  ...depositCommands,
  ...eventCommands,
  ...webhookCommands,
  ...sandboxCommands,
  ...requestCommands,
  ...profileCommands,
  ...loginCommands,
  ...peopleCommands,
  ...partnerCommands,
  ...keyCommands,
  ...customerCommands,
  ...moneyLimitCommands,
  ...openOrderCommands,
  ...proposalCommands,
  ...exceptionCommands,
  ...treasuryCommands,
  ...logCommands,
  ...secretCommands,
  ...serviceCommands,
  ...mailCommands,
  ...backupCommands,
  ...databaseCommands,
  ...benchCommands,
  ...completionCommands,
]
