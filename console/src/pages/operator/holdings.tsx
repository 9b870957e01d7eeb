import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { amountText, parseAmount } from '../../format/amount.ts'
import { listTime } from '../../format/time.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Asset } from '../../ui/asset.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { ActDialog, type Acted } from './acted.tsx'

type Holding = Reply<'console.operator.proof.get'>['holdings'][number]

const isNegative = (units: string) => units.startsWith('-')
const unsigned = (units: string) => units.replace('-', '')

/** What is owed, what our books hold, and what the newest statements say; a difference is named in words below. */
export function Holdings({ holdings }: { readonly holdings: readonly Holding[] }) {
  const { operator } = useText()
  const words = operator.proof
  return (
    <>
      <Table
        label={words.owed_title}
        rows={holdings}
        keyOf={({ asset }) => asset}
        look="plain"
        columns={[
          { key: 'asset', head: words.asset, fold: 'm1', cell: ({ asset }) => <Asset asset={asset} /> },
          {
            key: 'owed',
            head: words.owed,
            right: true,
            fold: 'named',
            cell: ({ owed, asset }) => <Amount units={owed} asset={asset} as="bare" />,
          },
          {
            key: 'held',
            head: words.held,
            right: true,
            fold: 'a1',
            labelled: true,
            className: 'med',
            cell: ({ held, asset }) => <Amount units={held} asset={asset} as="bare" />,
          },
          {
            key: 'own',
            head: words.house,
            right: true,
            fold: 'named',
            cell: ({ own, asset }) => <Marked units={own} asset={asset} bad={isNegative(own)} />,
          },
          {
            key: 'reported',
            head: words.reported,
            right: true,
            fold: 'named',
            cell: ({ statement, asset }) =>
              statement === null ? (
                <span className="faint">{words.not_noted}</span>
              ) : (
                <Amount units={statement.amount} asset={asset} as="bare" />
              ),
          },
          {
            key: 'difference',
            head: words.difference,
            right: true,
            fold: 'named',
            cell: ({ statement, asset }) =>
              statement === null ? (
                <span className="faint only-phone">{words.not_noted}</span>
              ) : (
                <Marked units={statement.difference} asset={asset} bad={statement.difference !== '0'} />
              ),
          },
        ]}
      />
      <Differences holdings={holdings} />
    </>
  )
}

type MarkedProps = { readonly units: string; readonly asset: string; readonly bad: boolean }

const Marked = ({ units, asset, bad }: MarkedProps) => (
  <span className={bad ? 'warn med' : 'quiet'}>
    <Amount units={units} asset={asset} as="bare" />
  </span>
)

/** Each difference in words, with what to do. */
function Differences({ holdings }: { readonly holdings: readonly Holding[] }) {
  const { operator } = useText()
  const words = operator.proof
  const { language } = useLanguage()
  const environment = useEnvironment()
  const lines = holdings.flatMap(({ asset, own, statement }) => {
    const text = (units: string) => amountText(unsigned(units), asset, { language })
    const missing = isNegative(own) && (
      <Notice
        key={`own ${asset}`}
        action={
          <Link to="/operator/$environment/treasury" params={{ environment }}>
            {operator.treasury.title}
          </Link>
        }
      >
        {words.owed_more(text(own))}
      </Notice>
    )
    const differs = statement !== null && statement.difference !== '0' && (
      <Notice key={`statement ${asset}`}>
        {words.differs({
          amount: text(statement.difference),
          less: isNegative(statement.difference),
          source: statement.source,
          when: listTime(statement.as_of, { language }),
          who: statement.noted_by,
        })}
      </Notice>
    )
    return [missing, differs]
  })
  return <div className="stack differences">{lines}</div>
}

const assets = ['BRL', 'USDT', 'BTC'] as const
type AssetName = (typeof assets)[number]

type NoteProps = { readonly onActed: (acted: Acted) => void; readonly onClose: () => void }

/** Notes what a statement says, so that it can be compared with our books. It moves no money. */
export function NoteStatement({ onActed, onClose }: NoteProps) {
  const { operator } = useText()
  const { proof, booking } = operator
  const { language } = useLanguage()
  const environment = useEnvironment()
  const note = useAct('console.operator.statements.note', { stale: ['console.operator.'] })
  const [asset, setAsset] = useState<AssetName>('BRL')
  const [typed, setTyped] = useState('')
  const [as_of, setAsOf] = useState('')
  const [source, setSource] = useState('')
  const amount = parseAmount(typed.trim(), asset, language)
  const moment = new Date(as_of)
  const blocked = amount === undefined || Number.isNaN(moment.getTime()) || source.trim() === ''
  return (
    <ActDialog
      title={proof.note_title}
      verb={proof.note_verb}
      busy={operator.customer.working}
      blocked={blocked}
      why={proof.note_why}
      onAct={() =>
        note.mutateAsync({
          params: { environment },
          body: { asset, amount: amount ?? '', as_of: moment.toISOString(), source: source.trim() },
        })
      }
      onActed={onActed}
      onClose={onClose}
    >
      <Field label={proof.asset}>
        <Select
          value={asset}
          onValue={(value) => setAsset(value as AssetName)}
          options={assets.map((one) => [one, one])}
        />
      </Field>
      <Field
        label={booking.amount}
        aside={asset}
        error={typed.trim() !== '' && amount === undefined ? booking.amount_wrong : undefined}
      >
        <Input value={typed} onValue={setTyped} inputMode="decimal" autoComplete="off" />
      </Field>
      <Field label={proof.as_of}>
        <Input value={as_of} onValue={setAsOf} type="datetime-local" />
      </Field>
      <Field label={proof.source} hint={proof.source_hint}>
        <Input value={source} onValue={setSource} maxLength={200} autoComplete="off" />
      </Field>
    </ActDialog>
  )
}
