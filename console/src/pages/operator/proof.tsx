import { useEffect, useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { countText, sumUnits } from '../../format/amount.ts'
import { durationText } from '../../format/time.ts'
import { useSession } from '../../session.tsx'
import { checkText } from '../../text/checks/check-text.ts'
import { useLanguage, useText } from '../../text/text.tsx'
import { Amount } from '../../ui/amount.tsx'
import { Asset } from '../../ui/asset.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Empty, EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Segments } from '../../ui/segments.tsx'
import { Glyph, Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { type Acted, ActedNote } from './acted.tsx'
import { Holdings, NoteStatement } from './holdings.tsx'
import { OperatorId } from './object.tsx'
import './operator.css'

type ProofState = Reply<'console.operator.proof.get'>
type Proof = NonNullable<ProofState['latest']>

const assets = ['BRL', 'USDT', 'BTC'] as const
const accounts = [
  'customer',
  'in_transit',
  'treasury',
  'partner_fees',
  'service_fees',
  'network_fees',
  'external',
] as const
const POLL_MS = 1_000

/** The proof that the ledger balances to the last unit. */
export function ProofPage() {
  const { operator } = useText()
  const { proof } = operator
  const environment = useEnvironment()
  const state = useCall('console.operator.proof.get', { params: { environment } }, { live: ['exceptions'] })
  const start = useAct('console.operator.proof.start', {
    stale: ['console.operator.proof.', 'console.operator.overview.'],
  })
  const running = state.data?.running ?? null
  useEffect(() => {
    if (running === null) return
    const timer = setInterval(() => void state.refetch(), POLL_MS)
    return () => clearInterval(timer)
  }, [running, state.refetch])
  const latest = state.data?.latest ?? null
  const busy = running !== null ? proof.proving(running.done, running.of) : start.isPending && proof.now
  return (
    <>
      <PageHead
        title={proof.title}
        under={<Verdict latest={latest} />}
        actions={
          <>
            {latest !== null && <ReportButton proof={latest} />}
            <Button
              kind="primary"
              icon="again"
              busy={busy}
              onClick={() => start.mutate({ params: { environment } })}
            >
              {latest === null ? proof.now : proof.again}
            </Button>
          </>
        }
      />
      {start.isError && <Failure error={start.error} reading />}
      {state.isError && <Failure error={state.error} onAgain={() => void state.refetch()} reading />}
      {typeof state.data?.failure === 'string' && (
        <Section>
          <Notice kind="bad">
            {proof.failed} {state.data.failure}
          </Notice>
        </Section>
      )}
      {state.data !== undefined && latest === null && (
        <Empty title={proof.none}>
          <p className="quiet">{proof.none_about}</p>
        </Empty>
      )}
      {latest !== null && <Proven proof={latest} holdings={state.data?.holdings ?? []} />}
      {state.data !== undefined && state.data.earlier.length > 0 && <Earlier earlier={state.data.earlier} />}
      <EndMark />
    </>
  )
}

function Verdict({ latest }: { readonly latest: Proof | null }) {
  const { operator } = useText()
  const { proof } = operator
  const { language } = useLanguage()
  if (latest === null) return <Status state="waiting">{proof.none}</Status>
  const took = new Date(latest.finished_at).getTime() - new Date(latest.started_at).getTime()
  return (
    <>
      {latest.found === 0 ? (
        <Status state="done" large>
          {proof.proven}
        </Status>
      ) : (
        <Status state="failed" large>
          {proof.wrong(latest.found)}
        </Status>
      )}
      <span className="quiet">
        <Time at={latest.finished_at} />,{' '}
        {proof.snapshot(
          countText(Number(latest.entries), language),
          countText(Number(latest.customers), language),
          durationText(took, language),
        )}
      </span>
      <span className="faint small">{latest.by === 'auditor' ? proof.by_auditor : proof.by(latest.by)}</span>
    </>
  )
}

/** Saves the whole proof as the service returned it. */
function ReportButton({ proof }: { readonly proof: Proof }) {
  const { operator } = useText()
  const save = () => {
    const url = URL.createObjectURL(new Blob([JSON.stringify(proof, null, 2)], { type: 'application/json' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `proof-${proof.finished_at.slice(0, 19).replaceAll(':', '')}.json`
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <Button icon="download" onClick={save}>
      {operator.proof.report}
    </Button>
  )
}

function Proven({ proof, holdings }: { readonly proof: Proof } & Pick<ProofState, 'holdings'>) {
  return (
    <>
      {proof.findings.length > 0 && <Findings proof={proof} />}
      <Sums proof={proof} />
      <Owed holdings={holdings} />
      <Checks proof={proof} />
    </>
  )
}

const sumOf = ({ sums }: Proof, asset: string, account: string): string => sums[asset]?.[account] ?? '0'

/** The sums of each asset; in a narrow window one asset at a time, because three of the largest sums do not fit. */
function Sums({ proof }: { readonly proof: Proof }) {
  const { operator } = useText()
  const words = operator.proof
  const [chosen, setChosen] = useState<(typeof assets)[number]>('BRL')
  const columnOf = (asset: string) => (asset === chosen ? 'r' : 'r no-narrow')
  return (
    <Section
      title={words.where}
      about={words.where_about}
      actions={
        <span className="only-narrow">
          <Segments
            small
            label={words.asset}
            value={chosen}
            onValue={setChosen}
            options={assets.map((asset) => ({ value: asset, label: asset }))}
          />
        </span>
      }
    >
      <table className="t plain sums" aria-label={words.where}>
        <thead>
          <tr>
            <th scope="col">{words.account}</th>
            {assets.map((asset) => (
              <th key={asset} scope="col" className={columnOf(asset)}>
                <Asset asset={asset} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {accounts.map((account) => (
            <tr key={account}>
              <td>{words.accounts[account]}</td>
              {assets.map((asset) => (
                <td key={asset} className={columnOf(asset)}>
                  <Amount units={sumOf(proof, asset, account)} asset={asset} as="bare" />
                </td>
              ))}
            </tr>
          ))}
          <tr className="sum">
            <td>{words.sum}</td>
            {assets.map((asset) => (
              <td key={asset} className={columnOf(asset)}>
                <Amount
                  units={sumUnits(Object.values(proof.sums[asset] ?? {}))}
                  asset={asset}
                  as="bare"
                  total
                />
              </td>
            ))}
          </tr>
        </tbody>
      </table>
    </Section>
  )
}

function Owed({ holdings }: Pick<ProofState, 'holdings'>) {
  const { operator } = useText()
  const words = operator.proof
  const { may } = useSession()
  const [noting, setNoting] = useState(false)
  const [acted, setActed] = useState<Acted>()
  return (
    <Section
      title={words.owed_title}
      about={words.owed_about}
      actions={
        may('operator.decide') && (
          <Button small onClick={() => setNoting(true)}>
            {words.note}
          </Button>
        )
      }
    >
      <Holdings holdings={holdings} />
      {acted !== undefined && <ActedNote acted={acted} words={words.noted} />}
      {noting && <NoteStatement onActed={setActed} onClose={() => setNoting(false)} />}
    </Section>
  )
}

const SHOWN = 9

function Checks({ proof }: { readonly proof: Proof }) {
  const { operator } = useText()
  const { language } = useLanguage()
  const words = operator.proof
  const [all, setAll] = useState(false)
  const wrong = new Set(proof.findings.map(({ check }) => check))
  const names = [...proof.checks].sort((a, b) => Number(wrong.has(b)) - Number(wrong.has(a)))
  const rest = names.length - SHOWN
  return (
    <Section
      title={words.checks}
      actions={
        <span className="faint small">{words.checks_of(names.length - wrong.size, names.length)}</span>
      }
    >
      <ul className="checks">
        {names.slice(0, all ? names.length : SHOWN).map((name) => (
          <li key={name}>
            <span className={wrong.has(name) ? 'st failed' : 'st done'}>
              <Glyph shape={wrong.has(name) ? 'failed' : 'done'} />
            </span>
            <span>{checkText(language, name)}</span>
          </li>
        ))}
        {rest > 0 && (
          <li className="last">
            <button type="button" className="link" onClick={() => setAll(!all)}>
              {all ? words.less : words.more(rest)}
            </button>
          </li>
        )}
      </ul>
    </Section>
  )
}

function Findings({ proof }: { readonly proof: Proof }) {
  const { operator } = useText()
  const { language } = useLanguage()
  const words = operator.proof
  return (
    <Section title={words.found} about={words.found_about}>
      <div className="stack">
        {proof.findings.map(({ check, found, examples }) => (
          <Notice key={check} kind="bad">
            <b>{checkText(language, check)}</b> <span className="quiet small">{words.times(found)}</span>
            {examples.map(({ object_id, facts }) => (
              <div key={object_id + JSON.stringify(facts)} className="facts">
                <OperatorId id={object_id} as="full" />
                {Object.entries(facts).map(([name, value]) => (
                  <span key={name} className="small">
                    <span className="quiet">{name}</span> <span className="mono">{value}</span>
                  </span>
                ))}
              </div>
            ))}
          </Notice>
        ))}
      </div>
    </Section>
  )
}

const TIE = 12.9

/** One mark per earlier proof, the newest at the right. */
function Earlier({ earlier }: { readonly earlier: ProofState['earlier'] }) {
  const { operator } = useText()
  const words = operator.proof
  const bad = earlier.filter(({ found }) => found > 0).length
  const summary = words.earlier_sum(earlier.length, bad)
  const width = Math.max(120, earlier.length * TIE + 8)
  return (
    <Section title={words.earlier} about={words.earlier_about}>
      <div className="row wrap gap-4">
        <svg className="hours" width={width} viewBox={`0 0 ${width} 22`} role="img" aria-label={summary}>
          <path className="rails" d={`M0 7.5h${width}M0 14.5h${width}`} />
          {[...earlier].reverse().map(({ finished_at, found }, i) => (
            <rect
              key={finished_at}
              x={6 + i * TIE}
              y="2"
              width="4"
              height="18"
              rx="1"
              className={found > 0 ? 'bad' : i === earlier.length - 1 ? 'newest' : 'good'}
            />
          ))}
        </svg>
        <span className="quiet small">{summary}</span>
      </div>
    </Section>
  )
}
