import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { AnyKey } from '../any-key.ts'
import { withoutSecrets } from '../archive/without-secrets.ts'
import { AssistantConfig, ToolSetting, toolsKey } from '../assistant-config.ts'
import { toJsonText } from '../json.ts'
import { requestLimits } from '../limits.ts'
import { maskSecrets } from '../mask-secrets.ts'

const prefix = 'type==agent/'
/**
 * Not in a file: who may use an assistant is decided where it is, never by a file that may come from somebody else;
 * and ids of vector stores and files mean nothing elsewhere, so that a file has the names of stores among the sources.
 */
const leftOut = ['access_mode', 'public_token', 'public_page', 'allowed_origins', 'vector_stores', 'code_files'].map(
  (name) => prefix + name,
)
const { properties } = AssistantConfig
/** The members of a configuration that a file has, in its order, by their names in the file. */
const settings = Object.fromEntries(
  Object.keys(properties)
    .filter((key) => !leftOut.includes(key))
    .map((key) => [key.slice(prefix.length), key]),
)

const SourceFile = Type.Object(
  {
    name: Type.String({ maxLength: requestLimits.nameLength }),
    sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
    bytes: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
)
export const maxSourceFiles = 1000

const strict = { additionalProperties: false } as const
const AssistantFile = Type.Object(
  {
    assistant: Type.String({ minLength: 1, maxLength: 1000 }),
    version: Type.Literal(1),
    ...Object.fromEntries(
      Object.entries(settings).map(([name, key]) => [name, Type.Optional(Type.Index(AssistantConfig, [key]))]),
    ),
    tools: Type.Optional(Type.Array(Type.Object(ToolSetting.properties, strict), { maxItems: 128 })),
    sources: Type.Optional(
      Type.Object(
        {
          files: Type.Optional(Type.Array(SourceFile, { maxItems: maxSourceFiles })),
          vector_stores: Type.Optional(
            Type.Array(Type.String({ maxLength: requestLimits.nameLength }), { maxItems: 10 }),
          ),
        },
        strict,
      ),
    ),
    other: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
    missing_secrets: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100 })),
  },
  strict,
)

type Config = Record<string, unknown>
export interface Sources {
  files?: Static<typeof SourceFile>[]
  vector_stores?: string[]
}
export interface ReadFile {
  name: string
  config: Config
  sources: Sources
  /** Places of secrets that its writer left out. */
  missing: string[]
}

/** A file that is not one of an assistant, as its author may read it. */
export class AssistantFileError extends Error {
  override name = 'AssistantFileError'
  readonly path: string[]

  constructor(path: string[], message: string) {
    super(message)
    this.path = path
  }
}

/** Reads what `parseForeignYaml` has parsed. Throws `AssistantFileError` for what is not known, by its name. */
export function readAssistantFile(value: unknown): ReadFile {
  if (!Value.Check(AssistantFile, value)) throw problemOf(value)
  const file: Config = value
  const members = Object.entries(settings).flatMap(([name, key]) => {
    const member = file[name]
    return member === undefined ? [] : [[key, member] as const]
  })
  const other = Object.entries(value.other ?? {})
  const taken = other.find(([key]) => Object.hasOwn(properties, key))
  if (taken) throw new AssistantFileError(['other', taken[0]], 'is a setting that is not free-form')
  return {
    name: value.assistant,
    config: Object.fromEntries([...members, ...other]),
    sources: value.sources ?? {},
    missing: value.missing_secrets ?? [],
  }
}

function problemOf(value: unknown): AssistantFileError {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new AssistantFileError([], 'is not a map of settings')
  const [error] = Value.Errors(AssistantFile, value)
  const path = (error?.instancePath ?? '')
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 200))
  // That is how a member is refused which the schema does not name.
  if (error?.keyword === 'boolean') return new AssistantFileError(path, 'is not a known member')
  return new AssistantFileError(path, error?.message ?? 'is not valid')
}

/** What a file of the assistant says, as a value for a YAML writer. It names the places of the secrets that it leaves out. */
export function writeAssistantFile({ name, config, sources }: Omit<ReadFile, 'missing'>): Config {
  const { config: open, missing } = openPart(config)
  const members: [string, unknown][] = Object.entries(settings).flatMap(([member, key]) =>
    key in open ? [[member, open[key]]] : [],
  )
  const other = Object.entries(open).filter(([key]) => !Object.hasOwn(properties, key))
  return {
    assistant: name,
    version: 1,
    ...Object.fromEntries(members),
    ...(Object.keys(sources).length > 0 && { sources }),
    ...(other.length > 0 && { other: Object.fromEntries(other) }),
    ...(missing.length > 0 && { missing_secrets: missing }),
  }
}

/** Which of the places have no secret in the configuration. */
export function unsetSecrets(places: readonly string[], config: Config): string[] {
  // A URL from a file has a mask in the place of its password.
  const masks = withoutSecrets(config).missing.map(placeOf)
  const set = new Set(openPart(config).missing.filter((place) => !masks.includes(place)))
  return places.filter((place) => !set.has(place))
}

/**
 * The configuration of an assistant after a file was applied. What a file cannot have stays as it is. Secrets stay
 * where all around them is the same: a tool that the file changes loses its keys, because they were given for the
 * address that it had.
 */
export function appliedConfig(current: Config, fromFile: Config): Config {
  const retained = Object.entries(current).filter(([key]) => leftOut.includes(key))
  const tools = new Map(listOf(current[toolsKey]).map((tool) => [openText(tool), tool]))
  const applied = Object.entries(fromFile).map(([key, member]) => {
    if (key === toolsKey) return [key, listOf(member).map((tool) => tools.get(toJsonText(tool)) ?? tool)] as const
    return [key, openText(current[key]) === toJsonText(member) ? current[key] : member] as const
  })
  return Object.fromEntries([...retained, ...applied])
}

/** A text that is the same for configurations with the same members and values, in any order of the first level. */
export const configText = (config: Config): string =>
  toJsonText(Object.fromEntries(Object.entries(config).toSorted(([a], [b]) => (a < b ? -1 : 1))))

function openPart(config: Config): { config: Config; missing: string[] } {
  const shared = Object.fromEntries(Object.entries(config).filter(([key]) => !leftOut.includes(key)))
  const { config: open, missing } = withoutSecrets(maskedObject(shared))
  return { config: open, missing: missing.map(placeOf) }
}

const placeOf = (path: string): string => (path.startsWith(prefix) ? path.slice(prefix.length) : path)

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

function maskedObject(config: Config): Config {
  const masked = maskSecrets(config)
  return typeof masked === 'object' && masked !== null ? Object.fromEntries(Object.entries(masked)) : {}
}

/** A member as a file has it, as text. */
function openText(value: unknown): string | undefined {
  if (value === undefined) return undefined
  return toJsonText(withoutSecrets(maskedObject({ value })).config['value'])
}
