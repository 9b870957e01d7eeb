import type { Io } from '../io.ts'

/**
 * A fetch for commands that run until stopped. It reports each outage and each rate limit once on standard error, so that a
 * silent command is explained.
 */
export function reportingFetch({ stderr }: Io, isLeaving: () => boolean): typeof fetch {
  let away = false
  const report = (text: string) => stderr.write(`${text}\n`)
  return async (url, init) => {
    try {
      const response = await fetch(url, init)
      if (response.status === 429) await reportLimit(response.clone(), report)
      if (response.status >= 500 && !away)
        report(`The service answers ${response.status}; trying again until it recovers.`)
      if (response.status < 500 && away) report('The service is back.')
      away = response.status >= 500
      return response
    } catch (error) {
      if (!away && !isLeaving()) report(`${originOf(url)} cannot be reached; trying again until it is back.`)
      away = true
      throw error
    }
  }
}

async function reportLimit(response: Response, report: (text: string) => void): Promise<void> {
  const body = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } }
  const { code = 'rate_limit_exceeded', message = '' } = body.error ?? {}
  const wait = response.headers.get('retry-after')
  report(
    `429 ${code}: ${message} Waiting ${wait === null ? 'a while' : `${wait} s`}, then it goes on by itself.`,
  )
}

function originOf(url: Parameters<typeof fetch>[0]): string {
  return new URL(url instanceof Request ? url.url : url).origin
}
