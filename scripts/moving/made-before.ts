import type OpenAI from 'openai'
import type { DumpEntry, DumpKind } from './dump.ts'
import { type Importing, ifThere, importedId } from './importing.ts'

/** Finds what earlier imports have made and is still on the server. */
export function createMadeBefore({ client, dump, progress, newIds }: Importing) {
  const listed = new Set<string>()
  const files: OpenAI.FileObject[] = []

  /** Assistants and vector stores tell their old ids themselves. */
  async function listOf(kind: 'assistant' | 'vector_store'): Promise<void> {
    const page = { limit: 100, order: 'asc' } as const
    const objects = kind === 'assistant' ? client.beta.assistants.list(page) : client.vectorStores.list(page)
    for await (const { id, metadata } of objects) {
      const old = metadata?.[importedId]
      if (old !== undefined) newIds.set(kind, old, id)
      listed.add(id)
    }
  }

  /** A file whose upload ended, although that was not noted: the one like it that no import has noted. */
  async function uploadedUnnoted(entry: DumpEntry): Promise<string | undefined> {
    const { kind, id } = entry
    if (!progress.isOpen(kind, id)) return undefined
    const { filename, bytes } = await dump.read(entry)
    const found = files.find((file) => file.filename === filename && file.bytes === bytes && !progress.isOurs(file.id))
    if (found !== undefined) await progress.end(kind, id, found.id)
    return found?.id
  }

  return {
    /** Before the objects of a kind are looked for. */
    async begin(kind: DumpKind): Promise<void> {
      if (kind === 'file') files.push(...(await Array.fromAsync(client.files.list())))
      if (kind === 'assistant' || kind === 'vector_store') await listOf(kind)
    },

    /** Its new id. Messages are looked for in their thread. */
    async find(entry: DumpEntry): Promise<string | undefined> {
      const { kind, id } = entry
      const noted = progress.madeOf(kind, id)
      switch (kind) {
        case 'assistant':
        case 'vector_store':
          return newIds.of(kind, id) ?? (noted !== undefined && listed.has(noted) ? noted : undefined)
        case 'vector_store.file': {
          const { store, file } = newIds.ofEntry(entry)
          return ifThere(client.vectorStores.files.retrieve(file, { vector_store_id: store }))
        }
        case 'file':
          if (noted === undefined) return uploadedUnnoted(entry)
          return files.some((file) => file.id === noted) ? noted : undefined
        case 'thread':
          return noted === undefined ? undefined : ifThere(client.beta.threads.retrieve(noted))
        case 'thread.message':
          return undefined
      }
    },
  }
}
