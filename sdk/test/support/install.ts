import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packSdk } from '../../../tools/packages.ts'

/** A folder in which the packed SDK is installed, as `npm install …/trilho-sdk.tgz` leaves it. */
export function installSdk(): string {
  const folder = mkdtempSync(join(tmpdir(), 'trilho-sdk-'))
  const place = join(folder, 'node_modules/@trilho/sdk')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(folder, 'sdk.tgz'), packSdk())
  execFileSync('tar', ['xzf', join(folder, 'sdk.tgz'), '--strip-components=1', '-C', place])
  return folder
}
