import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { runCli, tempDataDir } from './support/cli.ts'
import { spawnServer } from './support/service.ts'
import { expectSettings } from './support/settings.ts'

/** The files of deploy/ beside those for containers, and what the image's settings come to. */
const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

describe('trilho.service', () => {
  const unit = read('deploy/trilho.service')
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
    expect(linesOf('ExecStart')).toEqual(['/usr/bin/node /opt/trilho/bin/trilho.js serve'])
  })

  const missing = spawnSync('systemd-analyze', ['--version']).status !== 0
  test.skipIf(missing)('is right to systemd, which finds little that it could do to the machine', () => {
    const folder = mkdtempSync(join(tmpdir(), 'trilho-unit-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'trilho.service')
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

describe('kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('deploy/kubernetes.yaml'))
  const objects = documents.map((document) => document.toJS())
  const [deployment, service, budget] = objects
  const pod = deployment.spec.template.spec
  const [node] = pod.containers
  const [migration] = pod.initContainers

  test('is three objects of one name, and two nodes', () => {
    expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([])
    expect(objects.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'PodDisruptionBudget'])
    for (const { metadata } of objects)
      expect(metadata).toMatchObject({ name: 'trilho', namespace: 'trilho' })
    expect(deployment.spec.replicas).toBe(2)
    const { labels } = deployment.spec.template.metadata
    for (const selector of [
      deployment.spec.selector.matchLabels,
      service.spec.selector,
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
    // As long as the service itself takes at most.
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(25)
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
