import type { Reply } from '../../api/client.ts'
import { amountText, type Language } from '../../format/amount.ts'
import { shortAddress } from '../../format/id.ts'
import type { Texts } from '../../text/en/en.ts'
import { saidText } from '../../text/said-text.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Rich } from '../../ui/rich.tsx'
import type { Step } from '../../ui/track.tsx'

export type Evidence = Reply<'console.operator.desk.get'>
type Words = Texts['operator']['desk']['step']
type DeskTexts = Pick<Texts, 'operator' | 'ui'>

/** The exchange with the rail since acceptance: what was sent, queried and received. */
export function deskSteps(evidence: Evidence, { operator, ui }: DeskTexts, language: Language): Step[] {
  const words = operator.desk.step
  const { item, steps } = evidence
  const first: Step = {
    key: 'accepted',
    at: item.created_at,
    title: words.accepted,
    text: words.in_transit(amountText(item.in_transit, item.asset, { language })),
  }
  const sent_first = steps.findIndex(({ kind }) => kind === 'sent')
  const between = steps.map((step, i) => ({
    key: `${i}`,
    at: step.at,
    ...stepOf(step, { evidence, words, ui, again: i > sent_first }),
  }))
  const at = steps.at(-1)?.last_at
  const ended = item.status !== 'pending' && item.status !== 'processing'
  const last: Step = ended
    ? { key: 'end', at, title: words.ended, mark: 'done' }
    : { key: 'end', at, title: words.still, text: words.still_text, mark: 'waiting' }
  return [first, ...between, last]
}

type About = {
  readonly evidence: Evidence
  readonly words: Words
  readonly ui: Texts['ui']
  /** Whether this is a repeated send. */
  readonly again: boolean
}

function stepOf({ kind, said, times }: Evidence['steps'][number], about: About): Omit<Step, 'key' | 'at'> {
  const { evidence, words, ui, again } = about
  const rail = evidence.item.kind === 'payout' ? words.pix : words.chain
  const text = said === null ? undefined : saidText(ui, said)
  switch (kind) {
    case 'sent':
      return again
        ? { title: rail.again, text: rail.again_text }
        : { title: words.sent, text: <SentAs evidence={evidence} words={words} /> }
    case 'unknown':
      return { title: words.unknown, text: text ?? words.unknown_text, mark: 'unknown', open: true }
    case 'asked':
      return { title: words.asked(times), text, soft: true, open: true }
    case 'answered':
      return said === 'absent'
        ? { title: rail.absent, text: rail.absent_text }
        : { title: words.answered, text }
  }
}

function SentAs({ evidence, words }: Pick<About, 'evidence' | 'words'>) {
  const { send_id, tx_hash } = evidence
  const name = send_id ?? tx_hash
  if (name === null) return <Rich>{words.to(evidence.item.to)}</Rich>
  const said = send_id === null ? words.transaction : words.send_id
  return (
    <span title={name}>
      <Rich>{said(shortAddress(name))}</Rich> <CopyButton value={name} />
    </span>
  )
}
