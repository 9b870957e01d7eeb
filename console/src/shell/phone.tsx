import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { initials } from '../format/id.ts'
import { useSession } from '../session.tsx'
import { useText } from '../text/text.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon, Mark } from '../ui/icons.tsx'
import { usePageTitle } from '../ui/page.tsx'
import { Bell } from './bell.tsx'
import { isAt, pageAddress } from './navigation.ts'
import { PersonMenu } from './person-menu.tsx'
import { EnvironmentSwitch, Pages } from './side-bar.tsx'
import { LanguageSwitch, LiveDot, ThemeSwitch } from './top-bar.tsx'
import { exactly, type Frame } from './use-frame.ts'

/** The top bar on a phone: title and environment. */
export function PhoneBar({ frame, onSearch }: { readonly frame: Frame; readonly onSearch: () => void }) {
  const { shell } = useText()
  const { person } = useSession()
  const title = usePageTitle()
  const real = frame.environment === 'production'
  return (
    <div className="phonebar">
      <Mark />
      <span className="clip">{title}</span>
      <span className={real ? 'tag live-env' : 'tag'}>{shell[frame.environment]}</span>
      <span className="icons">
        <button type="button" className="bar-button" aria-label={shell.search.open} onClick={onSearch}>
          <Icon name="search" />
        </button>
        <Bell />
        <PersonMenu
          className="bar-button"
          name={shell.me}
          label={<span className="face">{initials(person.name || person.email)}</span>}
        />
      </span>
    </div>
  )
}

export function Tabs({ frame }: { readonly frame: Frame }) {
  const { shell } = useText()
  const [more, setMore] = useState(false)
  const current = frame.tabs.find((place) => isAt(frame.path, frame.base, place))
  return (
    <>
      <nav className="tabs" aria-label={shell.main}>
        {frame.tabs.map((place) => (
          <Link
            key={place.to}
            to={pageAddress(frame.base, place)}
            activeOptions={exactly}
            aria-current={place === current ? 'page' : undefined}
          >
            <Icon name={place.icon} />
            {shell[place.word]}
          </Link>
        ))}
        <button
          type="button"
          aria-haspopup="dialog"
          aria-current={current === undefined ? 'true' : undefined}
          onClick={() => setMore(true)}
        >
          <Icon name="menu" />
          {shell.more}
        </button>
      </nav>
      {more && <MoreSheet frame={frame} onClose={() => setMore(false)} />}
    </>
  )
}

function MoreSheet({ frame, onClose }: { readonly frame: Frame; readonly onClose: () => void }) {
  const { shell } = useText()
  const { partner } = useSession()
  return (
    <Dialog title={partner?.name ?? shell.operator} onClose={onClose}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a link inside was followed */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click as well */}
      <div
        className="b more"
        onClick={(event) => (event.target as HTMLElement).closest('a') !== null && onClose()}
      >
        <EnvironmentSwitch frame={frame} />
        <Pages frame={frame} />
        <div className="row gap-4">
          <LiveDot />
          <span className="push" />
          <LanguageSwitch />
          <ThemeSwitch />
        </div>
      </div>
    </Dialog>
  )
}
