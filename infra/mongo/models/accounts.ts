import { type Connection, Schema } from 'mongoose'
import type { LoginFailuresRecord } from '../../../domain/records/login-failures.ts'
import { schemaOptions } from '../schema-options.ts'

const id = { type: String, required: true } as const
const date = { type: Date, required: true } as const

const loginFailures = new Schema<LoginFailuresRecord>(
  { _id: id, count: { type: Number, required: true }, window_ends: date },
  schemaOptions('login_failures'),
)
loginFailures.index({ window_ends: 1 }, { expireAfterSeconds: 0 })

export function accountModels(connection: Connection) {
  return {
    loginFailures: connection.model<LoginFailuresRecord>('LoginFailures', loginFailures),
  }
}
