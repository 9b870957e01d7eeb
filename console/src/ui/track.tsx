import type { ReactNode } from 'react'
import { durationText } from '../format/time.ts'
import { useLanguage } from '../text/text.tsx'
import { Glyph, type Shape } from './status.tsx'
import { Time } from './time.tsx'

export type Step = {
  readonly key: string
  /** The time of the step; undefined for a step still to come. */
  readonly at?: string | undefined
  /** A step still to come whose time is known. */
  readonly ahead?: boolean
  readonly title: ReactNode
  readonly text?: ReactNode
  /** The symbol of the step, such as the end or a time without answer; a plain crossbar when left out. */
  readonly mark?: Exclude<Shape, 'off' | 'ended' | 'attention'> | undefined
  /** A minor step, such as a repeated status query. */
  readonly soft?: boolean
  /** The outcome is unknown from this step on: the rails are dashed until the next mark. */
  readonly open?: boolean
}

/**
 * A timeline drawn as two rails with a crossbar per step; the time at the left, the time since the previous step at the right.
 */
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
