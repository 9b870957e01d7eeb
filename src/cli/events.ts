import { setTimeout as sleep } from 'node:timers/promises'
import { eventTypes } from '../events/events.ts'
import { newSecret, readSecret, showSecret, signatureHeaders } from '../webhooks/signature.ts'
import { argument, type CliCommand, type Input, option, requiredOption, usage } from './command.ts'
import { openRemote, type Remote, RemoteRefusal, remoteOptions } from './remote.ts'

const POLL_MS = 1000
const FORWARD_MS = 10_000
/** How often a call of a long range is made before giving up. */
const RESEND_TRIES = 5

export const eventCommands: CliCommand[] = [
  {
    name: 'listen',
    about: 'Forward events to a program on this machine, signed, until it is told to stop',
    options: {
      ...remoteOptions,
      'forward-to': { type: 'string', value: 'URL', about: 'Where to POST them', required: true },
      events: { type: 'string', value: 'LIST', about: 'Event types, separated by commas; all by default' },
      after: {
        type: 'string',
        value: 'EVENT|start',
        about: 'Begin behind this event; by default with the next one',
      },
      secret: { type: 'string', value: 'whsec_…', about: 'Sign with this secret; by default a new one' },
      once: { type: 'boolean', about: 'Stop when everything that is there was forwarded' },
    },
    async run(input) {
      const target = requiredOption(input, 'forward-to')
      if (!URL.canParse(target)) usage('--forward-to must be a URL such as http://localhost:3000/webhooks.')
      const remote = openRemote(input)
      const secret = option(input, 'secret') ?? showSecret(newSecret())
      const kinds = kindsOf(input)
      let after = option(input, 'after') ?? (await newest(remote))
      print(input, { secret }, `Forwarding to ${target}. Verify with the secret ${secret}\n`)
      for (let stopped = false; !stopped; ) {
        const page = await remote.call('GET', `/v1/events?limit=100&after=${after}`).catch(waitOrThrow)
        for (const event of page?.data ?? []) {
          if (kinds.length === 0 || kinds.includes(event.type))
            await forward(input, event, { target, secret })
        }
        after = page?.next_cursor ?? after
        stopped = page !== undefined && !page.has_more && input.options.once === true
        if (!stopped && !page?.has_more) await sleep(POLL_MS)
      }
      return undefined
    },
  },
  {
    name: 'trigger',
    takes: 'KIND',
    about: 'Make a sample event in the sandbox',
    options: remoteOptions,
    async run(input) {
      const kind = argument(input, 0, 'KIND')
      if (!eventTypes.includes(kind as never)) usage(`KIND must be one of ${eventTypes.join(', ')}.`)
      const event = await openRemote(input).call('POST', `/v1/sandbox/events/${kind}`)
      return { json: event, text: `${event.id}\n` }
    },
  },
  {
    name: 'events resend',
    takes: 'EVENT',
    about: 'Send an event again, or everything of a time range to one endpoint',
    options: {
      ...remoteOptions,
      endpoint: { type: 'string', value: 'ID', about: 'With --from and --to: the endpoint' },
      from: { type: 'string', value: 'TIME', about: 'ISO 8601, inclusive' },
      to: { type: 'string', value: 'TIME', about: 'ISO 8601, exclusive; now when absent' },
    },
    async run(input) {
      const redelivered = option(input, 'from') ? await resendRange(input) : await resendOne(input)
      return { json: { redelivered }, text: `Sending ${redelivered} again.\n` }
    },
  },
]

function kindsOf(input: Input): string[] {
  const kinds = (option(input, 'events') ?? '').split(',').filter((kind) => kind !== '')
  const unknown = kinds.find((kind) => !eventTypes.includes(kind as never))
  return unknown === undefined
    ? kinds
    : usage(`--events has ${unknown}. Event types are ${eventTypes.join(', ')}.`)
}

const newest = async (remote: Remote): Promise<string> =>
  (await remote.call('GET', '/v1/events?limit=1')).data[0]?.id ?? 'start'

/** Too many requests, or a service that restarts, are no reason to stop listening. */
async function waitOrThrow(error: unknown): Promise<undefined> {
  if (!(error instanceof RemoteRefusal) || error.retry_after_ms === 0) throw error
  await sleep(error.retry_after_ms)
}

type Event = {
  readonly id: string
  readonly type: string
  readonly data: { readonly object: { readonly id: string } }
}

/** One line for each: what it was, and what the program said. */
async function forward(input: Input, event: Event, to: { target: string; secret: string }): Promise<void> {
  const body = JSON.stringify(event)
  const at = new Date()
  const signature = signatureHeaders({ id: event.id, body, at, secrets: [readSecret(to.secret)] })
  const begun = performance.now()
  const status = await fetch(to.target, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signature },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(FORWARD_MS),
  }).then(
    async (response) => {
      await response.arrayBuffer()
      return response.status
    },
    (error: Error) => (error.cause as NodeJS.ErrnoException | undefined)?.code ?? error.name,
  )
  const ms = Math.round(performance.now() - begun)
  const { id, type, data } = event
  print(
    input,
    { id, type, object_id: data.object.id, status, ms },
    `${at.toISOString()}  ${id}  ${type}  ${data.object.id}  → ${status} (${ms} ms)\n`,
  )
}

/** What runs on has no end to print at: each line goes out by itself. */
const print = (input: Input, json: unknown, text: string) =>
  process.stdout.write(input.options.json ? `${JSON.stringify(json)}\n` : text)

async function resendOne(input: Input): Promise<number> {
  const id = encodeURIComponent(argument(input, 0, 'EVENT'))
  return (await openRemote(input).call('POST', `/v1/events/${id}/redeliver`)).redelivered
}

/** A long range takes more calls than a minute allows. */
async function patiently<T>(call: () => Promise<T>, so_far: string): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof RemoteRefusal) || error.retry_after_ms === 0) throw error
      if (tries === RESEND_TRIES) throw new RemoteRefusal(`${error.message} ${so_far}`, error.retry_after_ms)
      await sleep(error.retry_after_ms)
    }
  }
}

async function resendRange(input: Input): Promise<number> {
  const remote = openRemote(input)
  const path = `/v1/webhook_endpoints/${encodeURIComponent(requiredOption(input, 'endpoint'))}/redeliver`
  const to = option(input, 'to') ?? new Date().toISOString()
  let redelivered = 0
  for (let from: string | undefined = requiredOption(input, 'from'); from !== undefined; ) {
    const body = { from, to }
    const part: { redelivered: number; next_from?: string } = await patiently(
      () => remote.call('POST', path, body),
      `${redelivered} sent again up to ${from}; go on from there with --from ${from}.`,
    )
    redelivered += part.redelivered
    from = part.next_from
  }
  return redelivered
}
