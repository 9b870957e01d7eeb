import type { Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useActText } from '../../text/acts/use-act-text.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Details } from '../../ui/details.tsx'
import { Failure } from '../../ui/failure.tsx'
import { FilterSegments, Filters, useFilters, useQueryString } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Empty, EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type Acted, ProposalLink, useResult } from './acted.tsx'
import { Decide, Decided, type Proposal } from './decide.tsx'
import { OperatorId } from './object.tsx'
import { sentenceOf } from './sentence.ts'
import './operator.css'

const shapes: Readonly<Record<Proposal['state'], string>> = {
  open: 'waiting',
  approved: 'going',
  done: 'done',
  rejected: 'off',
  withdrawn: 'off',
  expired: 'ended',
  superseded: 'attention',
}

/** Open proposals, and those already decided. */
export function ProposalsPage() {
  const { operator } = useText()
  const { proposals } = operator
  const environment = useEnvironment()
  const { query, set } = useQueryString()
  const { values } = useFilters(['state'])
  const list = useCall(
    'console.operator.proposals.list',
    { params: { environment } },
    { live: ['proposals'] },
  )
  const rows = list.data?.data.filter(
    ({ state }) => values.state === undefined || (values.state === 'open') === (state === 'open'),
  )
  // Nothing is preselected: nobody decides on a proposal that they did not choose.
  const chosen = query.open
  const { result, show } = useResult(`${environment} ${values.state ?? ''} ${chosen ?? ''}`)
  return (
    <>
      <PageHead title={proposals.title} about={proposals.about} />
      <Filters keys={['state']}>
        <FilterSegments
          label={proposals.state}
          of="state"
          options={[
            { value: '', label: proposals.all },
            { value: 'open', label: proposals.open },
            { value: 'ended', label: proposals.ended },
          ]}
        />
      </Filters>
      <Table<Proposal>
        label={proposals.title}
        rows={rows}
        query={list}
        keyOf={({ id }) => id}
        open={chosen}
        keys
        empty={
          <Empty title={proposals.empty}>
            <p className="quiet">{proposals.empty_about}</p>
          </Empty>
        }
        columns={columnsOf(useText().operator, environment)}
      />
      {result !== undefined && (
        <Section tight>
          <Decided acted={result.acted} words={result.words} />
        </Section>
      )}
      {chosen === undefined ? (
        <>
          {rows?.some(({ state }) => state === 'open') === true && result === undefined && (
            <Section tight>
              <p className="quiet">{proposals.choose}</p>
            </Section>
          )}
          <EndMark />
        </>
      ) : (
        <ProposalItem
          key={chosen}
          id={chosen}
          onDecided={(acted, words) => {
            show(acted, words, `${environment} ${values.state ?? ''} `)
            set({ open: undefined })
          }}
        />
      )}
    </>
  )
}

type Words = ReturnType<typeof useText>['operator']

const columnsOf = ({ proposals, desk }: Words, environment: ReturnType<typeof useEnvironment>) => [
  {
    key: 'when',
    head: proposals.when,
    fold: 'm2' as const,
    cell: ({ proposed_at }: Proposal) => <Time at={proposed_at} />,
  },
  {
    key: 'what',
    head: proposals.what,
    fold: 'm1' as const,
    cell: ({ id, action, customer, details }: Proposal) => (
      <>
        <ProposalLink environment={environment} id={id}>
          {proposals.action[action] ?? action}
        </ProposalLink>{' '}
        <span className="quiet">{customer?.name ?? details.email ?? ''}</span>
      </>
    ),
  },
  {
    key: 'amount',
    head: proposals.amount,
    right: true,
    fold: 'a1' as const,
    cell: ({ amount, asset }: Proposal) =>
      amount !== null && asset !== null ? <Amount units={amount} asset={asset} as="column" /> : null,
  },
  {
    key: 'by',
    head: proposals.by,
    className: 'quiet',
    cell: ({ proposed_by, mine }: Proposal) => (mine ? desk.you : proposed_by),
  },
  {
    key: 'state',
    head: proposals.state,
    fold: 'a2' as const,
    cell: ({ state }: Proposal) => <Status state={shapes[state]}>{proposals.states[state]}</Status>,
  },
  { key: 'id', head: proposals.id, cell: ({ id }: Proposal) => <Id id={id} /> },
]

