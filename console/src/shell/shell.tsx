import { Outlet } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useText } from '../text/text.tsx'
import { PhoneBar, Tabs } from './phone.tsx'
import { SearchDialog } from './search.tsx'
import { ShortcutsDialog, useShortcuts } from './shortcuts.tsx'
import { SideBar } from './side-bar.tsx'
import { TopBar } from './top-bar.tsx'
import { useFrame } from './use-frame.ts'
import { Zone } from './zone.tsx'

/** The frame of every page: the side bar, the two rails beside it, and the content. */
export function Shell() {
  const { shell } = useText()
  const frame = useFrame()
  const [shown, setShown] = useState<'search' | 'shortcuts'>()
  const onSearch = useCallback(() => setShown('search'), [])
  const onHelp = useCallback(() => setShown('shortcuts'), [])
  const onClose = useCallback(() => setShown(undefined), [])
  useShortcuts({ onSearch, onHelp })
  const sheet = useNewPageFocus(frame.path)
  return (
    <div className="app">
      <a className="skip" href="#page">
        {shell.skip}
      </a>
      <SideBar frame={frame} />
      <div className="main">
        {frame.environment === 'sandbox' && <div className="sleepers" aria-hidden="true" />}
        <PhoneBar frame={frame} onSearch={onSearch} />
        <TopBar frame={frame} onSearch={onSearch} />
        <main id="page" ref={sheet} className="sheet" tabIndex={-1}>
          <Outlet />
        </main>
        <Zone />
      </div>
      <Tabs frame={frame} />
      {shown === 'search' && <SearchDialog frame={frame} onClose={onClose} />}
      {shown === 'shortcuts' && <ShortcutsDialog onClose={onClose} />}
    </div>
  )
}

/** Moves the focus to the start of a new page, for keyboards and screen readers. */
function useNewPageFocus(path: string) {
  const sheet = useRef<HTMLElement>(null)
  const shown = useRef(path)
  useEffect(() => {
    if (shown.current === path) return
    shown.current = path
    sheet.current?.focus({ preventScroll: true })
  }, [path])
  return sheet
}
