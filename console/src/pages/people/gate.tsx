import type { ReactNode } from 'react'
import type { Language } from '../../format/amount.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Mark } from '../../ui/icons.tsx'
import { useTitle } from '../../ui/page.tsx'
import '../../ui/sign.css'
import './people.css'

/** The layout of pages without a session: a form, and a drawing of tracks beside it. */
export function Gate({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const { people } = useText()
  useTitle(title)
  return (
    <div className="sign">
      <main className="gate">
        <div className="brand">
          <Mark size={26} />
          trilho
        </div>
        {children}
        <footer className="row small gap-4">
          <Languages />
          <a className="quiet push" href="/docs">
            {people.sign_in.docs}
          </a>
        </footer>
      </main>
      <Yard />
    </div>
  )
}

const languages: readonly (readonly [Language, string])[] = [
  ['en', 'English'],
  ['pt-BR', 'Português'],
]

function Languages() {
  const { people } = useText()
  const { language, speak } = useLanguage()
  return (
    <nav className="row gap-4" aria-label={people.sign_in.language}>
      {languages.map(([one, name]) => (
        <button
          key={one}
          type="button"
          className="tongue"
          lang={one}
          aria-current={one === language || undefined}
          onClick={() => speak(one)}
        >
          {name}
        </button>
      ))}
    </nav>
  )
}

const MIDDLE = 450
const TURN = 46
const LEAN = 32.5

/** A track that branches off the middle one and joins it again. */
function branch(away: number): string {
  if (away === 0) return `M${MIDDLE} -20V920`
  const side = Math.sign(away)
  const far = MIDDLE + away
  const [leaves, returns] = [190 + Math.abs(away), 710 - Math.abs(away)]
  return [
    `M${MIDDLE} -20V144Q${MIDDLE} 190 ${MIDDLE + side * LEAN} ${190 + LEAN}`,
    `L${far - side * LEAN} ${leaves - LEAN}Q${far} ${leaves} ${far} ${leaves + TURN}`,
    `V${returns - TURN}Q${far} ${returns} ${far - side * LEAN} ${returns + LEAN}`,
    `L${MIDDLE + side * LEAN} ${710 - LEAN}Q${MIDDLE} 710 ${MIDDLE} 756V920`,
  ].join('')
}

const sleepers = (x: number, from: number, to: number, count: number): string =>
  Array.from({ length: count }, (_, i) => `M${x - 14} ${from + (i * (to - from)) / (count - 1)}h28`).join('')

const tracks = [-208, -104, 0, 104, 208].map(branch).join('')
const grey = [
  sleepers(MIDDLE, 20, 152, 7),
  sleepers(MIDDLE, 250, 650, 19),
  sleepers(MIDDLE, 748, 880, 7),
  sleepers(MIDDLE - 104, 354, 546, 9),
].join('')

function Yard() {
  return (
    <svg
      className="yard"
      viewBox="0 0 900 900"
      preserveAspectRatio="xMidYMid slice"
      fill="none"
      aria-hidden="true"
    >
      <path d={tracks} stroke="var(--rail)" strokeWidth="13" />
      <path d={tracks} stroke="var(--sunken)" strokeWidth="10" />
      <path d={grey} stroke="var(--rail)" strokeWidth="4" />
      <path d={sleepers(MIDDLE + 104, 354, 546, 9)} stroke="var(--accent)" strokeWidth="4" />
    </svg>
  )
}
