import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { expectSettings } from './support/settings.ts'

/** What the files for containers promise. Docker itself is not needed to read them. */
const root = fileURLToPath(new URL('../', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const compose = parse(read('deploy/compose.yaml'), { merge: true })
const services: [string, any][] = Object.entries(compose.services)
const dockerfile = read('deploy/Dockerfile')
const stages = dockerfile.split(/^(?=FROM )/m).slice(1)
const last = stages.at(-1)!

const images = [
  ...stages.map((stage) => /^FROM (\S+)/.exec(stage)![1]!),
  // What is built here has no version of somebody else's.
  ...services.flatMap(([, { image, build }]) => (build ? [] : image)),
]

test('every image is named by its exact version, and by its digest once it has one', () => {
  expect(images).toHaveLength(6)
  for (const image of images)
    expect(image).toMatch(
      /^(node:\d+\.\d+\.\d+-slim|postgres:\d+\.\d+|prom\/(prometheus|alertmanager):v\d+\.\d+\.\d+|grafana\/grafana:\d+\.\d+\.\d+)(@sha256:[0-9a-f]{64})?$/,
    )
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
    expect(service.read_only).toBe(true)
    for (const place of service.tmpfs)
      expect(place).toMatch(/^\/[\w/]+:size=\d+m,mode=\d+.*,noexec,nosuid,nodev$/)
    for (const volume of service.volumes ?? []) {
      const [name, , mode] = volume.split(':')
      if (!name.startsWith('./')) expect(Object.keys(compose.volumes)).toContain(name)
      else {
        expect(mode, volume).toBe('ro')
        expect(existsSync(join(root, 'deploy', name)), volume).toBe(true)
      }
    }
  })

  test('has bounds of memory, processors and processes', () => {
    expect(service.mem_limit).toMatch(/^\d+[gm]$/)
    expect(Number(service.cpus)).toBeGreaterThan(0)
    expect(Number(service.pids_limit)).toBeGreaterThan(0)
  })

  test('gets its secrets as files, and none as a variable', () => {
    const environment: Record<string, string> = service.environment ?? {}
    for (const [name, value] of Object.entries(environment)) {
      if (/(PASSWORD|SECRET_KEY|TOKEN|DATABASE_URL)/.test(name)) {
        expect(name).toMatch(/_FILE$/)
        expect(service.secrets).toContain(value.replace('/run/secrets/', ''))
      }
      expect(value).not.toMatch(/PASSWORD|SECRET|TOKEN|:\/\/\w+:/)
    }
    for (const name of service.secrets ?? []) expect(compose.secrets[name].file).toBe(`secrets/${name}`)
  })
})

const { 'node-1': one, 'node-2': two, postgres, prometheus, alertmanager, grafana } = compose.services

