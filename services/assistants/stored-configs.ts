import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { type AssistantConfigs, configUpdate } from './configs.ts'
import { ownAssistantStore } from './store.ts'

interface StoredConfigsDeps {
  collections: Pick<Collections, 'assistants'>
  configs: AssistantConfigs
}

const atOnce = 8

/**
 * Seals every config again that is sealed under a previous `SECRETS_KEY`, and removes the hashes under previous keys.
 * Returns how many there were. Afterwards the previous keys are no longer needed. Safe to repeat, and to run in several
 * processes at once.
 */
export async function resealConfigs({ collections, configs }: StoredConfigsDeps): Promise<number> {
  const store = ownAssistantStore(collections)
  let resealed = 0
  let batch: AssistantRecord[] = []
  const flush = async () => {
    const results = await Promise.all(batch.map(reseal))
    resealed += results.filter(Boolean).length
    batch = []
  }
  for await (const record of store.openOfAny()) {
    if (isUpToDate(record)) continue
    batch.push(record)
    if (batch.length === atOnce) await flush()
  }
  await flush()
  return resealed

  /** False if somebody else wrote the config in the meantime, who then sealed it under the current key. */
  async function reseal(record: AssistantRecord): Promise<boolean> {
    const fields = configs.fieldsOf(record._id, configs.textOf(record))
    const { public_token_hashes: hashes } = fields
    if (hashes !== undefined) fields.public_token_hashes = hashes.slice(0, 1)
    return store.resealConfigOfAny(record, configUpdate(fields))
  }

  function isUpToDate({ sealed_config: sealed, public_token_hashes: hashes = [] }: AssistantRecord) {
    return sealed !== undefined && configs.isCurrent(sealed) && hashes.length <= 1
  }
}
