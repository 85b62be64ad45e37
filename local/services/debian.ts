import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { findOnPath, run } from './command.ts'

/**
 * Downloads packages of Debian into the folder and unpacks them there. They are not installed: that needs no rights
 * and does not change the machine. `packages` is asked again after an update of the package lists if it fails.
 */
export async function unpackDebian(folder: string, packages: () => Promise<string[]>): Promise<void> {
  for (const tool of ['apt-get', 'apt-cache', 'dpkg']) {
    if (!(await findOnPath(tool))) throw new Error(`no ${tool} on PATH`)
  }
  const download = async () => run('apt-get', ['download', ...(await packages())], { cwd: folder })
  await download().catch(async () => {
    await run('apt-get', ['update', '-qq'])
    await download()
  })
  const archives = (await readdir(folder)).filter((name) => name.endsWith('.deb'))
  for (const archive of archives) await run('dpkg', ['-x', archive, folder], { cwd: folder })
}

/** `LD_LIBRARY_PATH` for programs of packages that were unpacked into the folder. */
export async function libraryPathIn(folder: string): Promise<string> {
  const library = path.join(folder, 'usr', 'lib')
  const architectures = (await readdir(library)).filter((name) => name.includes('-linux-'))
  return architectures.map((name) => path.join(library, name)).join(':')
}
