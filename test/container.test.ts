import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { renderEnvExample } from '../src/node/config.ts'
import { parseYaml } from './support/yaml.ts'

/** What the files for containers promise. Docker itself is not needed to read them. */
const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const compose = parseYaml(read('compose.yaml'))
const services: [string, any][] = Object.entries(compose.services)
const dockerfile = read('Dockerfile')
const stages = dockerfile.split(/^(?=FROM )/m).slice(1)
const last = stages.at(-1)!

const images = [
  ...stages.map((stage) => /^FROM (\S+)/.exec(stage)![1]!),
  ...services.flatMap(([, { image }]) => image ?? []),
]

test('every image is named by its exact version, and by its digest once it has one', () => {
  expect(images).toHaveLength(3)
  for (const image of images)
    expect(image).toMatch(/^(node:\d+\.\d+\.\d+-slim|postgres:\d+\.\d+)(@sha256:[0-9a-f]{64})?$/)
  // Either all of them were pinned, or none: half a pin is a mistake.
  expect(new Set(images.map((image) => image.includes('@'))).size).toBe(1)
  expect(new Set(stages.map((stage) => /^FROM (\S+)/.exec(stage)![1])).size).toBe(1)
})

describe.each(services)('the service %s', (_, service) => {
  test('has no rights beyond those of a plain user, and cannot get any', () => {
    expect(service.cap_drop).toEqual(['ALL'])
    expect(service.security_opt).toEqual(['no-new-privileges:true'])
    expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    for (const name of ['privileged', 'cap_add', 'pid', 'ipc', 'network_mode', 'devices'])
      expect(service).not.toHaveProperty(name)
  })

  test('writes to its volume and to memory, and to nothing else', () => {
    expect(service.read_only).toBe('true')
    for (const place of service.tmpfs)
      expect(place).toMatch(/^\/[\w/]+:size=\d+m,mode=\d+.*,noexec,nosuid,nodev$/)
    for (const volume of service.volumes ?? []) {
      const [name] = volume.split(':')
      expect(Object.keys(compose.volumes)).toContain(name)
    }
  })

  test('has bounds of memory, processors and processes', () => {
    expect(service.mem_limit).toMatch(/^\d+[gm]$/)
    expect(Number(service.cpus)).toBeGreaterThan(0)
    expect(Number(service.pids_limit)).toBeGreaterThan(0)
  })

  test('gets its secrets as files, and none as a variable', () => {
    const environment: Record<string, string> = service.environment
    for (const [name, value] of Object.entries(environment)) {
      if (/(PASSWORD|SECRET_KEY|TOKEN|DATABASE_URL)/.test(name)) {
        expect(name).toMatch(/_FILE$/)
        expect(service.secrets).toContain(value.replace('/run/secrets/', ''))
      }
      expect(value).not.toMatch(/PASSWORD|SECRET|TOKEN|:\/\/\w+:/)
    }
    for (const name of service.secrets) expect(compose.secrets[name].file).toBe(`secrets/${name}`)
  })
})

test('the database is in a network without a way out, and only the service is with it', () => {
  const { trilho, postgres } = compose.services
  expect(compose.networks.back.internal).toBe('true')
  expect(compose.networks.front).not.toHaveProperty('internal')
  expect(postgres.networks).toEqual(['back'])
  expect(postgres).not.toHaveProperty('ports')
  expect(trilho.networks).toEqual(['front', 'back'])
  expect(trilho.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)])
  // Between the two nobody listens, and it says so by name.
  expect(trilho.environment.DATABASE_TLS).toBe('off')
})

test('each says how it is, and the service waits for a database that is well', () => {
  const { trilho, postgres } = compose.services
  expect(postgres.healthcheck.test.slice(0, 2)).toEqual(['CMD', 'pg_isready'])
  expect(trilho.depends_on.postgres.condition).toBe('service_healthy')
  expect(last).toMatch(/^HEALTHCHECK [\s\S]*\/readyz/m)
})

test('secrets of compose are named as settings that can come from a file', () => {
  const example = renderEnvExample()
  for (const name of Object.keys(compose.services.trilho.environment)) {
    const setting = name.replace(/_FILE$/, '')
    if (name !== setting) expect(example).toContain(`Also as ${name}.`)
    else if (setting !== 'DATABASE_TLS') expect(example).toContain(`# ${setting}=`)
  }
  expect(read('.gitignore')).toContain('/secrets/\n')
})

describe('the image', () => {
  test('runs as a user by number that does not own the program, with its secrets kept out of its output', () => {
    expect(last).toMatch(/^USER 1000:1000$/m)
    expect(last).not.toMatch(/^COPY --chown/m)
    expect(last).toMatch(/^ENV .*DEMO_SECRETS=file/m)
    expect(dockerfile).not.toMatch(/^(ARG|ENV) .*(PASSWORD|SECRET_KEY|TOKEN)/m)
    expect(dockerfile).not.toMatch(/^ADD |curl|wget|npm install/m)
  })

  test('holds nothing but what is named, and installs nothing but what the lockfile has', () => {
    expect(read('.dockerignore').split('\n')[0]).toBe('*')
    expect(dockerfile).toMatch(/^RUN npm ci --ignore-scripts$/m)
    expect(last).not.toMatch(/^COPY (--from=build )?\S*(\.|\/app)\/? /m)
  })
})

test('the list of parts has exactly the versions of the lockfile, is the same each time, and needs no network', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trilho-sbom-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const make = (name: string) => {
    const file = join(folder, name)
    const env = { ...process.env, npm_config_registry: 'http://127.0.0.1:1/' }
    execFileSync(process.execPath, ['--import', 'tsx', 'tools/sbom.ts', file], { cwd: root, env })
    return readFileSync(file, 'utf8')
  }
  const text = make('one.json')
  expect(make('two.json')).toBe(text)
  const bom = JSON.parse(text)
  expect(bom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'trilho' } } })
  expect(bom.serialNumber).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  const lock = JSON.parse(read('package-lock.json'))
  const production = Object.entries<any>(lock.packages)
    .filter(([path, one]) => path !== '' && !one.dev)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`)
  const listed = bom.components.map(({ name, version }: any) => `${name}@${version}`)
  expect([...new Set(listed)].sort()).toEqual([...new Set(production)].sort())
  expect(production.length).toBeGreaterThan(20)
  // Whatever is needed by something is in the list, and nothing is twice.
  const refs = bom.components.map((one: any) => one['bom-ref'])
  expect(new Set(refs).size).toBe(refs.length)
  for (const { ref, dependsOn } of bom.dependencies)
    for (const needed of dependsOn) expect(refs, ref).toContain(needed)
  expect(production).toContain(`pg@${lock.packages['node_modules/pg'].version}`)
})

test('the pages on security are there, and say how to report a fault', () => {
  expect(existsSync(join(root, 'SECURITY.md'))).toBe(true)
  expect(read('SECURITY.md')).toMatch(/## Reporting/)
  for (const page of ['README.md', 'ARCHITECTURE.md']) expect(read(page)).toContain('docs/threat-model.md')
})
