import { Link } from '@tanstack/react-router'
import type { Name } from '../../api/client.ts'
import { callAddress } from '../../api/client.ts'
import { useEnvironment } from '../../environment.ts'
import { CsvLink } from '../../lists/csv-link.tsx'
import { ListBar } from '../../lists/list-bar.tsx'
import { PeriodChip, rangeOf } from '../../lists/period.tsx'
import { TotalsLine, useTotals } from '../../lists/totals.tsx'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import {
  Chip,
  FilterSegments,
  Filters,
  OLDEST,
  TextChip,
  useFilters,
  useQueryString,
} from '../../ui/filters.tsx'
import { EndMark, PageHead } from '../../ui/page.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Glyph, shapeOf } from '../../ui/status.tsx'
import { PricesNow } from './prices.tsx'
import './conversions.css'

const KEYS = ['status', 'pair', 'customer_id', 'created'] as const
const VIEW_KEYS = [...KEYS, 'order']

type Asset = 'BRL' | 'USDT' | 'BTC'
const assets: readonly Asset[] = ['BRL', 'USDT', 'BTC']
const pairs = assets.flatMap((from) => assets.filter((to) => to !== from).map((to) => [from, to] as const))

/** The filters of both lists as parameters of the service. */
export function useListQuery() {
  const { values } = useFilters(KEYS)
  const { query } = useQueryString()
  const oldest = query.order === OLDEST
  const [from_asset, to_asset] = (values.pair?.split('-') ?? []) as (Asset | undefined)[]
  return {
    filters: {
      customer_id: values.customer_id,
      from_asset,
      to_asset,
      ...rangeOf(values.created),
    },
    order: oldest ? ({ order: 'oldest' } as const) : {},
    status: values.status,
    cursor: query.after,
    /** New rows appear at the top of the first page, newest first. */
    at_top: query.after === undefined && !oldest,
    filtered: KEYS.some((key) => values[key] !== undefined),
  }
}

type HeadProps = {
  readonly list: 'quotes' | 'trades'
  readonly states: readonly ('pending' | 'executed' | 'expired' | 'completed' | 'failed')[]
}

export function ListHead({ list, states }: HeadProps) {
  const { conversions, lists } = useText()
  const environment = useEnvironment()
  const { filters, status } = useListQuery()
  const totals = useTotals(`console.${list}.totals`, {
    params: { environment },
    query: { ...filters, status } as never,
  })
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
        <PeriodChip />
      </Filters>
      <ListBar
        views={{ page: list, environment, keys: VIEW_KEYS }}
        totals={
          <TotalsLine
            of={totals}
            count={lists.totals[list]}
            parts={[{ text: lists.totals.failed, has: (group) => group.status === 'failed' }]}
            money="moved"
          />
        }
      />
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

function Export({ list }: { readonly list: HeadProps['list'] }) {
  const { language } = useLanguage()
  const { may } = useSession()
  const environment = useEnvironment()
  const { filters, status, order } = useListQuery()
  if (!may('export')) return null
  const name: Name = `console.${list}.csv`
  const query = { ...filters, ...order, status, language } as never
  return <CsvLink href={callAddress(name, { params: { environment }, query })} />
}

type Page = { readonly data: readonly unknown[]; readonly next_cursor: string | null }

/** The cursor of the page before, for pages visited in this tab; otherwise back leads to the first page. */
const before = new Map<string, string | undefined>()

type FootProps = { readonly list: HeadProps['list']; readonly page: Page | undefined }

export function ListFoot({ list, page }: FootProps) {
  const { conversions } = useText()
  const { query, set } = useQueryString()
  const { at_top } = useListQuery()
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
      <Pager
        newer={at === undefined ? null : 'newer'}
        older={older ?? null}
        onNewer={() => set({ after: at && before.get(at) })}
        onOlder={toOlder}
        keys
      >
        <span className="no-phone">{at_top && conversions.by_themselves}</span>
        <span className="only-phone">
          <Export list={list} />
        </span>
      </Pager>
    </>
  )
}
