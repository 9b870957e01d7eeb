import { useState } from 'react'
import { useLiveness } from '../api/live.ts'
import { useAct } from '../api/queries.ts'
import type { Language } from '../format/amount.ts'
import { minuteTime } from '../format/time.ts'
import { useLanguage, useText } from '../text/text.tsx'
import { Icon } from '../ui/icons.tsx'
import { Menu } from '../ui/menu.tsx'
import { Bell } from './bell.tsx'
import { keepTheme, keptTheme, type Theme } from './theme.ts'
import type { Frame } from './use-frame.ts'

export function TopBar({ frame, onSearch }: { readonly frame: Frame; readonly onSearch: () => void }) {
  const { shell } = useText()
  return (
    <div className="bar">
      <button type="button" className="search" onClick={onSearch}>
        <Icon name="search" />
        <span className="clip">{shell.search.prompt}</span>
        <kbd className="kbd">/</kbd>
      </button>
      <span className="push" />
      {frame.environment === 'sandbox' && (
        <span className="small warn med sandbox-note">{shell.sandbox_note}</span>
      )}
      <LiveDot />
      <Bell />
      <LanguageSwitch />
      <ThemeSwitch />
    </div>
  )
}

/** The connection state, shown by word and shape, not by colour alone. */
export function LiveDot() {
  const { shell } = useText()
  const { language } = useLanguage()
  const live = useLiveness()
  if (live.state === 'none') return null
  const word =
    live.state === 'offline'
      ? shell.live.offline(minuteTime(live.since, { language }))
      : shell.live[live.state]
  return (
    <span className={`live ${live.state}`} role="status">
      <i />
      {word}
    </span>
  )
}

export function LanguageSwitch() {
  const { shell } = useText()
  const { language, speak } = useLanguage()
  const keep = useAct('console.me.change', { stale: ['console.session.', 'console.me.'] })
  const pick = (next: Language) => () => {
    speak(next)
    keep.mutate({ body: { language: next } })
  }
  return (
    <Menu
      className="bar-button small"
      name={shell.language}
      label={language === 'en' ? 'EN' : 'PT'}
      items={[
        { label: 'English', chosen: language === 'en', onPick: pick('en') },
        { label: 'Português', chosen: language === 'pt-BR', onPick: pick('pt-BR') },
      ]}
    />
  )
}

export function ThemeSwitch() {
  const { shell } = useText()
  const [theme, setTheme] = useState(keptTheme)
  const pick = (next: Theme) => () => {
    keepTheme(next)
    setTheme(next)
  }
  const themes = ['system', 'light', 'dark'] as const
  return (
    <Menu
      className="bar-button"
      name={shell.theme.label}
      label={<Icon name={theme === 'dark' ? 'moon' : 'sun'} />}
      items={themes.map((one) => ({ label: shell.theme[one], chosen: one === theme, onPick: pick(one) }))}
    />
  )
}
