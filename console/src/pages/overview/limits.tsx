import { countText } from '../../format/amount.ts'
import { durationText } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Meter } from '../../ui/meter.tsx'
import { Section } from '../../ui/page.tsx'
import type { Overview } from './overview.tsx'

export function RateLimits({ of: { limits, tier } }: { readonly of: Overview }) {
  const { overview, ui } = useText()
  const words = overview.limits
  const { language } = useLanguage()
  return (
    <Section
      title={words.title}
      actions={<span className="quiet small">{words.tier(ui.tiers[tier] ?? tier)}</span>}
    >
      {limits.length === 0 && <p className="quiet">{words.none}</p>}
      {limits.map(({ key_id, name, window, used, limit }) => (
        <div key={`${key_id} ${window}`} className="limit">
          <div className="row">
            <span>
              <span className="mono">{name}</span> <span className="quiet">{words[window]}</span>
            </span>
            <span>
              <b className="med">{countText(used, language)}</b>{' '}
              <span className="quiet">{words.of(countText(limit, language))}</span>
            </span>
          </div>
          <Meter used={BigInt(used)} of={BigInt(limit)} label={words.label(name, words[window])} />
        </div>
      ))}
    </Section>
  )
}

export function Prices({ of: { prices } }: { readonly of: Overview }) {
  const words = useText().overview.prices
  const { language } = useLanguage()
  return (
    <Section title={words.title} actions={<span className="quiet small">{words.age}</span>}>
      {prices.length === 0 ? (
        <p className="quiet">{words.none}</p>
      ) : (
        <table className="t flat snug">
          <tbody>
            {prices.map(({ pair, price, age_ms, fresh }) => (
              <tr key={pair}>
                <td className="med">{pair}</td>
                <td className="r">
                  {language === 'en' ? grouped(price, ',', '.') : grouped(price, '.', ',')}
                </td>
                <td className={fresh ? 'r quiet' : 'r warn'} title={fresh ? undefined : words.stale}>
                  {durationText(age_ms, language)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  )
}

/** A price is a decimal string of the API: it is shortened as text, never calculated with. */
function grouped(price: string, group: string, point: string): string {
  const [whole = '', fraction = ''] = price.split('.')
  const kept = fraction.replace(/0+$/, '').padEnd(2, '0')
  return `${whole.replaceAll(/\B(?=(\d{3})+$)/g, group)}${point}${kept}`
}
