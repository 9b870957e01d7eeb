import { Fragment, type ReactNode } from 'react'
import { useText } from '../text/text.tsx'
import { CopyButton } from './copy.tsx'
import { Rich } from './rich.tsx'

type Props = {
  /** Shown in the bar above the code. */
  readonly title?: ReactNode
  readonly aside?: ReactNode
  readonly children: string
  /** `json` is set out and coloured; `text` stays as it came; `shell` marks variables. */
  readonly as?: 'json' | 'text' | 'shell'
  /** The text to copy, if it differs from the text shown. */
  readonly copy?: string
}

/** Renders text only: the response of a webhook receiver is never treated as markup. */
export function Code({ title, aside, children, as = 'text', copy }: Props) {
  const { ui } = useText()
  const shown = as === 'json' ? setOut(children) : children
  return (
    <div className="code">
      <div className="top">
        {title !== undefined && <span>{title}</span>}
        {aside}
        <span className="push">
          <CopyButton value={copy ?? shown} label={typeof title === 'string' ? title : ''} />
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className={as === 'json' ? 'folds' : undefined}>
        {as === 'text' ? shown : coloured(shown, as)}
      </pre>
      {as === 'shell' && shown.includes('$TRILHO_KEY') && (
        <p className="set-key quiet small">
          <Rich>{ui.set_key}</Rich>
        </p>
      )}
    </div>
  )
}

/** Formats JSON with two spaces. Other text is left alone, and numbers keep their digits: they are not parsed. */
export function setOut(text: string): string {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  let depth = 0
  let out = ''
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/g)) {
    if (token === '}' || token === ']') {
      depth -= 1
      out = /[{[]$/.test(out) ? out + token : `${out}${line(depth)}${token}`
      continue
    }
    if (/[{[]$/.test(out) || (out.endsWith(',') && depth > 0)) out += line(depth)
    out += token === ':' ? ': ' : token
    if (token === '{' || token === '[') depth += 1
  }
  return out
}

const line = (depth: number) => `\n${'  '.repeat(depth)}`

const tokens = {
  json: /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null|-?\d[\d.eE+-]*)\b/g,
  shell: /(\$\{?\w+\}?)()()/g,
}

export function coloured(text: string, as: 'json' | 'shell'): ReactNode[] {
  const out: ReactNode[] = []
  let at = 0
  for (const found of text.matchAll(tokens[as])) {
    const [whole, quoted, colon, word] = found
    out.push(text.slice(at, found.index))
    const kind = word ? 'w' : colon ? 'k' : 's'
    out.push(
      <Fragment key={found.index}>
        <span className={kind}>{quoted ?? word}</span>
        {colon}
      </Fragment>,
    )
    at = found.index + whole.length
  }
  out.push(text.slice(at))
  return out
}
