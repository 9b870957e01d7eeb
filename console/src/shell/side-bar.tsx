import { Link } from '@tanstack/react-router'
import { initials } from '../format/id.ts'
import { useSession } from '../session.tsx'
import { useText } from '../text/text.tsx'
import { Icon, Mark } from '../ui/icons.tsx'
import { Glyph } from '../ui/status.tsx'
import { useNavCounts } from './nav-counts.ts'
import { isAt, pageAddress } from './navigation.ts'
import { PersonMenu } from './person-menu.tsx'
import { exactly, type Frame, inOtherEnvironment } from './use-frame.ts'

export function SideBar({ frame }: { readonly frame: Frame }) {
  const { shell } = useText()
  const { partner } = useSession()
  return (
    <aside className="side" aria-label={shell.product}>
      <Link className="brand" to={frame.base}>
        <Mark />
        {shell.product}
      </Link>
      <div className="who" title={partner?.id}>
        <span className="clip">{partner?.name ?? shell.operator}</span>
      </div>
      <EnvironmentSwitch frame={frame} />
      <Pages frame={frame} />
      <Me />
    </aside>
  )
}

export function EnvironmentSwitch({ frame }: { readonly frame: Frame }) {
  const { shell } = useText()
  const at = (environment: 'production' | 'sandbox') =>
    frame.environment === environment ? ({ 'aria-current': 'true' } as const) : {}
  return (
    <nav className="env" aria-label={shell.environment}>
      <Link
        className="real"
        to={inOtherEnvironment(frame, 'production')}
        activeOptions={exactly}
        {...at('production')}
      >
        {shell.production}
      </Link>
      <Link to={inOtherEnvironment(frame, 'sandbox')} activeOptions={exactly} {...at('sandbox')}>
        {shell.sandbox}
      </Link>
    </nav>
  )
}

/** The navigation; the current entry is drawn as a sleeper across the two rails. */
export function Pages({ frame }: { readonly frame: Frame }) {
  const { shell } = useText()
  const counts = useNavCounts(frame)
  return (
    <nav className="nav" aria-label={shell.pages}>
      {frame.parts.map((part) => (
        <div key={part.word ?? ''}>
          {part.word !== undefined && <h3>{shell[part.word]}</h3>}
          {part.places.map((place) => (
            <Link
              key={place.to}
              to={pageAddress(frame.base, place)}
              activeOptions={exactly}
              aria-current={isAt(frame.path, frame.base, place) ? 'page' : undefined}
            >
              <Icon name={place.icon} />
              {shell[place.word]}
              <Count of={counts[place.to]} />
            </Link>
          ))}
        </div>
      ))}
    </nav>
  )
}

function Count({ of }: { readonly of: number | undefined }) {
  if (of === undefined || of === 0) return null
  return (
    <span className="n">
      <Glyph shape="attention" className="g" />
      {of}
    </span>
  )
}

function Me() {
  const { shell } = useText()
  const { person } = useSession()
  return (
    <div className="me">
      <PersonMenu
        className="me-button"
        label={
          <>
            <span className="face">{initials(person.name || person.email)}</span>
            <span className="clip">
              {person.name || person.email}
              <br />
              <span className="faint micro">{shell.role[person.role] ?? person.role}</span>
            </span>
          </>
        }
      />
    </div>
  )
}
