import { type FormEvent, useRef, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { amountText } from '../../format/amount.ts'
import { isolated } from '../../format/id.ts'
import { ageText, listTime } from '../../format/time.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Checkbox, Field, focusFirstMistake, Input, Radios, TextArea } from '../../ui/field.tsx'
import { Id } from '../../ui/id.tsx'
import { useNow } from '../../ui/time.tsx'
import { Track } from '../../ui/track.tsx'
import { type Acted, ActedNote } from './acted.tsx'
import { Decide } from './decide.tsx'
import { deskSteps, type Evidence } from './desk-steps.tsx'

export type OpenItem = Reply<'console.operator.desk.list'>['open'][number]

const E2E = /^E[0-9A-Z]{8}[0-9]{12}[A-Za-z0-9]{11}$/

type Props = {
  readonly item: OpenItem
  readonly waiting: readonly OpenItem[]
  readonly onDecided: (acted: Acted) => void
}

/** The evidence about one open order, and the form to settle it by hand. */
export function DeskItem({ item, waiting, onDecided }: Props) {
  const environment = useEnvironment()
  const { may } = useSession()
  const { operator } = useText()
  const { desk } = operator
  const one = useCall(
    'console.operator.desk.get',
    { params: { environment, id: item.id } },
    { live: ['exceptions', 'payout', 'transfer'], keep: true },
  )
  return (
    <div className="cols c12 grow">
      <section className="sec">
        <div className="h">
          <h2>{desk.evidence}</h2>
          <Id id={item.id} />
          <span className="push faint small">
            <Asked item={one.data?.item ?? item} />
          </span>
        </div>
        {one.isError && <Failure error={one.error} onAgain={() => void one.refetch()} reading />}
        {one.data !== undefined && <Steps evidence={one.data} />}
      </section>
      <section className="sec stack-4">
        {item.proposal === null && may('operator.decide') && <Resolve item={item} />}
        <Waiting items={waiting} onDecided={onDecided} />
      </section>
    </div>
  )
}

function Asked({ item: { asked, next_at } }: { readonly item: OpenItem }) {
  const { operator } = useText()
  const { desk } = operator
  const left = new Date(next_at).getTime() - useNow().getTime()
  return desk.asked(asked, left > 0 ? desk.next_in(ageText(left)) : desk.next_now)
}

function Steps({ evidence }: { readonly evidence: Evidence }) {
  const texts = useText()
  const { language } = useLanguage()
  return <Track steps={deskSteps(evidence, texts, language)} />
}

function Resolve({ item }: { readonly item: OpenItem }) {
  const { operator } = useText()
  const { desk } = operator
  const { language } = useLanguage()
  const environment = useEnvironment()
  const form = useRef<HTMLFormElement>(null)
  const resolve = useAct('console.operator.desk.resolve', { stale: ['console.operator.'] })
  const [paid, setPaid] = useState('paid')
  const [e2e, setE2e] = useState('')
  const [evidence, setEvidence] = useState('')
  const [despite, setDespite] = useState(false)
  const [tried, setTried] = useState(false)
  const [acted, setActed] = useState<Acted>()
  const payout = item.kind === 'payout'
  const wants_id = payout && paid === 'paid'
  const wants_statement = paid === 'unpaid' && item.accepted_at !== null
  const mistakes = {
    e2e: wants_id && !E2E.test(e2e.trim()) ? desk.e2e_wrong : undefined,
    evidence: evidence.trim() === '' ? desk.evidence_missing : undefined,
  }
  const outcome = paid !== 'paid' ? 'failed' : payout ? 'completed' : 'confirmed'
  const word = desk.outcome[outcome] ?? outcome

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (mistakes.e2e !== undefined || mistakes.evidence !== undefined) {
      requestAnimationFrame(() => focusFirstMistake(form.current))
      return
    }
    const body = {
      paid: paid === 'paid',
      evidence: evidence.trim(),
      ...(wants_id ? { end_to_end_id: e2e.trim() } : {}),
      ...(wants_statement && despite ? { despite_acceptance: true } : {}),
    }
    const done = await resolve
      .mutateAsync({ params: { environment, id: item.id }, body })
      .catch(() => undefined)
    if (done !== undefined) setActed(done)
  }

  return (
    <form ref={form} className="stack-4" onSubmit={submit} noValidate>
      <div className="h flat">
        <h2>{desk.resolve}</h2>
        <span className="quiet small">
          {environment === 'production' ? desk.resolve_about : desk.resolve_sandbox}
        </span>
      </div>
      <Radios
        label={desk.what}
        value={paid}
        onValue={setPaid}
        options={[
          { value: 'paid', label: desk.paid, hint: payout ? desk.paid_payout : desk.paid_transfer },
          {
            value: 'unpaid',
            label: desk.unpaid,
            hint: desk.unpaid_hint(amountText(item.in_transit, item.asset, { language })),
          },
        ]}
      />
      {wants_id && (
        <Field label={desk.e2e} error={tried ? mistakes.e2e : undefined}>
          <Input value={e2e} onValue={setE2e} mono autoComplete="off" spellCheck={false} maxLength={64} />
        </Field>
      )}
      {wants_statement && (
        <Checkbox
          checked={despite}
          onChecked={setDespite}
          label={desk.despite(listTime(item.accepted_at!, { language }))}
          hint={desk.despite_hint}
        />
      )}
      <Field label={desk.evidence} hint={desk.evidence_hint} error={tried ? mistakes.evidence : undefined}>
        <TextArea value={evidence} onValue={setEvidence} rows={2} maxLength={1000} />
      </Field>
      <div className="row wrap">
        <Button kind="primary" type="submit" busy={resolve.isPending && desk.proposing}>
          {environment === 'production' ? desk.propose(word) : desk.resolve_now(word)}
        </Button>
        <span className="faint small">{desk.asks_code}</span>
      </div>
      {resolve.isError && <Failure error={resolve.error} />}
      {acted !== undefined && <ActedNote acted={acted} />}
    </form>
  )
}

