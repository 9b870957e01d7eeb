import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useText } from '../../text/text.tsx'
import { Failure } from '../../ui/failure.tsx'
import { EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Rich } from '../../ui/rich.tsx'
import { Glyph, type Shape, Status } from '../../ui/status.tsx'
import { Time, useAge } from '../../ui/time.tsx'
import { MoneySections } from './money.tsx'
import { AuditLine, RailTable } from './rails.tsx'
import './operator.css'

type Seen = Reply<'console.operator.overview.get'>

/** What needs an operator's attention. */
export function OperatorOverviewPage() {
  const { operator } = useText()
  const { overview } = operator
  const environment = useEnvironment()
  const seen = useCall(
    'console.operator.overview.get',
    { params: { environment } },
    { live: ['exceptions', 'proposals', 'payout', 'transfer'] },
  )
  return (
    <>
      <PageHead
        title={overview.title}
        about={seen.data === undefined ? undefined : overview.partners(seen.data.partners)}
      />
      {seen.isError && (
        <Section>
          <Failure error={seen.error} onAgain={() => void seen.refetch()} reading />
        </Section>
      )}
      {seen.data !== undefined && (
        <>
          <Section title={overview.attention}>
            <Attention seen={seen.data} />
          </Section>
          <MoneySections money={seen.data.money} />
          <Section title={overview.rails}>
            <RailTable rails={seen.data.rails} />
          </Section>
          <Section title={overview.audit}>
            <ProofLine money={seen.data.money} />
            <AuditLine {...seen.data.audit} />
          </Section>
        </>
      )}
      <EndMark />
    </>
  )
}

/** The result of the last proof of the ledger. */
function ProofLine({ money: { proved_at, found } }: Pick<Seen, 'money'>) {
  const { operator } = useText()
  const { proof } = operator
  if (proved_at === null) return <Status state="waiting">{proof.none}</Status>
  return (
    <p className="row wrap">
      <Status state={found === 0 ? 'done' : 'failed'}>
        {found === 0 ? proof.proven : proof.wrong(found)}
      </Status>
      <span className="quiet">
        <Time at={proved_at} />
      </span>
    </p>
  )
}

type Line = {
  readonly key: string
  readonly shape: Shape
  readonly text: string
  readonly since?: ReactNode
  readonly to: 'desk' | 'proposals' | 'proof' | 'people'
  readonly search?: Readonly<Record<string, string>>
}

function Attention({ seen }: { readonly seen: Seen }) {
  const { operator } = useText()
  const { overview } = operator
  const environment = useEnvironment()
  const lines = useLinesOf(seen)
  if (lines.length === 0) return <p className="quiet">{overview.nothing}</p>
  return (
    <ul className="att">
      {lines.map(({ key, shape, text, since, to, search = {} }) => (
        <li key={key}>
          <span className={shape === 'attention' ? 'warn' : `st ${shape}`}>
            <Glyph shape={shape} />
          </span>
          <span>
            <Rich>{text}</Rich>
          </span>
          <span className="since quiet small">{since}</span>
          <Link to={`/operator/$environment/${to}`} params={{ environment }} search={search as never}>
            {overview.look}
          </Link>
        </li>
      ))}
    </ul>
  )
}

function useLinesOf({ desk, proposals, exceptions, audit, operators }: Seen): Line[] {
  const { operator } = useText()
  const { overview } = operator
  const environment = useEnvironment()
  const lines: (Line | false)[] = [
    audit.findings > 0 && {
      key: 'audit',
      shape: 'failed',
      text: overview.findings(audit.findings),
      to: 'proof',
    },
    desk.open > 0 && {
      key: 'desk',
      shape: 'unknown',
      text: overview.desk(desk.open),
      since: desk.oldest_at !== null && <Age at={desk.oldest_at} />,
      to: 'desk',
    },
    proposals.for_me > 0 && {
      key: 'proposals',
      shape: 'waiting',
      text: overview.proposals(proposals.for_me),
      to: 'proposals',
    },
    ...exceptions.map(
      ({ kind, rail, count }): Line => ({
        key: `${kind} ${rail}`,
        shape: 'attention',
        text: overview.exceptions(count, kind),
        to: 'desk',
        search: { tab: 'exceptions' },
      }),
    ),
    environment === 'production' &&
      operators.deciding < 2 && {
        key: 'two',
        shape: 'attention',
        text: overview.not_two,
        to: 'people',
      },
  ]
  return lines.filter((line): line is Line => line !== false)
}

function Age({ at }: { readonly at: string }) {
  const { ui } = useText()
  return ui.for(useAge(at))
}
