import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { Details } from '../../ui/details.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { ActDialog, type Acted, ActedNote, hasSecret, ShownOnce } from './acted.tsx'

export type Proposal = Reply<'console.operator.proposals.list'>['data'][number]

const stale = ['console.operator.']

/** A proposal to decide on: the act, the amount, the customer and the reason. */
type Question = {
  readonly id: string
  readonly mine: boolean
  readonly sentence: string
  readonly amount: string | null
  readonly asset: string | null
  readonly customer: string | null
  readonly reason: string
  readonly proposed_by: string
}

type Props = {
  readonly question: Question
  /** Passes the result to the page, because this component disappears once the proposal is closed. */
  readonly onDecided: (acted: Acted, words: string) => void
}

/** A second operator may approve or reject; the operator who proposed may only withdraw. */
export function Decide({ question, onDecided }: Props) {
  const { mine } = question
  const { operator } = useText()
  const { desk } = operator
  const { person, may } = useSession()
  const [asking, setAsking] = useState<'approve' | 'refuse' | 'withdraw'>()
  const close = () => setAsking(undefined)

  if (!may('operator.decide')) return <p className="quiet small">{desk.may_not}</p>

  return (
    <div className="stack">
      <div className="row wrap">
        <Button kind={mine ? 'normal' : 'primary'} disabled={mine} onClick={() => setAsking('approve')}>
          {desk.approve}
        </Button>
        {mine ? (
          <Button onClick={() => setAsking('withdraw')}>{desk.withdraw}</Button>
        ) : (
          <Button onClick={() => setAsking('refuse')}>{desk.refuse}</Button>
        )}
        <span className="quiet small push">{mine ? desk.own : desk.you_are_second(person.name)}</span>
      </div>
      {asking === 'approve' && <Approve question={question} onDecided={onDecided} onClose={close} />}
      {asking === 'refuse' && <Refuse question={question} onDecided={onDecided} onClose={close} />}
      {asking === 'withdraw' && <Withdraw question={question} onDecided={onDecided} onClose={close} />}
    </div>
  )
}

/** The result of a decision: an activation code or password until the operator has stored it, then a note. */
export function Decided({ acted, words }: { readonly acted: Acted; readonly words?: string | undefined }) {
  const [stored, setStored] = useState<Acted>()
  if (hasSecret(acted) && stored !== acted) return <ShownOnce acted={acted} onDone={() => setStored(acted)} />
  return <ActedNote acted={acted} words={words} />
}

type DecisionProps = Props & { readonly onClose: () => void }

/** The last confirmation before an approval takes effect. */
function Approve({ question, onDecided, onClose }: DecisionProps) {
  const { operator } = useText()
  const { desk, proposals } = operator
  const environment = useEnvironment()
  const approve = useAct('console.operator.proposals.approve', { stale })
  const { id, sentence, amount, asset, customer, reason, proposed_by } = question
  return (
    <ActDialog
      title={desk.approve_title[environment]}
      verb={desk.approve_verb}
      busy={desk.approving}
      onAct={() => approve.mutateAsync({ params: { environment, proposal_id: id } })}
      onActed={(acted) => onDecided(acted, desk.approved_words(sentence))}
      onClose={onClose}
    >
      <p className="med">{desk.approve_words(sentence, proposed_by)}</p>
      <Details
        rows={[
          [proposals.amount, amount !== null && asset !== null && <Amount units={amount} asset={asset} />],
          [proposals.customer, customer !== null && <bdi>{customer}</bdi>],
          [proposals.reason, reason !== '' && `“${reason}”`],
          [proposals.by, proposed_by],
        ]}
      />
    </ActDialog>
  )
}

function Refuse({ question, onDecided, onClose }: DecisionProps) {
  const { operator } = useText()
  const { desk } = operator
  const environment = useEnvironment()
  const reject = useAct('console.operator.proposals.reject', { stale })
  const [reason, setReason] = useState('')
  const { id, sentence, proposed_by } = question
  return (
    <ActDialog
      title={desk.refuse_title}
      verb={desk.refuse_verb}
      busy={operator.customer.working}
      blocked={reason.trim() === ''}
      onAct={() => reject.mutateAsync({ params: { environment, proposal_id: id }, body: { reason } })}
      onActed={(acted) => onDecided(acted, desk.refused_words(sentence))}
      onClose={onClose}
    >
      <p className="med">{desk.refuse_words(sentence, proposed_by)}</p>
      <Field label={desk.why}>
        <TextArea value={reason} onValue={setReason} maxLength={200} />
      </Field>
    </ActDialog>
  )
}

function Withdraw({ question, onDecided, onClose }: DecisionProps) {
  const { operator } = useText()
  const { desk } = operator
  const environment = useEnvironment()
  const withdraw = useAct('console.operator.proposals.withdraw', { stale })
  const { id, sentence } = question
  return (
    <ActDialog
      title={desk.withdraw_title}
      verb={desk.withdraw_verb}
      busy={desk.withdrawing}
      onAct={() => withdraw.mutateAsync({ params: { environment, proposal_id: id }, body: {} })}
      onActed={(acted) => onDecided(acted, desk.withdrawn_words(sentence))}
      onClose={onClose}
    >
      <p className="med">{desk.withdraw_words(sentence)}</p>
    </ActDialog>
  )
}
