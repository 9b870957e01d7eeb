import { addCopyButtons } from './copy.ts'
import { openKeyField } from './key.ts'
import { followReading } from './reading.ts'
import { openSearchField } from './search.ts'
import { openTabs } from './tabs.ts'
import { applyTheme, openThemeButton } from './theme.ts'

// Before the first paint, so that no page flashes in the wrong theme.
applyTheme()

document.addEventListener('DOMContentLoaded', () => {
  openThemeButton()
  openTabs()
  addCopyButtons()
  openKeyField()
  openSearchField()
  followReading()
})
