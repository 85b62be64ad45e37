/** A random id. `crypto.randomUUID` is missing on pages that came over plain HTTP from another host. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
