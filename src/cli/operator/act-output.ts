import { type Acted, act } from '../../control/operator/act.ts'
import type { Act, ActResult } from '../../control/operator/registry.ts'
import type { ActName } from '../../control/operator/rules.ts'
import type { Input, Output, Reach } from '../command.ts'
import { actorOf } from './actor.ts'

type Shown = { readonly json: unknown; readonly text: string }

/** Performs or proposes an act of the operator at this shell. */
export async function actFromShell<Name extends ActName>(
  input: Input,
  { office, shared }: Reach,
  action: Act<Name>,
  show: (result: ActResult<Name>) => Shown,
): Promise<Output> {
  return actOutput(await act(office, await actorOf(input, shared), action), show)
}

/**
 * The output of an act, with the sequence number and hash of its audit log line: whoever notes them down can later verify that
 * the line still exists.
 */
export function actOutput<Result>(acted: Acted<Result>, show: (result: Result) => Shown): Output {
  const { json, text } = 'proposed' in acted ? proposed(acted) : show(acted.done)
  const { line } = acted
  if (!line) return { json, text }
  const log = { environment: line.place, seq: line.seq.toString(), hash: line.hash }
  return {
    json: { ...(json as object), log },
    text: `${text}Line ${log.seq} of the log of ${log.environment}: ${log.hash}\n`,
  }
}

type Proposed = Extract<Acted<never>, { proposed: unknown }>

function proposed({ proposed: { id, expires_at }, activation_code }: Proposed): Shown {
  const code =
    activation_code === undefined
      ? ''
      : `Activation code, shown this once: ${activation_code}\nGive it to the person yourself. The first sign-in needs this code and the password, which only the operator who approves sees.\n`
  return {
    json: { proposal_id: id, status: 'proposed', ...(activation_code ? { activation_code } : {}) },
    text: `${code}Proposed as ${id}. Until ${expires_at.toISOString()} another operator approves it with: trilho proposals approve ${id} --as EMAIL\n`,
  }
}
