import { hash, randomInt } from 'node:crypto'
import type { Environment } from '../../core/environment.ts'

/** Interface §5. Only this prefix selects the environment. */
const prefixes: Readonly<Record<Environment, string>> = {
  production: 'svc_live_sk_',
  sandbox: 'svc_test_sk_',
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const SECRET_LENGTH = 43

/** 43 characters of 62: 256 bits, so a plain hash cannot be reversed. */
export function newKeyValue(environment: Environment): string {
  let secret = ''
  for (let i = 0; i < SECRET_LENGTH; i++) secret += alphabet[randomInt(alphabet.length)]
  return prefixes[environment] + secret
}

export function environmentOf(value: string): Environment | undefined {
  if (!/^svc_(live|test)_sk_[A-Za-z0-9]{32,64}$/.test(value)) return undefined
  return value.startsWith(prefixes.production) ? 'production' : 'sandbox'
}

/** Hashed here, so that the clear value never reaches the database or its log. */
export function hashKeyValue(value: string): Buffer {
  return hash('sha256', value, 'buffer')
}

export const lastFour = (value: string): string => value.slice(-4)
