import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, open, readdir } from 'node:fs/promises'
import path from 'node:path'
import { LocalServiceError } from '../services/ways.ts'
import type { Manifest } from './manifest.ts'

/** Names of folders and files relative to the folder that was read, with `/` between their parts. */
export type Tree = { folders: string[]; files: string[] }

/**
 * Copies all folders and files except entries of the top folder that are named in `skip`, readable by their owner only:
 * secrets are among them. Throws at anything that is neither a folder nor a file.
 */
export async function copyTree(from: string, to: string, skip: string[] = []): Promise<Tree> {
  const tree: Tree = { folders: [], files: [] }
  const copyFolder = async (name: string) => {
    await mkdir(path.join(to, name), { mode: 0o700, recursive: name === '' })
    for (const entry of await readdir(path.join(from, name), { withFileTypes: true })) {
      const inner = name === '' ? entry.name : `${name}/${entry.name}`
      if (skip.includes(inner)) continue
      if (entry.isDirectory()) {
        tree.folders.push(inner)
        await copyFolder(inner)
      } else if (entry.isFile()) {
        tree.files.push(inner)
        const copy = path.join(to, inner)
        // File systems that can share blocks copy nothing.
        await copyFile(path.join(from, inner), copy, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
        await chmod(copy, 0o600)
      } else throw new LocalServiceError(`${path.join(from, inner)} is neither a folder nor a file.`)
    }
  }
  await copyFolder('')
  return tree
}

/** Length and checksum of each file, after it is on the disk. */
export async function checksums(folder: string, { folders, files }: Tree): Promise<Manifest['files']> {
  const sums: Manifest['files'] = {}
  for (const name of files.toSorted()) {
    const file = await open(path.join(folder, name), 'r+')
    try {
      const hash = createHash('sha256')
      let bytes = 0
      for await (const piece of file.createReadStream({ autoClose: false, start: 0 }) as AsyncIterable<Buffer>) {
        hash.update(piece)
        bytes += piece.length
      }
      await file.sync()
      sums[name] = { bytes, sha256: hash.digest('hex') }
    } finally {
      await file.close()
    }
  }
  for (const name of ['', ...folders]) await syncFolder(path.join(folder, name))
  return sums
}

/** The names in a folder are on the disk afterwards. */
export async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, 'r')
  await opened.sync().finally(() => opened.close())
}

/** Throws with the first thing that is missing, altered or too much. */
export function requireSame(folder: string, manifest: Manifest, tree: Tree, sums: Manifest['files']): void {
  const refuse = (name: string, what: string) => {
    throw new LocalServiceError(`The backup is damaged: ${path.join(folder, name)} ${what}. Nothing was restored.`)
  }
  for (const [name, { bytes, sha256 }] of Object.entries(manifest.files)) {
    const found = sums[name]
    if (found === undefined) return refuse(name, 'is missing')
    if (found.bytes !== bytes) return refuse(name, `has ${found.bytes} bytes instead of ${bytes}`)
    if (found.sha256 !== sha256) return refuse(name, 'was altered: it does not match its checksum')
  }
  for (const name of Object.keys(sums)) if (!(name in manifest.files)) return refuse(name, 'is not in its manifest')
  for (const name of manifest.folders) if (!tree.folders.includes(name)) return refuse(name, 'is missing')
  for (const name of tree.folders) if (!manifest.folders.includes(name)) return refuse(name, 'is not in its manifest')
}
