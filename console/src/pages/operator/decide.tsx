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

/** A proposal as it is decided upon: what happens, to how much of whose, and why. */
export type Question = {
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
  /** Told to the page: what is drawn here is gone as soon as the proposal is no longer open. */
  readonly onDecided: (acted: Acted) => void
}

/** Approve and refuse for the second person; for who proposed it only to withdraw it. */
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

/** What came of a decision, held by the page: a half of a password until it is stored, then a note. */
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

/** The last look: what is about to be done, before it is. */
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
