import { useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import type { PixCharge } from '../../api/types.ts'
import { useEnvironment } from '../../environment.ts'
import { amountText } from '../../format/amount.ts'
import { isolated } from '../../format/id.ts'
import { minuteTime } from '../../format/time.ts'
import { MadeBy } from '../../object/made-by.tsx'
import { ObjectEvents } from '../../object/object-events.tsx'
import { useSession } from '../../session.tsx'
import { useChargeText } from '../../text/charges/use-charge-text.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Button } from '../../ui/button.tsx'
import { CopiedNote, useCopy } from '../../ui/copy.tsx'
import { Details, metadataRows } from '../../ui/details.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Id } from '../../ui/id.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Notice } from '../../ui/notice.tsx'
import { EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Qr } from '../../ui/qr.tsx'
import { Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { useSeen, useView } from '../../view.tsx'
import { ObjectPage } from '../money/object-page.tsx'
import { CustomerDetail, KeyDetail } from '../money/order.tsx'
import { meaningsOf } from './meaning.ts'
import { PayDialog } from './pay-form.tsx'
import { Payments } from './payments.tsx'
import '../money/money.css'
import './charges.css'

type Page = Reply<'console.charges.get'>

/** As apps of banks call it, in every language. */
const COPIA_E_COLA = 'Pix Copia e Cola'

export function ChargePage() {
  const words = useChargeText()
  const environment = useEnvironment()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const query = useSeen(
    'console.charges.get',
    { params: { environment, charge_id: id } },
    { live: ['charge', 'deposit', 'webhook_endpoint'] },
  )
  return (
    <ObjectPage id={id} list="charges" words={words} query={query}>
      {(page) => <Charge page={page} />}
    </ObjectPage>
  )
}

function Charge({ page }: { readonly page: Page }) {
  const words = useChargeText()
  const { money } = useText()
  const [said, setSaid] = useState<ReactNode>()
  const { charge, customer, payments, events, request } = page
  return (
    <>
      <PageHead
        tab={words.one}
        title={
          <span className="value">
            <Amount units={charge.amount} asset="BRL" />{' '}
            <small className="quiet">{words.for_name(isolated(customer.name))}</small>
          </span>
        }
        under={
          <>
            <Status state={charge.status} large>
              {words.state[charge.status]}
            </Status>
            <span className="quiet">
              <When charge={charge} />
            </span>
          </>
        }
        actions={<Actions charge={charge} onSaid={setSaid} />}
      />
      <Meanings page={page} said={said} />
      <div className="cols c31">
        <div>
          <ToPay charge={charge} />
          <Payments charge={charge} payments={payments} />
          <ObjectEvents events={events} />
          <MadeBy request={request} partly />
        </div>
        <aside className="sec" aria-label={money.details.title}>
          <div className="h">
            <h2>{money.details.title}</h2>
          </div>
          <ChargeDetails page={page} />
        </aside>
      </div>
      <EndMark />
    </>
  )
}

/** Until when the charge can be paid, or when it ended. */
function When({ charge }: { readonly charge: PixCharge }) {
  const words = useChargeText()
  const { language } = useLanguage()
  const { status, expires_at, paid_at, failed_at } = charge
  const until = minuteTime(expires_at, { language })
  if (status === 'open' || status === 'pending') return words.until(until)
  const end = { paid: paid_at, expired: expires_at, failed: failed_at }[status]
  return end === undefined ? null : minuteTime(end, { language })
}

/** What the payments so far mean for the money, in words. */
function Meanings({ page, said }: { readonly page: Page; readonly said: ReactNode }) {
  const { means, failure_text } = useChargeText()
  const { language } = useLanguage()
  const { charge, payments } = page
  const text = (units: string) => amountText(units, 'BRL', { language })
  const received = text(charge.amount_received)
  const found = meaningsOf(charge, payments)
  if (found.length === 0 && said === undefined && charge.failure === undefined) return null
  const sentence = (one: (typeof found)[number]): string => {
    switch (one.kind) {
      case 'part_open':
        return means.part_open(received, text(one.missing), minuteTime(charge.expires_at, { language }))
      case 'part_expired':
        return means.part_expired(received, text(one.missing))
      case 'again':
      case 'more':
        return means[one.kind](text(one.above))
      case 'waits':
        return means.waits(text(one.amount))
      default:
        return means[one.kind]
    }
  }
  return (
    <div className="sec tight no-line stack">
      {said}
      {charge.failure !== undefined && <Notice>{failure_text(charge.failure)}</Notice>}
      {found.map((one, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the sentences keep their order
        <Notice key={i} kind={one.kind === 'late' || one.kind === 'unpaid' ? 'calm' : 'warn'}>
          {sentence(one)}
        </Notice>
      ))}
    </div>
  )
}

/** The QR code and the text for payers, while the charge can be paid. */
function ToPay({ charge }: { readonly charge: PixCharge }) {
  const { code: words } = useChargeText()
  const environment = useEnvironment()
  const { copied, copy } = useCopy()
  const { status, pix_copia_e_cola: code } = charge
  if (status === 'pending')
    return (
      <Section title={COPIA_E_COLA}>
        <p className="quiet">{words.pending}</p>
      </Section>
    )
  if (status !== 'open' || code === null) return null
  return (
    <Section title={COPIA_E_COLA}>
      <div className="to-pay">
        <Qr text={code} name={words.qr} />
        <div className="stack">
          <p className="quiet">{words.about}</p>
          <p className="mono wrap-any">{code}</p>
          <div className="row">
            <Button kind="primary" icon="copy" onClick={() => copy(code)}>
              {words.copy}
            </Button>
            <CopiedNote copied={copied} />
          </div>
          {environment === 'sandbox' && <p className="quiet small">{words.sandbox}</p>}
        </div>
      </div>
    </Section>
  )
}

type ActionProps = { readonly charge: PixCharge; readonly onSaid: (said: ReactNode) => void }

function Actions({ charge, onSaid }: ActionProps) {
  const { money } = useText()
  const words = useChargeText()
  const { may } = useSession()
  const view = useView()
  const navigate = useNavigate()
  const environment = useEnvironment()
  const [paying, setPaying] = useState(false)
  const input = { params: { environment, charge_id: charge.id }, body: {} }
  const stale = ['console.charges.', 'console.customers.']
  const expire = useAct('console.charges.expire', { stale })
  const redeliver = useAct('console.charges.redeliver', { stale })

  const attempt = async (run: () => Promise<ReactNode>) => {
    onSaid(undefined)
    onSaid(await run().catch((error: unknown) => <Failure error={error} />))
  }
  const end = () =>
    attempt(async () => {
      await expire.mutateAsync(input)
      return undefined
    })
  const again = () =>
    attempt(async () => {
      const { redelivered } = await redeliver.mutateAsync(input)
      if (redelivered === 0) return <Notice>{money.again.none}</Notice>
      return <Notice kind="calm">{money.again.done(redelivered)}</Notice>
    })
  const plays = environment === 'sandbox' && may('sandbox.act')
  return (
    <>
      {plays && charge.pix_copia_e_cola !== null && (
        <Button onClick={() => setPaying(true)}>{words.pay.button}</Button>
      )}
      {plays && charge.status === 'open' && (
        <Button busy={expire.isPending && words.expiring} onClick={() => void end()}>
          {words.expire}
        </Button>
      )}
      {may('webhooks.write') && (
        <Button icon="webhooks" busy={redeliver.isPending && money.again.busy} onClick={() => void again()}>
          {money.again.button}
        </Button>
      )}
      {view === undefined && (
        <Menu
          items={[
            {
              label: words.all_of_customer,
              onPick: () =>
                void navigate({
                  to: '/$environment/charges',
                  params: { environment },
                  search: { customer_id: charge.customer_id } as never,
                }),
            },
          ]}
        />
      )}
      {paying && <PayDialog charge={charge} onClose={() => setPaying(false)} />}
    </>
  )
}

function ChargeDetails({ page }: { readonly page: Page }) {
  const { money } = useText()
  const words = useChargeText()
  const { charge, customer, request } = page
  const { pix_copia_e_cola: code, failure } = charge
  return (
    <Details
      rows={[
        [money.customer, <CustomerDetail key="customer" customer={customer} />],
        [money.amount, <Amount key="amount" units={charge.amount} asset="BRL" />],
        [words.received, <Amount key="received" units={charge.amount_received} asset="BRL" />],
        [words.description, charge.description && <bdi>{charge.description}</bdi>],
        [
          words.failure,
          failure && (
            <span className="mono">
              {failure.code} {failure.rail_code !== undefined && failure.rail_code}
            </span>
          ),
        ],
        [words.txid, <Id key="txid" id={charge.txid} as="address" />],
        [COPIA_E_COLA, code !== null && <Id key="code" id={code} as="address" />],
        [
          money.idempotency_key,
          <span key="key" className="mono wrap-any">
            {charge.idempotency_key}
          </span>,
        ],
        ...metadataRows(charge.metadata),
        [money.details.request, request.id !== null && <Id id={request.id} />],
        [money.details.key, <KeyDetail key="key" request={request} />],
        [words.created, <Time key="created" at={charge.created_at} as="detail" />],
        [
          charge.status === 'expired' ? words.expired_at : words.expires,
          <Time key="expires" at={charge.expires_at} as="detail" />,
        ],
        [words.paid_at, charge.paid_at && <Time at={charge.paid_at} as="detail" />],
        [words.failed_at, charge.failed_at && <Time at={charge.failed_at} as="detail" />],
      ]}
    />
  )
}
