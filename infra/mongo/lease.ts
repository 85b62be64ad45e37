import type mongoose from 'mongoose'
import { newId } from '../../domain/ids.ts'

interface LeaseRecord {
  _id: string
  holder?: string
  expires_at?: Date
}

/** Throws when the lease is not held any more. */
export type RequireLease = () => Promise<void>

/**
 * Runs `work` unless another process does it; then throws. The lease of a process that died is free after `leaseMs`.
 * `work` calls `require` before what must not be done twice.
 */
export async function withLease<T>(
  { db }: mongoose.Connection,
  { name, leaseMs = 60_000 }: { name: string; leaseMs?: number | undefined },
  work: (require: RequireLease) => Promise<T>,
): Promise<T> {
  if (!db) throw new Error('the database is not connected')
  const leases = db.collection<LeaseRecord>('schema_state')
  const holder = newId()
  const own = { _id: name, holder }
  const expiry = () => new Date(Date.now() + leaseMs)
  await leases.updateOne({ _id: name }, { $setOnInsert: { expires_at: new Date(0) } }, { upsert: true })
  const free = { _id: name, expires_at: { $lte: new Date() } }
  const { matchedCount } = await leases.updateOne(free, { $set: { holder, expires_at: expiry() } })
  if (matchedCount === 0) throw new Error(`another process does this (${name}), or died within the last minute`)
  const renew = () => leases.updateOne(own, { $set: { expires_at: expiry() } })
  const timer = setInterval(() => void renew().catch(() => undefined), leaseMs / 4)
  try {
    return await work(async () => {
      if ((await renew()).matchedCount === 0) throw new Error(`another process has taken over (${name})`)
    })
  } finally {
    clearInterval(timer)
    await leases.updateOne(own, { $set: { expires_at: new Date(0) } })
  }
}
