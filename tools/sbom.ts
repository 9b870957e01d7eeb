import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * `npm run sbom [-- FILE]`: the bill of materials as CycloneDX, from package-lock.json and the fonts in the repository; no
 * network, nothing installed. The same lockfile gives the same bytes, so the file is not in the repository: it can be made for any commit.
 * `npm sbom --omit=dev` is no alternative: it omits packages that a development package needs too, such as pg-protocol.
 */
type Locked = {
  readonly version: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: true
  readonly optional?: true
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const root = fileURLToPath(new URL('../', import.meta.url))
const text = readFileSync(`${root}package-lock.json`, 'utf8')
const { '': program, ...packages }: Record<string, Locked> & { '': Locked } = JSON.parse(text).packages
const { name, license } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const parts = Object.entries(packages).filter(([, { dev }]) => !dev)

const nameOf = (path: string) => path.split('node_modules/').at(-1)!
const urlOf = (path: string) => `pkg:npm/${nameOf(path).replace('@', '%40')}@${packages[path]!.version}`
/** The reference is the path, because one version of a package may be installed twice. */
const refOf = (path: string) => (path === '' ? name : path)

/** Resolves a package as Node does: in the folder of the importing package, then in the folders above. */
function resolve(from: string, wanted: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${wanted}`
    if (packages[path]) return path
    if (folder === '') return undefined
  }
}

const dependenciesOf = ([path, locked]: readonly [string, Locked]) => {
  const names = Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })
  const found = names.map((wanted) => resolve(path, wanted)).filter((one) => one !== undefined)
  return { ref: refOf(path), dependsOn: found.map(refOf).sort() }
}

const componentOf = ([path, { version, integrity, license, optional }]: readonly [string, Locked]) => ({
  'bom-ref': refOf(path),
  type: 'library',
  name: nameOf(path),
  version,
  scope: optional ? 'optional' : 'required',
  purl: urlOf(path),
  ...(integrity?.startsWith('sha512-')
    ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }] }
    : {}),
  ...(license ? { licenses: [{ expression: license }] } : {}),
})

/** Fonts that are in the repository and not in a package: the receipts are drawn with them. */
const FONTS = 'src/money/receipts/fonts'
const fontComponents = readdirSync(`${root}${FONTS}`)
  .filter((file) => file.endsWith('.woff'))
  .sort()
  .map((file) => ({
    'bom-ref': `${FONTS}/${file}`,
    type: 'file',
    name: file,
    scope: 'required',
    hashes: [
      {
        alg: 'SHA-512',
        content: createHash('sha512')
          .update(readFileSync(`${root}${FONTS}/${file}`))
          .digest('hex'),
      },
    ],
    licenses: [{ expression: 'OFL-1.1' }],
  }))

const digest = createHash('sha256').update(text).digest('hex')
const uuid = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`
const bom = {
  $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  serialNumber: `urn:uuid:${uuid}`,
  version: 1,
  metadata: {
    lifecycles: [{ phase: 'pre-build' }],
    component: {
      'bom-ref': refOf(''),
      type: 'application',
      name,
      version: program.version,
      licenses: [{ expression: license }],
    },
  },
  components: [...parts.map(componentOf), ...fontComponents],
  dependencies: [['', program] as const, ...parts].map(dependenciesOf),
}

const file = process.argv[2] ?? `${root}sbom.json`
writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`)
console.log(`Wrote ${file}: ${bom.components.length} components.`)
