import { conversions } from './conversions.ts'
import { developers } from './developers.ts'
import { lists } from './lists.ts'
import { money } from './money.ts'
import { notifications } from './notifications.ts'
import { object } from './object.ts'
import { overview } from './overview.ts'
import { people } from './people.ts'
import { playground } from './playground.ts'
import { shell } from './shell.ts'
import { ui } from './ui.ts'

/** The English texts of the first load: everything but the operator's pages. */
export const english = {
  conversions,
  developers,
  lists,
  money,
  notifications,
  object,
  overview,
  people,
  playground,
  shell,
  ui,
}
