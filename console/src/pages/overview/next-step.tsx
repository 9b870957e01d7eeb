import { useEnvironment } from '../../environment.ts'
import { useText } from '../../text/text.tsx'
import { Section } from '../../ui/page.tsx'
import { ToPlayground } from '../playground/to-playground.tsx'
import type { Overview } from './overview.tsx'

/** For a team that has customers and no order yet, as after the first start. */
export function NextStep({ of: { latest, series, pix_ready } }: { readonly of: Overview }) {
  const { overview } = useText()
  const environment = useEnvironment()
  if (!pix_ready || series.length > 0 || latest.some(({ kind }) => kind !== 'deposit')) return null
  return (
    <Section title={overview.next.title}>
      <div className="row wrap gap-4">
        <span>{overview.next[environment]}</span>
        <span className="push row wrap">
          <ToPlayground />
          <a className="btn" href="/docs/quickstart">
            {overview.start.reference}
          </a>
        </span>
      </div>
    </Section>
  )
}
