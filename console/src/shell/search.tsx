import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import { callUntil, type Reply } from '../api/client.ts'
import { useText } from '../text/text.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { Id } from '../ui/id.tsx'
import type { Frame } from './use-frame.ts'

type Found = Reply<'console.find.search'>['data'][number]

const WAIT_MS = 150

/** The value once the person stops typing. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), WAIT_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

export function SearchDialog({ frame, onClose }: { readonly frame: Frame; readonly onClose: () => void }) {
  const { shell } = useText()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const asked = useSettled(typed.trim())
  const query = useQuery({
    queryKey: ['search', frame.base, asked],
    queryFn: ({ signal }) => {
      const input = { params: { environment: frame.environment }, query: { q: asked } }
      const name = frame.operator ? 'console.operator.search' : 'console.find.search'
      return callUntil(name, input, signal)
    },
    enabled: asked !== '',
  })
  const found = query.data?.data ?? []

  const open = (one: Found | undefined) => {
    if (one === undefined) return
    onClose()
    void navigate({ to: one.path })
  }
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((now) => Math.max(0, Math.min(found.length - 1, now + step)))
    }
    if (event.key === 'Enter') open(found[at])
  }

  return (
    <Dialog title={shell.search.label} onClose={onClose} size="finder">
      <div className="b">
        <input
          className="input"
          inputMode="search"
          role="combobox"
          aria-label={shell.search.prompt}
          aria-expanded={found.length > 0}
          aria-controls={list}
          aria-activedescendant={found[at] === undefined ? undefined : `${list}${at}`}
          placeholder={shell.search.prompt}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            setAt(0)
          }}
          onKeyDown={onKey}
        />
        {query.isError && <Failure error={query.error} reading onAgain={() => void query.refetch()} />}
        <Results id={list} found={found} at={at} onOpen={open} />
        <p className="quiet small" role="status">
          {query.isSuccess && found.length === 0 ? shell.search.none : shell.search.hint}
        </p>
      </div>
    </Dialog>
  )
}

type ResultsProps = {
  readonly id: string
  readonly found: readonly Found[]
  readonly at: number
  readonly onOpen: (one: Found) => void
}

function Results({ id, found, at, onOpen }: ResultsProps) {
  const { shell } = useText()
  if (found.length === 0) return null
  return (
    <div className="found" id={id} role="listbox" aria-label={shell.search.results}>
      {found.map((one, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard stays in the box above and moves from there
        <div
          key={`${one.kind}${one.id}`}
          id={`${id}${i}`}
          role="option"
          tabIndex={-1}
          aria-selected={i === at}
          onClick={() => onOpen(one)}
        >
          <span className="quiet">{shell.search.kind[one.kind] ?? one.kind}</span>
          <span className="clip">
            <bdi className="med">{one.title}</bdi> <bdi className="quiet">{one.detail}</bdi>
          </span>
          <Id id={one.id} bare />
        </div>
      ))}
    </div>
  )
}
