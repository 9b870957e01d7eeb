import { type Acted, act } from '../../control/operator/act.ts'
import { countSealed, type Reached, reachedBy as reachedByOwner } from '../../control/secrets/check.ts'
import { type NoteRotation, type Rotated, rotateAlone, rotateSecrets } from '../../control/secrets/rotate.ts'
import { crashPoint } from '../../core/crash-point.ts'
import { keyIdOf } from '../../core/seal.ts'
import { migrate } from '../../db/migrate.ts'
import { ensureNextKey, openSealer, promoteNextKey, secretKeyFile, secretKeysOf } from '../../db/open.ts'
import { withOwner } from '../../db/pool.ts'
import { readSealing } from '../../db/sealing.ts'
import { openSeats } from '../../db/seat.ts'
import type { Config } from '../../node/config.ts'
import { type Input, type Output, type Reach, table } from '../command.ts'
import { actOutput } from './act-output.ts'
import { actorOf } from './actor.ts'

const reachedBy = ({ shared, worlds }: Reach) => ({
  shared: shared.db,
  production: worlds.production.db,
  sandbox: worlds.sandbox.db,
})

/** This command rotates a key stored in the data folder. A SECRET_KEY from the settings is changed in the settings. */
const isOfFolder = ({ secret_key }: Config) => secret_key === undefined

/** Whether DATABASE_URL connects as the owner of the database; for the embedded database it always does. */
const isOwner = ({ migrate, database_url }: Config) => migrate || database_url === undefined

async function rotate(config: Config, reach: Reach, note: NoteRotation): Promise<Rotated> {
  if (isOfFolder(config)) await ensureNextKey(config.data_dir)
  crashPoint('after_key_written')
  const keys = await secretKeysOf(config)
  const target = isOfFolder(config) ? keys.at(-1)! : keys[0]!
  const rotated = await rotateSecrets(reachedBy(reach), openSealer(config, keys), keyIdOf(target), note)
  // Role passwords derive from the key. A node that has both keys keeps its access: when one password is refused, it tries the
  // next.
  if (isOwner(config))
    await migrate(reach.url, { seats: openSeats(reach.url, [target, ...keys]), renew: true })
  crashPoint('before_key_promoted')
  if (isOfFolder(config)) await promoteNextKey(config.data_dir, target)
  return rotated
}

export async function secretsCheck({ config }: Input, reach: Reach): Promise<Output> {
  const sealer = openSealer(config, await secretKeysOf(config))
  const look = async (reached: Reached) => ({
    in_force: (await readSealing(reached.shared))?.key_id ?? null,
    sealed: await countSealed(reached, sealer),
  })
  // With a wrong key the database roles refuse the login, and that is when this command is needed most: so connect as the
  // owner.
  const { in_force, sealed } = isOwner(config)
    ? await withOwner(reach.url, (owner) => look(reachedByOwner(owner)))
    : await look(reachedBy(reach))
  const known = sealer.keyIds()
  const ok = sealed.every(({ opens }) => opens) && (in_force === null || known.includes(in_force))
  const rows = sealed.map(({ key_id, opens, ...one }) => ({
    ...one,
    key: key_id ?? 'not said',
    opens: opens ? 'yes' : 'NO',
  }))
  const head = `in force  ${in_force ?? 'none yet'}\nknown     ${known.join(', ')}\n`
  return {
    json: { ok, in_force, known, sealed },
    text: rows.length === 0 ? `${head}Nothing is sealed.\n` : `${head}\n${table(rows)}`,
    exit_code: ok ? 0 : 1,
  }
}

export async function secretsRotate(input: Input, reach: Reach): Promise<Output> {
  const { config } = input
  const actor = await actorOf(input, reach.shared)
  const acted = await rotateAlone(reach.shared.db, () =>
    act(reach.office, actor, {
      name: 'rotate_secrets',
      details: { rotate: (note) => rotate(config, reach, note) },
    }),
  )
  return actOutput(acted as Acted<Rotated>, (rotated) => shownRotation(config, rotated))
}

function shownRotation(config: Config, { key_id, from_key_id, sealed_again, sealed }: Rotated) {
  const what = `${sealed_again} sealed again, ${sealed} in all. Nothing is left under another key than ${key_id}.\n`
  const next = isOfFolder(config)
    ? `The new key is in ${secretKeyFile(config.data_dir)}; take a backup of it.\n`
    : isOwner(config)
      ? 'SECRET_KEY_PREVIOUS can be dropped from all nodes now.\n'
      : 'Let the owner run trilho migrate with the new SECRET_KEY alone; then SECRET_KEY_PREVIOUS can be dropped from all nodes.\n'
  return {
    json: { ok: true, key_id, from_key_id: from_key_id ?? null, sealed_again, sealed },
    text: what + next,
  }
}
