import { cp, readdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import { cached, installInCache } from '../../local/services/cache.ts'
import { findOnPath, run } from '../../local/services/command.ts'
import { libraryPathIn, unpackDebian } from '../../local/services/debian.ts'
import { goInstall, goModule } from '../../local/services/go-install.ts'
import { type Log, firstThatWorks } from '../../local/services/ways.ts'

/** A folder of programs, and where they find their libraries. */
export interface Programs {
  folder: string
  env: NodeJS.ProcessEnv
}

/** The checksums of the versions that are built. */
const serverSums: Record<string, string> = { '1.31.0': 'h1:FKLodreaMXUxYc3zr6xxwxtpGz1WH/t7O0IWxV1d1x0=' }

/** Temporal's server and its tool for SQL databases, and the schema, as in the images of that version. */
export async function prepareTemporalServer(version: string, log: Log): Promise<Programs & { schema: string }> {
  const name = `temporal-server-${version}`
  const folder = cached(name) ?? (await installInCache(name, log, (into) => installTemporalServer(version, into, log)))
  return { folder, env: {}, schema: path.join(folder, 'schema') }
}

async function installTemporalServer(version: string, folder: string, log: Log): Promise<void> {
  const sum = serverSums[version]
  if (sum === undefined) throw new Error(`no checksum is known of Temporal's server ${version}`)
  const module = { module: 'go.temporal.io/server', version, sum }
  await goInstall({ ...module, folder: './cmd/server' }, folder, log)
  await goInstall({ ...module, folder: './cmd/tools/sql' }, folder, log)
  await symlink('server', path.join(folder, 'temporal-server'))
  await symlink('sql', path.join(folder, 'temporal-sql-tool'))
  await cp(path.join(await goModule(module), 'schema'), path.join(folder, 'schema'), { recursive: true })
}

/** PostgreSQL's server programs: those on `PATH`, of Debian's package, or of that package unpacked. */
export async function preparePostgresql(log: Log): Promise<Programs> {
  const name = 'postgresql-debian'
  const { value } = await firstThatWorks<Programs>('PostgreSQL', 'PATH', [
    {
      name: 'PATH',
      attempt: async () => {
        const [server, init] = [await findOnPath('postgres'), await findOnPath('initdb')]
        return server !== undefined && init !== undefined ? { folder: path.dirname(server), env: {} } : undefined
      },
    },
    { name: 'Debian package', attempt: () => postgresqlIn('/') },
    { name: 'cache', attempt: () => postgresqlIn(cached(name)) },
    {
      name: 'Debian package, unpacked',
      attempt: async () =>
        postgresqlIn(await installInCache(name, log, (folder) => unpackDebian(folder, postgresqlPackages))),
    },
  ])
  return value
}

async function postgresqlPackages(): Promise<string[]> {
  const meta = await run('apt-cache', ['depends', 'postgresql'])
  const server = /Depends: (postgresql-\d+)/.exec(meta)?.[1]
  if (server === undefined) throw new Error('the Debian registry does not list postgresql')
  const depends = await run('apt-cache', ['depends', server, server.replace('sql-', 'sql-client-')])
  const libraries = [...depends.matchAll(/Depends: (lib\S+)/g)].map((match) => match[1] ?? '')
  return [server, server.replace('sql-', 'sql-client-'), ...new Set(libraries.filter((one) => !/^libc6$/.test(one)))]
}

async function postgresqlIn(root: string | undefined): Promise<Programs | undefined> {
  if (root === undefined) return undefined
  const all = path.join(root, 'usr/lib/postgresql')
  const [version] = (await readdir(all).catch(() => [])).toSorted((a, b) => Number(b) - Number(a))
  if (version === undefined) return undefined
  const env = root === '/' ? {} : { LD_LIBRARY_PATH: await libraryPathIn(root) }
  return { folder: path.join(all, version, 'bin'), env }
}
