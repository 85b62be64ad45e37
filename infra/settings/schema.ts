import Type, { type TSchema } from 'typebox'
import { rateLimits } from '../../domain/rate-limits.ts'
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

const fixed = 'this limit is fixed now'

/** Settings of earlier versions: why they have no effect. */
export const droppedSettings: Readonly<Record<string, string>> = {
  RUN_TASK_TIMEOUT_SECONDS: 'it is 5 with NODE_ENV=production, else 2',
  STICKY_QUEUE_SECONDS: fixed,
  REQUEST_TIMEOUT_SECONDS: fixed,
  UPLOAD_IDLE_SECONDS: fixed,
  MAX_CONNECTIONS_PER_ADDRESS: 'it is a fifth of MAX_CONNECTIONS',
  MAX_UNREAD_MB: fixed,
  UNREAD_SECONDS: fixed,
  MAX_STREAMS_PER_USER: 'it is a tenth of MAX_STREAMS',
  MAX_STREAMS_PER_ASSISTANT: 'it is a fifth of MAX_STREAMS',
  MAX_STREAMS_PER_CLIENT: 'it is a tenth of MAX_STREAMS',
  IMPORT_DAY_MAX_MB: 'it is three times IMPORT_MAX_MB',
  ARCHIVES_AT_ONCE: fixed,
  EXTRACT_CPU_SECONDS: fixed,
  EXTRACT_TIMEOUT_SECONDS: fixed,
  INGESTION_WAIT_HOURS: fixed,
  ...Object.fromEntries(
    Object.keys(rateLimits).map((name) => [
      `RATE_LIMIT_${name.toUpperCase()}`,
      `write ${name}=… into RATE_LIMIT_TABLE`,
    ]),
  ),
}
