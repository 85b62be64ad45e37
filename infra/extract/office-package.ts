import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import { type Archive, openArchive } from './archive.ts'
import { type Content, bytesOf, headOf, streamOf } from './content.ts'
import { readOpened } from './word/xml.ts'

/** Of a part that is read whole. */
export const maxPartBytes = 32 * 1024 * 1024
const maxRelations = 20_000

export interface Relation {
  id: string
  /** The end of its type: `header`, `slide`. */
  kind: string
  /** The name of the part that it leads to. */
  target: string
}

/** A package of Office: an archive, or one file of XML with its parts in it. */
export async function openPackage(content: Content): Promise<Archive> {
  if ((await headOf(content, 2)).toString('latin1') === 'PK') return openArchive(content)
  const parts = new Map<string, string>()
  for (const part of (await bytesOf(content)).toString('utf8').split('<pkg:part ').slice(1, maxParts)) {
    const name = /^[^>]*?pkg:name="\/?([^"]{1,1000})"/.exec(part)?.[1]
    const [begin, end] = [part.indexOf('<pkg:xmlData>'), part.lastIndexOf('</pkg:xmlData>')]
    if (name !== undefined && begin >= 0 && end > begin)
      parts.set(name, part.slice(begin + '<pkg:xmlData>'.length, end))
  }
  const text = async (name: string) => Promise.resolve(parts.get(name))
  return {
    names: [...parts.keys()],
    size: (name) => parts.get(name)?.length,
    stream: async (name) => {
      const found = await text(name)
      return found === undefined ? undefined : streamOf(Buffer.from(found))
    },
    text,
    close: () => undefined,
  }
}

const maxParts = 20_000

/** The part that a package of Office names as its document. `usual`: where most programs put it. */
export async function mainPart(archive: Archive, usual: string): Promise<string> {
  if (archive.size(usual) !== undefined) return usual
  const relations = await relationsOf(archive, '')
  const found = relations.find(({ kind }) => kind === 'officeDocument')?.target
  if (found === undefined || archive.size(found) === undefined)
    throw new UnreadableFile('damaged', 'This document is damaged and cannot be read.')
  return found
}

/** What a part leads to; `''` is the package itself. */
export async function relationsOf(archive: Archive, part: string): Promise<Relation[]> {
  const end = part.lastIndexOf('/') + 1
  const folder = part.slice(0, end)
  const xml = (await archive.text(`${folder}_rels/${part.slice(end)}.rels`, maxPartBytes)) ?? ''
  const found: Relation[] = []
  readOpened(xml, (name, attributes) => {
    if (!/(^|:)Relationship$/.test(name) || found.length >= maxRelations) return
    const { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode } = attributes
    if (mode === 'External') return
    found.push({ id, kind: type.split('/').at(-1) ?? '', target: resolvedName(folder, target) })
  })
  return found
}

/** The name of a part that another one in `folder` names. */
export function resolvedName(folder: string, target: string): string {
  const path = target.startsWith('/') ? target : `/${folder}${target}`
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}
