import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { dockerfileEnv } from '../../test/support/dockerfile-env.ts'

const root = path.join(import.meta.dirname, '../..')

/** Variables of the image that name files under `/app`. */
export const filesOfImage = ['BUILT_IN_EMBEDDINGS', 'CODE_PACKAGES'] as const

/** `ENV` of the Dockerfile. */
export async function imageEnv(): Promise<Record<string, string>> {
  const file = await readFile(path.join(root, 'Dockerfile'), 'utf8')
  const lines = file.split('\n').filter((line) => line.startsWith('ENV '))
  return Object.fromEntries(lines.flatMap(dockerfileEnv))
}
