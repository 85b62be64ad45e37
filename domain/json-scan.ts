/** What a JSON text may hold. Containers are objects and arrays; members are the entries of all of them together. */
export interface JsonLimits {
  bytes: number
  depth: number
  containers: number
  members: number
}

export type JsonExcess = keyof JsonLimits

const quote = 0x22
const comma = 0x2c
const arrayOpens = 0x5b
const backslash = 0x5c
const arrayCloses = 0x5d
const objectOpens = 0x7b
const objectCloses = 0x7d

/**
 * Names the first limit that a JSON text exceeds; undefined if it exceeds none. `JSON.parse` of 15 MB of `[],` takes
 * seconds, this takes a thirtieth of that: one pass over the text, which stops at the first excess and allocates
 * nothing.
 *
 * The text need not be JSON. Up to its first error it is read as `JSON.parse` reads it, which goes no further.
 * An empty object or array is one level deep.
 */
export function jsonExcess(text: string, limits: JsonLimits): JsonExcess | undefined {
  if (isLongerThan(text, limits.bytes)) return 'bytes'
  let depth = 0
  let containers = 0
  let members = 0
  /** Whether a container was opened and nothing of it was read yet: then its first member is still to be counted. */
  let opened = false

  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= 0x20) continue
    const closes = code === arrayCloses || code === objectCloses
    if (code === comma || (opened && !closes)) {
      members += 1
      if (members > limits.members) return 'members'
    }
    opened = false
    if (closes) depth -= 1
    else if (code === quote) at = endOfString(text, at)
    else if (code === arrayOpens || code === objectOpens) {
      opened = true
      depth += 1
      containers += 1
      if (depth > limits.depth) return 'depth'
      if (containers > limits.containers) return 'containers'
    }
  }
  return undefined
}

/** The position of the quote that ends the string that begins at `start`; the last position if none does. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) at += 1
  }
  return text.length
}

/** Compares the length in UTF-8. A UTF-16 unit takes one to three bytes, so most texts need not be measured. */
function isLongerThan(text: string, bytes: number): boolean {
  if (text.length > bytes) return true
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes
}
