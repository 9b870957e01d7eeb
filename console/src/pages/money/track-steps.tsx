import type { Reply } from '../../api/client.ts'
import { shortAddress } from '../../format/id.ts'
import type { Texts } from '../../text/en/en.ts'
import { saidText } from '../../text/said-text.ts'
import { Rich } from '../../ui/rich.tsx'
import { Time } from '../../ui/time.tsx'
import type { Step } from '../../ui/track.tsx'

type TrackStep = Reply<'console.payouts.get'>['track'][number]

type TrackTexts = Pick<Texts, 'money' | 'ui'>

type About = {
  readonly idempotency_key: string
  /** `pix`, or the network of a transfer. */
  readonly rail: string
  readonly send_id?: string
  readonly open: boolean
}

/** The steps of a timeline with their texts. Steps still to come are last, dotted. */
export function trackSteps(track: readonly TrackStep[], about: About, texts: TrackTexts): Step[] {
  const { money } = texts
  const sent_first = track.findIndex(({ kind }) => kind === 'sent')
  const steps = track.map((step, i) => ({
    key: `${i} ${step.kind}`,
    at: step.at,
    ...stepOf(step, { ...about, again: i > sent_first }, texts),
  }))
  return about.open ? [...steps, { key: 'ahead', title: money.track.ahead, mark: 'waiting' }] : steps
}

function stepOf(
  step: TrackStep,
  about: About & { readonly again: boolean },
  { money: { track, transfers }, ui }: TrackTexts,
): Omit<Step, 'key' | 'at'> {
  const { said, times } = step
  const heard = said === null ? undefined : saidText(ui, said)
  const often = times > 1 ? track.asked_times(times) : undefined
  const pix = about.rail === 'pix'
  switch (step.kind) {
    case 'accepted':
      return {
        title: pix ? track.accepted : transfers.accepted,
        text: <Rich>{track.accepted_text(about.idempotency_key)}</Rich>,
      }
    case 'sent': {
      const how = pix ? track.sent_pix_text(shortAddress(about.send_id ?? '')) : track.sent_chain_text
      const text = <Rich>{said === null ? how : `${how}. ${track.taken}`}</Rich>
      if (about.again) return { title: pix ? track.again_pix : track.again_chain, text }
      return { title: pix ? track.sent_pix : track.sent_chain(about.rail), text }
    }
    case 'unknown':
      return { title: track.unknown, text: track.unknown_text, mark: 'unknown', open: true }
    case 'asked':
      return said === null
        ? { title: track.asked, text: often && <Between step={step} often={often} />, soft: true, open: true }
        : { title: track.asked_waiting, text: [heard, often].filter(Boolean).join(', '), soft: true }
    case 'answered':
      if (said !== 'absent') return { title: track.answered, text: heard, soft: true }
      return pix
        ? { title: track.absent_pix, text: track.absent_pix_text, soft: true }
        : { title: track.absent_chain, text: track.absent_chain_text, soft: true }
    case 'completed':
      return { title: track.completed, text: <Rich>{track.completed_text(said ?? '')}</Rich>, mark: 'done' }
    case 'confirmed':
      return { title: track.confirmed, text: <Rich>{track.confirmed_text(said ?? '')}</Rich>, mark: 'done' }
    case 'failed':
      return {
        title: track.failed,
        text: [heard, track.failed_text].filter(Boolean).join('. '),
        mark: 'failed',
      }
  }
}

/** How often a repeated step happened, from the first time to the last. */
function Between({ step, often }: { readonly step: TrackStep; readonly often: string }) {
  return (
    <>
      {often}, <Time at={step.at} /> – <Time at={step.last_at} />
    </>
  )
}
