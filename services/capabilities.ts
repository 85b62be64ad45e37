import type { Restores } from './capability.ts'
import { documentsCapability } from './documents/capability.ts'
import { foldersCapability } from './folders/capability.ts'
import { memoryCapability } from './memory/capability.ts'
import { promptsCapability } from './prompts/capability.ts'
import { schedulesCapability } from './schedules/capability.ts'
import { sourcesCapability } from './sources/capability.ts'

type Services = Parameters<typeof promptsCapability.restore>[0] &
  Parameters<typeof memoryCapability.restore>[0] &
  Parameters<typeof schedulesCapability.restore>[0] &
  Parameters<typeof sourcesCapability.restore>[0] &
  Parameters<typeof documentsCapability.restore>[0] &
  Parameters<typeof foldersCapability.restore>[0]

/** How the records of every declared kind come out of an archive: docs/adding-a-capability.md. */
export const restoresOf = (services: Services): Restores => ({
  ...promptsCapability.restore(services),
  ...memoryCapability.restore(services),
  ...schedulesCapability.restore(services),
  ...sourcesCapability.restore(services),
  ...documentsCapability.restore(services),
  ...foldersCapability.restore(services),
})

type StoresDeps = Parameters<typeof schedulesCapability.stores>[0] &
  Parameters<typeof sourcesCapability.stores>[0] &
  Parameters<typeof memoryCapability.stores>[0]

/** What deletions remove beside declared records: some of it before them, because it would bring them back. */
export const storesOf = (deps: StoresDeps) => ({
  beforeRecords: [...schedulesCapability.stores(deps), ...sourcesCapability.stores(deps)],
  afterRecords: memoryCapability.stores(deps),
})
