import { type ForeignChat, type LeftOut, type Picture, limits } from './chat.ts'
import { type Entry, bytesOf } from './zip.ts'

/** How ChatGPT names the files of its archive: `file-Ab12-photo.png`, `file_00ab-sanitized.webp`. */
const fileName = /(?:^|\/)(file[-_][A-Za-z0-9]+)(?:[-.][^/]*)?$/

/** The files of an archive of ChatGPT by the ids with which its messages name them. */
export function picturesIn(entries: Entry[]): Map<string, Entry> {
  const named = new Map<string, Entry>()
  for (const entry of entries) {
    const id = fileName.exec(entry.name)?.[1]
    if (id !== undefined) named.set(id, entry)
  }
  return named
}

/**
 * The pictures that the chats name, each read once. What is no picture, is too large, or is one too many goes from the
 * chats and is counted as left out.
 */
export async function readPictures(
  archive: Blob,
  entries: ReadonlyMap<string, Entry>,
  chats: ForeignChat[],
  left: LeftOut,
): Promise<Map<string, Picture>> {
  const pictures = new Map<string, Picture>()
  const missing = new Set<string>()
  let free: number = limits.allPictureBytes
  for (const { said } of chats.flatMap(({ nodes }) => nodes))
    for (const id of said?.pictures ?? []) {
      if (!pictures.has(id) && !missing.has(id)) {
        const entry = pictures.size < limits.pictures ? entries.get(id) : undefined
        const picture = entry && (await readPicture(archive, entry, Math.min(free, limits.pictureBytes)))
        if (picture === undefined) missing.add(id)
        else pictures.set(id, picture)
        free -= picture?.bytes.size ?? 0
      }
      if (missing.has(id)) left.files += 1
    }
  return pictures
}

async function readPicture(archive: Blob, entry: Entry, maxBytes: number): Promise<Picture | undefined> {
  try {
    const bytes = await bytesOf(archive, entry, maxBytes)
    const type = typeOf(new Uint8Array(await bytes.slice(0, 12).arrayBuffer()))
    return type && { type, bytes }
  } catch {
    return undefined
  }
}

/** By its first bytes, as the service tells pictures from other files. */
function typeOf(start: Uint8Array): Picture['type'] | undefined {
  const text = String.fromCharCode(...start)
  if (text.startsWith('\u0089PNG\r\n\u001a\n')) return 'image/png'
  if (text.startsWith('\u00ff\u00d8\u00ff')) return 'image/jpeg'
  if (/^GIF8[79]a/.test(text)) return 'image/gif'
  return text.startsWith('RIFF') && text.startsWith('WEBP', 8) ? 'image/webp' : undefined
}
