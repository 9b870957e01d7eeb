import { useParams } from '@tanstack/react-router'

export type Environment = 'production' | 'sandbox'

export const isEnvironment = (word: string | undefined): word is Environment =>
  word === 'production' || word === 'sandbox'

const KEPT_IN = 'trilho.environment'

/**
 * The environment for an address that names none, such as `/` or `/team`: the one this tab had last. A new tab starts with the one
 * that any tab had last, and keeps it: another tab never changes it.
 */
export function lastEnvironment(): Environment {
  const kept = sessionStorage.getItem(KEPT_IN) ?? localStorage.getItem(KEPT_IN) ?? undefined
  const environment = isEnvironment(kept) ? kept : 'sandbox'
  sessionStorage.setItem(KEPT_IN, environment)
  return environment
}

export function keepEnvironment(environment: Environment): void {
  sessionStorage.setItem(KEPT_IN, environment)
  localStorage.setItem(KEPT_IN, environment)
}

/** The environment in the URL. Every page has one, but for the page of an unknown address. */
export function useEnvironment(): Environment {
  const { environment } = useParams({ strict: false }) as { environment?: string }
  return isEnvironment(environment) ? environment : lastEnvironment()
}
