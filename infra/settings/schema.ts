import Type, { type TSchema } from 'typebox'
import { accountSettings, secretSettings } from './accounts.ts'
import type { Setting } from './kinds.ts'
import { limitSettings, retentionSettings } from './limits.ts'
import { knowledgeSettings, modelSettings, toolSettings } from './models.ts'
import { serverSettings } from './server.ts'
import { storeSettings, temporalSettings } from './stores.ts'

/** By the title under which they are described. */
export const settingGroups = {
  'The service and its processes': serverSettings,
  'Limits and rates': limitSettings,
  Retention: retentionSettings,
  'Secrets and tokens': secretSettings,
  Stores: storeSettings,
  Temporal: temporalSettings,
  'Mail and other ways to log in': accountSettings,
  Models: modelSettings,
  Knowledge: knowledgeSettings,
  'Tools, feedback, billing': toolSettings,
}

export const settingsSchema = Type.Object({
  ...serverSettings,
  ...limitSettings,
  ...retentionSettings,
  ...secretSettings,
  ...storeSettings,
  ...temporalSettings,
  ...accountSettings,
  ...modelSettings,
  ...knowledgeSettings,
  ...toolSettings,
})

/** All settings, or those of a group, also those in objects such as `mongodbTls`. */
export function settingsIn(properties: Record<string, TSchema> = settingsSchema.properties): Setting[] {
  return Object.values(properties).flatMap((schema) => {
    if (isSetting(schema)) return [schema]
    return Type.IsObject(schema) ? settingsIn(schema.properties) : []
  })
}

export function isSetting(schema: TSchema): schema is Setting {
  return 'env' in schema
}
