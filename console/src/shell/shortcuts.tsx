import { useEffect } from 'react'
import { useText } from '../text/text.tsx'
import { Dialog } from '../ui/dialog.tsx'

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.closest('input, textarea, select, [contenteditable]') !== null || target.closest('dialog') !== null)

type Actions = { readonly onSearch: () => void; readonly onHelp: () => void }

/** Keyboard shortcuts of the frame; a list handles its own. */
export function useShortcuts({ onSearch, onHelp }: Actions): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const find = event.key === 'k' && (event.metaKey || event.ctrlKey)
      if (find) {
        event.preventDefault()
        return onSearch()
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      if (event.key === '/') {
        event.preventDefault()
        onSearch()
      }
      if (event.key === '?') onHelp()
      if (event.key === 'f')
        document.querySelector<HTMLElement>('[data-filters] :is(button, a, input)')?.focus()
      if (event.key === 'Escape' && document.querySelector(':popover-open') === null)
        [...document.querySelectorAll<HTMLAnchorElement>('.crumb a')].at(-1)?.click()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [onSearch, onHelp])
}

const keys = [
  ['search', ['/', '⌘ K']],
  ['move', ['J', 'K']],
  ['open', ['Enter']],
  ['copy', ['C']],
  ['filter', ['F']],
  ['back', ['Esc']],
  ['help', ['?']],
] as const

export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  const { shell } = useText()
  return (
    <Dialog title={shell.shortcuts.title} onClose={onClose} size="narrow">
      <div className="b">
        <dl className="dl">
          {keys.flatMap(([word, pressed]) => [
            <dt key={`${word}k`}>
              <span className="row">
                {pressed.map((key) => (
                  <kbd key={key} className="kbd">
                    {key}
                  </kbd>
                ))}
              </span>
            </dt>,
            <dd key={word}>{shell.shortcuts[word]}</dd>,
          ])}
        </dl>
      </div>
    </Dialog>
  )
}
