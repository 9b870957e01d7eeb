import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { Details } from '../../ui/details.tsx'
import { Failure } from '../../ui/failure.tsx'
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
  readonly onDecided: (acted: Acted) => void
}

/** A second operator may approve or reject; the operator who proposed may only withdraw. */
export function Decide({ question, onDecided }: Props) {
  const { id, mine } = question
  const { operator } = useText()
  const { desk } = operator
  const { person, may } = useSession()
  const environment = useEnvironment()
  const withdraw = useAct('console.operator.proposals.withdraw', { stale })
  const [asking, setAsking] = useState<'approve' | 'refuse'>()
  const close = () => setAsking(undefined)

  if (!may('operator.decide')) return <p className="quiet small">{desk.may_not}</p>

  return (
    <div className="stack">
      <div className="row wrap">
        <Button kind={mine ? 'normal' : 'primary'} disabled={mine} onClick={() => setAsking('approve')}>
          {desk.approve}
        </Button>
        {mine ? (
          <Button
            busy={withdraw.isPending && desk.withdrawing}
            onClick={() => withdraw.mutate({ params: { environment, proposal_id: id }, body: {} })}
          >
            {desk.withdraw}
          </Button>
        ) : (
          <Button onClick={() => setAsking('refuse')}>{desk.refuse}</Button>
        )}
        <span className="quiet small push">{mine ? desk.own : desk.you_are_second(person.name)}</span>
      </div>
      {withdraw.isError && <Failure error={withdraw.error} />}
      {asking === 'approve' && <Approve question={question} onApproved={onDecided} onClose={close} />}
      {asking === 'refuse' && <Refuse id={id} onClose={close} />}
    </div>
  )
}

/** The result of a decision: an activation code or password until the operator has stored it, then a note. */
export function Decided({ acted }: { readonly acted: Acted | undefined }) {
  const [stored, setStored] = useState<Acted>()
  if (acted === undefined) return null
  if (hasSecret(acted) && stored !== acted) return <ShownOnce acted={acted} onDone={() => setStored(acted)} />
  return <ActedNote acted={acted} />
}

type ApproveProps = {
  readonly question: Question
  readonly onApproved: (acted: Acted) => void
  readonly onClose: () => void
}

/** The last confirmation before an approval takes effect. */
function Approve({ question, onApproved, onClose }: ApproveProps) {
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
      onActed={onApproved}
      onClose={onClose}
    >
      <p className="med">{sentence}</p>
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

function Refuse({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { operator } = useText()
  const { desk } = operator
  const environment = useEnvironment()
  const reject = useAct('console.operator.proposals.reject', { stale })
  const [reason, setReason] = useState('')
  return (
    <ActDialog
      title={desk.refuse_title}
      verb={desk.refuse_verb}
      busy={operator.customer.working}
      blocked={reason.trim() === ''}
      onAct={() => reject.mutateAsync({ params: { environment, proposal_id: id }, body: { reason } })}
      onActed={() => {}}
      onClose={onClose}
    >
      <Field label={desk.why}>
        <TextArea value={reason} onValue={setReason} maxLength={200} />
      </Field>
    </ActDialog>
  )
}
