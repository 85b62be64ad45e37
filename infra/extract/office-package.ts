import { UnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import type { Archive } from './archive.ts'
import { createXmlReader } from './word/xml.ts'

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
  const reader = createXmlReader({
    open(name, attributes) {
      if (!/(^|:)Relationship$/.test(name) || found.length >= maxRelations) return
      const { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode } = attributes
      if (mode === 'External') return
      found.push({ id, kind: type.split('/').at(-1) ?? '', target: resolvedName(folder, target) })
    },
    close: () => undefined,
    text: () => undefined,
  })
  reader.write(xml)
  reader.end()
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
