import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { countText, percentText } from '../../format/amount.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Asset } from '../../ui/asset.tsx'
import { Button } from '../../ui/button.tsx'
import { Details } from '../../ui/details.tsx'
import { Failure } from '../../ui/failure.tsx'
import { useQueryString } from '../../ui/filters.tsx'
import { Id } from '../../ui/id.tsx'
import { Crumbs, EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Pager } from '../../ui/pager.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type Acted, ActedNote, hasSecret, ShownOnce } from './acted.tsx'
import { PayFees } from './booking.tsx'
import { EditLimits, MoneyLimits } from './limits.tsx'
import { type OperatorAct, OperatorActDialog, OperatorMenu } from './people.tsx'
import { EditTerms } from './terms.tsx'

type Seen = Reply<'console.operator.partners.get'>

/** One partner: its terms, limits, people, keys and customers. */
export function PartnerPage() {
  const { operator, ui } = useText()
  const { partner_id = '' } = useParams({ strict: false }) as { partner_id?: string }
  const environment = useEnvironment()
  const { may } = useSession()
  const seen = useCall('console.operator.partners.get', { params: { environment, partner_id } })
  const limit = useAct('console.operator.partners.limit_money', { stale: ['console.operator.'] })
  const [doing, setDoing] = useState<'terms' | 'limits' | 'fees'>()
  const [person, setPerson] = useState<OperatorAct>()
  const [secret, setSecret] = useState<Acted>()
  const [acted, setActed] = useState<Acted>()
  const { data } = seen
  const close = () => setDoing(undefined)
  return (
    <>
      <Crumbs>
        {[
          <Link key="all" to="/operator/$environment/partners" params={{ environment }}>
            {operator.partners.title}
          </Link>,
          <Id key="id" id={partner_id} />,
        ]}
      </Crumbs>
      <PageHead
        title={data?.partner.name ?? operator.partners.title}
        about={data && ui.tiers[data.partner.tier]}
        actions={
          may('operator.rule') && (
            <Button onClick={() => setDoing('terms')} disabled={data === undefined}>
              {operator.partner.change}
            </Button>
          )
        }
      />
      {seen.isError && <Failure error={seen.error} onAgain={() => void seen.refetch()} reading />}
      {acted !== undefined && (
        <Section tight>
          <ActedNote acted={acted} />
        </Section>
      )}
      {data !== undefined && <PartnerDetails seen={data} onDo={setDoing} onPerson={setPerson} />}
      {data !== undefined && <Customers partner_id={partner_id} />}
      <EndMark />
      {person !== undefined && (
        <OperatorActDialog
          {...person}
          onActed={(done) => (hasSecret(done) ? setSecret(done) : setActed(done))}
          onClose={() => setPerson(undefined)}
        />
      )}
      {secret !== undefined && (
        <ShownOnce
          acted={secret}
          alone={{ title: operator.people.shown_title, about: operator.people.shown_about }}
          onDone={() => setSecret(undefined)}
        />
      )}
      {data !== undefined && doing === 'terms' && (
        <EditTerms partner={data.partner} onActed={setActed} onClose={close} />
      )}
      {data !== undefined && doing === 'fees' && (
        <PayFees partner={data.partner} onActed={setActed} onClose={close} />
      )}
      {data !== undefined && doing === 'limits' && (
        <EditLimits
          name={data.partner.name}
          hint={operator.partner.limit_hint}
          limits={data.money_limits}
          onSave={(body) => limit.mutateAsync({ params: { environment, partner_id }, body })}
          onActed={setActed}
          onClose={close}
        />
      )}
    </>
  )
}

type ToldProps = {
  readonly seen: Seen
  readonly onDo: (what: 'limits' | 'fees') => void
  readonly onPerson: (doing: OperatorAct) => void
}

