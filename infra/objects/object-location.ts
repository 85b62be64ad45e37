import type { ObjectStore } from '../../services/object-store.ts'
import type { BlobLocation, LocatedBlob } from '../mongo/blob-bytes.ts'

/** Below the prefix of the setting, so that other kinds of objects have room beside them. */
const root = 'blobs/'
const removedAtOnce = 4

/** Bytes of blobs as objects `blobs/OWNER/ID`, so that what an owner has is found in the store itself. */
export function createObjectLocation(store: ObjectStore): BlobLocation {
  const keyOf = ({ id, owner }: LocatedBlob) => `${folderOf(owner)}${id}`
  const read = async function* (prefix: string) {
    for await (const { key, modifiedAt } of store.everything(prefix)) {
      const blob = blobOf(key)
      if (blob !== undefined) yield { ...blob, modifiedAt }
    }
  }
  return {
    name: store.name,
    pieceBytes: store.pieceBytes,
    write: (blob) => store.upload(keyOf(blob)),
    read: (blob, { length, from }) => store.read(keyOf(blob), length, from),
    async remove(blobs) {
      for (let start = 0; start < blobs.length; start += removedAtOnce)
        await Promise.all(blobs.slice(start, start + removedAtOnce).map((blob) => store.remove(keyOf(blob))))
    },
    removeOf: (owner) => store.remove(folderOf(owner)),
    ofOwner: (owner) => read(folderOf(owner)),
    async *before(time) {
      for await (const { id, owner, modifiedAt } of read(root)) if (modifiedAt < time) yield { id, owner }
    },
  }
}

const folderOf = (owner: string) => `${root}${encoded(owner)}/`

/** Letters, digits and hyphens stand for themselves; every other byte is written as `=3A`. */
function encoded(owner: string): string {
  return owner.replaceAll(/[^\w-]/gu, (sign) =>
    [...Buffer.from(sign)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
}

function blobOf(key: string): LocatedBlob | undefined {
  const [, owner, id] = /^blobs\/([\w=-]+)\/([\da-f]{24})$/.exec(key) ?? []
  if (owner === undefined || id === undefined) return undefined
  const bytes = owner.replaceAll(/=([\dA-F]{2})/g, '%$1')
  try {
    return { id, owner: decodeURIComponent(bytes) }
  } catch {
    return undefined
  }
}
