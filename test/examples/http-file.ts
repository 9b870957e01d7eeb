/** A reader of `.http` files, as far as ours go: variables of the file, of the environment, and out of earlier responses. */
export type Sent = {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

type Written = Sent & { readonly name: string }

export function readHttpFile(text: string, env: Readonly<Record<string, string>>) {
  const [opening = '', ...parts] = text.split(/^### .*\n/m)
  const variables = new Map(
    [...opening.matchAll(/^@(\w+) = (.*)$/gm)].map(([, name, value]) => [name!, value!]),
  )
  const responses = new Map<string, unknown>()

  const meaningOf = (expression: string): string => {
    const [from, path] = expression.split('.response.body.$.')
    if (path) return String(path.split(/[.[\]]+/).reduce<any>((at, step) => at[step], responses.get(from!)))
    if (expression.startsWith('$processEnv ')) return env[expression.split(' ')[1]!]!
    return fillText(variables.get(expression)!)
  }
  const fillText = (written: string): string =>
    written.replaceAll(/\{\{([^}]+)\}\}/g, (_, expression) => meaningOf(expression))

  return {
    requests: parts.map(readRequest),
    responses,
    /** The request as it goes out, to this server. */
    fill({ method, url, headers, body }: Written, server: string): Sent {
      variables.set('url', server)
      return {
        method,
        url: fillText(url),
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fillText(value)])),
        body: body && fillText(body),
      }
    },
  }
}

function readRequest(part: string): Written {
  const [head = '', body] = part.trimEnd().split(/\n\n([\s\S]*)/)
  const [name, request, ...headers] = head.split('\n')
  const [method, url] = request!.split(' ')
  return {
    name: name!.replace('# @name ', ''),
    method: method!,
    url: url!,
    headers: Object.fromEntries(headers.map((line) => line.split(': ') as [string, string])),
    body,
  }
}
