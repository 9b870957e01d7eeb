import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { countText, parseAmount, typedAmount } from '../../format/amount.ts'
import { useSession } from '../../session.tsx'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Asset } from '../../ui/asset.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ActDialog, type Acted, ActedNote } from './acted.tsx'
import { PayFees } from './booking.tsx'
import { OperatorId } from './object.tsx'
import { railName } from './rail-names.ts'

type Seen = Reply<'console.operator.treasury.get'>
type Position = Seen['positions'][number]
type Query = ReturnType<typeof useCall<'console.operator.treasury.get'>>

/** What the treasury holds, owes its partners, and pays the networks. */
export function TreasuryPage() {
  const { operator } = useText()
  const { treasury } = operator
  const environment = useEnvironment()
  const seen = useCall(
    'console.operator.treasury.get',
    { params: { environment } },
    { live: ['trade', 'fee_payout'] },
  )
  const [limiting, setLimiting] = useState<Position>()
  const [paying, setPaying] = useState<Seen['fees'][number]['partner']>()
  const [acted, setActed] = useState<Acted>()
  return (
    <>
      <PageHead title={treasury.title} about={treasury.about} />
      {acted !== undefined && (
        <Section tight>
          <ActedNote acted={acted} />
        </Section>
      )}
      <Section title={treasury.positions}>
        <div className="scroll-x">
          <Positions seen={seen} onLimit={setLimiting} />
        </div>
        {seen.data?.limited === false && <Notice kind="calm">{treasury.not_limited}</Notice>}
      </Section>
      <div className="cols c21">
        <Section title={treasury.charges} about={treasury.charges_about}>
          <Charges seen={seen} />
        </Section>
        <Section title={treasury.fees} about={treasury.fees_about}>
          <Fees seen={seen} onPay={setPaying} />
        </Section>
      </div>
      <Section title={treasury.payouts}>
        <Paid seen={seen} />
      </Section>
      <EndMark />
      {limiting !== undefined && (
        <Limit position={limiting} onActed={setActed} onClose={() => setLimiting(undefined)} />
      )}
      {paying !== undefined && (
        <PayFees partner={paying} onActed={setActed} onClose={() => setPaying(undefined)} />
      )}
    </>
  )
}

type PositionProps = { readonly seen: Query; readonly onLimit: (position: Position) => void }

function Positions({ seen, onLimit }: PositionProps) {
  const { operator } = useText()
  const { treasury } = operator
  const { may } = useSession()
  const bound = (units: string | null, asset: string) =>
    units === null ? (
      <span className="quiet">{treasury.no_limit}</span>
    ) : (
      <Amount units={units} asset={asset} as="bare" />
    )
  const reais = (units: string | null) => (units === null ? '–' : <Amount units={units} asset="BRL" change />)
  return (
    <Table<Position>
      label={treasury.positions}
      rows={seen.data?.positions}
      query={seen}
      keyOf={({ asset }) => asset}
      look="plain"
      columns={[
        { key: 'asset', head: treasury.asset, fold: 'm1', cell: ({ asset }) => <Asset asset={asset} /> },
        {
          key: 'position',
          head: treasury.position,
          right: true,
          fold: 'named',
          className: 'med',
          cell: ({ asset, position }) => <Amount units={position} asset={asset} as="bare" />,
        },
        {
          key: 'lowest',
          head: treasury.lowest,
          right: true,
          fold: 'named',
          cell: ({ asset, lowest }) => bound(lowest, asset),
        },
        {
          key: 'highest',
          head: treasury.highest,
          right: true,
          fold: 'named',
          cell: ({ asset, highest }) => bound(highest, asset),
        },
        {
          key: 'worth',
          head: treasury.worth,
          right: true,
          fold: 'named',
          cell: ({ worth }) => (worth === null ? '–' : <Amount units={worth} asset="BRL" />),
        },
        {
          key: 'unrealised',
          head: treasury.unrealised,
          right: true,
          fold: 'named',
          cell: ({ unrealised }) => reais(unrealised),
        },
        {
          key: 'realised',
          head: treasury.realised,
          right: true,
          fold: 'named',
          cell: ({ realised }) => reais(realised),
        },
        {
          key: 'set',
          head: '',
          right: true,
          fold: 'a1',
          cell: (position) =>
            may('operator.rule') && (
              <Button small onClick={() => onLimit(position)}>
                {treasury.set}
              </Button>
            ),
        },
      ]}
    />
  )
}

type FeeProps = {
  readonly seen: Query
  readonly onPay: (partner: Seen['fees'][number]['partner']) => void
}

function Fees({ seen, onPay }: FeeProps) {
  const { operator } = useText()
  const { treasury } = operator
  const { may } = useSession()
  return (
    <Table<Seen['fees'][number]>
      label={treasury.fees}
      rows={seen.data?.fees}
      query={seen}
      keyOf={({ partner }) => partner.id}
      look="plain"
      empty={<p className="quiet">{treasury.no_fees}</p>}
      columns={[
        { key: 'partner', head: treasury.partner, fold: 'm1', cell: ({ partner }) => partner.name },
        {
          key: 'owed',
          head: treasury.amount,
          right: true,
          fold: 'a1',
          cell: ({ owed }) =>
            owed.map(({ asset, amount }) => (
              <div key={asset}>
                <Amount units={amount} asset={asset} as="column" />
              </div>
            )),
        },
        {
          key: 'pay',
          head: '',
          right: true,
          fold: 'a2',
          cell: ({ partner }) =>
            may('operator.decide') && (
              <Button small onClick={() => onPay(partner)}>
                {treasury.pay}
              </Button>
            ),
        },
      ]}
    />
  )
}

