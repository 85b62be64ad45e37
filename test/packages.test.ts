import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { importsOf } from './support/imports.ts'

/** The packages on which the project is designed, and the folders whose code runs on each. */
const running = '{api,infra,services,worker,workflows,activities,composition}'
const designed: Record<string, string> = {
  '@temporalio/client': running,
  '@temporalio/worker': running,
  '@temporalio/workflow': running,
  '@temporalio/testing': 'test',
  fastify: running,
  '@fastify/multipart': running,
  mongoose: running,
  jose: running,
  argon2: running,
  '@pinecone-database/pinecone': running,
  openai: running,
  redis: running,
  vitest: 'test',
}

const root = path.dirname(import.meta.dirname)
const manifest: { dependencies: Record<string, string>; devDependencies: Record<string, string> } = JSON.parse(
  readFileSync(path.join(root, 'package.json'), 'utf8'),
)

test.each(Object.entries(designed))('%s is a dependency that the code imports', (name, folders) => {
  const listed = folders === running ? manifest.dependencies : manifest.devDependencies
  expect(Object.keys(listed)).toContain(name)
  const files = globSync(`${folders}/**/*.ts`, { cwd: root })
  expect(files.length, `files seen in ${folders}`).toBeGreaterThan(50)
  const isImported = (file: string) =>
    importsOf(readFileSync(path.join(root, file), 'utf8')).some(
      ({ from, typeOnly }) => !typeOnly && (from === name || from.startsWith(`${name}/`)),
    )
  expect(files.some(isImported), `${name} is imported`).toBe(true)
})
