import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { parseAmount, typedAmount } from '../../format/amount.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ActDialog, type Acted } from './acted.tsx'
import { railName } from './rail-names.ts'
import './operator.css'

type Rail = Reply<'console.operator.rails.get'>['rails'][number]
type LimitName = keyof Rail['limits']

const stale = ['console.operator.']
const REASON_MAX = 200

type OnActed = (acted: Acted, words?: string) => void
type Chosen = { readonly act: 'pause' | 'resume' | 'limit'; readonly rail: Rail }

/** The pause and the limits of each rail, with the buttons that change them. */
export function RailControls({
  rails: rows,
  onActed,
}: {
  readonly rails: readonly Rail[]
  readonly onActed: OnActed
}) {
  const { operator } = useText()
  const { rails } = operator
  const [chosen, setChosen] = useState<Chosen>()
  const onClose = () => setChosen(undefined)
  const limit = (name: LimitName) => ({
    key: name,
    head: rails.limit[name],
    right: true,
    fold: 'named' as const,
    cell: (rail: Rail) => <Limit rail={rail} name={name} />,
  })
  return (
    <>
      <Table<Rail>
        label={rails.controls}
        rows={rows}
        keyOf={({ rail }) => rail}
        look="plain"
        columns={[
          { key: 'rail', head: rails.rail, fold: 'm1', className: 'med', cell: ({ rail }) => railName(rail) },
          {
            key: 'state',
            head: rails.state,
            fold: 'named',
            className: 'whole',
            cell: (rail) => <Pause rail={rail} />,
          },
          limit('order_most'),
          limit('day_most'),
          limit('floor'),
          limit('gas_floor'),
          {
            key: 'acts',
            head: '',
            right: true,
            fold: 'a1',
            cell: (rail) => <Acts rail={rail} onChoose={(act) => setChosen({ act, rail })} />,
          },
        ]}
      />
      {chosen?.act === 'pause' && <PauseRail rail={chosen.rail} onActed={onActed} onClose={onClose} />}
      {chosen?.act === 'resume' && <ResumeRail rail={chosen.rail} onActed={onActed} onClose={onClose} />}
      {chosen?.act === 'limit' && <LimitRail rail={chosen.rail} onActed={onActed} onClose={onClose} />}
    </>
  )
}

function Acts({ rail, onChoose }: { readonly rail: Rail; readonly onChoose: (act: Chosen['act']) => void }) {
  const { operator } = useText()
  const { rails } = operator
  const { may } = useSession()
  return (
    <span className="row inline">
      {may('operator.rule') && (
        <Button small onClick={() => onChoose('limit')}>
          {rails.set_limits}
        </Button>
      )}
      {rail.paused === null && may('operator.pause') && (
        <Button small onClick={() => onChoose('pause')}>
          {rails.pause}
        </Button>
      )}
      {rail.paused !== null && may('operator.decide') && (
        <Button small onClick={() => onChoose('resume')}>
          {rails.resume}
        </Button>
      )}
    </span>
  )
}

/** Who paused the rail, when and why. */
function Pause({ rail: { paused, configured, message } }: { readonly rail: Rail }) {
  const { operator } = useText()
  const { rails, audit } = operator
  if (paused === null && !configured) return <Status state="off">{rails.not_configured}</Status>
  if (paused === null)
    return message === null ? (
      <Status state="done">{rails.accepts}</Status>
    ) : (
      <span title={message}>
        <Status state="attention">{rails.unavailable}</Status>
      </span>
    )
  const by = { service: audit.service, shell: audit.shell }[paused.by] ?? paused.by
  return (
    <>
      <Status state="attention">
        <span>
          {rails.paused} · <Time at={paused.at} />
        </span>
      </Status>
      <div className="quiet small">
        {paused.reason} ({rails.paused_by(by)})
      </div>
    </>
  )
}

/** The smallest unit of the coin that pays for gas. */
const weiOf = (rail: string): string => (rail === 'tron' ? 'sun' : 'wei')

function Limit({ rail: { rail, asset, limits }, name }: { readonly rail: Rail; readonly name: LimitName }) {
  const { operator } = useText()
  const units = limits[name]
  if (!hasLimit(rail, name)) return null
  if (units === null) return <span className="quiet">{operator.rails.no_limit}</span>
  if (isInWei(name))
    return (
      <span className="mono">
        {units} {weiOf(rail)}
      </span>
    )
  return <Amount units={units} asset={asset} />
}

type DialogProps = { readonly rail: Rail; readonly onActed: OnActed; readonly onClose: () => void }

function Why({ reason, onReason }: { readonly reason: string; readonly onReason: (text: string) => void }) {
  const { operator } = useText()
  return (
    <Field label={operator.rails.why}>
      <Input value={reason} onValue={onReason} maxLength={REASON_MAX} autoComplete="off" />
    </Field>
  )
}

