import {
  type EnvironmentModels,
  type ListedPrice,
  type ModelCatalog,
  type StoredModels,
  catalogOf,
  nothingStored,
} from '../../domain/model-catalog.ts'
import type { ModelSettingsRecord } from '../../domain/records/model-settings.ts'
import type { Collections } from '../collections.ts'
import type { SecretBox } from '../secrets.ts'
import { modelSettingsStore } from '../stores/model-settings.ts'
import { storedModels } from './stored-models.ts'

/** The models that runs can use now. Ask for each use anew: operators change them while the service runs. */
export interface ModelsNow {
  current(): ModelCatalog
}

/**
 * The account of runs whose assistant has none of its own. Providers bring keys of their own; a model that none of them
 * has then finds no key here.
 */
export function platformAccount(models: ModelsNow) {
  const { account, providers } = models.current()
  if (account === undefined && providers.models.length === 0) return undefined
  return { apiKey: account?.apiKey ?? '', baseUrl: account?.baseUrl, setByUser: false }
}

interface LiveModelsDeps {
  collections: Pick<Collections, 'modelSettings'>
  secretBox: Pick<SecretBox, 'open'>
  environment: EnvironmentModels
  listedPrice?: ListedPrice
  onError(error: unknown): void
}

/** How soon another process notices a change. */
const pollEveryMs = 2_000

export type LiveModels = ReturnType<typeof createLiveModels>

/** What settings and operators say about models. Each process reads the record anew when its revision has changed. */
export function createLiveModels({ collections, secretBox, environment, listedPrice, onError }: LiveModelsDeps) {
  const store = modelSettingsStore(collections)
  let catalog = catalogOf(environment, nothingStored, listedPrice)
  let revision = 0
  let timer: NodeJS.Timeout | undefined

  async function refresh(): Promise<void> {
    const known = await store.revision()
    if (known === undefined || known === revision) return
    const record = await store.find()
    if (record !== null) take(record)
  }

  function take(record: ModelSettingsRecord): void {
    // An answer that was under way while a newer one was taken.
    if (record.revision < revision) return
    const stored: StoredModels = storedModels(record, secretBox)
    catalog = catalogOf(environment, stored, listedPrice)
    revision = record.revision
  }

  return {
    environment,
    current: () => catalog,
    /** Takes a record that this process has just stored. */
    take,

    /** Reads what is stored, and looks for changes from then on. */
    async start(): Promise<void> {
      await refresh()
      timer = setInterval(() => void refresh().catch(onError), pollEveryMs).unref()
    },
    close: () => clearInterval(timer),
  }
}