type OneProps = { readonly id: string; readonly onDecided: (acted: Acted, words: string) => void }

function ProposalItem({ id, onDecided }: OneProps) {
  const environment = useEnvironment()
  const one = useCall(
    'console.operator.proposals.get',
    { params: { environment, proposal_id: id } },
    { live: ['proposals'], keep: true },
  )
  if (one.isError && one.data === undefined)
    return (
      <Section>
        <Failure error={one.error} onAgain={() => void one.refetch()} reading />
      </Section>
    )
  return one.data === undefined ? null : <ProposalDetails {...one.data} onDecided={onDecided} />
}

type ToldProps = Reply<'console.operator.proposals.get'> & Pick<OneProps, 'onDecided'>

function ProposalDetails({ proposal, others, lines, onDecided }: ToldProps) {
  const texts = useText()
  const { operator } = texts
  const { language } = useLanguage()
  const actText = useActText()
  const words = operator.proposals
  const { customer, partner, amount, asset, reason, reference } = proposal
  const sentence = sentenceOf(proposal, texts, language)
  return (
    <div className="cols c21 grow">
      <Section title={words.says} actions={<Id id={proposal.id} />}>
        <div className="stack-4">
          <p className="med">{sentence}</p>
          <Details
            rows={[
              [words.amount, amount !== null && asset !== null && <Amount units={amount} asset={asset} />],
              [
                words.customer,
                customer !== null && (
                  <>
                    {customer.name} <span className="quiet">{customer.document}</span>{' '}
                    <OperatorId id={customer.id} />
                  </>
                ),
              ],
              [
                words.partner,
                partner !== null && (
                  <>
                    {partner.name} <OperatorId id={partner.id} />
                  </>
                ),
              ],
              [words.reason, reason !== '' && `“${reason}”`],
              [words.reference, reference !== null && <span className="mono">{reference}</span>],
              [words.by, proposal.proposed_by],
              [words.when, <Time key="when" at={proposal.proposed_at} as="detail" />],
              [words.expires, proposal.state === 'open' && <Time at={proposal.expires_at} as="detail" />],
              [words.approved, proposal.approved_by],
              [words.ended_by, proposal.state !== 'done' && proposal.ended_by],
              [words.because, proposal.ended_reason],
              [words.made, proposal.resource_id !== null && <OperatorId id={proposal.resource_id} />],
            ]}
          />
          {proposal.state === 'open' ? (
            <Decide
              question={{ ...proposal, sentence, customer: customer?.name ?? null }}
              onDecided={onDecided}
            />
          ) : (
            <p className="quiet small">{words.not_open}</p>
          )}
        </div>
      </Section>
      <div>
        {proposal.state === 'open' && (
          <Section title={words.who_can}>
            {others.length === 0 ? (
              <p className="quiet">{words.nobody}</p>
            ) : (
              <ul className="checks">
                {others.map(({ email, name, role }) => (
                  <li key={email}>
                    <span>{name}</span>
                    <span className="quiet small push">
                      {operator.people.roles[role]} · {email}
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </Section>
        )}
        <Section title={words.lines}>
          <ul className="checks">
            {lines.map(({ seq, place, at, action, by, hash }) => (
              <li key={seq} title={hash}>
                <span>{actText(action)}</span>
                <span className="quiet small">{words.line(seq, operator.audit[place])}</span>
                <span className="quiet small push">
                  {by} · <Time at={at} />
                </span>
              </li>
            ))}
          </ul>
        </Section>
      </div>
    </div>
  )
}
