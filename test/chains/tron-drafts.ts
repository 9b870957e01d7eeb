import type { StoredDraft, TronDrafts } from '../../src/rails/chain/tron/signing.ts'

/** A store of drafts for the rail without a database. It keeps to what `money/onchain/tron/drafts.ts` promises. */
export function draftsInMemory(): TronDrafts {
  const kept = new Map<string, StoredDraft[]>()
  const draftsOf = async (transfer_id: string) => [...(kept.get(transfer_id) ?? [])]
  return {
    draftsOf,
    async keep({ transfer_id, number }, draft) {
      const own = await draftsOf(transfer_id)
      const hashes = [...kept.values()].flat().map(({ tx_hash }) => tx_hash)
      if (own.length === number - 1 && !hashes.includes(draft.tx_hash)) kept.set(transfer_id, [...own, draft])
      return kept.get(transfer_id)?.[number - 1]
    },
  }
}
