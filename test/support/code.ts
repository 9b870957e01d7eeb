import { codeAt, stepAt } from '../../src/parties/team/factor.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** What an app that was given this secret works with. */
export function seedOf(secret: string): Buffer {
  const bits = [...secret].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
}

/** What such an app shows at this moment. */
export const codeNow = (secret: string): string => codeAt(seedOf(secret), stepAt(Date.now() / 1000))
