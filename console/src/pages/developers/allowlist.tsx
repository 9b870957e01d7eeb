import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import type { Environment } from '../../environment.ts'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Rich } from '../../ui/rich.tsx'

type Judged = Reply<'console.allowlist.check'>
type Fault = Judged['faults'][number]

type Allowlist = {
  readonly text: string
  readonly setText: (text: string) => void
  readonly ranges: readonly string[]
  readonly judged: Judged | undefined
  /** Validates with the service again; false when a line is wrong. */
  readonly check: () => Promise<boolean>
  /** Replaces the text of one line. */
  readonly mend: (fault: Fault, better: string) => void
}

const PAUSE_MS = 400

/** Pasted lists may have commas; each range gets its own line. */
const inLines = (text: string) => text.replaceAll(/[,;][ \t]*\n?/g, '\n')
const rangesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** The service validates the list while the person types, so that form and service apply the same rules. */
export function useAllowlist(
  environment: Environment,
  before: readonly string[],
  key_id?: string,
): Allowlist {
  const [text, setText] = useState(() => before.join('\n'))
  const [judged, setJudged] = useState<Judged>()
  const asked = useRef(0)

  const ask = useCallback(
    async (written: string): Promise<boolean> => {
      const turn = ++asked.current
      const next = await call('console.allowlist.check', {
        params: { environment },
        body: { ranges: rangesOf(written), ...(key_id === undefined ? {} : { key_id }) },
      })
      if (turn === asked.current) setJudged(next)
      return next.faults.length === 0
    },
    [environment, key_id],
  )

  useEffect(() => {
    // A failure here is ignored: it recurs when the form is sent, and is shown then.
    const timer = setTimeout(() => void ask(text).catch(() => undefined), judgeAfter(text))
    return () => clearTimeout(timer)
  }, [text, ask])

  return {
    text,
    setText: (typed) => setText(inLines(typed)),
    ranges: rangesOf(text),
    judged,
    check: () => ask(text),
    mend: (fault, better) => {
      const lines = text.split('\n')
      const at = lines.findIndex((line) => line.trim() === fault.text)
      setText(lines.map((line, i) => (i === at ? better : line)).join('\n'))
    },
  }
}

const judgeAfter = (text: string) => (text === '' ? 0 : PAUSE_MS)

export function AllowlistField({ list }: { readonly list: Allowlist }) {
  const { developers } = useText()
  const { keys } = developers
  const { judged, ranges } = list
  const [fault, ...more] = judged?.faults ?? []
  const last = judged?.last_use
  return (
    <>
      <Field
        label={keys.allowlist}
        error={fault && <FaultText fault={fault} more={more.length} mend={list.mend} />}
        hint={
          <>
            {keys.allowlist_hint} {judged && <Rich>{keys.you_are_at(judged.you.address)}</Rich>}
          </>
        }
      >
        <TextArea
          mono
          rows={Math.min(8, Math.max(3, list.text.split('\n').length))}
          value={list.text}
          onValue={list.setText}
          spellCheck={false}
          autoComplete="off"
        />
      </Field>
      {judged?.everybody && <Notice kind="warn">{keys.lets_everybody}</Notice>}
      {judged && !fault && ranges.length > 0 && !judged.you.allowed && (
        <Notice
          action={
            <Button small onClick={() => list.setText(`${list.text.trimEnd()}\n${judged.you.address}`)}>
              {keys.add_your_address}
            </Button>
          }
        >
          <Rich>{keys.shuts_you_out(judged.you.address)}</Rich>
        </Notice>
      )}
      {!fault && ranges.length > 0 && last && !last.allowed && last.address !== judged?.you.address && (
        <Notice kind="warn">
          <Rich>{keys.shuts_last_out(last.address)}</Rich>
        </Notice>
      )}
    </>
  )
}

type FaultProps = {
  readonly fault: Fault
  readonly more: number
  readonly mend: Allowlist['mend']
}

/** Explains a wrong line and offers the correction as a button. */
function FaultText({ fault, more, mend }: FaultProps): ReactNode {
  const { fault: words } = useText().developers.keys
  const offer = (better: string | undefined) =>
    better !== undefined && (
      <button type="button" className="mend mono" onClick={() => mend(fault, better)}>
        {better}
      </button>
    )
  const why = {
    host_bits: (
      <>
        {words.host_bits}
        {offer(fault.range)}
        {words.host_bits_or}
        {offer(fault.address)}.
      </>
    ),
    wildcard: (
      <>
        {words.wildcard}
        {offer(fault.range)}.
      </>
    ),
    prefix: (
      <>
        {words.prefix(fault.longest ?? 0)}
        {offer(fault.address)}.
      </>
    ),
    no_address: words.no_address,
  }
  return (
    <>
      {words.line(fault.line)}
      <span className="mono">{fault.text}</span>
      {why[fault.kind]}
      {more > 0 && <> {words.more(more)}</>}
    </>
  )
}
