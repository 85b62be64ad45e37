import type { VectorStore } from './vector-store.ts'

/** Number of an assistant's vectors in all of its spaces, of one file or of all. */
export async function countVectors(
  vectors: Pick<VectorStore, 'spacesOf' | 'count'>,
  assistantId: string,
  fileId?: string,
): Promise<number> {
  let total = 0
  for (const space of await vectors.spacesOf(assistantId)) total += await vectors.count(space, fileId)
  return total
}

/** Removes a file's vectors from all spaces of its assistant. */
export async function deleteVectorsOfFile(
  vectors: Pick<VectorStore, 'spacesOf' | 'deleteFile'>,
  assistantId: string,
  fileId: string,
): Promise<void> {
  for (const space of await vectors.spacesOf(assistantId)) await vectors.deleteFile(space, fileId)
}

/** Removes the spaces of an assistant, except the given one. */
export async function deleteSpaces(
  vectors: Pick<VectorStore, 'spacesOf' | 'deleteSpace'>,
  assistantId: string,
  except?: string,
): Promise<void> {
  for (const space of await vectors.spacesOf(assistantId)) if (space !== except) await vectors.deleteSpace(space)
}