test('two nodes are alike but for the port of this machine that leads to them', () => {
  expect({ ...one, ports: [] }).toEqual({ ...two, ports: [] })
  expect([...one.ports, ...two.ports]).toEqual(['127.0.0.1:8080:8080', '127.0.0.1:8081:8080'])
  expect(one.build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' })
})

test('the database is in a network without a way out, and only the service is with it', () => {
  expect(compose.networks.back.internal).toBe(true)
  expect(compose.networks.front).not.toHaveProperty('internal')
  expect(postgres.networks).toEqual(['back'])
  expect(postgres).not.toHaveProperty('ports')
  expect(one.networks).toEqual(['front', 'back', 'watch'])
  for (const watching of [prometheus, alertmanager, grafana]) expect(watching.networks).not.toContain('back')
  for (const [, { ports = [] }] of services) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
  // Between the two nobody listens, and it says so by name.
  expect(one.environment.DATABASE_TLS).toBe('off')
})

test('the signer has the keys alone: another user, no network, no secret of the nodes, and the nodes none of its own', () => {
  const { signer } = compose.services
  const [[user, group], [node_user, node_group]] = [signer.user.split(':'), one.user.split(':')]
  expect(user).not.toBe(node_user)
  expect(group).toBe(node_group)
  expect(signer.networks).toEqual(['alone'])
  expect(compose.networks.alone.internal).toBe(true)
  expect(services.filter(([, { networks }]) => networks.includes('alone'))).toHaveLength(1)
  expect(signer).not.toHaveProperty('ports')
  for (const secret of signer.secrets) expect(one.secrets).not.toContain(secret)
  for (const secret of one.secrets) expect(signer.secrets).not.toContain(secret)
  expect(one.volumes).toEqual(['signer-socket:/run/trilho-signer'])
  expectSettings(Object.keys(signer.environment))
})

test('each says how it is, and the nodes wait for a database that is well', () => {
  expect(postgres.healthcheck.test.slice(0, 2)).toEqual(['CMD', 'pg_isready'])
  expect(one.depends_on.postgres.condition).toBe('service_healthy')
  expect(last).toMatch(/^HEALTHCHECK [\s\S]*\/readyz/m)
})

test('Prometheus asks every node with the token that it has, and Grafana asks Prometheus', () => {
  const [job] = parse(read('deploy/prometheus/prometheus.yaml')).scrape_configs
  const port = one.environment.METRICS_PORT
  expect(job.static_configs[0].targets).toEqual([`node-1:${port}`, `node-2:${port}`])
  expect(job.authorization.credentials_file).toBe('/run/secrets/metrics_token')
  expect(prometheus.secrets).toContain('metrics_token')
  expect(prometheus.command).toContain('--config.file=/etc/prometheus/prometheus.yaml')
  const [source] = parse(read('deploy/grafana/provisioning/datasources/prometheus.yaml')).datasources
  expect(source).toMatchObject({ type: 'prometheus', url: 'http://prometheus:9090' })
  const [provider] = parse(read('deploy/grafana/provisioning/dashboards/trilho.yaml')).providers
  expect(grafana.volumes).toContain(`./grafana/trilho.json:${provider.options.path}/trilho.json:ro`)
})

test('alerts go from Prometheus to Alertmanager, and from there by severity to a URL that is a secret', () => {
  const { global, alerting, rule_files } = parse(read('deploy/prometheus/prometheus.yaml'))
  expect(alerting.alertmanagers).toEqual([{ static_configs: [{ targets: ['alertmanager:9093'] }] }])
  expect(global.external_labels.docs).toMatch(/^\$\{PUBLIC_URL\}$/)
  expect(prometheus.environment.PUBLIC_URL).toBe(one.environment.PUBLIC_URL)
  const config = parse(read('deploy/prometheus/alertmanager.yaml'))
  expect(alertmanager.command).toContain('--config.file=/etc/alertmanager/alertmanager.yaml')
  expect(alertmanager.volumes).toContain(
    './prometheus/alertmanager.yaml:/etc/alertmanager/alertmanager.yaml:ro',
  )
  // The network of those who watch has no way out.
  expect(alertmanager.networks).toEqual(['front', 'watch'])
  const receivers = config.receivers.map(({ name }: any) => name)
  const [urgent] = config.route.routes
  expect(urgent.matchers).toEqual(['severity = critical'])
  expect([urgent.receiver, config.route.receiver]).toEqual(receivers)
  for (const { webhook_configs } of config.receivers)
    for (const { url_file, ...rest } of webhook_configs) {
      expect(alertmanager.secrets).toContain(url_file.replace('/run/secrets/', ''))
      expect(rest).toEqual({ send_resolved: true })
    }
  const rules = rule_files.flatMap((file: string) =>
    parse(read(`deploy/prometheus/${file}`)).groups.flatMap((group: any) => group.rules),
  )
  const names = rules.map(({ alert }: any) => alert)
  const named = config.inhibit_rules
    .flatMap(({ source_matchers, target_matchers }: any) => [...source_matchers, ...target_matchers])
    .flatMap((matcher: string) => matcher.match(/Trilho\w+/g) ?? [])
  expect(named.length).toBeGreaterThan(1)
  expect(named.filter((name: string) => !names.includes(name))).toEqual([])
})

test('secrets of compose are named as settings that can come from a file', () => {
  expectSettings(Object.keys(one.environment))
  expect(read('.gitignore')).toContain('/deploy/secrets/\n')
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

  test('is made of what is there, and lets all of it in', () => {
    const let_in = read('.dockerignore').split('\n')
    const named = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
      names!.split(' '),
    )
    expect(named.length).toBeGreaterThan(10)
    for (const name of named) {
      expect(existsSync(join(root, name)), name).toBe(true)
      expect(let_in, name).toContain(`!${name}`)
    }
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
  const [fonts, packages] = [true, false].map((isFont) =>
    bom.components.filter(({ type }: any) => (type === 'file') === isFont),
  )
  expect(fonts.map(({ name, licenses }: any) => [name, licenses[0].expression])).toEqual(
    ['IBMPlexMono-Regular', 'IBMPlexSans-Regular', 'IBMPlexSans-SemiBold'].map((name) => [
      `${name}.woff`,
      'OFL-1.1',
    ]),
  )
  const listed = packages.map(({ name, version }: any) => `${name}@${version}`)
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
