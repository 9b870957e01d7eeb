import { searchForKeys } from '../key-search.ts'
import { mustEqual } from '../narrator.ts'
import { compareSignatures } from '../signatures.ts'
import type { Stage } from '../stage.ts'

/** Compares the signer's log with the chains, and searches for its keys everywhere outside its folder. */
export async function verifySigner(stage: Stage): Promise<void> {
  const { signer, counts, tell, checked } = stage
  const { code, json, err } = await stage.trilhoAtSigner(
    ...['signer', 'verify-log', '--dir', signer.log_dir, '--head', stage.noted.signer_head],
  )
  if (code !== 0) throw new Error(`trilho signer verify-log exits ${code}: ${err} ${JSON.stringify(json)}`)
  const signatures = await compareSignatures(stage)
  mustEqual('lines of the log of the signer', json.lines, signatures.lines)
  checked(
    `trilho signer verify-log: ${json.lines} lines, whole, and it has the line that was noted in the morning`,
  )
  counts.signatures = signatures.mined + signatures.replaced
  counts.signed_and_mined = signatures.mined
  checked(
    `the log has ${counts.signatures} signatures: ${signatures.mined} are the transactions on the chains that spend what these keys hold, all of them, and ${signatures.replaced} are versions that were replaced with a higher fee`,
  )
  tell(
    'the keys of the signer are searched for in everything that an intruder on the service’s side could copy',
  )
  const { files, megabytes } = await searchForKeys(stage)
  counts.searched_mb = megabytes
  checked(
    `no key is in the services’ settings, environment, logs, or a dump of the database, nor in ${files} files (${megabytes} MB): the services’, both database servers’, and the backup’s. The same search finds every key in the folder of the signer`,
  )
}
