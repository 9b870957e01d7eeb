/** Shared with the console, so that one choice applies to both. */
const KEPT_IN = 'trilho.theme'

const root = document.documentElement

export function applyTheme(): void {
  const kept = localStorage.getItem(KEPT_IN)
  if (kept === 'light' || kept === 'dark') root.dataset.theme = kept
}

export function openThemeButton(): void {
  const button = document.querySelector<HTMLButtonElement>('button.theme')!
  button.hidden = false
  button.addEventListener('click', () => {
    const dark = matchMedia('(prefers-color-scheme: dark)').matches
    const shown = root.dataset.theme ?? (dark ? 'dark' : 'light')
    const next = shown === 'dark' ? 'light' : 'dark'
    root.dataset.theme = next
    localStorage.setItem(KEPT_IN, next)
  })
}
