import { useLocation } from '@tanstack/react-router'
import { type Environment, useEnvironment } from '../environment.ts'
import { useSession } from '../session.tsx'
import {
  type NavEntry,
  type NavGroup,
  operatorParts,
  operatorTabs,
  partnerParts,
  partnerTabs,
} from './navigation.ts'

/** The data of the frame: the current path, environment and navigation. */
export type Frame = {
  readonly path: string
  readonly base: string
  readonly environment: Environment
  readonly operator: boolean
  readonly parts: readonly NavGroup[]
  readonly tabs: readonly NavEntry[]
}

export function useFrame(): Frame {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const environment = useEnvironment()
  const { partner, may } = useSession()
  const operator = partner === null
  const base = basePathOf(environment, operator)
  const parts = operator ? operatorParts : partnerParts
  return {
    path,
    base,
    environment,
    operator,
    parts: parts.map((part) => ({
      ...part,
      places: part.places.filter(
        ({ only, permit }) =>
          (only === undefined || only === environment) && (permit === undefined || may(permit)),
      ),
    })),
    tabs: operator ? operatorTabs : partnerTabs,
  }
}

const basePathOf = (environment: Environment, operator: boolean): string =>
  operator ? `/operator/${environment}` : `/${environment}`

/** `isAt` decides which entry is current: the router's own rule would match every page below an entry. */
export const exactly = { exact: true } as const

/** The same list in the other environment. For the page of one object, which does not exist there, this is its list. */
export function inOtherEnvironment({ path, base, operator }: Frame, environment: Environment): string {
  const other = basePathOf(environment, operator)
  if (!path.startsWith(base)) return other
  const words = path.slice(base.length).split('/').filter(Boolean)
  if (words[0] === 'playground') return other
  // Pages of one object are the last word of their path.
  const list = words.slice(0, words[0] === 'developers' || words[0] === 'team' ? 2 : 1)
  return [other, ...list].join('/')
}
