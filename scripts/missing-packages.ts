type LockEntry = {
  version?: string
  integrity?: string
  link?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  optionalDependencies?: Record<string, string>
}

export type LockPackages = Record<string, LockEntry>

/** Entries for the optional packages that others name in a lock file's `packages` and that have no entry of their own. */
export function missingPackages(packages: LockPackages): LockPackages {
  const missing: LockPackages = {}
  for (const [parent, entry] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const isThere = ancestors(parent).some((folder) => packages[`${folder}node_modules/${name}`])
      const system = systemOf(name)
      // Without a system in its name nothing tells for which machines it is, and npm decides.
      if (isThere || !system || !/^\d/.test(version)) continue
      missing[`node_modules/${name}`] = {
        version,
        ...system,
        ...(entry.dev && { dev: true }),
        ...(entry.devOptional && { devOptional: true }),
        optional: true,
      }
    }
  }
  return missing
}

/** The packages that npm would fetch and take as they come. */
export function packagesWithoutChecksum(packages: LockPackages): { folder: string; spec: string }[] {
  return Object.entries(packages)
    .filter(([folder, entry]) => folder.includes('node_modules/') && !entry.link && entry.integrity === undefined)
    .map(([folder, { version }]) => ({ folder, spec: `${folder.split('node_modules/').pop()}@${version}` }))
}

/** The folders in which Node looks for a package's dependencies, as prefixes, innermost first. */
function ancestors(folder: string): string[] {
  const parts = folder.split('/node_modules/')
  const inner = parts.map((_, index) => `${parts.slice(0, parts.length - index).join('/node_modules/')}/`)
  return [...inner, '']
}

const systems = ['darwin', 'win32', 'linux', 'freebsd', 'netbsd', 'openbsd', 'android', 'openharmony', 'sunos', 'aix']
const processors = ['arm64', 'x64', 'ia32', 'arm', 'riscv64', 'ppc64', 's390x', 'loong64', 'mips64el']

/** Such packages carry their system in their name: `@swc/core-linux-arm64-musl`. */
function systemOf(name: string): LockEntry | undefined {
  const words = name.split(/[/-]/)
  const os = systems.filter((system) => words.includes(system))
  if (os.length === 0) return undefined
  const cpu = processors.filter((processor) => words.includes(processor))
  const abi = words.at(-1) ?? ''
  const libc = abi.startsWith('musl') ? ['musl'] : abi.startsWith('gnu') ? ['glibc'] : undefined
  return { os, ...(cpu.length > 0 && { cpu }), ...(libc && { libc }) }
}
