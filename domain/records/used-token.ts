import Type from 'typebox'
import { StoredId, StoredTime, declareRecord } from './declared-record.ts'

/** A logout token of an identity provider that was used: each counts once. Its id is a hash of issuer and `jti`. */
const UsedToken = Type.Object({ _id: StoredId, remove_at: StoredTime })

export const usedTokenRecord = declareRecord({
  model: 'UsedToken',
  collection: 'used_tokens',
  schema: UsedToken,
  owners: [],
  indexes: [[{ remove_at: 1 }, { expireAfterSeconds: 0 }]],
  archive: undefined,
})
