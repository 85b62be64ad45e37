import { mkdir, mkdtemp } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEngine } from './engine.ts'
import { buildImage, makeBaseImages } from './images.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of the engine's storage, in which all images are. */
    containers: string
  }
}

const root = path.join(import.meta.dirname, '../..')

/**
 * Makes the images once for all files. `CONTAINERS_FOLDER` keeps them for the next run, and builds the service's image
 * again unless `CONTAINERS_BUILT` is set; without it everything is removed at the end.
 */
export default async function setup(project: TestProject) {
  const kept = process.env['CONTAINERS_FOLDER']
  const folder = kept ?? (await mkdtemp(path.join(os.tmpdir(), 'containers-')))
  const say = (line: string) => console.log(`> ${line}`)
  await mkdir(folder, { recursive: true })
  const engine = await startEngine(folder, say)
  const standIns = await makeBaseImages(engine, say)
  if (kept === undefined || process.env['CONTAINERS_BUILT'] === undefined) {
    say('building the image')
    await buildImage(engine, root)
  }
  project.provide('containers', folder)
  return async () => {
    console.log(['Programs that stood in for others:', ...standIns].join('\n  '))
    if (kept === undefined) await engine.remove()
    else await engine.clear()
  }
}
