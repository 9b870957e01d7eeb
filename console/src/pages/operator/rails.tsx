import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { countText } from '../../format/amount.ts'
import { sourceText } from '../../format/source.ts'
import { ageText } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Details } from '../../ui/details.tsx'
import { EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Rich } from '../../ui/rich.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { priceText } from '../conversions/price.ts'
import { ActedNote, useResult } from './acted.tsx'
import { OperatorId } from './object.tsx'
import { PriceSources } from './price-sources.tsx'
import { RailControls } from './rail-controls.tsx'
import { RailCustody, withCustody } from './rail-custody.tsx'
import { railName } from './rail-names.ts'
import { RailSweeps, withSweeps } from './rail-sweeps.tsx'
import { RailTokens, withTokens } from './rail-tokens.tsx'
import './operator.css'

type Rails = Reply<'console.operator.rails.get'>
type Rail = Rails['rails'][number]

/** The health of rails, workers and prices. */
export function RailsPage() {
  const { operator } = useText()
  const { rails } = operator
  const environment = useEnvironment()
  const seen = useCall(
    'console.operator.rails.get',
    { params: { environment } },
    { live: ['exceptions', 'payout', 'transfer'] },
  )
  const { result, show } = useResult(environment)
  return (
    <>
      <PageHead title={rails.title} about={rails.about} />
      {result !== undefined && (
        <Section tight>
          <ActedNote acted={result.acted} words={result.words} />
        </Section>
      )}
      <Section title={operator.overview.rails}>
        <RailTable rails={seen.data?.rails} query={seen} whole />
      </Section>
      {seen.data !== undefined && withCustody(seen.data.rails).length > 0 && (
        <Section title={rails.custody} about={rails.custody_about}>
          <RailCustody rails={withCustody(seen.data.rails)} />
        </Section>
      )}
      {seen.data !== undefined && withSweeps(seen.data.rails).length > 0 && (
        <Section title={rails.sweeps} about={rails.sweeps_about}>
          <RailSweeps rails={withSweeps(seen.data.rails)} />
        </Section>
      )}
      {seen.data !== undefined && withTokens(seen.data.rails).length > 0 && (
        <Section title={rails.unknown_tokens} about={rails.unknown_tokens_about}>
          <RailTokens rails={withTokens(seen.data.rails)} />
        </Section>
      )}
      {seen.data !== undefined && (
        <Section title={rails.controls} about={rails.controls_about}>
          <RailControls rails={seen.data.rails} onActed={show} />
        </Section>
      )}
      {seen.data !== undefined && (
        <Section title={rails.prices}>
          <Prices prices={seen.data.prices} />
        </Section>
      )}
      {seen.data !== undefined && seen.data.markets.length > 0 && (
        <Section title={rails.sources} about={rails.sources_about}>
          <PriceSources markets={seen.data.markets} />
        </Section>
      )}
      {seen.data !== undefined && (
        <div className="cols c21">
          <Section title={rails.workers}>
            <div className="wide-names">
              <Workers seen={seen.data} />
            </div>
          </Section>
          <Section title={rails.node}>
            <div className="wide-names">
              <Node {...seen.data.node} />
            </div>
          </Section>
        </div>
      )}
      {seen.data !== undefined && (
        <Section title={rails.mail}>
          <div className="wide-names">
            <Mail {...seen.data.mail} />
          </div>
        </Section>
      )}
      <EndMark />
    </>
  )
}

type Query = Pick<UseQueryResult, 'isPending' | 'isError' | 'error' | 'refetch' | 'isPlaceholderData'>

type TableProps = {
  readonly rails: readonly Rail[] | undefined
  readonly query?: Query
  /** With the amount in transit and the last failure, for which the overview has no room. */
  readonly whole?: boolean
}

export function RailTable({ rails: rows, query, whole = false }: TableProps) {
  const { operator } = useText()
  const { rails } = operator
  const { language } = useLanguage()
  return (
    <Table<Rail>
      label={operator.overview.rails}
      rows={rows}
      {...(query === undefined ? {} : { query })}
      keyOf={({ rail }) => rail}
      look="plain"
      columns={[
        { key: 'rail', head: rails.rail, fold: 'm1', className: 'med', cell: ({ rail }) => railName(rail) },
        { key: 'state', head: rails.state, fold: 'a1', cell: (rail) => <State rail={rail} /> },
        {
          key: 'pending',
          head: rails.pending,
          right: true,
          fold: 'named',
          cell: ({ pending }) => countText(pending, language),
        },
        {
          key: 'processing',
          head: rails.processing,
          right: true,
          fold: 'named',
          cell: ({ processing }) => countText(processing, language),
        },
        ...(whole
          ? [
              {
                key: 'amount',
                head: rails.open_amount,
                right: true,
                fold: 'named' as const,
                cell: ({ open_amount, asset }: Rail) => <Amount units={open_amount} asset={asset} />,
              },
            ]
          : []),
        {
          key: 'oldest',
          head: rails.oldest,
          right: true,
          fold: 'named',
          cell: ({ oldest_seconds, oldest_id }) => (
            <Oldest id={oldest_id}>{oldest(oldest_seconds, rails.none_old)}</Oldest>
          ),
        },
        {
          key: 'exceptions',
          head: rails.exceptions,
          right: true,
          fold: 'named',
          cell: ({ exceptions }) => (
            <span className={exceptions > 0 ? 'warn med' : 'quiet'}>{countText(exceptions, language)}</span>
          ),
        },
        ...(whole
          ? [
              {
                key: 'failure',
                head: rails.last_failure,
                fold: 'named' as const,
                cell: ({ last_failure }: Rail) =>
                  last_failure === null ? (
                    <span className="quiet">{rails.none_old}</span>
                  ) : (
                    <OperatorId id={last_failure.id} />
                  ),
              },
            ]
          : []),
      ]}
    />
  )
}

