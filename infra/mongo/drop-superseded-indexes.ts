import type mongoose from 'mongoose'

/** Indexes of older versions that a newer index covers, by collection. What operators added stays. */
const superseded: Record<string, string[]> = {
  users: ['verified_1_created_at_1', 'last_active_at_1'],
  assistants: ['project_id_1_created_at_1', 'public_1_created_at_1'],
  threads: ['user_id_1_project_id_1_public_1_updated_at_-1'],
  runs: [
    'thread_id_1_created_at_-1',
    'user_id_1_created_at_-1',
    'status_1_created_at_1',
    'assistant_id_1_status_1',
    'deciding_since_1',
  ],
  receipts: ['subject_id_1_created_at_-1'],
  feedback: ['run_id_1_created_at_1'],
  files: ['assistant_id_1_created_at_1_order_1', 'ingestion_id_1_order_1'],
}

/** After the newer indexes are there. Another process may be doing the same. */
export async function dropSupersededIndexes(connection: mongoose.Connection): Promise<void> {
  for (const [name, indexes] of Object.entries(superseded)) {
    const collection = connection.collection(name)
    const present = await collection.indexes()
    for (const index of indexes.filter((known) => present.some((one) => one.name === known)))
      await collection.dropIndex(index).catch((error: unknown) => {
        if (!isIndexNotFound(error)) throw error
      })
  }
}

function isIndexNotFound(error: unknown): boolean {
  return error instanceof Error && 'codeName' in error && error.codeName === 'IndexNotFound'
}
