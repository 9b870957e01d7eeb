import type { Event } from '#sdk'
import { newSecret, showSecret } from '../../webhooks/signature.ts'
import { type Input, type Output, option, usage } from '../command.ts'
import { exitOfStop } from '../exit.ts'
import { coloured, type Io } from '../io.ts'
import { toJson } from '../print.ts'
import { openApiClient } from './client.ts'
import { eventTypesOf } from './event-types.ts'
import { type Forwarded, forwardTo } from './forward.ts'
import { startProgram } from './program.ts'
import { reportingFetch } from './reporting-fetch.ts'

/**
 * Prints or forwards events from the SDK's stream, which long-polls, respects the daily limit of the key and resumes after the
 * server was down.
 */
export async function listen(input: Input): Promise<Output> {
  const { io, format } = input
  const target = targetOf(input)
  const types = eventTypesOf(input, 'types')
  const stopped = io.stopped()
  let signal = stopped
  const { trilho } = await openApiClient(input, { fetch: reportingFetch(io, () => signal.aborted) })
  const given = givenSecret(io)
  const secret = given ?? showSecret(newSecret())
  const say = (json: unknown, text: string) =>
    io.stdout.write(format === 'table' ? text : `${toJson(json)}\n`)
  if (given === undefined && (target || input.program.length > 0))
    say({ secret }, `Signing with the secret ${secret}\n`)
  const program = startProgram(input.program, { ...io.env, TRILHO_WEBHOOK_SECRET: secret })
  signal = AbortSignal.any([stopped, program.ended])
  const events = trilho.events.stream({
    ...(types.length > 0 ? { types } : {}),
    after: option(input, 'after') ?? 'now',
    signal,
    save: once(() => io.stderr.write(`Waiting for events${target ? `, for ${target}` : ''}.\n`)),
  })
  const forwarding = { secret, patient: input.program.length > 0, signal }
  try {
    for await (const event of events) {
      const onUnreachable = (why: string) => {
        const out = format === 'table' ? io.stdout : io.stderr
        out.write(`${headOf(event)}  → ${coloured(io, 'red', why)}, trying again\n`)
      }
      const forwarded =
        target === undefined ? undefined : await forwardTo(target, event, { ...forwarding, onUnreachable })
      if (!signal.aborted) say(forwarded ? { ...event, forwarded } : event, lineOf(io, event, forwarded))
    }
  } finally {
    await program.stop(stopped.reason === 'SIGINT' ? 'SIGINT' : 'SIGTERM')
  }
  if (stopped.aborted) return { exit_code: exitOfStop(stopped.reason) }
  const exit_code = program.exitCode()
  io.stderr.write(`${input.program[0]} ended with ${exit_code}; listening has ended too.\n`)
  return { exit_code }
}

function targetOf(input: Input): string | undefined {
  const url = option(input, 'forward-to')
  if (url !== undefined && !(/^https?:\/\//.test(url) && URL.canParse(url)))
    usage('--forward-to must be a URL such as http://127.0.0.1:3000/webhooks.')
  return url
}

/** The webhook secret from TRILHO_WEBHOOK_SECRET. A secret that the user gave is not printed. */
function givenSecret({ env }: Io): string | undefined {
  const given = env.TRILHO_WEBHOOK_SECRET
  if (!given) return undefined
  if (!/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(given))
    usage('TRILHO_WEBHOOK_SECRET must be a secret such as whsec_….')
  return given
}

function headOf({ created_at, id, type, data }: Event): string {
  const { object } = data as { object: { id: string } }
  return `${created_at}  ${id}  ${type}  ${object.id}`
}

/** One line per event: its time, type and id, and the response of the receiver. */
function lineOf(io: Io, event: Event, forwarded: Forwarded | undefined): string {
  if (!forwarded) return `${headOf(event)}\n`
  const { status, ms } = forwarded
  const colour = typeof status === 'number' && status < 300 ? 'green' : 'red'
  return `${headOf(event)}  → ${coloured(io, colour, String(status))} (${ms} ms)\n`
}

function once(run: () => void): () => void {
  let done = false
  return () => {
    if (!done) run()
    done = true
  }
}
