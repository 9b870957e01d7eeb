import { Link } from '@tanstack/react-router'
import type { Name } from '../../api/client.ts'
import { callAddress } from '../../api/client.ts'
import { useEnvironment } from '../../environment.ts'
import { dayText } from '../../format/time.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Chip, FilterSegments, Filters, TextChip, useFilters, useQueryString } from '../../ui/filters.tsx'
import { Icon } from '../../ui/icons.tsx'
import { EndMark, PageHead } from '../../ui/page.tsx'
import { Glyph, shapeOf } from '../../ui/status.tsx'
import { PricesNow } from './prices.tsx'
import './conversions.css'

const KEYS = ['status', 'pair', 'customer_id', 'since'] as const

type Asset = 'BRL' | 'USDT' | 'BTC'
const assets: readonly Asset[] = ['BRL', 'USDT', 'BTC']
const pairs = assets.flatMap((from) => assets.filter((to) => to !== from).map((to) => [from, to] as const))

const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00`))

/** The filters of both lists as parameters of the service. */
export function useListQuery() {
  const { values } = useFilters(KEYS)
  const { query } = useQueryString()
  const [from_asset, to_asset] = (values.pair?.split('-') ?? []) as (Asset | undefined)[]
  return {
    filters: {
      customer_id: values.customer_id,
      from_asset,
      to_asset,
      // A malformed date is passed on: the service's error explains it.
      created_after: isDay(values.since) ? new Date(`${values.since}T00:00:00`).toISOString() : values.since,
    },
    status: values.status,
    cursor: query.after,
    at_top: query.after === undefined,
    filtered: KEYS.some((key) => values[key] !== undefined),
  }
}

type HeadProps = {
  readonly list: 'quotes' | 'trades'
  readonly states: readonly ('pending' | 'executed' | 'expired' | 'completed' | 'failed')[]
}

export function ListHead({ list, states }: HeadProps) {
  const { conversions } = useText()
  return (
    <>
      <PageHead
        title={conversions.title}
        about={conversions.about}
        bare
        actions={
          <span className="no-phone">
            <Export list={list} />
          </span>
        }
      />
      <PricesNow />
      <Filters keys={KEYS}>
        <Which list={list} />
        <FilterSegments
          label={conversions.title}
          of="status"
          options={[
            { value: '', label: <All /> },
            ...states.map((state) => ({ value: state, label: <Word of={state} /> })),
          ]}
        />
        <PairChip />
        <TextChip
          label={conversions.customer}
          of="customer_id"
          hint={conversions.customer_hint}
          read={(typed) => (/^cus_[0-9a-z]{26}$/.test(typed) ? typed : undefined)}
        />
        <SinceChip />
      </Filters>
    </>
  )
}

const All = () => useText().conversions.all

function Word({ of }: { readonly of: HeadProps['states'][number] }) {
  const { conversions } = useText()
  return (
    <>
      <Glyph shape={shapeOf[of] ?? 'waiting'} />
      {conversions.state[of]}
    </>
  )
}

/** Links to the two lists of this page: quotes and trades. */
function Which({ list }: { readonly list: HeadProps['list'] }) {
  const { conversions } = useText()
  const environment = useEnvironment()
  return (
    <nav className="seg" aria-label={conversions.which}>
      {(['quotes', 'trades'] as const).map((one) => (
        <Link
          key={one}
          to={`/$environment/${one}`}
          params={{ environment } as never}
          aria-current={one === list ? 'page' : undefined}
        >
          {conversions[one]}
        </Link>
      ))}
    </nav>
  )
}

function PairChip() {
  const { conversions } = useText()
  const { values, set } = useFilters(['pair'])
  const [from, to] = values.pair?.split('-') ?? []
  return (
    <Chip
      label={conversions.pair}
      value={from === undefined ? undefined : to === undefined ? from : conversions.pairOf(from, to)}
      onClear={() => set('pair', undefined)}
    >
      {(close) => (
        <div className="picks">
          {pairs.map(([one, other]) => (
            <button
              key={`${one}${other}`}
              type="button"
              onClick={() => {
                close()
                set('pair', `${one}-${other}`)
              }}
            >
              {conversions.pairOf(one, other)}
            </button>
          ))}
        </div>
      )}
    </Chip>
  )
}

function SinceChip() {
  const { conversions } = useText()
  const { language } = useLanguage()
  return (
    <TextChip
      label={conversions.since}
      of="since"
      icon="calendar"
      hint={conversions.since_hint}
      show={(day) => (isDay(day) ? dayText(`${day}T12:00:00`, { language }) : day)}
      read={(typed) => (isDay(typed) ? typed : undefined)}
    />
  )
}

function Export({ list }: { readonly list: HeadProps['list'] }) {
  const { ui } = useText()
  const { language } = useLanguage()
  const { may } = useSession()
  const environment = useEnvironment()
  const { filters, status } = useListQuery()
  if (!may('export')) return null
  const name: Name = `console.${list}.csv`
  const query = { ...filters, status, language } as never
  return (
    <a
      className="btn"
      href={callAddress(name, { params: { environment }, query })}
      title={ui.export_hint}
      download
    >
      <Icon name="download" />
      {ui.export_csv}
    </a>
  )
}

type Page = { readonly data: readonly unknown[]; readonly next_cursor: string | null }

/** The cursor of the page before, for pages visited in this tab; otherwise back leads to the first page. */
const before = new Map<string, string | undefined>()

type FootProps = { readonly list: HeadProps['list']; readonly page: Page | undefined }

export function ListFoot({ list, page }: FootProps) {
  const { ui, conversions } = useText()
  const { query, set } = useQueryString()
  const at = query.after
  const older = page?.next_cursor
  if (page === undefined || (page.data.length === 0 && at === undefined)) return null
  const toOlder = () => {
    if (!older) return
    before.set(older, at)
    set({ after: older })
  }
  return (
    <>
      {!older && page.data.length > 0 && <EndMark />}
      <div className="pager">
        <Button small onClick={() => set({ after: at && before.get(at) })} disabled={at === undefined}>
          {ui.newer}
        </Button>
        <Button small onClick={toOlder} disabled={!older}>
          {ui.older}
        </Button>
        <span className="no-phone">
          <kbd className="kbd">J</kbd> <kbd className="kbd">K</kbd> {ui.keys_of_table.move},{' '}
          <kbd className="kbd">Enter</kbd> {ui.keys_of_table.open}, <kbd className="kbd">C</kbd>{' '}
          {ui.keys_of_table.copy}
        </span>
        <span className="push">
          <span className="no-phone">{at === undefined && conversions.by_themselves}</span>
          <span className="only-phone">
            <Export list={list} />
          </span>
        </span>
      </div>
    </>
  )
}
