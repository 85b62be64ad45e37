import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { toolTypes } from './acting.ts'
import { AnyKey } from './any-key.ts'
import { parseOwnJson } from './json.ts'
import { languages } from './languages.ts'
import { maxCodeFiles, maxVectorStores, requestLimits } from './limits.ts'
import { Metadata } from './metadata.ts'
import { reasoningEfforts } from './reasoning-efforts.ts'
import { type AccessMode, accessModes } from './records/assistant.ts'
import { ResponseFormat } from './response-format.ts'

const prefix = 'type==agent/'
const text = { maxLength: requestLimits.configTextLength }
const entries = { maxItems: requestLimits.configEntries }

/** As many as the assistants API allows. */
const maxTools = 128

/** A tool of an assistant. The shape of `config` depends on the type; see `GET /tools/`. */
export const ToolSetting = Type.Object(
  {
    type: Type.Enum([...toolTypes], { title: 'ToolType', about: 'Kind of a tool.', description: 'Which tool.' }),
    name: Type.Optional(
      Type.String({
        maxLength: requestLimits.nameLength,
        description: 'The name that the model sees; default: the type.',
      }),
    ),
    config: Type.Optional(Type.Record(AnyKey, Type.Unknown(), { description: "The tool's own settings." })),
    ask: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether each call of this tool waits for approval, also without `interrupt_before_action`.',
      }),
    ),
  },
  { title: 'ToolSetting', about: 'A tool that an assistant is given, with its settings.' },
)
export type ToolSetting = Static<typeof ToolSetting>

/**
 * Defaults for members that `config` does not set. The service or the model chooses a model or temperature that is
 * not set.
 */
const assistantConfigDefaults = {
  accessMode: 'authenticated',
  systemMessage: '',
  retrievalDescription:
    'Searches the files that the user has uploaded for this assistant. Use it for every question that they may answer.',
  maxSteps: 25,
  interruptBeforeAction: false,
  showReasoning: false,
  publicPage: false,
  keepsChats: false,
  description: '',
} as const

/** How an assistant's chat bubble and public page look and speak; what is absent is as they have it by themselves. */
export const ChatAppearance = Type.Object(
  {
    title: Type.Optional(Type.String({ maxLength: 80, description: "Default of the page: the assistant's name." })),
    greeting: Type.Optional(Type.String({ maxLength: 300 })),
    color: Type.Optional(Type.String({ pattern: '^#[0-9a-fA-F]{6}$', maxLength: 7, description: '`#rrggbb`' })),
    theme: Type.Optional(
      Type.Enum(['light', 'dark'], { description: 'Default: as the page, or as the reader has it.' }),
    ),
    language: Type.Optional(Type.Enum([...languages], { description: "Default: the page's, or the reader's." })),
  },
  { additionalProperties: false, description: 'How the chat bubble and the public page look and speak.' },
)
export type ChatAppearance = Static<typeof ChatAppearance>

/** The part of `config` that the service reads. Other keys are stored unchanged and ignored. */
export const AssistantConfig = Type.Object(
  {
    [`${prefix}access_mode`]: Type.Optional(
      Type.Enum([...accessModes], {
        title: 'AccessMode',
        about: 'Who may use the public endpoints of an assistant.',
        default: assistantConfigDefaults.accessMode,
        description: 'Who may use the public endpoints.',
      }),
    ),
    [`${prefix}public_token`]: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'The secret that callers present in the mode public_token. No two assistants may have the same.',
      }),
    ),
    [`${prefix}model`]: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "The model's name; default: the service's." }),
    ),
    [`${prefix}system_message`]: Type.Optional(
      Type.String({
        ...text,
        default: assistantConfigDefaults.systemMessage,
        description: 'Instructions that precede every conversation.',
      }),
    ),
    [`${prefix}temperature`]: Type.Optional(
      Type.Number({ minimum: 0, maximum: 2, description: "Sampling temperature; default: the model's." }),
    ),
    [`${prefix}top_p`]: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: "Share of the likeliest tokens that are sampled; default: the model's.",
      }),
    ),
    [`${prefix}response_format`]: Type.Optional(ResponseFormat),
    [`${prefix}reasoning_effort`]: Type.Optional(
      Type.Enum([...reasoningEfforts], { description: "How hard the model thinks; default: the model's." }),
    ),
    [`${prefix}show_reasoning`]: Type.Optional(
      Type.Boolean({
        default: assistantConfigDefaults.showReasoning,
        description: 'Whether callers of the public endpoints can read what the model thinks.',
      }),
    ),
    [`${prefix}tools`]: Type.Optional(
      Type.Array(ToolSetting, { maxItems: maxTools, description: 'The tools that the assistant may call.' }),
    ),
    [`${prefix}retrieval_description`]: Type.Optional(
      Type.String({
        ...text,
        default: assistantConfigDefaults.retrievalDescription,
        description: 'The description of the files that the model is given with the search tool.',
      }),
    ),
    [`${prefix}max_steps`]: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        default: assistantConfigDefaults.maxSteps,
        description: 'Maximum number of model calls in one run.',
      }),
    ),
    [`${prefix}interrupt_before_action`]: Type.Optional(
      Type.Boolean({
        default: assistantConfigDefaults.interruptBeforeAction,
        description: 'Whether a run waits for approval before it calls a tool.',
      }),
    ),
    [`${prefix}allowed_origins`]: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z][a-z0-9+.-]*://[^/?#\\s*]+$', maxLength: 2048 }), {
        ...entries,
        description: 'Origins whose pages may call the public endpoints of this assistant.',
      }),
    ),
    [`${prefix}public_page`]: Type.Optional(
      Type.Boolean({
        default: assistantConfigDefaults.publicPage,
        description: 'Whether `/a/{aid}` is a page with a chat, for those who may use the public endpoints.',
      }),
    ),
    [`${prefix}keeps_chats`]: Type.Optional(
      Type.Boolean({
        default: assistantConfigDefaults.keepsChats,
        description:
          'Whether those who may change the assistant read the chats of public callers, and their feedback; shown to everybody who may read it.',
      }),
    ),
    [`${prefix}chat_look`]: Type.Optional(ChatAppearance),
    [`${prefix}vector_stores`]: Type.Optional(
      Type.Array(Type.String({ maxLength: 128 }), {
        maxItems: maxVectorStores,
        description: 'Ids of vector stores of the same project, which the tool `retrieval` searches too.',
      }),
    ),
    [`${prefix}code_files`]: Type.Optional(
      Type.Array(Type.String({ maxLength: 128 }), {
        maxItems: maxCodeFiles,
        description: 'Ids of files of the same project that the tool `code` can read.',
      }),
    ),
    [`${prefix}metadata`]: Type.Optional(Metadata),
    [`${prefix}description`]: Type.Optional(
      Type.String({
        ...text,
        default: assistantConfigDefaults.description,
        description: 'The purpose of the assistant; shown to everybody who may read it.',
      }),
    ),
    [`${prefix}starters`]: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 4,
        description: 'Messages that a new chat offers to begin with; shown to everybody who may read the assistant.',
      }),
    ),
  },
  {
    title: 'AssistantConfig',
    about: 'Configuration of an assistant. Members that are not listed are kept and ignored.',
    additionalProperties: true,
  },
)

