import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Pages of Markdown as the tests see them. A fence `sh run`, `ts run` or `py run` is run; the fence `json output` or `text
 * output` that follows it, or the group that it is in, is what each of them must print.
 */
export type Sample = {
  readonly language: string
  readonly code: string
  readonly line: number
  /** What it must print; absent when that does not matter. */
  readonly output?: { readonly language: string; readonly text: string }
}

type Fence = { language: string; words: readonly string[]; code: string; line: number; end: number }

function fencesOf(text: string): Fence[] {
  const lineAt = (index: number) => text.slice(0, index).split('\n').length
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [language = '', ...words] = match[1]!.trim().split(/\s+/)
    const end = match.index + match[0].length
    return { language, words, code: match[2]!, line: lineAt(match.index), end: lineAt(end) }
  })
}

/** In order. Fences without text between them are one group: the same in several languages, and what it prints. */
export function samplesOf(text: string): Sample[] {
  const fences = fencesOf(text)
  const follows = (index: number) => fences[index + 1]?.line === fences[index]!.end + 2
  return fences.flatMap((fence, index) => {
    if (!fence.words.includes('run')) return []
    let last = index
    while (fences[last]!.words.includes('run') && follows(last)) last++
    const output = fences[last]!
    const { language, code, line } = fence
    return output.words.includes('output')
      ? { language, code, line, output: { language: output.language, text: output.code } }
      : { language, code, line }
  })
}

/** What differs from run to run, by its form: ids, times, secrets, addresses, what is left of a window. */
function withoutChance(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/\b(whsec_)[A-Za-z0-9+/=]{20,}/g, '$1…')
    .replaceAll(/\b(svc_(?:test|live)_sk_)\w+/g, '$1…')
    .replaceAll(/\b([a-z]{2,4}_)[0-9a-hjkmnp-tv-z]{26}\b/g, '$1…')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME')
    .replaceAll(/\bE\d{20}[0-9a-z]{11}\b/g, 'E…')
    .replaceAll(/("(?:used|remaining)":) ?\d+/g, '$1 …')
    .replaceAll(/https?:\/\/(?:127\.0\.0\.1|localhost):\d+/g, 'http://HERE')
}

/** Throws, with what was printed, when the two differ. In what is expected `…` stands for anything, alone on its line for any lines. */
export function assertPrinted({ language, text }: { language: string; text: string }, printed: string): void {
  const [expected, actual] = [text, printed].map((one) => withoutChance(normal(language, one)))
  if (pattern(expected!).test(`${actual}\n`)) return
  throw new Error(`printed\n${actual}\ninstead of\n${expected}`)
}

/** How wide the columns of a table are depends on what is in them. */
const normal = (language: string, text: string) =>
  language === 'json' ? JSON.stringify(JSON.parse(text), null, 2) : text.trim().replaceAll(/ {2,}/g, '  ')

function pattern(expected: string): RegExp {
  const ofLine = (line: string) => {
    const parts = line.split('…').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    return `${parts.join('[^\\n]*?')}\n`
  }
  const lines = expected.split('\n').map((line) => (line === '…' ? '(?:[^\\n]*\n)*?' : ofLine(line)))
  return new RegExp(`^${lines.join('')}$`)
}

export type Runner = {
  run(sample: Sample): Promise<string>
  stop(): void
}

/**
 * Runs samples one after the other. Variables that a shell sets are there for the next ones, in every language. `…` behind a
 * prefix of ids stands for the last such id that was printed.
 */
export function openRunner(options: { env: Record<string, string>; sdk: string }): Runner {
  let variables = options.env
  let printed = ''
  const place = mkdtempSync(join(tmpdir(), 'trilho-samples-'))
  mkdirSync(join(place, 'node_modules/@trilho'), { recursive: true })
  symlinkSync(options.sdk, join(place, 'node_modules/@trilho/sdk'))

  async function inShell(code: string): Promise<string> {
    const state = join(place, 'variables')
    const output = await execute('bash', ['-c', `set -aeo pipefail\n${code}\nenv -0 > '${state}'`])
    const lines = readFileSync(state, 'utf8').split('\0').filter(Boolean)
    variables = Object.fromEntries(
      lines.map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]),
    )
    return output
  }

  function execute(program: string, args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) =>
      execFile(program, args, { cwd: place, env: variables }, (error, out, err) =>
        error ? reject(new Error(`${out}\n${err}`)) : resolve(out),
      ),
    )
  }

  function fromFile(name: string, code: string, program: string, args: readonly string[]): Promise<string> {
    const path = join(place, name)
    writeFileSync(path, code)
    return execute(program, [...args, path])
  }

  return {
    async run({ language, code }) {
      const filled = code.replaceAll(/\b([a-z]{2,4}_)…/g, (_, prefix) => {
        const found = printed.match(new RegExp(`\\b${prefix}[0-9a-z]{26}`, 'g'))?.at(-1)
        if (!found) throw new Error(`nothing that was printed has an id ${prefix}…`)
        return found
      })
      const output =
        language === 'sh'
          ? await inShell(filled)
          : language === 'py'
            ? await fromFile('sample.py', filled, 'python3', [])
            : await fromFile('sample.mts', filled, process.execPath, ['--import', import.meta.resolve('tsx')])
      printed += output
      return output
    },
    stop: () => rmSync(place, { recursive: true, force: true }),
  }
}
