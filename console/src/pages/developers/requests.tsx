import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { callAddress } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { shortId } from '../../format/id.ts'
import { CsvLink } from '../../lists/csv-link.tsx'
import { ListBar } from '../../lists/list-bar.tsx'
import { PeriodChip, rangeOf } from '../../lists/period.tsx'
import { TotalsLine, useTotals } from '../../lists/totals.tsx'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { FilterSegments, Filters, OLDEST, TextChip, useFilters, useQueryString } from '../../ui/filters.tsx'
import { Empty, PageHead } from '../../ui/page.tsx'
import { Glyph } from '../../ui/status.tsx'
import { ToPlayground } from '../playground/to-playground.tsx'
import { CursorPager, eventObjectKinds, usePolling } from './common.tsx'
import { RequestTable } from './request-table.tsx'
import './developers.css'

const FILTERS = ['refused', 'status', 'route', 'error_code', 'key_id', 'created'] as const
const VIEW_KEYS = [...FILTERS, 'order']

export function RequestsPage() {
  const { developers, lists } = useText()
  const { requests } = developers
  const { language } = useLanguage()
  const { may } = useSession()
  const environment = useEnvironment()
  const { query } = useQueryString()
  const { any, values } = useFilters(FILTERS)
  const { created, ...plain } = values
  const params = { environment }
  const filters = { ...plain, refused: values.refused as 'true' | undefined, ...rangeOf(created) }
  const oldest = query.order === OLDEST
  const order = oldest ? ({ order: 'oldest' } as const) : {}
  const list = useCall(
    'console.requests.list',
    { params, query: { ...filters, ...order, cursor: query.after } },
    { live: eventObjectKinds, keep: true },
  )
  // No hint announces a request that only reads.
  usePolling(list, query.after === undefined && !oldest, 5_000)
  const totals = useTotals('console.requests.totals', { params, query: filters })
  const csv = callAddress('console.requests.csv', { params, query: { ...filters, ...order, language } })
  return (
    <>
      <PageHead
        title={requests.title}
        about={requests.about}
        actions={
          <>
            {may('export') && <CsvLink href={csv} />}
            <Find />
          </>
        }
      />
      <Filters keys={FILTERS}>
        <FilterSegments
          label={requests.status}
          of="refused"
          options={[
            { value: '', label: requests.all },
            {
              value: 'true',
              label: (
                <>
                  <Glyph shape="failed" />
                  {requests.refused}
                </>
              ),
            },
          ]}
        />
        <TextChip
          label={requests.status_chip}
          of="status"
          hint={requests.status_hint}
          read={as(/^[2-5]\d\d$/)}
        />
        <TextChip
          label={requests.route_chip}
          of="route"
          hint={requests.route_hint}
          read={as(/^\/v1\/[a-z0-9_/{}]{1,100}$/)}
        />
        <TextChip
          label={requests.code_chip}
          of="error_code"
          hint={requests.code_hint}
          read={as(/^[a-z_]{1,64}$/)}
        />
        <PeriodChip />
        {values.key_id !== undefined && <TextChip label={requests.key_chip} of="key_id" show={shortId} />}
      </Filters>
      <ListBar
        views={{ page: 'requests', environment, keys: VIEW_KEYS }}
        totals={
          <TotalsLine
            of={totals}
            count={lists.totals.requests}
            parts={[{ text: lists.totals.refused, has: ({ status }) => Number(status) >= 400 }]}
          />
        }
      />
      <RequestTable
        rows={list.data?.data}
        query={list}
        keys
        sorts
        empty={any ? <Empty title={requests.none}>{requests.none_about}</Empty> : <NoRequests />}
      />
      <CursorPager page={list.data} keys end />
    </>
  )
}

const as = (form: RegExp) => (typed: string) => (form.test(typed) ? typed : undefined)

/** Finds a request by its id, which a program's log usually has. */
function Find() {
  const { requests } = useText().developers
  const environment = useEnvironment()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const id = typed.trim()
    if (id === '') return
    void navigate({ to: '/$environment/developers/requests/$id', params: { environment, id } })
  }
  return (
    <form className="row find" onSubmit={submit}>
      <input
        className="input mono"
        aria-label={requests.find}
        placeholder={`${requests.find}: req_…`}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        spellCheck={false}
        autoComplete="off"
      />
      <Button type="submit">{requests.find_go}</Button>
    </form>
  )
}

function NoRequests() {
  const { requests } = useText().developers
  return (
    <Empty title={requests.empty} action={<ToPlayground />}>
      <Code title={requests.empty_about} as="shell">
        {`curl -i ${location.origin}/v1/account \\\n  -H "Authorization: Bearer $TRILHO_KEY"`}
      </Code>
    </Empty>
  )
}
