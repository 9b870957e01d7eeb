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
import { useNow } from '../../ui/time.tsx'
import { Track } from '../../ui/track.tsx'
import { ActDialog, type Acted } from './acted.tsx'
import { Decide } from './decide.tsx'
import { deskSteps, type Evidence } from './desk-steps.tsx'
import { OperatorId } from './object.tsx'
import { Cancel, Transactions } from './transactions.tsx'

export type OpenItem = Reply<'console.operator.desk.list'>['open'][number]

const E2E = /^E[0-9A-Z]{8}[0-9]{12}[A-Za-z0-9]{11}$/

export type OnDecided = (acted: Acted, words: string) => void

type Props = {
  readonly item: OpenItem
  readonly onDecided: OnDecided
}

type BodyProps = {
  /** The payment that the operator chose. */
  readonly item: OpenItem | undefined
  readonly waiting: readonly OpenItem[]
  readonly onDecided: OnDecided
}

/** The chosen payment with its evidence and the form to settle it, and what waits for a second person. */
export function DeskBody({ item, waiting, onDecided }: BodyProps) {
  const { may } = useSession()
  const { operator } = useText()
  const { desk } = operator
  return (
    <div className="cols c12 grow">
      <section className="sec">
        {item === undefined ? <p className="quiet">{desk.choose}</p> : <EvidenceOf item={item} />}
      </section>
      <section className="sec stack-4">
        {item !== undefined && item.proposal === null && may('operator.decide') && (
          <>
            <Resolve item={item} onDecided={onDecided} />
            <CancelOpen item={item} onDecided={onDecided} />
          </>
        )}
        <Waiting items={waiting} onDecided={onDecided} />
      </section>
    </div>
  )
}

function EvidenceOf({ item }: { readonly item: OpenItem }) {
  const environment = useEnvironment()
  const { operator, ui } = useText()
  const { desk } = operator
  const one = useCall(
    'console.operator.desk.get',
    { params: { environment, id: item.id } },
    { live: ['exceptions', 'payout', 'transfer'], keep: true },
  )
  return (
    <>
      <div className="h">
        <h2>{desk.evidence}</h2>
        <OperatorId id={item.id} />
        <span className="push faint small">
          <Asked item={one.data?.item ?? item} />
        </span>
      </div>
      {one.isError && <Failure error={one.error} onAgain={() => void one.refetch()} reading />}
      {one.data !== undefined ? (
        <>
          <Steps evidence={one.data} />
          {item.kind === 'transfer' && (
            <div className="stack second">
              <h2>{desk.transactions.title}</h2>
              <Transactions of={one.data} />
            </div>
          )}
        </>
      ) : (
        !one.isError && <div role="status" aria-busy="true" aria-label={ui.loading} />
      )}
    </>
  )
}

