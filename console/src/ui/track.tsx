import type { ReactNode } from 'react'
import { durationText } from '../format/time.ts'
import { useLanguage } from '../text/text.tsx'
import { Glyph, type Shape } from './status.tsx'
import { Time } from './time.tsx'

export type Step = {
  readonly key: string
  /** Without a time it is still ahead. */
  readonly at?: string | undefined
  /** Still to come, although it is known when. */
  readonly ahead?: boolean
  readonly title: ReactNode
  readonly text?: ReactNode
  /** The mark at a stop: the end, a time without answer. A sleeper when left out. */
  readonly mark?: Exclude<Shape, 'off' | 'ended' | 'attention'> | undefined
  /** A step of little weight: asked again. */
  readonly soft?: boolean
  /** From here on nobody knows: the rails are dashed until the next mark. */
  readonly open?: boolean
}

/** Two rails and a sleeper per step; time left, time since the last step right. */
export function Track({ steps }: { readonly steps: readonly Step[] }) {
  const { language } = useLanguage()
  return (
    <ol className="track">
      {steps.map((step, i) => {
        const since = sinceLast(steps, i)
        return (
          <li key={step.key} className={classOf(step, steps[i + 1])}>
            {step.at === undefined ? <span /> : <Time at={step.at} as="clock" />}
            {step.mark === undefined ? (
              <span className="tie" />
            ) : (
              <span className={`stop ${step.mark}`}>
                <Glyph shape={step.mark} size={16} />
              </span>
            )}
            <div className="what">
              <b>{step.title}</b>
              {step.text !== undefined && <p>{step.text}</p>}
            </div>
            <span className="dt">{since === undefined ? '' : `+${durationText(since, language)}`}</span>
          </li>
        )
      })}
    </ol>
  )
}

const isAhead = ({ at, ahead = false }: Step): boolean => ahead || at === undefined

function classOf(step: Step, next: Step | undefined): string {
  const names = [
    step.soft ? 'soft' : '',
    step.open ? 'open' : next !== undefined && isAhead(next) ? 'ahead' : '',
    isAhead(step) ? 'ahead' : '',
  ]
  return names.filter((name) => name !== '').join(' ')
}

function sinceLast(steps: readonly Step[], i: number): number | undefined {
  const at = steps[i]?.at
  const before = steps[i - 1]?.at
  if (at === undefined || before === undefined) return undefined
  return new Date(at).getTime() - new Date(before).getTime()
}