/** Settlements that one operator proposed and another has to decide on. */
function Waiting({ items, onDecided }: Pick<Props, 'onDecided'> & { readonly items: readonly OpenItem[] }) {
  const { operator } = useText()
  const { desk } = operator
  return (
    <div className="stack second">
      <h2>{desk.second}</h2>
      {items.length === 0 && <p className="quiet small">{desk.nothing_waits}</p>}
      {items.map(
        (item) =>
          item.proposal !== null && (
            <Proposed key={item.id} item={item} proposal={item.proposal} onDecided={onDecided} />
          ),
      )}
    </div>
  )
}

type ProposedProps = Pick<Props, 'item' | 'onDecided'> & {
  readonly proposal: NonNullable<OpenItem['proposal']>
}

function Proposed({ item, proposal, onDecided }: ProposedProps) {
  const { operator } = useText()
  const { desk, proposals } = operator
  const { language } = useLanguage()
  const { kind, customer, in_transit, asset } = item
  const values = {
    amount: amountText(in_transit, asset, { language }),
    who: isolated(customer.name),
    paid: proposal.outcome !== 'failed',
    role: '',
  }
  const question = {
    ...proposal,
    sentence: proposals.sentence[`resolve_${kind}`]?.(values) ?? '',
    amount: in_transit,
    asset,
    customer: customer.name,
    reason: proposal.evidence,
  }
  return (
    <div className="code bare">
      <div className="top">
        <b className="ink">
          {customer.name}, <Amount units={in_transit} asset={asset} />{' '}
          {desk.outcome[proposal.outcome] ?? proposal.outcome}
        </b>
        <span className="push">
          {desk.proposed(
            listTime(proposal.proposed_at, { language }),
            proposal.mine ? desk.you : proposal.proposed_by,
          )}
        </span>
      </div>
      <div className="pad stack">
        <p>
          “{proposal.evidence}”{' '}
          {proposal.end_to_end_id !== null && <span className="mono quiet">{proposal.end_to_end_id}</span>}
        </p>
        {proposal.despite_acceptance && <p>{desk.despite_stated}</p>}
        <Decide question={question} onDecided={onDecided} />
      </div>
    </div>
  )
}
