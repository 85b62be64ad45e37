import type { Restores } from './capability.ts'
import { memoryCapability } from './memory/capability.ts'
import { promptsCapability } from './prompts/capability.ts'

type Services = Parameters<typeof promptsCapability.restore>[0] & Parameters<typeof memoryCapability.restore>[0]

/** How the records of every declared kind come out of an archive: docs/adding-a-capability.md. */
export const restoresOf = (services: Services): Restores => ({
  ...promptsCapability.restore(services),
  ...memoryCapability.restore(services),
})
