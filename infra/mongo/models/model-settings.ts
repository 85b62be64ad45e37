import { type Connection, Schema } from 'mongoose'
import type { ModelSettingsRecord, SearchRecord } from '../../../domain/records/model-settings.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const

const server = new Schema(
  {
    server_id: text,
    name: text,
    kind: String,
    base_url: text,
    sealed_key: String,
    key_hint: { type: String, default: '' },
    models: [
      new Schema(
        { id: text, provider_model: String, context_tokens: Number, pictures: Boolean, tools: Boolean },
        { _id: false, id: false },
      ),
    ],
  },
  { _id: false },
)

const modelSettings = new Schema<ModelSettingsRecord>(
  {
    _id: text,
    revision: { type: Number, required: true },
    servers: [server],
    default_model: String,
    small_model: String,
    search: {
      type: new Schema<SearchRecord>(
        { provider: text, base_url: String, sealed_key: String, key_hint: { type: String, default: '' } },
        { _id: false, id: false },
      ),
      default: undefined,
    },
    fallbacks_json: text,
    prices_json: String,
    updated_at: { type: Date, required: true },
  },
  schemaOptions('model_settings'),
)

export function modelSettingsModels(connection: Connection) {
  return { modelSettings: connection.model<ModelSettingsRecord>('ModelSettings', modelSettings) }
}
