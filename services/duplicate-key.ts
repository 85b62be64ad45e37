/**
 * Whether a database error means that a unique index refused a write (MongoDB error 11000); with `field`, the
 * unique index that begins with that field.
 */
export function isDuplicateKey(error: unknown, field?: string): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error) || error.code !== 11000) return false
  if (field === undefined) return true
  if ('keyPattern' in error && typeof error.keyPattern === 'object' && error.keyPattern !== null) {
    return Object.keys(error.keyPattern)[0] === field
  }
  return 'message' in error && String(error.message).includes(`index: ${field}_1`)
}

/** What `write` returns; throws `refusal` if a unique index refused it. */
export async function refusingTaken<T>(write: () => Promise<T>, refusal: () => Error): Promise<T> {
  try {
    return await write()
  } catch (error) {
    throw isDuplicateKey(error) ? refusal() : error
  }
}

/** Whether a record was stored; false if there is one with its key. */
export async function isNew(stored: Promise<unknown>): Promise<boolean> {
  try {
    await stored
    return true
  } catch (error) {
    if (isDuplicateKey(error)) return false
    throw error
  }
}