/** The dialog that pauses a rail at once, without a second confirmation: nothing is lost by a pause. */
function PauseRail({ rail: { rail }, onActed, onClose }: DialogProps) {
  const { operator } = useText()
  const { rails } = operator
  const environment = useEnvironment()
  const pause = useAct('console.operator.rails.pause', { stale })
  const [reason, setReason] = useState('')
  const name = railName(rail)
  return (
    <ActDialog
      title={rails.pause_title(name)}
      verb={rails.pause_verb}
      busy={rails.pausing}
      blocked={reason.trim() === ''}
      onAct={() =>
        pause.mutateAsync({ params: { environment, rail: rail as never }, body: { reason: reason.trim() } })
      }
      onActed={(acted) => onActed(acted, rails.pause_done(name))}
      onClose={onClose}
    >
      <p>{rails.pause_words(name)}</p>
      <Why reason={reason} onReason={setReason} />
    </ActDialog>
  )
}

function ResumeRail({ rail, onActed, onClose }: DialogProps) {
  const { operator } = useText()
  const { rails, booking, acted: words, proposals } = operator
  const environment = useEnvironment()
  const resume = useAct('console.operator.rails.resume', { stale })
  const [reason, setReason] = useState('')
  const name = railName(rail.rail)
  const values = { amount: '', who: name, to: '', paid: false, inward: false, role: '', end_to_end_id: '' }
  const sentence = proposals.sentence.resume_rail?.(values) ?? ''
  return (
    <ActDialog
      title={rails.resume_title(name)}
      words={environment === 'production' ? words.you_propose(sentence) : words.you_do(sentence)}
      verb={rails.resume_verb[environment] ?? ''}
      busy={rails.resuming}
      blocked={reason.trim() === ''}
      why={environment === 'production' ? booking.two : booking.at_once}
      onAct={() =>
        resume.mutateAsync({
          params: { environment, rail: rail.rail as never },
          body: { reason: reason.trim() },
        })
      }
      onActed={(acted) => onActed(acted, acted.outcome === 'done' ? rails.resume_done(name) : undefined)}
      onClose={onClose}
    >
      <Pause rail={rail} />
      <p>{rails.resume_first}</p>
      <Why reason={reason} onReason={setReason} />
    </ActDialog>
  )
}

/** The networks whose fees are paid in another coin than the one that is transferred: they have a gas floor. */
const hasGas = (rail: string) => rail !== 'pix' && rail !== 'bitcoin'
/** On EVM networks deposits lie at addresses of their own. */
const isSwept = (rail: string) => hasGas(rail) && rail !== 'tron'

const isInWei = (name: LimitName) => name === 'gas_floor' || name === 'sweep_fee_max'

function hasLimit(rail: string, name: LimitName): boolean {
  if (name === 'sweep_from' || name === 'sweep_fee_max') return isSwept(rail)
  return name !== 'gas_floor' || hasGas(rail)
}

const limitNames: readonly LimitName[] = [
  'order_most',
  'day_most',
  'floor',
  'gas_floor',
  'sweep_from',
  'sweep_fee_max',
]

const WEI = /^(0|[1-9][0-9]{0,29})$/

/** Sends only the changed limits. */
function LimitRail({ rail: { rail, asset, limits }, onActed, onClose }: DialogProps) {
  const { operator } = useText()
  const { rails, booking } = operator
  const { language } = useLanguage()
  const environment = useEnvironment()
  const save = useAct('console.operator.rails.limit', { stale })
  const names = limitNames.filter((name) => hasLimit(rail, name))
  const shown = (name: LimitName, units: string | null) =>
    units === null ? '' : isInWei(name) ? units : typedAmount(units, asset, language)
  const begin = Object.fromEntries(names.map((name) => [name, shown(name, limits[name])]))
  const [typed, setTyped] = useState(begin)
  const [reason, setReason] = useState('')
  const textOf = (name: LimitName) => (typed[name] ?? '').trim()
  /** Undefined: not an amount. */
  const read = (name: LimitName): string | null | undefined => {
    const text = textOf(name)
    if (text === '') return null
    if (isInWei(name)) return WEI.test(text) ? text : undefined
    return parseAmount(text, asset, language)
  }
  const changed = names.filter((name) => textOf(name) !== begin[name])
  const wrong = changed.filter((name) => read(name) === undefined)
  return (
    <ActDialog
      title={rails.limits_title(railName(rail))}
      verb={rails.limits_verb}
      busy={rails.limits_saving}
      blocked={changed.length === 0 || wrong.length > 0 || reason.trim() === ''}
      why={rails.limits_hint}
      onAct={() =>
        save.mutateAsync({
          params: { environment, rail: rail as never },
          body: {
            reason: reason.trim(),
            ...Object.fromEntries(changed.map((name) => [name, read(name) ?? null])),
          },
        })
      }
      onActed={(acted) => onActed(acted, rails.limits_done(railName(rail)))}
      onClose={onClose}
    >
      {names.map((name) => (
        <Field
          key={name}
          label={rails.limit[name]}
          aside={isInWei(name) ? weiOf(rail) : asset}
          error={wrong.includes(name) ? (isInWei(name) ? rails.gas_wrong : booking.amount_wrong) : undefined}
        >
          <Input
            value={typed[name] ?? ''}
            onValue={(value) => setTyped({ ...typed, [name]: value })}
            inputMode="decimal"
            autoComplete="off"
          />
        </Field>
      ))}
      <Why reason={reason} onReason={setReason} />
    </ActDialog>
  )
}
