import { createHash } from 'node:crypto'
import { dataFolder } from '../../../domain/session-path.ts'
import { outputLimits } from '../messages.ts'
import type { FileSystem } from './file-system.ts'

interface Found {
  path: string
  bytes: Buffer
}

/** Folders below this depth are not looked at. */
const maxDepth = 8
/** More entries than this are not looked at. */
const maxEntries = 2000

/** The files below `/mnt/data`, and which of them code has changed. */
export function createDataFolder(fileSystem: FileSystem) {
  /** The contents that the worker knows, as hashes. */
  const known = new Map<string, string>()

  return {
    put(path: string, bytes: Buffer): void {
      const full = `${dataFolder}/${path}`
      fileSystem.mkdirTree(full.slice(0, full.lastIndexOf('/')))
      fileSystem.writeFile(full, bytes)
      known.set(path, hashOf(bytes))
    },

    /** New and changed files, as far as the limits allow. A file that is left out is tried again after the next code. */
    changes(): { files: Found[]; leftOut: string[] } {
      const files: Found[] = []
      const leftOut: string[] = []
      let all = 0
      const leave = (path: string, reason: string) => {
        if (leftOut.length < outputLimits.leftOut)
          leftOut.push(`${path.slice(0, outputLimits.pathCharacters)}: ${reason}`)
      }
      for (const { path, size } of walk(fileSystem, leave)) {
        if (path.length > outputLimits.pathCharacters) leave(path, 'its path is too long')
        else if (size === 0) leave(path, 'it is empty')
        else if (size > outputLimits.fileBytes) leave(path, `it is larger than ${mebibytes(outputLimits.fileBytes)}`)
        else {
          const bytes = Buffer.from(fileSystem.readFile(`${dataFolder}/${path}`))
          const hash = hashOf(bytes)
          if (known.get(path) === hash) continue
          if (files.length >= outputLimits.files) leave(path, `more than ${outputLimits.files} files were written`)
          else if (all + size > outputLimits.allBytes)
            leave(path, `the files are larger than ${mebibytes(outputLimits.allBytes)} together`)
          else {
            all += size
            known.set(path, hash)
            files.push({ path, bytes })
          }
        }
      }
      return { files, leftOut }
    },
  }
}

function* walk(fileSystem: FileSystem, leave: (path: string, reason: string) => void) {
  let entries = 0
  const folders = [{ path: '', depth: 0 }]
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const names = fileSystem.readdir(`${dataFolder}/${folder.path}`)
    for (const name of names.toSorted()) {
      if (name === '.' || name === '..' || name === '__pycache__') continue
      if (++entries > maxEntries) return leave('/mnt/data', `it has more than ${maxEntries} entries`)
      const path = folder.path === '' ? name : `${folder.path}/${name}`
      // A link may lead out of the folder.
      const { mode, size } = fileSystem.lstat(`${dataFolder}/${path}`)
      if (fileSystem.isFile(mode)) yield { path, size }
      else if (fileSystem.isDir(mode) && folder.depth < maxDepth) folders.push({ path, depth: folder.depth + 1 })
    }
  }
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64')
}

const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`
