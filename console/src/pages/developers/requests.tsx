import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { shortId } from '../../format/id.ts'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { FilterSegments, Filters, TextChip, useFilters, useQueryString } from '../../ui/filters.tsx'
import { Empty, PageHead } from '../../ui/page.tsx'
import { Glyph } from '../../ui/status.tsx'
import { ToPlayground } from '../playground/to-playground.tsx'
import { CursorPager, eventObjectKinds, usePolling } from './common.tsx'
import { RequestTable } from './request-table.tsx'
import './developers.css'

const FILTERS = ['refused', 'status', 'route', 'error_code', 'key_id'] as const

export function RequestsPage() {
  const { requests } = useText().developers
  const environment = useEnvironment()
  const { query } = useQueryString()
  const { any, values } = useFilters(FILTERS)
  const list = useCall(
    'console.requests.list',
    {
      params: { environment },
      query: { ...values, refused: values.refused as 'true' | undefined, cursor: query.after },
    },
    { live: eventObjectKinds, keep: true },
  )
  // No hint announces a request that only reads.
  usePolling(list, query.after === undefined, 5_000)
  return (
    <>
      <PageHead title={requests.title} about={requests.about} actions={<Find />} />
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
        {values.key_id !== undefined && <TextChip label={requests.key_chip} of="key_id" show={shortId} />}
      </Filters>
      <RequestTable
        rows={list.data?.data}
        query={list}
        keys
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
