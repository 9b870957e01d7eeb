import { argument, type Input, integerOption, type Output, option, requiredOption } from '../command.ts'
import { openApiClient } from './client.ts'
import { eventTypesOf } from './event-types.ts'
import { fieldsOf, shown } from './show.ts'

export async function webhooksCreate(input: Input): Promise<Output> {
  const url = argument(input, 0, 'URL')
  const events = eventTypesOf(input, 'events')
  const { trilho } = await openApiClient(input)
  return shown(
    await trilho.webhookEndpoints.create({
      url,
      events: events.length === 0 ? ['*'] : events,
      ...fieldsOf(input, ['description']),
    }),
  )
}

export async function webhooksTest(input: Input): Promise<Output> {
  const id = argument(input, 0, 'ENDPOINT')
  return shown(await (await openApiClient(input)).trilho.webhookEndpoints.test(id))
}

export async function webhooksRotateSecret(input: Input): Promise<Output> {
  const id = argument(input, 0, 'ENDPOINT')
  const grace_hours = integerOption(input, 'grace-hours', 0, 168)
  const { trilho } = await openApiClient(input)
  return shown(
    await trilho.webhookEndpoints.rotateSecret(id, grace_hours === undefined ? {} : { grace_hours }),
  )
}

/** A long range takes several calls, possibly more than the limit per minute allows: the SDK waits between them. */
export async function webhooksRedeliver(input: Input): Promise<Output> {
  const id = argument(input, 0, 'ENDPOINT')
  const to = option(input, 'to') ?? new Date().toISOString()
  const { trilho } = await openApiClient(input)
  let redelivered = 0
  for (let from: string | undefined = requiredOption(input, 'from'); from !== undefined; ) {
    try {
      const part: { redelivered: number; next_from?: string } = await trilho.webhookEndpoints.redeliver(id, {
        from,
        to,
      })
      redelivered += part.redelivered
      from = part.next_from
    } catch (error) {
      if (redelivered > 0)
        input.io.stderr.write(
          `${redelivered} events up to ${from} are sent again; to continue, use --from ${from}\n`,
        )
      throw error
    }
    input.io.progress(from === undefined ? '' : `${redelivered} up to ${from} …`)
  }
  return { json: { redelivered }, text: `Sending ${redelivered} events again.\n` }
}

export async function webhooksDelete(input: Input): Promise<Output> {
  const id = argument(input, 0, 'ENDPOINT')
  await (await openApiClient(input)).trilho.webhookEndpoints.delete(id)
  return { json: { id, deleted: true }, text: `${id} is deleted.\n` }
}
