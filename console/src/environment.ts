import { useParams } from '@tanstack/react-router'

export type Environment = 'production' | 'sandbox'

export const isEnvironment = (word: string | undefined): word is Environment =>
  word === 'production' || word === 'sandbox'

const KEPT_IN = 'trilho.environment'

/** The environment that the person used last; pages that belong to no environment link back to it. */
export function lastEnvironment(): Environment {
  const kept = localStorage.getItem(KEPT_IN) ?? undefined
  return isEnvironment(kept) ? kept : 'sandbox'
}

export const keepEnvironment = (environment: Environment): void => localStorage.setItem(KEPT_IN, environment)

/** The environment in the URL. */
export function useEnvironment(): Environment {
  const { environment } = useParams({ strict: false }) as { environment?: string }
  return isEnvironment(environment) ? environment : lastEnvironment()
}