/** The age of the oldest open payment, which leads to the payment. */
function Oldest({ id, children }: { readonly id: string | null; readonly children: string }) {
  const environment = useEnvironment()
  if (id === null) return children
  return (
    <Link to="/operator/$environment/objects/$id" params={{ environment, id }}>
      {children}
    </Link>
  )
}

const oldest = (seconds: number, none: string) => (seconds === 0 ? none : ageText(seconds * 1_000))

function State({ rail: { configured, simulated, message, paused } }: { readonly rail: Rail }) {
  const { operator } = useText()
  const { rails } = operator
  if (paused !== null)
    return (
      <span title={paused.reason}>
        <Status state="attention">{rails.paused}</Status>
      </span>
    )
  if (!configured)
    return (
      <span title={message ?? ''}>
        <Status state="off">{rails.not_configured}</Status>
      </span>
    )
  if (message !== null)
    return (
      <span title={message}>
        <Status state="attention">{rails.unavailable}</Status>
      </span>
    )
  return <Status state="done">{simulated ? rails.simulated : rails.ready}</Status>
}

function Prices({ prices }: { readonly prices: Rails['prices'] }) {
  const { operator, ui } = useText()
  const { rails } = operator
  const { language } = useLanguage()
  return (
    <Table
      label={rails.prices}
      rows={prices}
      keyOf={({ pair }) => pair}
      look="plain"
      empty={<p className="quiet">{rails.no_prices}</p>}
      columns={[
        { key: 'pair', head: rails.pair, fold: 'm1', className: 'med', cell: ({ pair }) => pair },
        {
          key: 'price',
          head: rails.price,
          right: true,
          fold: 'a1',
          className: 'mono',
          cell: ({ price }) => priceText(price, language),
        },
        { key: 'seen', head: rails.seen, fold: 'named', cell: ({ at }) => <Time at={at} /> },
        {
          key: 'source',
          head: rails.source,
          fold: 'named',
          className: 'quiet',
          cell: ({ source }) => sourceText(ui.sources, source),
        },
        {
          key: 'fresh',
          head: rails.state,
          fold: 'named',
          cell: ({ fresh }) => (
            <Status state={fresh ? 'done' : 'attention'}>{fresh ? rails.fresh : rails.old}</Status>
          ),
        },
      ]}
    />
  )
}

function Workers({ seen: { queues, audit } }: { readonly seen: Rails }) {
  const { operator } = useText()
  const { rails } = operator
  const { language } = useLanguage()
  return (
    <Details
      rows={[
        [rails.events_fresh, countText(queues.events_fresh, language)],
        [rails.webhooks_pending, countText(queues.webhooks_pending, language)],
        [rails.webhooks_due, oldest(queues.webhooks_oldest_due_seconds, rails.none_old)],
        [rails.unfolded, oldest(queues.trades_oldest_unfolded_seconds, rails.none_old)],
        [rails.audit, <AuditLine key="audit" {...audit} />],
      ]}
    />
  )
}

/** The progress of the background audit. */
export function AuditLine({ age_seconds, last_finished_at, stage, findings }: Rails['audit']) {
  const { operator } = useText()
  const { rails, overview } = operator
  const done =
    last_finished_at === null || age_seconds === null
      ? rails.audit_never
      : rails.audit_done(ageText(age_seconds * 1_000))
  const text = findings > 0 ? `${overview.findings(findings)} ${done}` : done
  return (
    <Status state={findings > 0 ? 'failed' : last_finished_at === null ? 'waiting' : 'done'}>
      <span>
        <Rich>{stage === null ? text : `${text}, ${rails.audit_stage(stage)}`}</Rich>
      </span>
    </Status>
  )
}

/** Whether mail works. A failure is over once a mail was sent after it. */
function Mail({ configured, sent_at, failed_at, error, waiting, given_up }: Rails['mail']) {
  const { operator } = useText()
  const { rails } = operator
  const { language } = useLanguage()
  const fails = failed_at !== null && (sent_at === null || sent_at < failed_at)
  const time = (at: string | null) => (at === null ? rails.never : <Time at={at} as="detail" />)
  const state = !configured
    ? (['off', rails.mail_none] as const)
    : fails
      ? (['attention', rails.mail_fails] as const)
      : sent_at === null
        ? (['waiting', rails.mail_untried] as const)
        : (['done', rails.mail_works] as const)
  return (
    <Details
      rows={[
        [
          rails.state,
          <Status key="state" state={state[0]}>
            {state[1]}
          </Status>,
        ],
        [rails.mail_sent, time(sent_at)],
        [rails.mail_failed, time(failed_at)],
        ...(error === null
          ? []
          : [
              [
                rails.mail_reason,
                <span key="error" className="mono">
                  {error}
                </span>,
              ] as const,
            ]),
        [rails.mail_waiting, countText(waiting, language)],
        [rails.mail_given_up, countText(given_up, language)],
      ]}
    />
  )
}

function Node({ role, version, up_seconds, connections, waiting }: Rails['node']) {
  const { operator } = useText()
  const { rails } = operator
  const { language } = useLanguage()
  return (
    <Details
      rows={[
        [
          rails.role,
          <span key="role" className="mono">
            {role}
          </span>,
        ],
        [
          rails.version,
          <span key="version" className="mono">
            {version}
          </span>,
        ],
        [rails.up, ageText(up_seconds * 1_000)],
        [rails.connections, `${countText(connections, language)}, ${rails.waiting(waiting)}`],
      ]}
    />
  )
}
