import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { integrityOf, isPackage, packCurrent, RELEASES, readReleases, released } from './packages.ts'

/**
 * Stores the packages of this version in released, from where every later version serves them too. With --check it only
 * reports what is wrong; with --release it dates the version, and from then on its files never change.
 */
const { version, release, packages, differ } = await packCurrent()
const releases = readReleases()

const isOther = ([name, integrity]: [string, string]) =>
  integrityOf(readFileSync(released(name))) !== integrity
const changed = Object.values(releases)
  .filter(({ date }) => date !== null)
  .flatMap(({ files }) => Object.entries(files).filter(isOther))
  .map(([name]) => `released/${name} is not the file that was stored. Restore it from git.`)
const strange = readdirSync(released())
  .filter((name) => isPackage(name) && !Object.values(releases).some(({ files }) => name in files))
  .map((name) => `released/${name} is not in releases.json.`)
const undated = Object.entries(releases)
  .filter(([of, { date }]) => of !== version && date === null)
  .map(([of]) => `Version ${of} has no date in releases.json, although a later version exists.`)
const raise = release?.date
  ? differ.map(
      (name) =>
        `The sources of ${name} changed after version ${version} was released. Raise the version in package.json, sdk/package.json and cli/package.json, then run: npm run generate`,
    )
  : []
/** A stored file is not the one that releases.json names, as after a merge of two branches that both stored an undated version. */
const is_mixed = release !== undefined && Object.entries(release.files).some(isOther)
const stale = release?.date
  ? []
  : (is_mixed ? packages.map(({ name }) => name) : differ).map(
      (name) => `released/${name} is stale. Run: npm run generate`,
    )

const isCheck = process.argv.includes('--check')
const wrong = [...changed, ...strange, ...undated, ...raise, ...(isCheck ? stale : [])]
for (const line of wrong) console.error(line)
if (wrong.length > 0) process.exitCode = 1
else if (!isCheck) store()

function store(): void {
  const date = process.argv.includes('--release') ? new Date().toISOString().slice(0, 10) : null
  if (release?.date || (differ.length === 0 && !is_mixed && date === null)) return
  for (const { name, content } of packages) writeFileSync(released(name), content)
  const files = Object.fromEntries(packages.map(({ name, content }) => [name, integrityOf(content)]))
  writeFileSync(RELEASES, `${JSON.stringify({ ...releases, [version]: { date, files } }, null, 2)}\n`)
  console.log(`Stored ${packages.map(({ name }) => name).join(', ')}.`)
}
