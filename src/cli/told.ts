import type { Acted } from '../operator/act.ts'
import type { Output } from './command.ts'

type Shown = { readonly json: unknown; readonly text: string }

/** What became of an act, with the line of the log that says so: noted down, it can be asked for again. */
export function told<Result>(acted: Acted<Result>, show: (result: Result) => Shown): Output {
  const { json, text } = 'proposed' in acted ? proposed(acted.proposed) : show(acted.done)
  const { line } = acted
  if (!line) return { json, text }
  const log = { environment: line.place, seq: line.seq.toString(), hash: line.hash }
  return {
    json: { ...(json as object), log },
    text: `${text}Line ${log.seq} of the log of ${log.environment}: ${log.hash}\n`,
  }
}

function proposed({ id, expires_at }: { id: string; expires_at: Date }): Shown {
  return {
    json: { proposal_id: id, status: 'proposed' },
    text: `Proposed as ${id}. Until ${expires_at.toISOString()} another operator approves it with: trilho proposals approve ${id} --as EMAIL\n`,
  }
}
