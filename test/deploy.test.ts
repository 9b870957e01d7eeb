import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '../src/node/config.ts'
import { runCli, tempDataDir } from './support/cli.ts'
import { spawnServer } from './support/service.ts'
import { expectSettings } from './support/settings.ts'

/** The files of deploy/ beside those for containers, and what the image's settings come to. */
/** How long a stop may take before the process ends itself: the drain, and 25 seconds (src/cli/machine/serve.ts). */
const STOP_SECONDS = readConfig({}).drain_ms / 1000 + 25

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const units = [
  { name: 'trilho.service', command: 'serve', stop_seconds: STOP_SECONDS },
  // Requests under way have five seconds.
  { name: 'trilho-signer.service', command: 'signer', stop_seconds: 5 },
]

describe.each(units)('$name', ({ name: unit_name, command, stop_seconds }) => {
  const unit = read(`deploy/${unit_name}`)
  const linesOf = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!)

  test('knows only settings that there are, and gets its secrets as files', () => {
    expectSettings(
      linesOf('Environment')
        .flatMap((line) => line.split(' '))
        .map((one) => one.split('=')[0]!),
    )
    for (const credential of linesOf('LoadCredential')) {
      const [name] = credential.split(':')
      expect(unit).toContain(`_FILE=%d/${name}\n`)
    }
    expect(existsSync(new URL('../bin/trilho.js', import.meta.url))).toBe(true)
    expect(linesOf('ExecStart')).toEqual([`/usr/bin/node /opt/trilho/bin/trilho.js ${command}`])
  })

  test('lets a stop take its time', () => {
    expect(Number(linesOf('TimeoutStopSec')[0])).toBeGreaterThan(stop_seconds)
  })

  const missing = spawnSync('systemd-analyze', ['--version']).status !== 0
  test.skipIf(missing)('is right to systemd, which finds little that it could do to the machine', () => {
    const folder = mkdtempSync(join(tmpdir(), 'trilho-unit-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, unit_name)
    writeFileSync(file, unit.replace('/usr/bin/node', process.execPath))
    const analyze = (...args: string[]) => spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' })
    const verified = analyze('verify')
    expect(verified.stderr).toBe('')
    expect(verified.status).toBe(0)
    // 0 is nothing at all, 100 everything; services without any of it have 96.
    const secured = analyze('security', '--offline=true', '--threshold=15', '--no-pager')
    expect(secured.stdout).toContain('Overall exposure level')
    expect(secured.status, secured.stdout).toBe(0)
  })
})

describe('haproxy.cfg', () => {
  const config = read('deploy/haproxy.cfg')

  test('notices a node that drains before the node stops listening', () => {
    const [, inter, fall] = /inter (\d+)s fall (\d+)/.exec(config)!
    expect(config).toContain('option httpchk GET /readyz')
    expect(Number(inter) * Number(fall) * 1000).toBeLessThanOrEqual(readConfig({}).drain_ms / 2)
  })

  const missing = spawnSync('haproxy', ['-v']).status !== 0
  test.skipIf(missing)('is right to HAProxy', () => {
    const folder = mkdtempSync(join(tmpdir(), 'trilho-haproxy-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(file, config.replace(/ ssl crt .*$/m, ''))
    const checked = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' })
    expect(checked.stderr).not.toMatch(/WARNING|ALERT/)
    expect(checked.status, checked.stderr).toBe(0)
  })
})

describe('kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('deploy/kubernetes.yaml'))
  const objects = documents.map((document) => document.toJS())
  const [deployment, service, policy, budget] = objects
  const pod = deployment.spec.template.spec
  const [node] = pod.containers
  const [migration] = pod.initContainers

  test('is four objects of one name, and two nodes', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    expect(objects.map(({ kind }) => kind)).toEqual([
      'Deployment',
      'Service',
      'NetworkPolicy',
      'PodDisruptionBudget',
    ])
    for (const { metadata } of objects)
      expect(metadata).toMatchObject({ name: 'trilho', namespace: 'trilho' })
    expect(deployment.spec.replicas).toBe(2)
    const { labels } = deployment.spec.template.metadata
    for (const selector of [
      deployment.spec.selector.matchLabels,
      service.spec.selector,
      policy.spec.podSelector.matchLabels,
      budget.spec.selector.matchLabels,
    ])
      expect(labels).toMatchObject(selector)
  })

  test('knows only settings that there are, secrets as files of the mounted secret', () => {
    for (const { env, volumeMounts } of [node, migration]) {
      expectSettings(env.map(({ name }: any) => name))
      const place = volumeMounts.find(({ name }: any) => name === 'secrets').mountPath
      for (const { name, value } of env)
        if (name.endsWith('_FILE')) expect(value).toBe(`${place}/${name.replace('_FILE', '').toLowerCase()}`)
      for (const { name } of volumeMounts) expect(pod.volumes.map((one: any) => one.name)).toContain(name)
    }
    const settings = Object.fromEntries(node.env.map(({ name, value }: any) => [name, value]))
    // Somebody else migrates: before the nodes start, with the same version.
    expect(settings.MIGRATE).toBe('false')
    expect(migration.command).toEqual(['trilho', 'migrate'])
    expect(migration.image).toBe(node.image)
    expect(node.ports.map(({ containerPort }: any) => containerPort)).toEqual([
      8080,
      Number(settings.METRICS_PORT),
    ])
  })

  test('asks what nodes answer, on the port that they listen on', () => {
    expect(node.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' })
    expect(node.startupProbe.httpGet).toEqual({ path: '/healthz', port: 'http' })
    expect(node.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' })
    expect(service.spec.ports[0].targetPort).toBe('http')
    // Nothing listens before the database is there, and to restart whoever waits for it would not help.
    const { periodSeconds, failureThreshold } = node.startupProbe
    expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(3600)
  })

  test('lets a stop take its time: preStop, drain, and the end of what is under way', () => {
    const [program, seconds] = node.lifecycle.preStop.exec.command
    expect(program).toBe('sleep')
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + STOP_SECONDS)
    // A node that drains is out of the Service before it stops listening.
    const { periodSeconds, failureThreshold } = node.readinessProbe
    expect(periodSeconds * failureThreshold).toBeLessThan(Number(seconds) + readConfig({}).drain_ms / 1000)
  })

  test('believes X-Forwarded-For of nobody until the addresses of the Ingress are put in', () => {
    const settings = Object.fromEntries(node.env.map(({ name, value }: any) => [name, value]))
    // An address for documentation (RFC 5737), which no machine has.
    expect(settings.TRUST_PROXY).toMatch(/^192\.0\.2\.\d+$/)
  })

  test('lets only the Ingress and Prometheus come in, and nothing go to the network of the cluster', () => {
    expect(policy.spec.policyTypes).toEqual(['Ingress', 'Egress'])
    const doors = policy.spec.ingress.map(({ from, ports }: any) => [
      ...ports.map(({ port }: any) => port),
      ...from.map((one: any) => one.namespaceSelector.matchLabels['kubernetes.io/metadata.name']),
    ])
    expect(doors).toEqual([
      ['http', 'ingress-nginx'],
      ['metrics', 'monitoring'],
    ])
    const blocks = policy.spec.egress.flatMap(({ to = [] }: any) =>
      to.flatMap((one: any) => one.ipBlock ?? []),
    )
    expect(blocks.map(({ cidr }: any) => cidr)).toEqual(['0.0.0.0/0', '::/0'])
    for (const range of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16'])
      expect(blocks[0].except).toContain(range)
    for (const range of ['fc00::/7', 'fe80::/10']) expect(blocks[1].except).toContain(range)
  })

  test('is scraped with the token, by the job that is shipped: no annotation promises a scrape without one', () => {
    expect(deployment.spec.template.metadata.annotations).toBeUndefined()
    const [job] = parse(read('deploy/prometheus/kubernetes.yaml')).scrape_configs
    expect(job.kubernetes_sd_configs).toEqual([{ role: 'pod', namespaces: { names: ['trilho'] } }])
    const kept = job.relabel_configs.filter(({ action }: any) => action === 'keep')
    const { app } = deployment.spec.template.metadata.labels
    expect(kept.map(({ source_labels: [label], regex }: any) => [label, regex])).toEqual([
      ['__meta_kubernetes_pod_label_app', app],
      ['__meta_kubernetes_pod_container_port_name', 'metrics'],
    ])
    expect(node.ports.map(({ name }: any) => name)).toContain('metrics')
    expect(job.authorization).toEqual({
      type: 'Bearer',
      credentials_file: '/etc/prometheus/secrets/trilho/metrics_token',
    })
  })

  test('gives no rights beyond those of a plain user', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
    expect(pod.automountServiceAccountToken).toBe(false)
    for (const { securityContext, resources } of [node, migration]) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(resources.limits.memory).toBeDefined()
    }
  })
})

test('with the settings of the image: links that work here, a warning, no secret in the log, and a first partner', async () => {
  const { data_dir, remove } = await tempDataDir()
  const env = /^ENV (.*)$/m.exec(read('deploy/Dockerfile'))![1]!
  const settings = Object.fromEntries(env.split(' ').map((one) => one.split('=') as [string, string]))
  expect(settings).toMatchObject({ HOST: '0.0.0.0', DEMO_SECRETS: 'file' })
  const server = await spawnServer({ ...settings, DATA_DIR: data_dir, PORT: '0', LOG_LEVEL: 'warn' })
  onTestFinished(async () => {
    await server.kill('SIGTERM')
    await remove()
  })
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(server.output()).toMatch(
    /PUBLIC_URL is not set: links in responses.* lead to http:\/\/127\.0\.0\.1:/,
  )
  const refused = await fetch(`${server.url}/v1/customers`, { headers: { host: 'evil.example' } })
  const { error } = (await refused.json()) as { error: { doc_url: string } }
  expect(error.doc_url).toMatch(`${server.url}/docs/errors/`)

  const kept = readFileSync(join(data_dir, 'demo.env'), 'utf8')
  const [, key] = /^(?:export )?TRILHO_KEY='?(svc_test_sk_\w+)/m.exec(kept)!
  expect(server.output()).not.toContain(key)
  const trilho = (...args: string[]) => runCli([...args, '--json'], { ...settings, DATA_DIR: data_dir })
  const partner = await trilho('partners', 'create', '--name', 'Shop')
  expect(partner.code, partner.err).toBe(0)
  const made = await trilho('keys', 'create', '--partner', partner.json.id)
  expect(made.code, made.err).toBe(0)
  const listed = await fetch(`${server.url}/v1/customers`, {
    headers: { authorization: `Bearer ${made.json.key}` },
  })
  expect(await listed.json()).toMatchObject({ data: [] })
})