/** The known part of a `config`, with defaults for missing members. */
export interface AssistantSettings {
  accessMode: AccessMode
  publicToken: string | undefined
  model: string | undefined
  systemMessage: string
  temperature: number | undefined
  topP: number | undefined
  responseFormat: ResponseFormat | undefined
  reasoningEffort: (typeof reasoningEfforts)[number] | undefined
  showReasoning: boolean
  tools: ToolSetting[]
  retrievalDescription: string
  maxSteps: number
  interruptBeforeAction: boolean
  allowedOrigins: string[]
  description: string
  starters: string[]
  publicPage: boolean
  keepsChats: boolean
  chatAppearance: ChatAppearance
  vectorStores: string[]
  codeFiles: string[]
  metadata: Metadata
}

/**
 * Reads the stored text of a `config`. A stored config has been validated; any other text is read as an empty
 * config.
 */
export function readAssistantConfig(configJson: string): AssistantSettings {
  const config: unknown = parseOwnJson(configJson)
  const known = Value.Check(AssistantConfig, config) ? config : {}
  const defaults = assistantConfigDefaults
  return {
    accessMode: known['type==agent/access_mode'] ?? defaults.accessMode,
    publicToken: known['type==agent/public_token'],
    model: known['type==agent/model'],
    systemMessage: known['type==agent/system_message'] ?? defaults.systemMessage,
    temperature: known['type==agent/temperature'],
    topP: known['type==agent/top_p'],
    responseFormat: known['type==agent/response_format'],
    reasoningEffort: known['type==agent/reasoning_effort'],
    showReasoning: known['type==agent/show_reasoning'] ?? defaults.showReasoning,
    tools: known['type==agent/tools'] ?? [],
    retrievalDescription: known['type==agent/retrieval_description'] ?? defaults.retrievalDescription,
    maxSteps: known['type==agent/max_steps'] ?? defaults.maxSteps,
    interruptBeforeAction: known['type==agent/interrupt_before_action'] ?? defaults.interruptBeforeAction,
    allowedOrigins: known['type==agent/allowed_origins'] ?? [],
    description: known['type==agent/description'] ?? defaults.description,
    starters: known['type==agent/starters'] ?? [],
    publicPage: known['type==agent/public_page'] ?? defaults.publicPage,
    keepsChats: known['type==agent/keeps_chats'] ?? defaults.keepsChats,
    chatAppearance: known['type==agent/chat_look'] ?? {},
    vectorStores: known['type==agent/vector_stores'] ?? [],
    codeFiles: known['type==agent/code_files'] ?? [],
    metadata: known['type==agent/metadata'] ?? {},
  }
}

/** Maximum size of a whole `config` as JSON text. */
export const configMaxMegabytes = 1

/** The members that everybody who may read an assistant can see; all others are for the owner only. */
const openConfigKeys: readonly string[] = [
  `${prefix}access_mode`,
  `${prefix}description`,
  `${prefix}starters`,
  `${prefix}keeps_chats`,
]

export function openMembersOf(config: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).filter(([key]) => openConfigKeys.includes(key)))
}

export const publicTokenKey = `${prefix}public_token`
export const toolsKey = `${prefix}tools`
export const vectorStoresKey = `${prefix}vector_stores`
export const codeFilesKey = `${prefix}code_files`
