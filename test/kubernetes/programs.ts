import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { cached, installInCache } from '../../local/services/cache.ts'
import { run } from '../../local/services/command.ts'
import { goInstall, goModule } from '../../local/services/go-install.ts'
import type { Log } from '../../local/services/ways.ts'

/** A release of Kubernetes: the checksum of its module, and the SHA-256 of the go.sum with the sums of its parts. */
export interface Release {
  version: string
  sum: string
  sums: string
}

/** The two newest versions. */
export const releases: Release[] = [
  {
    version: '1.37.2',
    sum: 'h1:A2VDEiObzkYqFTKhSsn0ZEb0RlLEXpHWj93gi2HqEwE=',
    sums: '74f1180c9f4c599271de222d56a8717f0996965cd1feed2a250b14d1eb4ff028',
  },
  {
    version: '1.36.3',
    sum: 'h1:qDQdoMiluAE2Eab6Fa52YV+WjiGz9mZFFoagEA6cI+o=',
    sums: '24cd084e84a4a86b071ff86c37440c16c0ba9220fca607358bcea319bc4db72c',
  },
]

const module = 'k8s.io/kubernetes'
/** etcd is one of the modules that Kubernetes names in its own go.mod, in the version that it is tested with. */
const programs = ['./cmd/kube-apiserver', 'go.etcd.io/etcd/server/v3']

/**
 * The API server and etcd of a release, built once and kept in the cache folder. Kubernetes keeps its parts, such as
 * k8s.io/api, in its own repository, and its go.mod takes them from folders that the module does not have: the go.mod
 * that is generated here takes each of them from its module of the same release.
 */
export async function prepareKubernetes(release: Release, log: Log): Promise<{ apiServer: string; etcd: string }> {
  const name = `kubernetes-${release.version}`
  const folder = cached(name) ?? (await installInCache(name, log, (into) => build(release, into, log)))
  return { apiServer: path.join(folder, 'kube-apiserver'), etcd: path.join(folder, 'server') }
}

async function build({ version, sum, sums }: Release, folder: string, log: Log): Promise<void> {
  const source = await goModule({ module, version, sum })
  const generated = path.join(folder, 'modules')
  await mkdir(generated)
  const modfile = path.join(generated, 'go.mod')
  const text = await readFile(path.join(source, 'go.mod'), 'utf8')
  await writeFile(modfile, withPartsOf(text, version))
  const sumFile = path.join(generated, 'go.sum')
  await writeFile(sumFile, await readFile(path.join(source, 'go.sum'), 'utf8'))
  log(`fetching the parts of Kubernetes ${version}`)
  // Adds the checksums of the parts to go.sum, which are then compared with ours.
  await run('go', ['list', '-mod=mod', `-modfile=${modfile}`, '-deps', ...programs], {
    cwd: source,
    env: { ...process.env, GOWORK: 'off' },
  })
  const found = createHash('sha256')
    .update(await readFile(sumFile))
    .digest('hex')
  if (found !== sums) throw new Error(`the checksums of the parts of Kubernetes ${version} are ${found}, not ${sums}`)
  const [gitMajor = '', gitMinor = ''] = version.split('.')
  const variables = Object.fromEntries(
    Object.entries({ gitVersion: `v${version}`, gitMajor, gitMinor }).map(([name, value]) => [
      `k8s.io/component-base/version.${name}`,
      value,
    ]),
  )
  for (const program of programs)
    await goInstall({ module, version, sum, folder: program, modfile, variables }, folder, log)
  await rm(generated, { recursive: true })
}

/** The go.mod with its parts from their modules: 0.37.2 of each for 1.37.2. */
function withPartsOf(text: string, version: string): string {
  const ofParts = `v0.${version.slice(version.indexOf('.') + 1)}`
  return text
    .replaceAll(/^(\t(k8s\.io\/[a-z-]+) => )\.\/staging\/.*$/gm, `$1$2 ${ofParts}`)
    .replaceAll(/^(\tk8s\.io\/[a-z-]+) v0\.0\.0(?= |$)/gm, `$1 ${ofParts}`)
}
