import { existsSync } from 'node:fs'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findOnPath, run } from '../../local/services/command.ts'

/** Debian's packages of the engine, and of what makes a first root. */
const packages = ['podman', 'runc', 'netavark', 'aardvark-dns', 'iptables', 'buildah', 'catatonit', 'debootstrap']
const composeVersion = '1.6.0'

/** A container engine with a storage of its own, and `podman-compose` for it. */
export interface Engine {
  folder: string
  /** Runs `podman` and returns what it prints. */
  podman: (args: readonly string[], options?: { timeoutMs?: number }) => Promise<string>
  compose: (project: string, args: readonly string[], options: { cwd: string; timeoutMs?: number }) => Promise<string>
  /** Removes every container, network, volume and image that it made. */
  remove: () => Promise<void>
}

/** What `podman` takes on these machines: no limits are raised, and control groups are made without systemd. */
const containersConf = `[containers]
default_ulimits = []
pids_limit = 0
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
[network]
network_backend = "netavark"
`

/** Installs the engine where it is not there. Needs root and Debian's packages. */
export async function startEngine(folder: string, say: (line: string) => void): Promise<Engine> {
  if ((await findOnPath('podman')) === undefined || (await findOnPath('debootstrap')) === undefined) {
    say(`installing ${packages.join(' ')}`)
    await run('apt-get', ['update', '-qq'], { timeoutMs: 300_000 })
    const install = ['-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '-qq', '--no-install-recommends', ...packages]
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
    await run('apt-get', install, { env, timeoutMs: 600_000 })
  }
  await mkdir(path.join(folder, 'bin'), { recursive: true })
  const conf = path.join(folder, 'containers.conf')
  await writeFile(conf, containersConf)
  // Names without a registry, as Docker reads them.
  const registries = path.join(folder, 'registries.conf')
  await writeFile(registries, 'unqualified-search-registries = ["docker.io"]\n')
  const real = await findOnPath('podman')
  // podman-compose asks for `podman` alone: this one has the storage, and limits that may be set here.
  const storage = [
    '--root',
    path.join(folder, 'storage'),
    '--runroot',
    path.join(folder, 'run'),
    '--storage-driver=overlay',
  ]
  const wrapper = path.join(folder, 'bin/podman')
  await writeFile(
    wrapper,
    `#!/bin/sh
export CONTAINERS_CONF=${conf} CONTAINERS_REGISTRIES_CONF=${registries}
case "$1" in
run | create) verb=$1; shift; set -- "$verb" --ulimit host --pids-limit=-1 "$@" ;;
esac
exec ${real} ${storage.join(' ')} "$@"
`,
  )
  await chmod(wrapper, 0o755)
  // Nothing else: variables of this process, such as Vitest's BASE_URL, would take precedence over `.env`.
  const env = { HOME: process.env['HOME'], PATH: `${path.dirname(wrapper)}:${process.env['PATH']}` }
  const podman: Engine['podman'] = (args, { timeoutMs = 120_000 } = {}) => run(wrapper, [...args], { env, timeoutMs })

  const compose = path.join(folder, 'compose/bin/podman-compose')
  if (!existsSync(compose)) {
    say(`installing podman-compose ${composeVersion}`)
    await run('python3', ['-m', 'venv', path.join(folder, 'compose')], { timeoutMs: 120_000 })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `podman-compose==${composeVersion}`]
    await run(path.join(folder, 'compose/bin/python'), pip, { timeoutMs: 300_000 })
  }
  return {
    folder,
    podman,
    compose: (project, args, { cwd, timeoutMs = 300_000 }) =>
      run(compose, ['--project-name', project, ...args], { cwd, env, timeoutMs }),
    async remove() {
      await podman(['rm', '--all', '--force', '--time', '0']).catch(() => '')
      await podman(['system', 'reset', '--force']).catch(() => '')
      await rm(folder, { recursive: true, force: true })
    },
  }
}
