import { enMemory } from './en-memory.ts'

/** The texts of the page of facts in the language of the page. */
export const memoryTexts: typeof enMemory = enMemory
