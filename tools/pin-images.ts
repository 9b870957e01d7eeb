import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * `npm run pin-images`: looks up today's digest of each image in deploy/Dockerfile and deploy/compose.yaml, and writes it
 * after the tag. The owner of a tag can move it; a digest cannot change. Needs the network, but no Docker.
 * `npm run pin-images -- --check` checks that all images are pinned, without the network.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const files = ['Dockerfile', 'compose.yaml'].map((name) => `${root}deploy/${name}`)

/** An image of Docker Hub: name, exact version, and the digest that was found before. */
const IMAGE =
  /(?<=^FROM |^ +image: )(node|postgres|prom\/prometheus|prom\/alertmanager|grafana\/grafana):(v?[0-9][\w.-]*)(@sha256:[0-9a-f]{64})?/gm

const INDEX =
  'application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json'

async function digestOf(name: string, tag: string): Promise<string> {
  const repository = name.includes('/') ? name : `library/${name}`
  const scope = `repository:${repository}:pull`
  const granted = await fetch(`https://auth.docker.io/token?service=registry.docker.io&scope=${scope}`)
  const { token } = (await granted.json()) as { token: string }
  const answer = await fetch(`https://registry-1.docker.io/v2/${repository}/manifests/${tag}`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${token}`, accept: INDEX },
  })
  const digest = answer.headers.get('docker-content-digest')
  if (!answer.ok || !digest || !/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error(`${name}:${tag}: the registry answered ${answer.status} without a digest`)
  return digest
}

const found = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(IMAGE)])
if (process.argv.includes('--check')) {
  const bare = found.filter(([, , , digest]) => digest === undefined).map(([image]) => image)
  console.log(
    bare.length === 0
      ? 'All images are pinned by digest.'
      : `Without a digest: ${[...new Set(bare)].join(', ')}`,
  )
  process.exitCode = bare.length === 0 ? 0 : 1
} else {
  const digests = new Map<string, string>()
  for (const [, name, tag] of found)
    if (!digests.has(`${name}:${tag}`)) digests.set(`${name}:${tag}`, await digestOf(name!, tag!))
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    const pinned = text.replaceAll(IMAGE, (_, name, tag) => `${name}:${tag}@${digests.get(`${name}:${tag}`)}`)
    if (pinned !== text) writeFileSync(file, pinned)
  }
  for (const [image, digest] of digests) console.log(`${image}@${digest}`)
}