function Charges({ seen }: { readonly seen: Query }) {
  const { operator } = useText()
  const { treasury } = operator
  const { language } = useLanguage()
  return (
    <Table<Seen['charges'][number]>
      label={treasury.charges}
      rows={seen.data?.charges}
      query={seen}
      keyOf={({ network, asset }) => `${network} ${asset}`}
      look="plain"
      empty={<p className="quiet">{treasury.no_charges}</p>}
      columns={[
        { key: 'network', head: treasury.network, fold: 'm1', cell: ({ network }) => railName(network) },
        {
          key: 'transfers',
          head: treasury.transfers,
          right: true,
          fold: 'named',
          cell: ({ transfers }) => countText(transfers, language),
        },
        {
          key: 'fees',
          head: treasury.paid_by_customers,
          right: true,
          fold: 'named',
          cell: ({ fees, asset }) => <Amount units={fees} asset={asset} as="column" />,
        },
        {
          key: 'charged',
          head: treasury.taken,
          right: true,
          fold: 'named',
          cell: ({ charged, asset }) => <Amount units={charged} asset={asset} as="column" />,
        },
        {
          key: 'left',
          head: treasury.left,
          right: true,
          fold: 'named',
          cell: ({ fees, charged, asset }) => (
            <Amount units={BigInt(fees) - BigInt(charged)} asset={asset} as="column" change />
          ),
        },
      ]}
    />
  )
}

function Paid({ seen }: { readonly seen: Query }) {
  const { operator } = useText()
  const { treasury } = operator
  return (
    <Table<Seen['payouts'][number]>
      label={treasury.payouts}
      rows={seen.data?.payouts}
      query={seen}
      keyOf={({ id }) => id}
      look="plain"
      empty={<p className="quiet">{treasury.no_payouts}</p>}
      columns={[
        {
          key: 'when',
          head: treasury.when,
          fold: 'named',
          cell: ({ created_at }) => <Time at={created_at} />,
        },
        {
          key: 'partner',
          head: treasury.partner,
          fold: 'm1',
          cell: ({ partner_id }) => <OperatorId id={partner_id} />,
        },
        {
          key: 'amount',
          head: treasury.amount,
          right: true,
          fold: 'a1',
          cell: ({ amount, asset }) => <Amount units={amount} asset={asset} as="column" />,
        },
        {
          key: 'to',
          head: treasury.to,
          fold: 'named',
          cell: ({ customer_id }) =>
            customer_id === null ? treasury.outside : <OperatorId id={customer_id} />,
        },
        {
          key: 'reference',
          head: treasury.reference,
          fold: 'named',
          className: 'mono',
          cell: ({ reference }) => reference,
        },
      ]}
    />
  )
}

type LimitProps = {
  readonly position: Position
  readonly onActed: (acted: Acted) => void
  readonly onClose: () => void
}

function Limit({ position, onActed, onClose }: LimitProps) {
  const { operator } = useText()
  const { treasury } = operator
  const { language } = useLanguage()
  const environment = useEnvironment()
  const limit = useAct('console.operator.treasury.limit', { stale: ['console.operator.'] })
  const { asset } = position
  const begin = (units: string | null) => (units === null ? '' : signedText(units, asset, language))
  const [lowest, setLowest] = useState(begin(position.lowest))
  const [highest, setHighest] = useState(begin(position.highest))
  const read = {
    lowest: signedUnits(lowest, asset, language),
    highest: signedUnits(highest, asset, language),
  }
  const wrong = read.lowest === undefined || read.highest === undefined
  return (
    <ActDialog
      title={treasury.set_title(asset)}
      verb={treasury.save}
      busy={operator.partner.saving}
      blocked={wrong}
      why={treasury.set_hint}
      onAct={() =>
        limit.mutateAsync({
          params: { environment, asset },
          body: { lowest: read.lowest ?? null, highest: read.highest ?? null },
        })
      }
      onActed={onActed}
      onClose={onClose}
    >
      <Field
        label={treasury.lowest}
        aside={asset}
        error={read.lowest === undefined ? treasury.set_wrong : undefined}
      >
        <Input value={lowest} onValue={setLowest} autoComplete="off" />
      </Field>
      <Field
        label={treasury.highest}
        aside={asset}
        error={read.highest === undefined ? treasury.set_wrong : undefined}
      >
        <Input value={highest} onValue={setHighest} autoComplete="off" />
      </Field>
    </ActDialog>
  )
}

type Language = Parameters<typeof parseAmount>[2]

function signedText(units: string, asset: string, language: Language): string {
  return units.startsWith('-')
    ? `-${typedAmount(units.slice(1), asset, language)}`
    : typedAmount(units, asset, language)
}

/** Parses a signed amount: null for an empty field, undefined for a text that is not a number. */
function signedUnits(typed: string, asset: string, language: Language): string | null | undefined {
  const text = typed.trim().replace('−', '-')
  if (text === '') return null
  const units = parseAmount(text.replace(/^-/, ''), asset, language)
  if (units === undefined) return undefined
  return text.startsWith('-') && units !== '0' ? `-${units}` : units
}