function PartnerDetails({ seen, onDo, onPerson }: ToldProps) {
  const { operator } = useText()
  const words = operator.partner
  const { may } = useSession()
  return (
    <>
      <div className="cols c3">
        <Section title={words.terms}>
          <div className="wide-names">
            <Terms seen={seen} />
          </div>
        </Section>
        <Section
          title={words.money_limits}
          actions={
            may('operator.rule') && (
              <Button small onClick={() => onDo('limits')}>
                {words.set_limits}
              </Button>
            )
          }
        >
          <MoneyLimits limits={seen.money_limits} />
        </Section>
        <div>
          <Section title={words.held} about={words.held_about}>
            <Held seen={seen} />
          </Section>
          <Section
            title={words.fees}
            actions={
              may('operator.decide') && (
                <Button small onClick={() => onDo('fees')}>
                  {words.pay_fees}
                </Button>
              )
            }
          >
            {seen.fees.length === 0 && <p className="quiet">{words.no_fees}</p>}
            <Details
              rows={seen.fees.map(({ asset, amount }) => [
                <Asset key={asset} asset={asset} />,
                <Amount key={amount} units={amount} asset={asset} as="bare" />,
              ])}
            />
          </Section>
        </div>
      </div>
      <div className="cols c21">
        <Section title={words.keys}>
          <Keys seen={seen} />
        </Section>
        <Section title={words.people}>
          <People seen={seen} onDo={may('operator.rule') ? onPerson : undefined} />
        </Section>
      </div>
    </>
  )
}

function Terms({ seen: { partner, usual_limits, endpoint_limits } }: { readonly seen: Seen }) {
  const { operator, ui } = useText()
  const words = operator.partner
  const { language } = useLanguage()
  const figure = (own: number | null, usual: number, sentence = words.of_tier) =>
    own === null ? (
      <span className="quiet">{sentence(countText(usual, language))}</span>
    ) : (
      words.its_own(countText(own, language))
    )
  return (
    <div className="wide-names">
      <Details
        rows={[
          [operator.partners.tier, ui.tiers[partner.tier] ?? partner.tier],
          [operator.partners.pix_fee, <Amount key="fee" units={`${partner.pix_fee}`} asset="BRL" />],
          [operator.partners.service_fee, percentText(partner.service_fee_bps, language)],
          [operator.partners.share, percentText(partner.partner_fee_share_pct * 100, language)],
          [operator.partners.third_party, partner.third_party_payouts ? ui.yes : ui.no],
          [words.per_minute, figure(partner.per_minute, usual_limits.per_minute)],
          [words.per_day, figure(partner.per_day, usual_limits.per_day)],
          [
            words.lookup_per_minute,
            figure(partner.lookup_per_minute, usual_limits.lookup_per_minute, words.usual),
          ],
          ...endpoint_limits.map(({ endpoint, per_minute }): [string, ReactNode] => [
            words.to_endpoint(endpoint),
            figure(partner.endpoint_per_minute, per_minute, words.usual),
          ]),
        ]}
      />
    </div>
  )
}

function Held({ seen: { balances } }: { readonly seen: Seen }) {
  const { operator } = useText()
  const words = operator.partner
  if (balances.length === 0) return <p className="quiet">{words.not_added}</p>
  return (
    <Table
      label={words.held}
      rows={balances}
      keyOf={({ asset }) => asset}
      look="plain"
      snug
      columns={[
        { key: 'asset', head: '', fold: 'm1', cell: ({ asset }) => <Asset asset={asset} /> },
        {
          key: 'available',
          head: words.available,
          right: true,
          fold: 'a1',
          labelled: true,
          cell: ({ available, asset }) => <Amount units={available} asset={asset} as="bare" />,
        },
        {
          key: 'in_transit',
          head: words.in_transit,
          right: true,
          fold: 'a2',
          labelled: true,
          cell: ({ in_transit, asset }) => <Amount units={in_transit} asset={asset} as="bare" />,
        },
      ]}
    />
  )
}

