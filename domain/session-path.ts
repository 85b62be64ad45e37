/** Where a session's files are. */
export const dataFolder = '/mnt/data'

/** The path of a file below `/mnt/data`, without empty parts, `.` and `..`; undefined if nothing is left. */
export function sessionPath(given: string): string | undefined {
  const parts = given.split(/[/\\]/).filter((part) => part !== '' && part !== '.' && part !== '..')
  // Control characters would break the lines in which a model is told of files.
  const path = parts.join('/').replaceAll(/\p{Cc}/gu, '')
  return path === '' ? undefined : path
}
