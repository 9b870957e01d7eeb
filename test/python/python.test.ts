import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Fault, faults, openWire } from '../../sdk/test/support/wire.ts'
import { entriesOf } from '../../site/reference/document.ts'
import { samplesOf } from '../../site/reference/samples.ts'
import type { OpenApi } from '../../src/doors/reference/openapi.ts'
import { PLACEHOLDER } from '../../src/doors/reference/placeholders.ts'
import { packWheel, wheelName } from '../../tools/pack-wheel.ts'
import { selfSigned } from '../support/certificate.ts'
import { openPython, type Python, pythonIsMissing } from '../support/python.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'
import { someCpf, startTestService, type TestService } from '../support/service.ts'
import { webhookVectors } from '../support/webhook-vectors.ts'

/** The Python package out of its wheel, against a real server. Its own tests are in python/test. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const openapi = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as OpenApi

let service: TestService
let receiver: Receiver
let python: Python

beforeAll(async () => {
  python = openPython()
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true' })
  receiver = await openReceiver()
})
afterAll(async () => {
  await receiver?.stop()
  await service?.stop()
  python?.stop()
})

describe('the wheel', () => {
  test('has the same bytes each time', () => {
    expect(packWheel().equals(packWheel())).toBe(true)
  })

  test('is named with its version on the pages that say how to install it', () => {
    for (const page of [
      'docs/python.md',
      'docs/quickstart.md',
      'docs/pt/quickstart.md',
      'docs/guides/payroll.md',
      'python/README.md',
      'README.md',
    ])
      expect(readFileSync(join(root, page), 'utf8').match(/trilho-[\w.]+-py3-none-any\.whl/g), page).toEqual([
        wheelName,
      ])
  })

  test('is served as it is', async () => {
    const response = await fetch(`${service.url}/docs/${wheelName}`)
    expect(response.status).toBe(200)
    expect(Buffer.from(await response.arrayBuffer()).equals(packWheel())).toBe(true)
  })

  test.skipIf(pythonIsMissing)('lists every file with its hash and its length', async () => {
    const script = `
import base64, csv, hashlib, io, json, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
assert wheel.testzip() is None
info = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")][0]
rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(wheel.read(info).decode()))}
assert rows.keys() == set(wheel.namelist()), rows.keys() ^ set(wheel.namelist())
for name, (digest, size) in rows.items():
    if name == info: assert (digest, size) == ("", "")
    else:
        content = wheel.read(name)
        wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        assert (digest, size) == ("sha256=" + wanted, str(len(content))), name
print(json.dumps(sorted(wheel.namelist())))`
    const names = JSON.parse(await python.run(['-c', script, python.wheel])) as string[]
    expect(names).toEqual(
      expect.arrayContaining(['trilho/__init__.py', 'trilho/py.typed', 'trilho/types.py']),
    )
    expect(names.filter((name) => /test|pycache/.test(name))).toEqual([])
  })

  test.skipIf(pythonIsMissing)(
    'is what pip installs from the server, without an index',
    { timeout: 300_000 },
    async (context) => {
      const venv = join(python.folder, 'venv')
      const made = spawnSync('python3', ['-m', 'venv', venv], { encoding: 'utf8' })
      if (made.status !== 0)
        return context.skip(`python3 -m venv does not work here: ${made.stderr || made.stdout}`)
      const env = {
        PATH: process.env.PATH,
        HOME: python.folder,
        PIP_NO_CACHE_DIR: '1',
        PIP_DISABLE_PIP_VERSION_CHECK: '1',
      }
      const pip = (...args: string[]) =>
        promisify(execFile)(join(venv, 'bin/python'), ['-m', 'pip', ...args], { env })
      await pip('install', '--no-index', `${service.url}/docs/${wheelName}`)
      expect((await pip('check')).stdout).toContain('No broken requirements')
      expect((await pip('show', '--files', 'trilho')).stdout).toMatch(
        /License: Apache-2\.0[\s\S]*trilho\/py\.typed/,
      )
      const version = ['-c', 'import trilho; print(trilho.__version__, trilho.__file__)']
      const { stdout } = await promisify(execFile)(join(venv, 'bin/python'), version, { env })
      expect(stdout).toMatch(new RegExp(`^${openapi.info.version} ${venv}`))
    },
  )
})

describe.skipIf(pythonIsMissing)('the package', () => {
  test('its own tests: methods, outcomes, safety, webhooks, amounts, documents', {
    timeout: 300_000,
  }, async () => {
    const { key } = await service.partner()
    const vectors = join(python.folder, 'webhooks.json')
    writeFileSync(vectors, JSON.stringify(webhookVectors))
    const certificate = join(python.folder, 'certificate.pem')
    writeFileSync(certificate, Object.values(selfSigned('127.0.0.1')).join(''))
    const own = { TRILHO_URL: service.url, TRILHO_KEY: key, CPF: someCpf() }
    await python.run(['-W', 'error', '-m', 'unittest', 'discover', '-s', join(root, 'python/test')], {
      ...own,
      WEBHOOK_VECTORS: vectors,
      CERTIFICATE: certificate,
      RECEIVER: receiver.url,
    })
    expect(receiver.received.length).toBeGreaterThan(0)
  })

  test('every sample of the reference runs', async () => {
    const { key, api } = await service.partner()
    const { id } = (await api.post('/v1/customers', { name: 'Ana Souza', document: '529.982.247-25' })).json
    let deposit = ''
    for (const [asset, amount] of Object.entries({ BRL: '1000000', USDT: '2000000000' }))
      deposit = (await api.post('/v1/sandbox/deposits', { customer_id: id, asset, amount })).json.id
    const late = ['webhook_endpoints.delivery', 'webhook_endpoints.delete']
    const samples = entriesOf(openapi)
      .toSorted((a, b) => late.indexOf(a['x-name']) - late.indexOf(b['x-name']))
      .map((entry) => ({
        name: entry['x-name'],
        code: samplesOf(entry)
          .find(({ language }) => language === 'py')!
          .code.replaceAll(PLACEHOLDER, service.url),
      }))
    writeFileSync(join(python.folder, 'samples.json'), JSON.stringify(samples))
    const ran = await python.run(['-c', RUN_SAMPLES], { TRILHO_KEY: key, CUSTOMER: id, DEPOSIT: deposit })
    expect(ran.trim().split('\n')).toEqual(samples.map(({ name }) => name))
  })

  test('a payout whose wire breaks is paid once, with the same bytes', async () => {
    const wire = await openWire(service.url)
    const { key, api } = await service.partner()
    const cpf = someCpf()
    const customer_id = (await api.post('/v1/customers', { name: 'Ana Souza', document: cpf })).json.id
    await api.post('/v1/sandbox/deposits', { customer_id, asset: 'BRL', amount: '100000000' })
    const plans = faults.flatMap((first): Fault[][] => [[first], ...faults.map((second) => [first, second])])
    for (const [index, plan] of plans.entries()) wire.breakFor(`"cut-${index}"`, ...plan)
    const ran = await python.run(['-c', PAY_THROUGH_FAULTS], {
      ...{ TRILHO_URL: wire.url, TRILHO_KEY: key, CUSTOMER: customer_id, CPF: cpf },
      PLANS: JSON.stringify(plans.map((plan) => plan.includes('late'))),
    })
    await wire.stop()
    const told = JSON.parse(ran) as { id: string; replayed: boolean }[]
    for (const [index, plan] of plans.entries()) {
      const bodies = wire.seen.filter(({ body }) => body.includes(`"cut-${index}"`)).map(({ body }) => body)
      expect(bodies.length, plan.join()).toBeGreaterThan(plan.length)
      expect(new Set(bodies).size, plan.join()).toBe(1)
      if (plan.some((fault) => !fault.endsWith('before')))
        expect(told[index]!.replayed, plan.join()).toBe(true)
    }
    const { data } = (await api.get(`/v1/pix/payouts?customer_id=${customer_id}&limit=100`)).json
    expect(data.map(({ id }: { id: string }) => id).toSorted()).toEqual(told.map(({ id }) => id).toSorted())
    expect((await service.audit()).sandbox.findings).toEqual([])
  })
})

/** Runs the samples in one process. What a response says is what a reader would go on with. */
const RUN_SAMPLES = `
import contextlib, io, json, os, re, sys, time, trilho
learned = {"po": "PAYOUT", "chg": "CHARGE", "tr": "TRANSFER", "qt": "QUOTE", "td": "TRADE", "whe": "ENDPOINT"}
client = trilho.Trilho(base_url=re.search('base_url="([^"]+)"', open("samples.json").read().replace(chr(92), "")).group(1))
while not (client.events.list().first() and client.requests.list().first()): time.sleep(0.05)
os.environ.update(EVENT=client.events.list().first()["id"], REQUEST=client.requests.list().first()["id"])
for sample in json.load(open("samples.json")):
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed): exec(sample["code"], {})
    except trilho.ApiError as error:
        if error.code not in ("already_final", "customer_exists", "quote_expired", "receipt_not_available"): raise
    for prefix, value in re.findall(r"^{'id': '((?:po|chg|tr|qt|td|whe)(?=_))(_\\w+)'", printed.getvalue()):
        os.environ[learned[prefix]] = prefix + value
    if sample["name"] == "sandbox.payments.create": os.environ["PAYMENT"] = re.search("E[0-9A-Za-z]{31}", printed.getvalue()).group()
    print(sample["name"])
`

const PAY_THROUGH_FAULTS = `
import json, os, trilho
from concurrent.futures import ThreadPoolExecutor
client = trilho.Trilho(max_retries=10)
def pay(plan):
    number, late = plan
    own = client.with_options(timeout=1) if late else client
    paid = own.pix.payouts.create(
        customer_id=os.environ["CUSTOMER"],
        amount=1050,
        counterparty={"type": "pix_key", "pix_key": os.environ["CPF"]},
        idempotency_key=f"cut-{number}",
    )
    return {"id": paid["id"], "replayed": own.last_response.replayed}
with ThreadPoolExecutor(16) as pool:
    print(json.dumps(list(pool.map(pay, enumerate(json.loads(os.environ["PLANS"]))))))
`
