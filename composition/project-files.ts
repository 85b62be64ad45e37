import type { Settings } from '../infra/config.ts'
import type { Infra } from '../infra/index.ts'
import type { Collections } from '../services/collections.ts'
import { createFiles } from '../services/knowledge/files.ts'
import { createProjectFileRecords } from '../services/knowledge/project-file-records.ts'
import { createProjectFiles } from '../services/knowledge/project-files.ts'
import { createReceiveProjectFile } from '../services/knowledge/receive-project-file.ts'
import type { StorageQuota } from '../services/knowledge/storage-quota.ts'
import type { WorkflowClient } from '../services/workflow-client.ts'

interface Parts {
  settings: Settings
  infra: Infra
  collections: Collections
  storageQuota: StorageQuota
  workflows: WorkflowClient
}

/** Files of assistants, and those that belong to a project. */
export function composeProjectFiles({ settings, infra, collections, storageQuota, workflows }: Parts) {
  const { blobs } = infra.knowledge
  const files = createFiles({ collections, blobs, workflows, deletionWaitMs: settings.deletionWaitSeconds * 1000 })
  const records = createProjectFileRecords({ collections, blobs, storageQuota })
  const receive = createReceiveProjectFile({ collections, records })
  return { files, records, projectFiles: createProjectFiles({ collections, blobs, files, records, receive }) }
}
