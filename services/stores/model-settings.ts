import { type ModelSettingsRecord, modelSettingsId as _id } from '../../domain/records/model-settings.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import { isMatched } from './results.ts'

/** All statements on `model_settings`: one record, which belongs to the operator. */
export const modelSettingsStore = ({ modelSettings }: Pick<Collections, 'modelSettings'>) => ({
  find: async () => modelSettings.findById(_id).lean<ModelSettingsRecord>(),

  async revision(): Promise<number | undefined> {
    return (await modelSettings.findById(_id, { revision: 1 }).lean<{ revision: number }>())?.revision
  },

  /** False if somebody else has changed it since `revision`; 0: there is none yet. */
  async replace(revision: number, record: ModelSettingsRecord): Promise<boolean> {
    if (revision === 0) return isNew(modelSettings.create(record))
    return isMatched(await modelSettings.replaceOne({ _id, revision }, record))
  },
})
