import { vectorSpace } from '../knowledge/vector-space.ts'

/**
 * Who shares a fact: all assistants of a user, those of a project, one assistant, or one caller of an assistant that has
 * other users than its owner. Facts of callers are in no other scope.
 */
export type MemoryScope =
  | { kind: 'user' | 'project' | 'assistant'; id: string }
  | { kind: 'caller'; id: string; caller: string }

/** The scope in a record. */
export function scopeKey(scope: MemoryScope): string {
  return scope.kind === 'caller' ? `caller/${scope.id}/${scope.caller}` : `${scope.kind}/${scope.id}`
}

/**
 * The owner of the scope's spaces in the vector store. Callers of an assistant share one. The ids of assistants contain
 * no `@`, so that nobody can make an assistant which owns these spaces.
 */
export function memorySpaces({ kind, id }: Pick<MemoryScope, 'kind' | 'id'>): string {
  return `${mark}${kind}@${id}`
}

/** The space for the vectors of one embedding model. */
export function memorySpace(scope: MemoryScope, modelNumber: number): string {
  return vectorSpace(memorySpaces(scope), modelNumber)
}

/** Whose memory has these spaces; undefined for the spaces of an assistant's files. */
export function memoryOwnerOf(spacesOwner: string): { kind: MemoryScope['kind']; id: string } | undefined {
  if (!spacesOwner.startsWith(mark)) return undefined
  const [kind, ...id] = spacesOwner.slice(mark.length).split('@')
  if (kind !== 'user' && kind !== 'project' && kind !== 'assistant' && kind !== 'caller') return undefined
  return { kind, id: id.join('@') }
}

const mark = 'memory@'
