import { type ReactNode, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { amountText } from '../../format/amount.ts'
import { explorerUrl } from '../../format/explorer.ts'
import { isolated } from '../../format/id.ts'
import { listTime } from '../../format/time.ts'
import { useSession } from '../../session.tsx'
import { saidText } from '../../text/said-text.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Checkbox, Field, TextArea } from '../../ui/field.tsx'
import { Id } from '../../ui/id.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { ActDialog, type Acted, ActedNote } from './acted.tsx'
import { feeText, gasPaidText } from './fee-text.ts'

type Item = Reply<'console.operator.desk.get'>
type Transaction = Item['transactions'][number]

const POLL_MS = 3000
/** What workers sign and what the chain mines creates no event. */
const isOpen = (seen: Item | undefined): boolean =>
  seen === undefined || seen.item.status === 'pending' || seen.item.status === 'processing'

/** What operators see on the page of a transfer: everything that was signed for it, and the button that cancels it. */
export function TransferTransactions({ id }: { readonly id: string }) {
  const environment = useEnvironment()
  const { operator } = useText()
  const { may } = useSession()
  const one = useCall(
    'console.operator.desk.get',
    { params: { environment, id } },
    { live: ['exceptions', 'proposals', 'transfer'], keep: true, every: (seen) => isOpen(seen) && POLL_MS },
  )
  const [done, setDone] = useState<{ acted: Acted; words: string }>()
  if (one.isError) return <Failure error={one.error} onAgain={() => void one.refetch()} reading />
  if (one.data === undefined) return null
  const can_cancel = one.data.cancelable && one.data.item.proposal === null && may('operator.decide')
  return (
    <Section
      title={operator.desk.transactions.title}
      about={operator.desk.transactions.about}
      actions={
        can_cancel && <Cancel item={one.data.item} onActed={(acted, words) => setDone({ acted, words })} />
      }
    >
      {done !== undefined && <ActedNote acted={done.acted} words={done.words} />}
      <Transactions of={one.data} />
    </Section>
  )
}

/** The transactions of a transfer, oldest first; nothing for a payout. */
export function Transactions({ of }: { readonly of: Item }) {
  const { operator, ui } = useText()
  const { transactions: words } = operator.desk
  const { language } = useLanguage()
  if (of.item.kind !== 'transfer') return null
  return (
    <div className="stack">
      {of.cancel_requested_at !== null && (
        <Notice kind="calm">
          {operator.desk.cancel.requested(listTime(of.cancel_requested_at, { language }))}
        </Notice>
      )}
      {of.transactions.length === 0 ? (
        <p className="quiet small">
          {words.none}{' '}
          {of.item.last_word?.startsWith('later ') && `${capital(saidText(ui, of.item.last_word))}.`}
        </p>
      ) : (
        <ol className="transactions">
          {of.transactions.map((transaction) => (
            <OneTransaction key={transaction.attempt} of={transaction} rail={of.item.rail} />
          ))}
        </ol>
      )}
    </div>
  )
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function OneTransaction({ of, rail }: { readonly of: Transaction; readonly rail: string }) {
  const { operator } = useText()
  const { transactions: words } = operator.desk
  const { language } = useLanguage()
  const environment = useEnvironment()
  const url = explorerUrl(of.tx_hash, { network: rail, environment })
  return (
    <li>
      <div className="row wrap">
        <b>{words.purpose[of.purpose]}</b>
        <span className="faint small">{words.attempt(of.attempt)}</span>
        <Id id={of.tx_hash} as="address" />
        {url !== undefined && (
          <a href={url} target="_blank" rel="noreferrer">
            {words.explorer}
          </a>
        )}
      </div>
      <p className="quiet small">
        {words.signed} <Time at={of.signed_at} />
        {' · '}
        {of.block_height === null ? words.not_final : words.block(of.block_height)}
        {' · '}
        {gasPaidText(of.gas_paid_wei, { rail, words, language }) ??
          feeText(of.terms, { rail, words, language })}
      </p>
    </li>
  )
}

type CancelProps = {
  readonly item: Item['item']
  readonly onActed: (acted: Acted, words: string) => void
}

/** The button, and the dialog that asks for the reason and says what a cancel does. */
export function Cancel({ item, onActed }: CancelProps): ReactNode {
  const { operator } = useText()
  const { desk } = operator
  const { language } = useLanguage()
  const environment = useEnvironment()
  const sandbox = environment === 'sandbox'
  const cancel = useAct('console.operator.desk.cancel', { stale: ['console.operator.'] })
  const [asking, setAsking] = useState(false)
  const [reason, setReason] = useState('')
  const [tried, setTried] = useState(false)
  const [rehearsed, setRehearsed] = useState(false)
  const by_two = !sandbox || rehearsed
  const words = desk.cancel.says({
    amount: amountText(item.in_transit, item.asset, { language }),
    customer: isolated(item.customer.name),
  })
  const act = async () => {
    setTried(true)
    if (reason.trim() === '') return undefined
    const body = { reason: reason.trim(), ...(sandbox && rehearsed ? { rehearsed } : {}) }
    return cancel.mutateAsync({ params: { environment, id: item.id }, body })
  }
  return (
    <>
      <Button onClick={() => setAsking(true)}>{desk.cancel.button}</Button>
      {asking && (
        <ActDialog
          title={desk.cancel.title[environment]}
          verb={by_two ? desk.cancel.propose : desk.cancel.now}
          busy={desk.proposing}
          dismiss={desk.cancel.keep}
          onAct={act}
          onActed={(acted) => onActed(acted, words)}
          onClose={() => setAsking(false)}
        >
          <p className="med">{words}</p>
          <Field
            label={desk.cancel.reason}
            hint={desk.cancel.reason_hint}
            error={tried && reason.trim() === '' ? desk.cancel.reason_missing : undefined}
          >
            <TextArea value={reason} onValue={setReason} rows={2} maxLength={500} />
          </Field>
          {sandbox && (
            <Checkbox
              checked={rehearsed}
              onChecked={setRehearsed}
              label={desk.rehearse}
              hint={desk.rehearse_hint}
            />
          )}
          <p className="quiet small">{by_two ? desk.then_second : desk.then_final}</p>
        </ActDialog>
      )}
    </>
  )
}