/** A transfer that is being canceled already has no button. */
function CancelOpen({ item, onDecided }: Props) {
  const environment = useEnvironment()
  const { operator } = useText()
  const is_transfer = item.kind === 'transfer'
  const one = useCall(
    'console.operator.desk.get',
    { params: { environment, id: item.id } },
    { keep: true, when: is_transfer },
  )
  if (!is_transfer || one.data?.cancelable !== true) return null
  return (
    <div className="stack second">
      <h2>{operator.desk.cancel.now}</h2>
      <div className="row wrap">
        <Cancel item={item} onActed={onDecided} />
      </div>
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

type Outcome = 'paid' | 'unpaid'

/** What the operator says about a payment, its mistakes, and the words for the confirmation. */
function useResolution(item: OpenItem) {
  const { operator } = useText()
  const { desk } = operator
  const { language } = useLanguage()
  const sandbox = useEnvironment() === 'sandbox'
  // Nothing is preselected: the outcome is what the operator says, never what the page suggests.
  const [chosen, setChosen] = useState<Outcome>()
  const [e2e, setE2e] = useState('')
  const [evidence, setEvidence] = useState('')
  const [despite, setDespite] = useState(false)
  const [rehearsed, setRehearsed] = useState(false)
  const payout = item.kind === 'payout'
  const wants_id = payout && chosen === 'paid'
  const wants_statement = chosen === 'unpaid' && item.accepted_at !== null
  const outcome = chosen !== 'paid' ? 'failed' : payout ? 'completed' : 'confirmed'
  const word = desk.outcome[outcome] ?? outcome
  const by_two = !sandbox || rehearsed
  return {
    ...{
      chosen,
      setChosen,
      e2e,
      setE2e,
      evidence,
      setEvidence,
      despite,
      setDespite,
      rehearsed,
      setRehearsed,
    },
    ...{ payout, sandbox, wants_id, wants_statement, by_two },
    mistakes: {
      outcome: chosen === undefined ? desk.what_missing : undefined,
      e2e: wants_id && !E2E.test(e2e.trim()) ? desk.e2e_wrong : undefined,
      evidence: evidence.trim() === '' ? desk.evidence_missing : undefined,
    },
    verb:
      chosen === undefined
        ? by_two
          ? desk.propose_any
          : desk.resolve_any
        : by_two
          ? desk.propose(word)
          : desk.resolve_now(word),
    said: desk.you_say({
      amount: amountText(item.in_transit, item.asset, { language }),
      to: isolated(item.to),
      customer: isolated(item.customer.name),
      kind: item.kind,
      paid: chosen === 'paid',
      end_to_end_id: e2e.trim(),
    }),
    body: {
      paid: chosen === 'paid',
      evidence: evidence.trim(),
      ...(wants_id ? { end_to_end_id: e2e.trim() } : {}),
      ...(wants_statement && despite ? { despite_acceptance: true } : {}),
      ...(sandbox && rehearsed ? { rehearsed } : {}),
    },
  }
}

type Resolution = ReturnType<typeof useResolution>

function Resolve({ item, onDecided }: Props) {
  const { operator } = useText()
  const { desk } = operator
  const environment = useEnvironment()
  const form = useRef<HTMLFormElement>(null)
  const resolve = useAct('console.operator.desk.resolve', { stale: ['console.operator.'] })
  const resolution = useResolution(item)
  const [tried, setTried] = useState(false)
  const [asking, setAsking] = useState(false)
  const { by_two, verb, said, body, evidence, mistakes } = resolution

  const check = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (Object.values(mistakes).some((mistake) => mistake !== undefined))
      requestAnimationFrame(() => focusFirstMistake(form.current))
    else setAsking(true)
  }

  return (
    <>
      <form ref={form} className="stack-4" onSubmit={check} noValidate>
        <div className="h flat">
          <h2>{desk.resolve}</h2>
          <span className="quiet small">{by_two ? desk.resolve_about : desk.resolve_sandbox}</span>
        </div>
        <ResolutionFields item={item} of={resolution} tried={tried} />
        <div className="row wrap">
          <Button kind="primary" type="submit">
            {verb}…
          </Button>
          <span className="faint small">{desk.asks_code}</span>
        </div>
      </form>
      {asking && (
        <ActDialog
          title={desk.resolve_title[environment]}
          verb={verb}
          busy={desk.proposing}
          onAct={() => resolve.mutateAsync({ params: { environment, id: item.id }, body })}
          onActed={(acted) => onDecided(acted, said)}
          onClose={() => setAsking(false)}
        >
          <p className="med">{said}</p>
          {body.despite_acceptance === true && <p>{desk.despite_stated}</p>}
          <p>“{evidence.trim()}”</p>
          <p className="quiet small">{by_two ? desk.then_second : desk.then_final}</p>
        </ActDialog>
      )}
    </>
  )
}

type FieldsProps = { readonly item: OpenItem; readonly of: Resolution; readonly tried: boolean }

function ResolutionFields({ item, of, tried }: FieldsProps) {
  const { operator } = useText()
  const { desk } = operator
  const { language } = useLanguage()
  const { mistakes } = of
  return (
    <>
      <Radios
        label={desk.what}
        value={of.chosen ?? ''}
        onValue={(value) => of.setChosen(value as Outcome)}
        error={tried ? mistakes.outcome : undefined}
        options={[
          { value: 'paid', label: desk.paid, hint: of.payout ? desk.paid_payout : desk.paid_transfer },
          {
            value: 'unpaid',
            label: desk.unpaid,
            hint: desk.unpaid_hint(amountText(item.in_transit, item.asset, { language })),
          },
        ]}
      />
      {of.wants_id && (
        <Field label={desk.e2e} error={tried ? mistakes.e2e : undefined}>
          <Input
            value={of.e2e}
            onValue={of.setE2e}
            mono
            autoComplete="off"
            spellCheck={false}
            maxLength={64}
          />
        </Field>
      )}
      {of.wants_statement && (
        <Checkbox
          checked={of.despite}
          onChecked={of.setDespite}
          label={desk.despite(listTime(item.accepted_at!, { language }))}
          hint={desk.despite_hint}
        />
      )}
      <Field label={desk.evidence} hint={desk.evidence_hint} error={tried ? mistakes.evidence : undefined}>
        <TextArea value={of.evidence} onValue={of.setEvidence} rows={2} maxLength={1000} />
      </Field>
      {of.sandbox && (
        <Checkbox
          checked={of.rehearsed}
          onChecked={of.setRehearsed}
          label={desk.rehearse}
          hint={desk.rehearse_hint}
        />
      )}
    </>
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
  const { desk } = operator
  const { language } = useLanguage()
  const { kind, customer, in_transit, asset, to } = item
  const names = { amount: amountText(in_transit, asset, { language }), customer: isolated(customer.name) }
  const sentence =
    proposal.outcome === 'canceled'
      ? desk.cancel.says(names)
      : desk.it_says({
          ...names,
          to: isolated(to),
          kind,
          paid: proposal.outcome !== 'failed',
          end_to_end_id: proposal.end_to_end_id ?? '',
        })
  const question = {
    ...proposal,
    sentence,
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
