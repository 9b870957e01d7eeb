import { type Agent, request as open } from 'node:http'
import type { Plan } from './requests.ts'

/** One request as it went out, and what came back. */
export type Exchange = {
  readonly plan: Plan
  readonly sent: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string | string[]>>
    readonly body: string | undefined
  }
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** Undefined: no client would send it, or the server cut a body off that was far too long. */
export function exchange(
  base: string,
  agent: Agent,
  plan: Plan,
  sent: Exchange['sent'],
): Promise<Exchange | undefined> {
  const { port } = new URL(base)
  return new Promise((resolve, reject) => {
    const { method, path, body } = sent
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const headers = { ...length, ...sent.headers }
    let request: ReturnType<typeof open>
    try {
      request = open({ host: '127.0.0.1', port, agent, method, path, headers })
    } catch (error) {
      if (
        /ERR_(UNESCAPED_CHARACTERS|INVALID_CHAR|HTTP_INVALID)/.test(String((error as { code?: string }).code))
      )
        return resolve(undefined)
      return reject(error)
    }
    request.once('error', (error: NodeJS.ErrnoException) =>
      (body?.length ?? 0) > 65_536 || error.code === 'HPE_INVALID_CONSTANT'
        ? resolve(undefined)
        : reject(new Error(`${error.message}: ${curlOf(sent, base)}`)),
    )
    request.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () =>
        resolve({
          plan,
          sent,
          status: response.statusCode!,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    request.end(body)
  })
}

/** The same request, to be sent by hand. Keys are left out. */
export function curlOf({ method, path, headers, body }: Exchange['sent'], base: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const lines = Object.entries(headers)
    .filter(([name]) => name !== 'authorization')
    .flatMap(([name, value]) => [value].flat().map((each) => `-H ${quote(`${name}: ${each}`)}`))
  return [
    `curl -g --path-as-is -X ${method} ${quote(base + path)} -H "Authorization: Bearer $TRILHO_KEY"`,
    ...lines,
    ...(body === undefined ? [] : [`--data-binary ${quote(body)}`]),
  ]
    .join(' ')
    .slice(0, 2000)
}