function Keys({ seen: { keys } }: { readonly seen: Seen }) {
  const { developers, operator, ui } = useText()
  const words = operator.partner
  return (
    <Table
      label={words.keys}
      rows={keys}
      keyOf={({ id }) => id}
      look="plain"
      empty={<p className="quiet">{words.no_keys}</p>}
      columns={[
        {
          key: 'name',
          head: operator.partners.name,
          fold: 'm1',
          cell: ({ name, last_four }) => (
            <>
              <span className="med">{name}</span> <span className="mono quiet">…{last_four}</span>
            </>
          ),
        },
        {
          key: 'state',
          head: operator.desk.state,
          fold: 'a1',
          cell: ({ state }) => (
            <Status state={state === 'rotating' ? 'rotated' : state}>{developers.keys.states[state]}</Status>
          ),
        },
        {
          key: 'used',
          head: words.last_used,
          fold: 'm2',
          cell: ({ last_used_at }) => (last_used_at === null ? ui.never : <Time at={last_used_at} />),
        },
        { key: 'id', head: operator.desk.id, fold: 'a2', cell: ({ id }) => <Id id={id} /> },
      ]}
    />
  )
}

type PeopleProps = { readonly seen: Seen; readonly onDo: ((doing: OperatorAct) => void) | undefined }

function People({ seen: { people }, onDo }: PeopleProps) {
  const { operator, shell, ui } = useText()
  const words = operator.partner
  return (
    <Table
      label={words.people}
      rows={people}
      keyOf={({ id }) => id}
      look="plain"
      empty={<p className="quiet">{words.no_people}</p>}
      columns={[
        {
          key: 'name',
          head: operator.partners.name,
          fold: 'm1',
          cell: ({ name, email }) => (
            <>
              <span className="med">{name}</span> <span className="quiet small">{email}</span>
            </>
          ),
        },
        { key: 'role', head: words.role, fold: 'a1', cell: ({ role }) => shell.role[role] ?? role },
        {
          key: 'factor',
          head: words.factor,
          fold: 'a2',
          labelled: true,
          cell: ({ second_factor }) => (second_factor ? ui.yes : ui.no),
        },
        {
          key: 'more',
          head: '',
          right: true,
          fold: 'named',
          cell: (person) => onDo !== undefined && <OperatorMenu person={person} onDo={onDo} />,
        },
      ]}
    />
  )
}

function Customers({ partner_id }: { readonly partner_id: string }) {
  const { operator } = useText()
  const words = operator.partner
  const environment = useEnvironment()
  const { query, set } = useQueryString()
  const list = useCall(
    'console.operator.customers.list',
    {
      params: { environment, partner_id },
      query: { limit: '20', ...(query.after === undefined ? {} : { cursor: query.after }) },
    },
    { live: ['customer'], keep: true },
  )
  return (
    <>
      <Section title={words.customers}>
        <Table
          label={words.customers}
          rows={list.data?.data}
          query={list}
          keyOf={({ id }) => id}
          look="plain"
          keys
          empty={<p className="quiet">{words.no_customers}</p>}
          columns={[
            {
              key: 'name',
              head: operator.partners.name,
              fold: 'm1',
              cell: ({ id, name }) => (
                <Link
                  className="plain"
                  to="/operator/$environment/customers/$customer_id"
                  params={{ environment, customer_id: id }}
                >
                  {name}
                </Link>
              ),
            },
            {
              key: 'document',
              head: operator.customer.document,
              fold: 'm2',
              cell: ({ document }) => document,
            },
            {
              key: 'status',
              head: operator.customer.status,
              fold: 'a1',
              cell: ({ status }) => <Status state={status}>{operator.customer.state[status]}</Status>,
            },
            { key: 'id', head: operator.desk.id, fold: 'a2', cell: ({ id }) => <Id id={id} /> },
          ]}
        />
      </Section>
      {list.data?.has_more === true || query.after !== undefined ? (
        <Pager
          newer={query.after ?? null}
          onNewer={() => set({ after: undefined })}
          older={list.data?.next_cursor ?? null}
        />
      ) : null}
    </>
  )
}
