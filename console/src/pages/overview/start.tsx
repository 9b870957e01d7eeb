import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useEnvironment } from '../../environment.ts'
import { useText } from '../../text/text.tsx'
import { Code } from '../../ui/code.tsx'
import { Section } from '../../ui/page.tsx'
import { Rich } from '../../ui/rich.tsx'
import type { Overview } from './overview.tsx'

const callOf = (path: string, body: Record<string, unknown>) =>
  `curl ${location.origin}${path} \\
  -H "Authorization: Bearer $TRILHO_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body)}'`

const customer = callOf('/v1/customers', { name: 'Ana Souza', document: '529.982.247-25' })
const deposit = callOf('/v1/sandbox/deposits', { customer_id: 'cus_…', asset: 'BRL', amount: '100000' })
const payout = callOf('/v1/pix/payouts', {
  customer_id: 'cus_…',
  amount: '4820',
  counterparty: { type: 'pix_key', pix_key: '529.982.247-25' },
  idempotency_key: 'first-payout',
})

/** Shown before the first order: the first steps, with their calls. */
export function Start({ of, attention }: { readonly of: Overview; readonly attention: ReactNode }) {
  const { start } = useText().overview
  const environment = useEnvironment()
  const { has_key, pix_ready } = of
  return (
    <>
      {has_key && attention}
      <Section title={start.title} about={pix_ready ? start.about : start.about_not_ready}>
        <ol className="start">
          <Step title={start.key} about={has_key ? start.key_there : start.key_about}>
            <Link className="btn" to="/$environment/developers/keys" params={{ environment }}>
              {start.keys}
            </Link>
          </Step>
          <Step title={start.customer} about={start.customer_about}>
            <Code title={start.shell} as="shell">
              {customer}
            </Code>
          </Step>
          {pix_ready ? <Pay sandbox={environment === 'sandbox'} /> : <NotYet />}
        </ol>
        <p className="quiet">
          <a href="/docs">{start.reference}</a>
        </p>
      </Section>
    </>
  )
}

function Pay({ sandbox }: { readonly sandbox: boolean }) {
  const { start } = useText().overview
  return (
    <Step title={sandbox ? start.money : start.real} about={sandbox ? start.money_about : start.real_about}>
      <Code title={start.shell} as="shell">
        {sandbox ? `${deposit}\n\n${payout}` : payout}
      </Code>
    </Step>
  )
}

/** In place of example calls that the service would refuse. */
function NotYet() {
  const { start } = useText().overview
  return (
    <Step title={start.not_ready} about={start.not_ready_about}>
      <Link className="btn" to="/$environment" params={{ environment: 'sandbox' }}>
        {start.sandbox}
      </Link>
    </Step>
  )
}

type StepProps = { readonly title: string; readonly about: string; readonly children: ReactNode }

const Step = ({ title, about, children }: StepProps) => (
  <li>
    <h3>{title}</h3>
    <p className="quiet">
      <Rich>{about}</Rich>
    </p>
    <div>{children}</div>
  </li>
)
