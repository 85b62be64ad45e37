import { type Connection, Schema } from 'mongoose'
import type { LoginFailuresRecord } from '../../../domain/records/login-failures.ts'
import type { ProgramLoginRecord } from '../../../domain/records/program-login.ts'
import { schemaOptions } from '../schema-options.ts'

const id = { type: String, required: true } as const
const text = { type: String, required: true } as const
const date = { type: Date, required: true } as const

const loginFailures = new Schema<LoginFailuresRecord>(
  { _id: id, count: { type: Number, required: true }, window_ends: date },
  schemaOptions('login_failures'),
)
loginFailures.index({ window_ends: 1 }, { expireAfterSeconds: 0 })

const programLogin = new Schema<ProgramLoginRecord>(
  {
    _id: id,
    name: text,
    status: text,
    code_hash: String,
    device_hash: String,
    user_id: String,
    project_id: String,
    allowed_until: Date,
    created_at: date,
    last_used_at: Date,
    remove_at: date,
  },
  schemaOptions('program_logins'),
)
programLogin.index({ code_hash: 1 }, { unique: true, partialFilterExpression: { code_hash: { $exists: true } } })
programLogin.index({ device_hash: 1 }, { unique: true, partialFilterExpression: { device_hash: { $exists: true } } })
programLogin.index({ user_id: 1, created_at: -1 })
programLogin.index({ remove_at: 1 }, { expireAfterSeconds: 0 })

export function accountModels(connection: Connection) {
  return {
    loginFailures: connection.model<LoginFailuresRecord>('LoginFailures', loginFailures),
    programLogins: connection.model<ProgramLoginRecord>('ProgramLogin', programLogin),
  }
}
