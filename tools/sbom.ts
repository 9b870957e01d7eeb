import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * `npm run sbom [-- FILE]`: what the program is made of, as CycloneDX, from package-lock.json alone; no network, nothing
 * installed. The same lockfile gives the same bytes, so it is not kept in the repository: it can be made for any commit.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const lockfile = readFileSync(`${root}package-lock.json`)
const { name } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const args = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx', '--offline']
const bom = JSON.parse(
  execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
)

// npm takes the folder's name, a random number and the time; none of them says anything about the program.
const digest = createHash('sha256').update(lockfile).digest('hex')
const uuid = [8, 12, 16, 20, 32].map((end, i, ends) => digest.slice(ends[i - 1] ?? 0, end)).join('-')
bom.serialNumber = `urn:uuid:${uuid.slice(0, 14)}8${uuid.slice(15, 19)}8${uuid.slice(20)}`
bom.metadata.component.name = name
bom.metadata.component.type = 'application'
delete bom.metadata.timestamp
delete bom.metadata.tools

const file = process.argv[2] ?? `${root}sbom.json`
writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`)
console.log(`Wrote ${file}: ${bom.components.length} components.`)
