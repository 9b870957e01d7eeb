import { useState } from 'react'
import type { Reply } from '../../api/client.ts'
import { useAct, useCall } from '../../api/queries.ts'
import { useEnvironment } from '../../environment.ts'
import { useSession } from '../../session.tsx'
import { useText } from '../../text/text.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { Empty, EndMark } from '../../ui/page.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ActDialog, type Acted } from './acted.tsx'
import { OperatorId } from './object.tsx'
import { railName } from './rail-names.ts'

type Exception = Reply<'console.operator.exceptions.list'>['data'][number]

/** Exceptions: possible problems with money that an operator has to review. */
export function Exceptions({ onClosed }: { readonly onClosed: (acted: Acted, words: string) => void }) {
  const { operator } = useText()
  const { desk } = operator
  const environment = useEnvironment()
  const { may } = useSession()
  const [closing, setClosing] = useState<Exception>()
  const list = useCall(
    'console.operator.exceptions.list',
    { params: { environment }, query: { closed: 'true' } },
    { live: ['exceptions'] },
  )
  return (
    <>
      <Table<Exception>
        label={desk.exceptions}
        rows={list.data?.data}
        query={list}
        keyOf={({ id }) => id}
        keys
        empty={<Empty title={desk.exceptions_empty} />}
        columns={[
          { key: 'opened', head: desk.opened, fold: 'm2', cell: ({ opened_at }) => <Time at={opened_at} /> },
          {
            key: 'kind',
            head: desk.kind,
            fold: 'm1',
            className: 'whole',
            cell: ({ kind, details }) => (
              <>
                <span className="med">{desk.kinds[kind] ?? kind}</span>
                <div className="quiet small">{details.check ?? ''}</div>
              </>
            ),
          },
          { key: 'rail', head: desk.rail, cell: ({ rail }) => railName(rail) },
          {
            key: 'object',
            head: desk.object,
            fold: 'named',
            cell: ({ object_id }) => <OperatorId id={object_id} />,
          },
          {
            key: 'state',
            head: desk.state,
            fold: 'a1',
            cell: ({ closed_at, closed_by, closed_reason }) =>
              closed_at === null ? (
                <Status state="attention">{desk.exception_open}</Status>
              ) : (
                <Status state="done">
                  <span title={closed_reason ?? ''}>
                    {desk.exception_closed} · {closed_by}
                  </span>
                </Status>
              ),
          },
          {
            key: 'close',
            head: '',
            right: true,
            fold: 'named',
            cell: (exception) =>
              exception.closed_at === null && may('operator.decide') ? (
                <Button small onClick={() => setClosing(exception)}>
                  {desk.close}
                </Button>
              ) : null,
          },
        ]}
      />
      <EndMark />
      {closing !== undefined && (
        <CloseOne exception={closing} onClosed={onClosed} onClose={() => setClosing(undefined)} />
      )}
    </>
  )
}

type CloseProps = {
  readonly exception: Exception
  readonly onClosed: (acted: Acted, words: string) => void
  readonly onClose: () => void
}

function CloseOne({ exception, onClosed, onClose }: CloseProps) {
  const { operator } = useText()
  const { desk } = operator
  const environment = useEnvironment()
  const close = useAct('console.operator.exceptions.close', { stale: ['console.operator.'] })
  const [reason, setReason] = useState('')
  return (
    <ActDialog
      title={desk.close_title}
      verb={desk.close_verb}
      busy={desk.closing}
      blocked={reason.trim() === ''}
      onAct={() =>
        close.mutateAsync({ params: { environment, exception_id: exception.id }, body: { reason } })
      }
      onActed={(acted) => onClosed(acted, desk.closed_words)}
      onClose={onClose}
    >
      <p>
        {desk.kinds[exception.kind]} <OperatorId id={exception.object_id} />
      </p>
      <p className="quiet small">{desk.close_words}</p>
      <Field label={desk.close_label} hint={desk.evidence_hint}>
        <TextArea value={reason} onValue={setReason} maxLength={1000} />
      </Field>
    </ActDialog>
  )
}
