import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { type GoliveLine, lineText, useGoliveText } from '../../text/golive/use-golive-text.ts'
import { useLanguage } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Notice } from '../../ui/notice.tsx'
import { EndMark, PageHead, Section } from '../../ui/page.tsx'
import { Segments } from '../../ui/segments.tsx'
import { type Shape, Status } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { railName } from './rail-names.ts'
import './golive.css'

type Walked = Reply<'console.operator.golive.get'>
type Report = NonNullable<Walked['report']>

const POLL_MS = 1_000
const shapes: Readonly<Record<GoliveLine['state'], Shape>> = {
  ok: 'done',
  red: 'failed',
  unknown: 'unknown',
  unused: 'off',
}
const isRed = ({ state }: GoliveLine) => state === 'red' || state === 'unknown'

/** The checklist of going live. The node walks it in the background, at most once a minute. */
export function GolivePage() {
  const words = useGoliveText()
  const environment = useEnvironment()
  const walked = useCall(
    'console.operator.golive.get',
    { params: { environment } },
    { every: (seen) => (seen?.running ? POLL_MS : false) },
  )
  const { report = null, running = true, failure = null } = walked.data ?? {}
  return (
    <>
      <PageHead
        title={words.title}
        under={<Verdict report={report} />}
        actions={
          <Button
            kind="primary"
            icon="again"
            busy={running && !walked.isError && words.walking}
            onClick={() => void walked.refetch()}
          >
            {words.again}
          </Button>
        }
      />
      {walked.isError && <Failure error={walked.error} onAgain={() => void walked.refetch()} reading />}
      {failure !== null && (
        <Section tight>
          <Notice kind="bad">{words.failed}</Notice>
        </Section>
      )}
      {report !== null && <Lines report={report} />}
      <EndMark />
    </>
  )
}

function Verdict({ report }: { readonly report: Report | null }) {
  const words = useGoliveText()
  if (report === null) return <Status state="waiting">{words.walking}</Status>
  const red = report.lines.filter(isRed).length
  return (
    <>
      <Status state={red === 0 ? 'done' : 'failed'} large>
        {red === 0 ? words.ready : words.red(red)}
      </Status>
      <span className="quiet">
        <Time at={report.at} />
      </span>
      <span className="faint small">{words.kept}</span>
    </>
  )
}

function Lines({ report: { lines } }: { readonly report: Report }) {
  const words = useGoliveText()
  const [shown, setShown] = useState<'red' | 'all'>('all')
  const visible = shown === 'all' ? lines : lines.filter(isRed)
  const areas = [...new Set(visible.map(({ area }) => area))]
  return (
    <>
      <Section tight>
        <div className="row wrap gap-3">
          <Segments
            small
            label={words.shown}
            value={shown}
            onValue={setShown}
            options={[
              { value: 'all', label: words.all },
              { value: 'red', label: words.only_red },
            ]}
          />
          <span className="quiet small">
            {shown === 'all' ? words.about : words.hidden(lines.length - visible.length)}
          </span>
        </div>
      </Section>
      {areas.map((area) => (
        <Section key={area} title={words.areas[area]}>
          <ul className="golive">
            {visible
              .filter((line) => line.area === area)
              .map((line) => (
                <Line key={`${line.check} ${line.subject}`} line={line} />
              ))}
          </ul>
        </Section>
      ))}
    </>
  )
}

function Line({ line }: { readonly line: GoliveLine }) {
  const words = useGoliveText()
  const { language } = useLanguage()
  const { about, found, to_do } = lineText(language, line)
  const title = line.subject === null ? about : `${subjectOf(line)}: ${about}`
  return (
    <li>
      <div className="mark">
        <Status state={shapes[line.state]}>{words.states[line.state]}</Status>
      </div>
      <div className="said">
        <p className="med">{title}</p>
        <p className="quiet">{found}</p>
        {to_do !== null && <p>{to_do}</p>}
        {line.commands.length > 0 && <Code title={words.commands}>{line.commands.join('\n')}</Code>}
      </div>
    </li>
  )
}

const subjectOf = ({ area, subject }: GoliveLine): string =>
  area === 'rails' || area === 'round_trips' ? railName(subject ?? '') : (subject ?? '')
