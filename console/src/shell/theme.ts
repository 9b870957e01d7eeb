export type Theme = 'system' | 'light' | 'dark'

const KEPT_IN = 'trilho.theme'

export function keptTheme(): Theme {
  const kept = localStorage.getItem(KEPT_IN)
  return kept === 'light' || kept === 'dark' ? kept : 'system'
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function keepTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEPT_IN)
  else localStorage.setItem(KEPT_IN, theme)
  applyTheme(theme)
}
