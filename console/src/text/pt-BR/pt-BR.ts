import type { Texts } from '../en/en.ts'
import { conversions } from './conversions.ts'
import { developers } from './developers.ts'
import { lists } from './lists.ts'
import { money } from './money.ts'
import { notifications } from './notifications.ts'
import { object } from './object.ts'
import { operator } from './operator.ts'
import { overview } from './overview.ts'
import { people } from './people.ts'
import { playground } from './playground.ts'
import { shell } from './shell.ts'
import { ui } from './ui.ts'

export const ptBR: Texts = {
  conversions,
  developers,
  lists,
  money,
  notifications,
  object,
  operator,
  overview,
  people,
  playground,
  shell,
  ui,
}
