import { parseOwnJson } from './own-json.ts'

/** What a run wants of the tool that executes code. */
export interface CodeOverride {
  /** The run has the tool, even if its assistant does not. */
  isAdded?: boolean
  /** The container whose session the code goes on in (the id of its thread); default: the session of the run's thread. */
  container?: string
  /** Files of the project that a session has, beside those of the assistant. */
  files?: string[]
  /** Those of the assistant are left out. */
  inPlaceOfFiles?: boolean
  /** What code writes becomes files of the project, too. */
  keepsFiles?: boolean
}

export function readCodeOverride(text: string | undefined): CodeOverride | undefined {
  return text === undefined ? undefined : parseOwnJson<CodeOverride>(text)
}
