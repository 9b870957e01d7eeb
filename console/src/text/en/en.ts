import { conversions } from './conversions.ts'
import { developers } from './developers.ts'
import { finding } from './finding.ts'
import { lists } from './lists.ts'
import { money } from './money.ts'
import { object } from './object.ts'
import { operator } from './operator.ts'
import { overview } from './overview.ts'
import { people } from './people.ts'
import { playground } from './playground.ts'
import { shell } from './shell.ts'
import { ui } from './ui.ts'

/** Every text of the console. Other languages must have the same type. */
export const en = {
  conversions,
  developers,
  finding,
  lists,
  money,
  object,
  operator,
  overview,
  people,
  playground,
  shell,
  ui,
}

export type Texts = typeof en
