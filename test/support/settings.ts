import { expect } from 'vitest'
import { settings, settingsIn, signerSettings } from '../../src/node/settings.ts'

/** Of variables in a file of deploy/: each is a setting, and those that name a file are secrets. */
export function expectSettings(names: readonly string[]): void {
  const known = [...settingsIn(settings), ...settingsIn(signerSettings)]
  for (const name of names) {
    if (name === 'NODE_ENV') continue
    const setting = known.find((one) => one.name === name || (one.secret && `${one.name}_FILE` === name))
    expect(setting, name).toBeDefined()
    if (setting!.secret) expect(name).toMatch(/_FILE$/)
  }
}
