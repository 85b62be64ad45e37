import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { type AssistantConfigs, configUnchanged, configUpdate } from './configs.ts'

interface StoredConfigsDeps {
  collections: Pick<Collections, 'assistants'>
  configs: AssistantConfigs
  /** Two assistants have the same token: this one keeps it in its config, but the token does not select it. */
  onTakenToken(assistantId: string): void
}

const atOnce = 8
/**
 * While an earlier version of the service still runs, it writes unsealed configs. The last of them can still be read,
 * and are sealed when they are next saved.
 */
const maxPasses = 5

/** Converts stored configs to the form of this version. Safe to repeat, and to run in several processes at once. */
export function createStoredConfigs({ collections: { assistants }, configs, onTakenToken }: StoredConfigsDeps) {
  return {
    /** Seals configs that earlier versions stored in clear text, and returns how many there were. */
    async seal(): Promise<number> {
      let sealed = 0
      for (let pass = 0; pass < maxPasses; pass++) {
        const inClear = assistants.find({ config_json: { $exists: true } }).hint('unsealed_configs')
        const { seen, stored } = await rewrite(inClear.lean<AssistantRecord[]>().cursor())
        sealed += stored
        if (seen === 0) break
      }
      return sealed
    },

    /**
     * Seals every config again that is sealed under a previous `SECRETS_KEY`, and removes the hashes under previous
     * keys. Returns how many there were. Afterwards the previous keys are no longer needed.
     */
    async reseal(): Promise<number> {
      const all = assistants.find().lean<AssistantRecord[]>().cursor()
      return (await rewrite(all, { onlyOld: true })).stored
    },
  }

  async function rewrite(
    records: AsyncIterable<AssistantRecord>,
    { onlyOld = false } = {},
  ): Promise<{ seen: number; stored: number }> {
    const counts = { seen: 0, stored: 0 }
    let batch: AssistantRecord[] = []
    const flush = async () => {
      const results = await Promise.all(batch.map((record) => rewriteOne(record, onlyOld)))
      counts.seen += batch.length
      counts.stored += results.filter(Boolean).length
      batch = []
    }
    for await (const record of records) {
      if (onlyOld && isUpToDate(record)) continue
      batch.push(record)
      if (batch.length === atOnce) await flush()
    }
    await flush()
    return counts
  }

  /** False if somebody else wrote the config in the meantime, who then sealed it under the current key. */
  async function rewriteOne(record: AssistantRecord, onlyCurrentKey: boolean): Promise<boolean> {
    const fields = configs.fieldsOf(record._id, configs.textOf(record))
    const { public_token_hashes: hashes, ...rest } = fields
    if (onlyCurrentKey && hashes !== undefined) fields.public_token_hashes = hashes.slice(0, 1)
    const store = async (members: typeof fields) =>
      (await assistants.updateOne(configUnchanged(record), configUpdate(members))).matchedCount > 0
    try {
      return await store(fields)
    } catch (error) {
      if (!isDuplicateKey(error, 'public_token_hashes')) throw error
      onTakenToken(record._id)
      return store(rest)
    }
  }

  function isUpToDate({
    config_json: clear,
    sealed_config: sealed,
    public_token_hashes: hashes = [],
  }: AssistantRecord) {
    return clear === undefined && sealed !== undefined && configs.isCurrent(sealed) && hashes.length <= 1
  }
}
