import { argument, type Input, type Output, options, usage } from '../command.ts'
import { assertUnits } from './checks.ts'
import { openApiClient } from './client.ts'
import { eventTypeNamed } from './event-types.ts'
import { fieldsOf } from './show.ts'

export async function eventsResend(input: Input): Promise<Output> {
  const id = argument(input, 0, 'EVENT')
  const { trilho } = await openApiClient(input)
  const sent = await trilho.events.redeliver(id, fieldsOf(input, ['endpoint']))
  return { json: sent, text: `Sending ${sent.redelivered} again.\n` }
}

export async function trigger(input: Input): Promise<Output> {
  const type = eventTypeNamed(argument(input, 0, 'TYPE'), 'TYPE')
  const override = overrideOf(options(input, 'override'))
  const { trilho } = await openApiClient(input)
  const event = await trilho.sandbox.events.create(type, override ? { override } : {})
  return { json: event, text: `${event.id}  ${event.type}\n` }
}

/**
 * A value that parses as JSON is sent as JSON, except a number: numbers in the API are strings. Every other value is sent as
 * text.
 */
function overrideOf(given: readonly string[]): Record<string, unknown> | undefined {
  if (given.length === 0) return undefined
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=')
      if (at < 1) usage(`--override must be FIELD=VALUE, such as amount=1050, not ${text}.`)
      const field = text.slice(0, at)
      return [field, overridden(assertUnits(field, text.slice(at + 1)))]
    }),
  )
}

function overridden(text: string): unknown {
  if (!/^(\{|\[|"|true$|false$|null$)/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
