import type { GoliveCheck } from './check.ts'
import { databaseChecks } from './checks-database.ts'
import { peopleChecks } from './checks-people.ts'
import { railChecks } from './checks-rails.ts'
import { settingChecks } from './checks-settings.ts'
import { watchingChecks } from './checks-watching.ts'

/**
 * The checklist of going live (docs/operate/going-live.md, decision 0072): one row for each check, in the order in which an operator
 * sets things up. A row says what is looked at, how it is judged, and what to do when it is red. No check moves money.
 */
export const goliveChecks: readonly GoliveCheck[] = [
  ...settingChecks,
  ...railChecks,
  ...peopleChecks,
  ...databaseChecks,
  ...watchingChecks,
]
