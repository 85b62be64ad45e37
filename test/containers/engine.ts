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
  /** Runs commands of the documentation: `docker` and `docker compose` in them are this engine. */
  shell: (
    project: string,
    commands: string,
    options: { cwd: string; env?: Record<string, string>; timeoutMs?: number },
  ) => Promise<string>
  /** Removes every container, volume and network; images stay. */
  clear: () => Promise<void>
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

  const python = path.join(folder, 'compose/bin/python')
  if (!existsSync(path.join(folder, 'compose/bin/podman-compose'))) {
    say(`installing podman-compose ${composeVersion}`)
    await run('python3', ['-m', 'venv', path.join(folder, 'compose')], { timeoutMs: 120_000 })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `podman-compose==${composeVersion}`]
    await run(python, pip, { timeoutMs: 300_000 })
  }
  const compose = path.join(folder, 'bin/podman-compose')
  await writeFile(compose, `#!${python}\n${composeScript}`, { mode: 0o755 })
  await writeFile(path.join(folder, 'bin/docker'), dockerScript(compose, wrapper), { mode: 0o755 })
  async function clear(): Promise<void> {
    // Some are required by others, which have to go first: each time some can be removed.
    for (let left = 30; left > 0 && (await podman(['ps', '--all', '--quiet'])).trim() !== ''; left--)
      await podman(['rm', '--all', '--force', '--time', '0']).catch(() => '')
    await podman(['volume', 'prune', '--force'])
    await podman(['network', 'prune', '--force'])
  }

  return {
    folder,
    podman,
    shell: (project, commands, { cwd, env: more = {}, timeoutMs = 300_000 }) =>
      run('sh', ['-euc', commands], { cwd, env: { ...env, PROJECT: project, ...more }, timeoutMs }),
    compose: (project, args, { cwd, timeoutMs = 300_000 }) =>
      run(compose, ['--project-name', project, ...args], { cwd, env, timeoutMs }),
    clear,
    async remove() {
      await clear()
      await podman(['system', 'reset', '--force']).catch(() => '')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * `podman-compose`, which makes several classes for each text in which it looks for variables: with the files that
 * docker-compose.cluster.yml extends, each command took 17 s of processor time. Texts without variables need none.
 */
const composeScript = `
import podman_compose

interpolate = podman_compose.var_interpolate
podman_compose.var_interpolate = lambda text, *rest: interpolate(text, *rest) if "$" in text else text
podman_compose.main()
`

/** In the order of `depends_on`. */
const services =
  'mongo redis postgresql temporal-schema temporal temporal-namespace migrate api worker proxy temporal-ui'

/**
 * `docker` for commands of the documentation. What podman and podman-compose of these machines do not have: `up` that
 * waits for what a service depends on, `--wait` (each health check is asked here), `ps` of one service, the stop period of
 * docker-compose.yml, and a build without rights over networks: `build` takes the image that BUILT names instead.
 */
function dockerScript(compose: string, podman: string): string {
  return `#!/bin/sh
set -eu
of() { service=$1; shift; ${podman} ps --quiet --filter "label=com.docker.compose.project=$PROJECT" --filter "label=com.docker.compose.service=$service" "$@"; }
case "$1 \${2:-}" in
"compose build")
  exec ${podman} tag "$BUILT" localhost/assistant-platform:1.0.0 ;;
"compose ps")
  [ "$3" = --quiet ]
  of "$4" ;;
"compose up")
  shift 2
  flags=
  named=
  while [ $# -gt 0 ]; do
    case "$1" in
    --wait | --detach | --no-deps) ;;
    --scale) flags="$flags --scale $2"; shift ;;
    --*) flags="$flags $1" ;;
    *) named="$named $1" ;;
    esac
    shift
  done
  for service in \${named:-${services}}; do
    ${compose} --project-name "$PROJECT" up --detach --no-build --no-deps $flags "$service"
    case "$service" in
    migrate | temporal-schema | temporal-namespace)
      for container in $(of "$service" --all); do [ "$(${podman} wait "$container")" = 0 ]; done
      continue ;;
    esac
    for container in $(of "$service"); do
      left=180
      until ${podman} healthcheck run "$container" >/dev/null 2>&1; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || { echo "$service is not healthy" >&2; exit 1; }
        sleep 1
      done
    done
  done ;;
"compose run")
  shift 2
  exec ${compose} --project-name "$PROJECT" run --no-deps "$@" ;;
"compose "*)
  shift
  exec ${compose} --project-name "$PROJECT" "$@" ;;
"stop "*)
  shift
  exec ${podman} stop --time 90 "$@" ;;
*)
  exec ${podman} "$@" ;;
esac
`
}
