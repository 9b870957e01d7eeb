import type { CliCommand } from '../command.ts'
import { apiCommands } from './api/all.ts'
import { backupCommands } from './machine/backup.ts'
import { benchCommands } from './machine/bench.ts'
import { databaseCommands } from './machine/database.ts'
import { serviceCommands } from './machine/service.ts'
import { signerCommands } from './machine/signer.ts'
import { custodyCommands } from './operator/custody.ts'
import { customerCommands } from './operator/customers.ts'
import { exceptionCommands } from './operator/exceptions.ts'
import { goliveCommands } from './operator/golive.ts'
import { keyCommands } from './operator/keys.ts'
import { logCommands } from './operator/log.ts'
import { loginCommands } from './operator/login.ts'
import { mailCommands } from './operator/mail.ts'
import { moneyLimitCommands } from './operator/money-limits.ts'
import { openOrderCommands } from './operator/open-orders.ts'
import { partnerCommands } from './operator/partners.ts'
import { peopleCommands } from './operator/people.ts'
import { proposalCommands } from './operator/proposals.ts'
import { railCommands } from './operator/rails.ts'
import { secretCommands } from './operator/secrets.ts'
import { sweepCommands } from './operator/sweeps.ts'
import { treasuryCommands } from './operator/treasury.ts'

/**
 * Every command, in the order of the help. The imported files hold names, options and examples only: importing them does not
 * load the service.
 */
export const commands: readonly CliCommand[] = [
  ...apiCommands,
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
  ...railCommands,
  ...custodyCommands,
  ...sweepCommands,
  ...goliveCommands,
  ...logCommands,
  ...secretCommands,
  ...serviceCommands,
  ...signerCommands,
  ...mailCommands,
  ...backupCommands,
  ...databaseCommands,
  ...benchCommands,
]
